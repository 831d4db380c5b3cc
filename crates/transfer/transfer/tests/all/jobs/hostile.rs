//! Peers with a valid ticket that break the rules: the connection is closed with a reason, nothing is written where it
//! must not be, and nothing grows.

mod memory;
mod small;

use super::support::{options, Far};
use crate::alone;
use crate::disk::common::{content, entry, file, link, names, Pair};
use afteryou_transfer::codec::{encode, Incoming};
use afteryou_transfer::dial::Dialer;
use afteryou_transfer::entry::{Entry, Kind, Wanted, GROUP_BYTES};
use afteryou_transfer::event::Event;
use afteryou_transfer::job::{get, send, Dial};
use afteryou_transfer::wire::{Answer, FromSink, FromSource, Greeting, How, Why, MAX_PATH, MAX_UNSETTLED};
use afteryou_transfer::Error;
use bytes::BytesMut;
use quinn::{Connection, ConnectionError, RecvStream, SendStream};
use serde::Serialize;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::timeout;

const SOON: Duration = Duration::from_secs(10);

fn bytes(message: &impl Serialize) -> BytesMut {
    let mut out = BytesMut::new();
    encode(message, &mut out).unwrap();
    out
}

fn end_of_offers() -> FromSource {
    FromSource::EndOfOffers {
        failed: Default::default(),
        skipped: Default::default(),
        extent: None,
        unmatched: Vec::new(),
    }
}

/// A peer that sends what it likes.
struct Raw {
    connection: Connection,
    send: SendStream,
    incoming: Incoming<RecvStream>,
}

impl Raw {
    /// Greets as a source, and is welcome.
    async fn source(dialer: &Arc<Dialer>) -> Raw {
        Raw::source_of(dialer, rand(), 0).await
    }

    async fn source_of(dialer: &Arc<Dialer>, job: [u8; 16], lane: u16) -> Raw {
        let connection = Dial::dial(&**dialer).await.unwrap();
        let (mut send, receive) = connection.open_bi().await.unwrap();
        send.write_all(&bytes(&Greeting::Push { job, lane, wishes: Default::default() })).await.unwrap();
        let mut incoming = Incoming::new(receive);
        assert!(matches!(incoming.next().await.unwrap(), Some(Answer::Welcome { .. })));
        Raw { connection, send, incoming }
    }

    async fn say(&mut self, message: &FromSource) {
        // A connection that was closed meanwhile is what some of the tests wait for.
        _ = self.send.write_all(&bytes(message)).await;
    }

    async fn offer(&mut self, id: u64, entry: afteryou_transfer::entry::Entry) {
        self.say(&FromSource::Offer { id, entry }).await;
    }

    /// Returns the next answer that is about an offer.
    async fn answer(&mut self) -> FromSink {
        loop {
            let answer = timeout(SOON, self.incoming.next()).await.expect("an answer");
            match answer.unwrap().expect("the stream goes on") {
                FromSink::Pace { .. } => {}
                answer => return answer,
            }
        }
    }

    async fn data(&self, id: u64, encoded: &[u8]) {
        if let Some(mut stream) = self.some_data(id, encoded).await {
            _ = stream.finish();
        }
    }

    /// Sends data, of which more may come. The connection may be closed before, or half-way.
    async fn some_data(&self, id: u64, encoded: &[u8]) -> Option<SendStream> {
        let mut stream = self.connection.open_uni().await.ok()?;
        _ = stream.write_all(&id.to_be_bytes()).await;
        _ = stream.write_all(encoded).await;
        Some(stream)
    }

    /// Returns the reason with which the peer closes.
    async fn closed(&self) -> String {
        reason(timeout(SOON, self.connection.closed()).await.expect("closed"))
    }
}

fn reason(error: ConnectionError) -> String {
    match error {
        ConnectionError::ApplicationClosed(close) => String::from_utf8(close.reason.to_vec()).unwrap(),
        other => panic!("{other}"),
    }
}

fn rand() -> [u8; 16] {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(0).to_be_bytes().repeat(2).try_into().unwrap()
}

/// A sink, a pair of directories, and proof that it still serves and that nothing is outside.
struct Victim {
    pair: Pair,
    far: Far,
}

impl Victim {
    fn new() -> Victim {
        let pair = Pair::new();
        let far = Far::receive(&pair);
        Victim { pair, far }
    }

    async fn raw(&self) -> Raw {
        Raw::source(&self.far.dialer()).await
    }

    async fn still_serves(self) {
        self.pair.write("honest", b"work");
        send(self.far.dialer(), self.pair.source(), options().1).await.unwrap();
        assert_eq!(std::fs::read(self.pair.to().join("honest")).unwrap(), b"work");
        self.pair.assert_canary();
        self.far.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_source_that_breaks_the_rules_loses_the_connection_and_is_told_why() {
    let victim = Victim::new();
    let (small, encoded) = file(b"a", b"small");

    let raw = victim.raw().await;
    raw.data(7, b"whatever").await;
    assert!(raw.closed().await.contains("not requested"));

    let mut raw = victim.raw().await;
    raw.send.write_all(&(1_u32 << 20).to_be_bytes()).await.unwrap();
    assert!(raw.closed().await.contains("longer than"));

    let mut raw = victim.raw().await;
    raw.send.write_all(&bytes(&end_of_offers())[..4]).await.unwrap();
    raw.send.finish().unwrap();
    assert!(raw.closed().await.contains("ends inside"));

    let mut raw = victim.raw().await;
    raw.send.finish().unwrap();
    assert!(raw.closed().await.contains("too early"));

    let mut raw = victim.raw().await;
    raw.offer(5, small.clone()).await;
    raw.offer(5, small.clone()).await;
    assert!(raw.closed().await.contains("ascend"));

    let mut raw = victim.raw().await;
    raw.say(&FromSource::Withdrawn { id: 3, reason: String::new() }).await;
    assert!(raw.closed().await.contains("withdrawn"));

    let mut raw = victim.raw().await;
    raw.offer(0, small.clone()).await;
    raw.say(&end_of_offers()).await;
    raw.offer(1, small.clone()).await;
    assert!(raw.closed().await.contains("after the last"));

    let mut raw = victim.raw().await;
    raw.offer(0, small.clone()).await;
    assert!(matches!(raw.answer().await, FromSink::Want { id: 0, .. }));
    raw.data(0, &[&encoded[..], b"and more"].concat()).await;
    assert!(raw.closed().await.contains("more than was requested"));

    let mut raw = victim.raw().await;
    let (large, encoded) = file(b"large", &content(300_000, 1));
    raw.offer(0, large).await;
    assert!(matches!(raw.answer().await, FromSink::Want { id: 0, .. }));
    raw.data(0, &[&encoded[..], &content(300_000, 2)].concat()).await;
    assert!(raw.closed().await.contains("more than was requested"));

    let mut raw = victim.raw().await;
    raw.offer(0, file(b"twice", &content(300_000, 3)).0).await;
    assert!(matches!(raw.answer().await, FromSink::Want { id: 0, .. }));
    let mut first = raw.connection.open_uni().await.unwrap();
    first.write_all(&0_u64.to_be_bytes()).await.unwrap();
    raw.data(0, b"").await;
    assert!(raw.closed().await.contains("not requested"));

    victim.still_serves().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn data_that_does_not_verify_is_not_stored_and_others_are() {
    let victim = Victim::new();
    let mut raw = victim.raw().await;
    for (id, name, len) in [(0, &b"small"[..], 5_000), (1, b"large", 500_000), (2, b"short", 500_000)] {
        let (entry, mut encoded) = file(name, &content(len, id));
        raw.offer(id, entry).await;
        assert!(matches!(raw.answer().await, FromSink::Want { .. }));
        match id {
            2 => encoded.truncate(400_000),
            _ => encoded[len / 2] ^= 1,
        }
        raw.data(id, &encoded).await;
        let answer = raw.answer().await;
        match id {
            2 => assert!(matches!(answer, FromSink::Failed { why: Why::Io(_), .. }), "{answer:?}"),
            _ => assert!(matches!(answer, FromSink::Failed { why: Why::Mismatch, .. }), "{answer:?}"),
        }
    }
    let (entry, encoded) = file(b"good", b"good");
    raw.offer(3, entry).await;
    assert!(matches!(raw.answer().await, FromSink::Want { .. }));
    raw.data(3, &encoded).await;
    assert_eq!(raw.answer().await, FromSink::Stored { id: 3 });
    raw.say(&end_of_offers()).await;
    assert_eq!(raw.answer().await, FromSink::Finished);
    for name in ["small", "large", "short"] {
        assert!(!victim.pair.to().join(name).exists());
    }
    drop(raw);
    victim.still_serves().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_came_is_on_the_disk_but_for_the_group_under_way() {
    let victim = Victim::new();
    let mut raw = victim.raw().await;
    let mut streams = Vec::new();
    for (id, size) in [20_000, 65_536, 100_000, 500_000].into_iter().enumerate() {
        let (entry, encoded) = file(format!("{size}").as_bytes(), &content(size, id as u64));
        raw.offer(id as u64, entry).await;
        assert!(matches!(raw.answer().await, FromSink::Want { .. }));
        let cut = encoded.len() - 1000;
        streams.push(raw.some_data(id as u64, &encoded[..cut]).await.expect("goes out"));
        let hashes = encoded.len() - size;
        let least = cut - hashes - GROUP_BYTES as usize;
        // The source falls silent, and this machine may lose its power at any time.
        let written = async {
            while longest_partial(&victim.pair) < least {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        let longest = || longest_partial(&victim.pair);
        timeout(SOON, written).await.unwrap_or_else(|_| panic!("{} of {cut} bytes are written", longest()));
    }
    raw.connection.close(0u32.into(), b"");
    victim.still_serves().await;
}

/// Returns the bytes of the longest partial file.
fn longest_partial(pair: &Pair) -> usize {
    let Ok(entries) = std::fs::read_dir(pair.to().join(".afteryou")) else { return 0 };
    let parts = entries.flatten().filter(|entry| entry.path().extension().is_some_and(|end| end == "part"));
    parts.map(|entry| entry.metadata().map_or(0, |metadata| metadata.len() as usize)).max().unwrap_or(0)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn paths_that_lead_outside_are_refused() {
    let victim = Victim::new();
    let mut raw = victim.raw().await;
    let names: [&[u8]; 9] =
        [b"../evil", b"/etc/evil", b"a/../../evil", b"..", b".", b"", b"a//b", b".afteryou/x", b"a\0b"];
    let mut id = 0;
    for name in names {
        for entry in [file(name, b"evil").0, link(name, b"elsewhere"), entry(name, Kind::Directory)] {
            raw.offer(id, entry).await;
            let answer = raw.answer().await;
            assert!(matches!(answer, FromSink::Failed { why: Why::Refused(_), .. }), "{name:?}: {answer:?}");
            id += 1;
        }
    }
    raw.offer(id, link(b"out", b"../beside")).await;
    assert!(matches!(raw.answer().await, FromSink::Failed { .. }));
    drop(raw);
    victim.still_serves().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_withdrawn_offer_is_settled_once_wherever_it_stands() {
    let victim = Victim::new();
    let mut raw = victim.raw().await;
    for id in 0..200 {
        let (entry, encoded) = file(format!("{id}").as_bytes(), &content(70_000, id));
        raw.offer(id, entry).await;
        match id % 4 {
            0 => {}
            step => {
                assert!(matches!(raw.answer().await, FromSink::Want { .. }));
                if step > 1 {
                    let mut stream = raw.connection.open_uni().await.unwrap();
                    stream.write_all(&id.to_be_bytes()).await.unwrap();
                    stream.write_all(&encoded[..20_000]).await.unwrap();
                    if step > 2 {
                        tokio::time::sleep(Duration::from_millis(3)).await;
                    }
                    stream.reset(0_u32.into()).unwrap();
                }
            }
        }
        raw.say(&FromSource::Withdrawn { id, reason: "changed".into() }).await;
        loop {
            match raw.answer().await {
                FromSink::Want { .. } => {}
                FromSink::Failed { id: settled, why: Why::Withdrawn } if settled == id => break,
                other => panic!("{other:?}"),
            }
        }
    }
    raw.say(&end_of_offers()).await;
    assert_eq!(raw.answer().await, FromSink::Finished);
    drop(raw);
    victim.still_serves().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn mutated_control_bytes_end_in_an_error_or_in_an_answer() {
    let victim = Victim::new();
    let (entry, encoded) = file(b"file", &content(40_000, 1));
    let script = [
        bytes(&FromSource::Plan { entries: 1, files: 1, bytes: 40_000, complete: true }),
        bytes(&FromSource::Offer { id: 0, entry }),
        bytes(&FromSource::Withdrawn { id: 0, reason: "no".into() }),
        bytes(&end_of_offers()),
    ]
    .concat();
    let dialer = victim.far.dialer();
    let mut random = 1_u64;
    let mut next = move |below: usize| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (random >> 33) as usize % below
    };
    for _ in 0..100 {
        let mut raw = Raw::source(&dialer).await;
        let mut mutated = script.clone();
        for _ in 0..1 + next(3) {
            let at = next(mutated.len());
            mutated[at] ^= 1 << next(8);
        }
        mutated.truncate(1 + next(mutated.len() * 2));
        _ = raw.send.write_all(&mutated).await;
        raw.data(0, &encoded).await;
        _ = raw.send.finish();
        let end = timeout(SOON, raw.connection.closed()).await.expect("it comes to an end");
        assert!(matches!(end, ConnectionError::ApplicationClosed(_)), "{end}");
    }
    victim.still_serves().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_greeting_that_is_none_is_refused() {
    let victim = Victim::new();
    let dialer = victim.far.dialer();
    for words in [&b"GET / HTTP/1.1\r\n\r\n"[..], &[0, 0, 0, 1, 9], &[0, 0, 0, 0]] {
        let connection = Dial::dial(&*dialer).await.unwrap();
        let (mut send, _receive) = connection.open_bi().await.unwrap();
        send.write_all(words).await.unwrap();
        send.finish().unwrap();
        let reason = reason(timeout(SOON, connection.closed()).await.unwrap());
        assert!(reason.contains("control message"), "{reason}");
    }
    victim.still_serves().await;
}

/// Runs a sink that is welcome and then sends `words`; returns what `send` makes of it.
async fn lying_sink(words: Vec<FromSink>) -> Result<afteryou_transfer::job::Summary, Error> {
    let pair = Pair::new();
    pair.write("file", &content(40_000, 1));
    let far = super::support::RawFar::start(move |connection| {
        let words = words.clone();
        async move {
            let Ok((mut send, receive)) = connection.accept_bi().await else { return };
            let mut incoming = Incoming::new(receive);
            _ = incoming.next::<Greeting>().await;
            _ = send.write_all(&bytes(&Answer::Welcome { sink: Vec::new() })).await;
            loop {
                match incoming.next::<FromSource>().await {
                    Ok(Some(FromSource::Offer { .. })) => break,
                    Ok(Some(_)) => {}
                    _ => return,
                }
            }
            // At once: nothing happens at the source between two of them.
            let words: Vec<u8> = words.iter().flat_map(bytes).collect();
            _ = send.write_all(&words).await;
            connection.closed().await;
        }
    });
    timeout(SOON, send(far.dialer(), pair.source(), options().1)).await.expect("ends")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sink_that_breaks_the_rules_ends_the_job_with_a_clear_error() {
    let want = |id, ranges: &[(u64, u64)]| FromSink::Want { id, ranges: Wanted(ranges.to_vec()) };
    let describe = FromSink::Describe { id: 0, how: How::Groups, ranges: Wanted(vec![(0, 40_000)]) };
    for (words, expected) in [
        (vec![want(5, &[(0, 40_000)])], "not offered"),
        (vec![want(0, &[(0, 50_000)])], "does not have"),
        (vec![want(0, &[(3, 40_000)])], "does not have"),
        (vec![want(0, &[(0, 40_000)]), want(0, &[(0, 40_000)])], "twice"),
        // Allowed is a request before the source has seen that all of the description is sent: the sink may have read it.
        (
            vec![describe, want(0, &[(0, 40_000)]), FromSink::Stored { id: 0 }, FromSink::Have { id: 9 }],
            "not asked",
        ),
        (vec![FromSink::Later { id: 0 }], "has to settle"),
        (vec![FromSink::Continue], "did not get"),
        (vec![FromSink::Have { id: 9 }], "not asked"),
        (vec![FromSink::Finished], "finished before"),
    ] {
        let result = lying_sink(words).await;
        let Err(Error::Protocol(what)) = &result else { panic!("{expected}: {result:?}") };
        assert!(what.contains(expected), "{what}");
    }
    let result = lying_sink(vec![FromSink::Failed { id: 0, why: Why::DiskFull }]).await;
    assert!(matches!(result, Err(Error::DiskFull)), "{result:?}");
}

/// Runs a source that is asked and then offers `entries`; returns what `get` makes of it.
async fn lying_source(
    path: &[u8],
    pair: &Pair,
    entries: Vec<Entry>,
) -> Result<afteryou_transfer::job::Summary, Error> {
    let far = super::support::RawFar::start(move |connection| {
        let entries = entries.clone();
        async move {
            let Ok((mut send, receive)) = connection.accept_bi().await else { return };
            let mut incoming = Incoming::new(receive);
            _ = incoming.next::<Greeting>().await;
            _ = send.write_all(&bytes(&Answer::Welcome { sink: Vec::new() })).await;
            for (id, entry) in (0..).zip(entries) {
                _ = send.write_all(&bytes(&FromSource::Offer { id, entry })).await;
            }
            _ = send.write_all(&bytes(&end_of_offers())).await;
            while !matches!(incoming.next().await, Ok(Some(FromSink::Finished)) | Ok(None) | Err(_)) {}
        }
    });
    timeout(SOON, get(far.dialer(), path.to_vec(), pair.store(), options().1)).await.expect("ends")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_source_can_only_name_what_was_asked_for() {
    let entries: Vec<Entry> = [&b".bashrc"[..], b"sub", b"sub/inner", b"subway", b"photos/sub", b"photos"]
        .map(|path| entry(path, Kind::Directory))
        .into();
    for path in [&b"photos/sub"[..], b"sub", b"sub//"] {
        let pair = Pair::new();
        let summary = lying_source(path, &pair, entries.clone()).await.unwrap();
        assert_eq!((summary.stored, summary.failed), (2, 4));
        assert_eq!(names(&pair.to()), ["sub"]);
    }
    let pair = Pair::new();
    let summary = lying_source(b"", &pair, entries).await.unwrap();
    assert_eq!((summary.stored, summary.failed), (6, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_that_comes_after_its_job_has_finished_begins_no_other() {
    let victim = Victim::new();
    let job = rand();
    for lane in 0..3 {
        let mut raw = Raw::source_of(&victim.far.dialer(), job, lane).await;
        if lane == 0 {
            raw.offer(0, entry(b"directory", Kind::Directory)).await;
            assert_eq!(raw.answer().await, FromSink::Stored { id: 0 });
        }
        raw.say(&end_of_offers()).await;
        assert_eq!(raw.answer().await, FromSink::Finished);
        raw.connection.close(1_u32.into(), b"");
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
    let events = victim.far.events.all();
    let finished = |event: &&Event| matches!(event, Event::Finished(_));
    assert_eq!(events.iter().filter(finished).count(), 1);
    // Whoever shows them would think of another job.
    assert!(matches!(events.last(), Some(Event::Finished(_))), "{events:?}");
    assert_eq!(victim.far.events.connections(), 1);
    assert_eq!(victim.far.stop().await.stored, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn paths_and_targets_longer_than_any_disk_takes_are_refused() {
    let victim = Victim::new();
    let mut raw = victim.raw().await;
    let long = vec![b'x'; MAX_PATH + 1];
    for (id, entry) in
        [(0, entry(&long, Kind::Directory)), (1, link(b"link", &long)), (2, file(&long, b"").0)]
    {
        raw.offer(id, entry).await;
        let answer = raw.answer().await;
        let FromSink::Failed { why: Why::Refused(reason), .. } = &answer else { panic!("{answer:?}") };
        assert!(reason.contains("longer than"), "{reason}");
    }
    drop(raw);
    victim.still_serves().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_never_greets_does_not_delay_the_end() {
    let victim = Victim::new();
    let connection = Dial::dial(&*victim.far.dialer()).await.unwrap();
    tokio::time::sleep(Duration::from_millis(200)).await;
    let start = std::time::Instant::now();
    victim.far.stop().await;
    assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
    assert!(matches!(connection.closed().await, ConnectionError::ApplicationClosed(_)));
}
