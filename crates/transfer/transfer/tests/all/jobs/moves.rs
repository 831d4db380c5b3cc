//! Jobs on a path without trouble.

use super::support::{client_endpoint, options, Events, Far, Link};
use crate::disk::common::{content, names, Pair};
use afteryou_transfer::event::{Event, Outcome};
use afteryou_transfer::job::{
    get, probe, send, Arrival, Dial, JobOptions, ListenOptions, Outgoing, Service, Summary,
};
use afteryou_transfer::source::{Source, SourceOptions};
use afteryou_transfer::wire::Answer;
use afteryou_transfer::Error;
use std::os::unix::fs::{symlink, FileExt};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Makes a bit of everything.
fn tree(pair: &Pair) {
    pair.write("empty", b"");
    pair.write("one group", &content(16 * 1024, 1));
    pair.write("deep/er/and deeper/odd", &content(100_001, 2));
    pair.write("deep/large", &content(3_000_000, 3));
    pair.write("deep/\u{fc}", b"not ASCII");
    std::fs::create_dir_all(pair.from().join("nothing/in here")).unwrap();
    symlink("deep/large", pair.from().join("link")).unwrap();
}

/// Returns the tests' directories, which arrive as their contents.
fn all(pair: &Pair) -> Source {
    pair.source()
}

async fn push(pair: &Pair, options: JobOptions) -> Summary {
    let far = Far::receive(pair);
    let summary = send(far.dialer(), all(pair), options).await.unwrap();
    assert_eq!(far.stop().await, summary);
    summary
}

async fn pull(pair: &Pair, options: JobOptions) -> Summary {
    let far = Far::serve(pair);
    let summary = get(far.dialer(), Vec::new(), pair.store(), options).await.unwrap();
    far.stop().await;
    summary
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tree_of_every_kind_is_pushed() {
    let pair = Pair::new();
    tree(&pair);
    let (events, options) = options();
    let summary = push(&pair, options).await;
    pair.assert_same();
    assert_eq!((summary.failed, summary.skipped), (0, 0));
    assert_eq!(summary.bytes_moved, 16 * 1024 + 100_001 + 3_000_000 + 9);
    check_events(&events);
    assert!(pair.leftovers().is_empty(), "{:?}", pair.leftovers());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tree_of_every_kind_is_pulled() {
    let pair = Pair::new();
    tree(&pair);
    let (events, options) = options();
    let summary = pull(&pair, options).await;
    pair.assert_same();
    assert_eq!(summary.bytes_moved, 16 * 1024 + 100_001 + 3_000_000 + 9);
    check_events(&events);
}

/// Checks for a plan, progress that ends with everything, and the end.
fn check_events(events: &Events) {
    let events = events.all();
    let bytes = 16 * 1024 + 100_001 + 3_000_000 + 9;
    assert!(events
        .iter()
        .any(|event| matches!(event, Event::Plan { bytes: b, complete: true, .. } if *b == bytes)));
    let [.., Event::Progress { entries_done, bytes_done, .. }, Event::Finished(Summary { stored, had, failed: 0, .. })] =
        &events[..]
    else {
        panic!("{events:?}")
    };
    assert_eq!(*bytes_done, bytes);
    assert_eq!(*entries_done, stored + had);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn directories_keep_their_times() {
    let pair = Pair::new();
    tree(&pair);
    let old = std::time::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    for name in ["deep/er/and deeper", "deep/er", "deep", "nothing/in here", "nothing"] {
        std::fs::File::open(pair.from().join(name)).unwrap().set_modified(old).unwrap();
    }
    for connections in [1, 3] {
        _ = std::fs::remove_dir_all(pair.to());
        let (_, options) = options();
        push(&pair, JobOptions { connections, ..options }).await;
        for name in ["deep/er/and deeper", "deep/er", "deep", "nothing/in here", "nothing"] {
            let there = std::fs::metadata(pair.to().join(name)).unwrap().modified().unwrap();
            assert_eq!(there, old, "{name} with {connections} connections");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_there_is_not_sent_again() {
    let pair = Pair::new();
    tree(&pair);
    push(&pair, options().1).await;
    let summary = push(&pair, options().1).await;
    assert_eq!((summary.bytes_moved, summary.stored_files, summary.failed), (0, 0, 0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_thousand_small_files_arrive() {
    let pair = Pair::new();
    let mut bytes = 0;
    for i in 0..2000_usize {
        let len = 1 + i * 7919 % 10_000;
        bytes += len;
        pair.write(&format!("{}/{i}", i % 20), &content(len, i as u64));
    }
    let start = Instant::now();
    let summary = push(&pair, options().1).await;
    let seconds = start.elapsed().as_secs_f64();
    println!("2000 files, {bytes} bytes: {seconds:.2} s, {:.0} files/s", 2000.0 / seconds);
    assert_eq!((summary.stored_files, summary.bytes_moved), (2000, bytes as u64));
    pair.assert_same();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_large_file_arrives() {
    let pair = Pair::new();
    let bytes = 200_000_000;
    pair.write("large", &content(bytes, 1));
    let before = cpu_seconds();
    let start = Instant::now();
    let summary = push(&pair, options().1).await;
    let (seconds, cpu) = (start.elapsed().as_secs_f64(), cpu_seconds() - before);
    println!(
        "{bytes} bytes: {seconds:.2} s, {:.0} Mbit/s, {:.2} CPU s/GB for both sides (other tests run beside)",
        bytes as f64 * 8e-6 / seconds,
        cpu * 1e9 / bytes as f64
    );
    assert_eq!(summary.bytes_moved, bytes as u64);
    pair.assert_same();
}

/// Returns the CPU seconds of this process so far.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<_> = stat.rsplit(')').next().unwrap_or("").split_whitespace().collect();
    let ticks = |i: usize| fields.get(i).and_then(|field| field.parse::<f64>().ok()).unwrap_or(0.0);
    (ticks(11) + ticks(12)) / 100.0
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn four_connections_share_the_files() {
    let pair = Pair::new();
    for i in 0..40 {
        pair.write(&format!("d/{i}"), &content(1_000_000, i));
    }
    for pulled in [false, true] {
        _ = std::fs::remove_dir_all(pair.to());
        let (events, options) = options();
        let options = JobOptions { connections: 4, ..options };
        let summary = if pulled { pull(&pair, options).await } else { push(&pair, options).await };
        assert_eq!((summary.stored_files, summary.bytes_moved), (40, 40_000_000));
        assert_eq!(events.connections(), 4);
        pair.assert_same();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_part_of_what_is_served_can_be_pulled_and_nothing_else() {
    let pair = Pair::new();
    tree(&pair);
    let far = Far::serve(&pair);
    for path in [&b"deep/er"[..], b"deep/er//"] {
        let summary = get(far.dialer(), path.to_vec(), pair.store(), options().1).await.unwrap();
        assert_eq!((summary.failed, summary.stored + summary.had), (0, 3));
        assert_eq!(names(&pair.to().join("er")), ["and deeper"]);
    }
    for path in [&b"missing"[..], b"../beside/canary", b"/etc/passwd"] {
        let result = get(far.dialer(), path.to_vec(), pair.store(), options().1).await;
        assert!(matches!(result, Err(Error::Refused(_))), "{result:?}");
    }
    let result = send(far.dialer(), all(&pair), options().1).await;
    assert!(matches!(&result, Err(Error::Refused(reason)) if reason.contains("get")), "{result:?}");
    pair.assert_canary();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_goes_away_fails_alone() {
    let pair = Pair::new();
    for i in 0..300 {
        pair.write(&format!("{i:03}"), &content(100, i));
    }
    pair.write("zz/unreadable", b"");
    let source = all(&pair);
    let far = Far::receive(&pair);
    // A directory is where a file is to go.
    std::fs::create_dir(pair.to().join("007")).unwrap();
    let (events, options) = options();
    let summary = send(far.dialer(), source, options).await.unwrap();
    assert_eq!((summary.failed, summary.stored_files), (1, 300));
    let failed =
        |event: &Event| matches!(event, Event::File { path, outcome: Outcome::Failed(_) } if path == "007");
    assert!(events.all().iter().any(failed));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_changes_while_it_is_sent_arrives_as_it_is_then() {
    let pair = Pair::new();
    pair.write("a", &content(40_000_000, 1));
    let then = content(41_000_000, 2);
    let far = Far::receive(&pair);
    let (events, options) = options();
    // Far from its end when it changes, however long this machine takes to do it.
    options.pace.set(afteryou_transfer::pace::Owner::User, limit(4_000_000));
    let pace = options.pace.clone();
    let job = tokio::spawn(send(far.dialer(), all(&pair), options));
    events.until_moved(1_000_000).await;
    pair.write("a", &then);
    pace.set(afteryou_transfer::pace::Owner::User, afteryou_transfer::pace::Limit::NONE);
    let summary = job.await.unwrap().unwrap();
    assert_eq!((summary.stored_files, summary.failed), (1, 0));
    assert!(summary.bytes_moved >= 42_000_000, "it changed too late: {summary:?}");
    pair.assert_same();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_that_never_holds_still_fails_in_the_end() {
    let pair = Pair::new();
    pair.write("log", &content(4_000_000, 1));
    pair.write("other", b"still");
    let far = Far::receive(&pair);
    let (_, options) = options();
    options.pace.set(afteryou_transfer::pace::Owner::User, limit(4_000_000));
    let path = pair.from().join("log");
    let writer = tokio::spawn(async move {
        for i in 2.. {
            tokio::time::sleep(Duration::from_millis(200)).await;
            // In place: an empty file would be one that can be sent.
            let file = std::fs::File::options().write(true).open(&path).unwrap();
            file.write_all_at(&content(4_000_000, i), 0).unwrap();
        }
    });
    let summary = send(far.dialer(), all(&pair), options).await.unwrap();
    writer.abort();
    assert_eq!((summary.stored_files, summary.failed), (1, 1));
    assert_eq!(std::fs::read(pair.to().join("other")).unwrap(), b"still");
    assert!(!pair.to().join("log").exists());
}

pub fn limit(rate: u64) -> afteryou_transfer::pace::Limit {
    afteryou_transfer::pace::Limit { max_rate: Some(rate), paused: false }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_senders_to_one_place_do_not_disturb_each_other() {
    let pair = Pair::new();
    pair.write("same", &content(20_000_000, 1));
    let far = Far::receive(&pair);
    let slow = || {
        let (_, options) = options();
        options.pace.set(afteryou_transfer::pace::Owner::User, limit(20_000_000));
        options
    };
    let (one, two) =
        tokio::join!(send(far.dialer(), all(&pair), slow()), send(far.dialer(), all(&pair), slow()));
    let (one, two) = (one.unwrap(), two.unwrap());
    assert_eq!((one.failed, two.failed), (0, 0));
    assert_eq!((one.stored_files + two.stored_files, one.had + two.had), (1, 1));
    assert_eq!(one.bytes_moved + two.bytes_moved, 20_000_000);
    let busy = |event: &&Event| matches!(event, Event::Busy { path } if path == "same");
    assert_eq!(far.events.all().iter().filter(busy).count(), 1);
    pair.assert_same();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn listening_once_ends_after_a_job() {
    let pair = Pair::new();
    tree(&pair);
    let options_there = ListenOptions { once: true, ..ListenOptions::default() };
    let far = Far::start_with(Service::Receive(pair.store()), options_there);
    let (_, options) = options();
    let summary = send(far.dialer(), all(&pair), JobOptions { connections: 2, ..options }).await.unwrap();
    assert_eq!(far.ended().await, summary);
    pair.assert_same();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_connection_of_many_may_do_all_of_the_job() {
    let pair = Pair::new();
    pair.write("tiny", b"tiny");
    for round in 0..10 {
        let service = match round % 2 {
            0 => Service::Receive(pair.store()),
            _ => Service::Serve { dir: pair.served(), options: SourceOptions::default() },
        };
        _ = std::fs::remove_file(pair.to().join("tiny"));
        let far = Far::start_with(service, ListenOptions { once: true, ..ListenOptions::default() });
        let options = JobOptions { connections: 16, ..options().1 };
        let start = Instant::now();
        let summary = match round % 2 {
            0 => send(far.dialer(), all(&pair), options).await,
            _ => get(far.dialer(), Vec::new(), pair.store(), options).await,
        };
        let took = start.elapsed();
        assert_eq!(summary.unwrap().stored_files, 1);
        assert!(took < Duration::from_secs(3), "{took:?}");
        assert_eq!(far.ended().await.stored_files, 1);
        pair.assert_same();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_gets_is_told_what_failed_and_what_was_left_out() {
    let pair = Pair::new();
    // Long enough that the second is not read before it is gone, also on a busy machine.
    pair.write("a", &content(12_000_000, 1));
    pair.write("b", &content(12_000_000, 2));
    let _socket = std::os::unix::net::UnixListener::bind(pair.from().join("socket")).unwrap();
    let far = Far::serve(&pair);
    let (events, options) = options();
    let options = JobOptions { groups_in_events: true, ..options };
    let pace = options.pace.clone();
    pace.set(afteryou_transfer::pace::Owner::User, limit(2_000_000));
    let job = tokio::spawn(get(far.dialer(), Vec::new(), pair.store(), options));
    events.until_moved(100_000).await;
    // Either may be the first that the peer has looked for.
    let gone = if events.has_moved_of("a") { "b" } else { "a" };
    std::fs::remove_file(pair.from().join(gone)).unwrap();
    pace.set(afteryou_transfer::pace::Owner::User, afteryou_transfer::pace::Limit::NONE);
    let summary = job.await.unwrap().unwrap();
    assert_eq!((summary.stored_files, summary.failed, summary.skipped), (1, 1, 1));
    let outcomes: Vec<_> = events
        .all()
        .into_iter()
        .filter_map(|event| match event {
            Event::File { path, outcome: Outcome::Failed(reason) } => Some((path, reason)),
            Event::File { path, outcome: Outcome::Skipped(_) } => Some((path, String::new())),
            _ => None,
        })
        .collect();
    let told = |path: &str, reason: &str| (path.to_owned(), reason.to_owned());
    assert_eq!(outcomes, [told(gone, "the file is gone"), told("socket", "")]);

    // Several connections tell the same.
    let options = JobOptions { connections: 3, ..super::support::options().1 };
    let summary = get(far.dialer(), Vec::new(), pair.store(), options).await.unwrap();
    assert_eq!((summary.had, summary.failed, summary.skipped), (1, 0, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_doctor_is_told_how_packets_arrive() {
    let pair = Pair::new();
    let arrival_of = Arc::new(|_: &quinn::Connection| Arrival { tos: Some(4), ce: 1, packets: 9 });
    let options = ListenOptions { arrival_of, ..ListenOptions::default() };
    let service = Service::Serve { dir: pair.served(), options: SourceOptions::default() };
    let far = Far::start_with(service, options);
    let connection = Dial::dial(&*far.dialer()).await.unwrap();
    let answer = probe(&connection).await.unwrap();
    assert!(matches!(answer, Answer::Probed { tos: Some(4), ce: 1, packets: 9, .. }), "{answer:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_source_is_looked_through_before_its_peer_is_known_and_what_changes_meanwhile_is_sent_as_it_is_then(
) {
    let pair = Pair::new();
    tree(&pair);
    let (events, options) = options();
    let outgoing = Outgoing::begin(all(&pair), options).unwrap();
    let give_up = Instant::now() + Duration::from_secs(20);
    while !events.all().iter().any(|event| matches!(event, Event::Plan { complete: true, .. })) {
        assert!(Instant::now() < give_up, "nobody looks through the source");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    // Content that is kept in memory is sent without a look for a second.
    tokio::time::sleep(Duration::from_millis(1_100)).await;
    pair.write("one group", &content(16 * 1024, 4));
    pair.write("deep/large", &content(3_000_000, 5));
    let far = Far::receive(&pair);
    let summary = outgoing.send(far.dialer()).await.unwrap();
    assert_eq!(far.stop().await.failed, 0);
    assert_eq!((summary.failed, summary.skipped), (0, 0));
    pair.assert_same();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn small_files_fill_a_link() {
    let pair = Pair::new();
    let mut bytes = 0;
    for i in 0..400_usize {
        let len = 1_000 + i * 7919 % 99_000;
        bytes += len;
        pair.write(&format!("{}/{i}", i % 20), &content(len, i as u64));
    }
    let far = Far::receive(&pair);
    let link = Link::to(far.address, 2.5e6, Duration::from_millis(20)).await;
    let start = Instant::now();
    let dialer = far.dialer_over(link.address, &client_endpoint());
    let summary = send(dialer, all(&pair), options().1).await.unwrap();
    let seconds = start.elapsed().as_secs_f64();
    assert_eq!(summary.stored_files, 400);
    // 1200-byte packets carry some 1165 bytes of content; larger ones more.
    let share = bytes as f64 / seconds / (2.5e6 * 1165.0 / 1228.0);
    println!(
        "400 files, {bytes} bytes at 20 Mbit/s and 40 ms: {seconds:.2} s, {share:.3} of the payload capacity"
    );
    assert!(share > 0.8, "{share}");
}
