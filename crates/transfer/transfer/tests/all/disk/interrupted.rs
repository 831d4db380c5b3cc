//! Receptions that end too early, meet each other, or find something else than what they left.

use super::common::{content, encode, file, move_all, names, single, Outcome, Pair};
use afteryou_transfer::entry::{Kind, GROUP_BYTES};
use afteryou_transfer::source::{EncodeError, Item, Prepared, Source, SourceOptions};
use afteryou_transfer::store::{Arriving, Kept, Reception, Verdict};
use afteryou_transfer::wire::Why;
use proptest::prelude::*;
use std::cell::Cell;
use std::io::{self, Read, Write};
use std::time::Duration;

const GROUP: usize = GROUP_BYTES as usize;

/// How a reception comes to its end.
#[derive(Clone, Debug)]
enum Cut {
    /// The stream ends.
    End,
    /// The stream fails.
    Fails,
    /// A group was not written to its end, as after a kill.
    Torn(u16),
    /// A byte on the disk is not what was written.
    Spoilt(u32),
    /// A byte of the tree is not.
    TreeSpoilt(u32),
    /// The tree is gone.
    TreeGone,
}

fn cut() -> impl Strategy<Value = Cut> {
    prop_oneof![
        4 => Just(Cut::End),
        4 => Just(Cut::Fails),
        3 => any::<u16>().prop_map(Cut::Torn),
        2 => any::<u32>().prop_map(Cut::Spoilt),
        1 => any::<u32>().prop_map(Cut::TreeSpoilt),
        1 => Just(Cut::TreeGone),
    ]
}

/// Fails where a plain slice would end.
struct Failing<'a>(&'a [u8]);

impl Read for Failing<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.0.is_empty() {
            true => Err(io::Error::new(io::ErrorKind::ConnectionReset, "reset by peer")),
            false => self.0.read(buffer),
        }
    }
}

/// Comes in bursts, and calls `before` ahead of each.
struct Bursts<'a, F> {
    left: &'a [u8],
    at_hand: usize,
    burst: usize,
    before: F,
}

impl<F: FnMut()> Read for Bursts<'_, F> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        (self.before)();
        self.at_hand = self.burst;
        Ok(self.read_at_hand(buffer)?.unwrap_or(0))
    }
}

impl<F: FnMut()> Arriving for Bursts<'_, F> {
    fn read_at_hand(&mut self, buffer: &mut [u8]) -> io::Result<Option<usize>> {
        let bytes = self.at_hand.min(buffer.len()).min(self.left.len());
        if bytes == 0 {
            return Ok(None);
        }
        self.at_hand -= bytes;
        self.left.read_exact(&mut buffer[..bytes]).map(|()| Some(bytes))
    }
}

fn spoil(path: &std::path::Path, at: u32) {
    let Ok(mut bytes) = std::fs::read(path) else { return };
    if bytes.is_empty() {
        return;
    }
    let at = at as usize % bytes.len();
    bytes[at] ^= 0x55;
    std::fs::write(path, bytes).expect("writes");
}

/// Returns what receives the rest; `None`: it is there. Nobody else receives it, so it is never busy.
fn lacking(pair: &Pair, prepared: &Prepared) -> Option<Reception> {
    match pair.store().consider(prepared.entry()) {
        Ok(Verdict::Have(Kept::All)) => None,
        Ok(Verdict::Want(reception)) => Some(reception),
        other => panic!("{other:?}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn only_what_was_not_verified_is_received_again(
        size in 0..40 * GROUP,
        cuts in prop::collection::vec((0.0..1.0, cut()), 0..8),
    ) {
        let pair = Pair::new();
        let bytes = content(size, size as u64);
        pair.write("file", &bytes);
        let prepared = single(&pair.source());
        let (mut received, mut bound, mut anything) = (0, 0, false);
        for (fraction, cut) in cuts {
            let Some(reception) = lacking(&pair, &prepared) else { break };
            let encoded = encode(&prepared, reception.wanted());
            let end = (encoded.len() as f64 * fraction) as usize;
            let mut count = |_, bytes| received += bytes;
            let result = match cut {
                Cut::Fails => reception.receive(Failing(&encoded[..end]), &mut count),
                // Some groups at a time, or less than one.
                Cut::End => {
                    let burst = 1 + size * 7919 % (20 * GROUP);
                    let left = &encoded[..end];
                    reception.receive_from(Bursts { left, at_hand: 0, burst, before: || {} }, &mut count)
                }
                _ => reception.receive(&encoded[..end], &mut count),
            };
            prop_assert_eq!(result.is_ok(), end == encoded.len());
            let state = pair.to().join(".afteryou");
            let Some(part) = pair.leftovers().into_iter().find(|name| name.ends_with(".part")) else { continue };
            let tree = state.join(part.replace(".part", ".tree"));
            let part = state.join(part);
            match cut {
                Cut::End | Cut::Fails => {}
                Cut::Torn(by) => {
                    let length = std::fs::metadata(&part).expect("metadata").len();
                    let file = std::fs::File::options().write(true).open(&part).expect("opens");
                    file.set_len(length - u64::from(by) % GROUP_BYTES.min(length + 1)).expect("truncates");
                    bound += GROUP_BYTES;
                }
                Cut::Spoilt(at) => {
                    spoil(&part, at);
                    bound += GROUP_BYTES;
                }
                Cut::TreeSpoilt(at) => {
                    spoil(&tree, at);
                    anything = true;
                }
                Cut::TreeGone => {
                    _ = std::fs::remove_file(&tree);
                    anything = true;
                }
            }
        }
        if let Some(reception) = lacking(&pair, &prepared) {
            let encoded = encode(&prepared, reception.wanted());
            let result = reception.receive(&encoded[..], &mut |_, bytes| received += bytes);
            prop_assert_eq!(result, Ok(Kept::All));
        }
        let twice = received - size as u64;
        prop_assert!(anything || twice <= bound, "{} bytes came twice, allowed are {}", twice, bound);
        prop_assert!(std::fs::read(pair.to().join("file")).expect("it is there") == bytes);
        prop_assert_eq!(pair.leftovers(), Vec::<String>::new());
    }
}

#[test]
fn a_whole_file_without_its_name_is_not_received_again() {
    // As a kill just before the last step leaves it, and one before the tree was removed.
    for without_tree in [true, false] {
        let pair = Pair::new();
        let bytes = content(9 * GROUP + 1, 1);
        let (offered, encoded) = file(b"file", &bytes);
        let Ok(Verdict::Want(reception)) = pair.store().consider(&offered) else { panic!("wanted") };
        // A directory of its name keeps the file from getting it.
        std::fs::create_dir(pair.to().join("file")).expect("a directory");
        assert!(matches!(reception.receive(&encoded[..], &mut |_, _| {}), Err(Why::Occupied(_))));
        std::fs::remove_dir(pair.to().join("file")).expect("removes");
        let tree = pair.leftovers().into_iter().find(|name| name.ends_with(".tree")).expect("a tree");
        if without_tree {
            std::fs::remove_file(pair.to().join(".afteryou").join(tree)).expect("removes");
        }
        assert!(matches!(pair.store().consider(&offered), Ok(Verdict::Made(Kept::All))));
        assert!(std::fs::read(pair.to().join("file")).expect("it is there") == bytes);
        assert!(!pair.to().join(".afteryou").exists());
    }
}

#[test]
fn a_second_sender_of_the_same_file_waits_and_then_finds_it_there() {
    let pair = Pair::new();
    let bytes = content(9 * GROUP, 1);
    let (offered, encoded) = file(b"file", &bytes);
    // Each in a store of its own, as in two processes.
    let Ok(Verdict::Want(first)) = pair.store().consider(&offered) else { panic!("wanted") };
    assert!(matches!(pair.store().consider(&offered), Ok(Verdict::Busy)));
    first.receive(&encoded[..], &mut |_, _| {}).expect("stored");
    assert!(matches!(pair.store().consider(&offered), Ok(Verdict::Have(Kept::All))));
}

#[test]
fn two_contents_for_one_name_end_with_one_of_them_whole() {
    let pair = Pair::new();
    let (a, b) = (content(9 * GROUP, 1), content(7 * GROUP, 2));
    let ((offered_a, encoded_a), (offered_b, encoded_b)) = (file(b"file", &a), file(b"file", &b));
    let Ok(Verdict::Want(first)) = pair.store().consider(&offered_a) else { panic!("wanted") };
    let Ok(Verdict::Want(second)) = pair.store().consider(&offered_b) else { panic!("wanted") };
    std::thread::scope(|scope| {
        scope.spawn(|| first.receive(&encoded_a[..], &mut |_, _| {}).expect("stored"));
        scope.spawn(|| second.receive(&encoded_b[..], &mut |_, _| {}).expect("stored"));
    });
    let there = std::fs::read(pair.to().join("file")).expect("it is there");
    assert!(there == a || there == b);
    assert_eq!(pair.leftovers(), Vec::<String>::new());
}

#[test]
fn partial_files_of_older_contents_go_when_the_file_is_there() {
    let pair = Pair::new();
    let (offered, encoded) = file(b"file", &content(9 * GROUP, 1));
    let Ok(Verdict::Want(reception)) = pair.store().consider(&offered) else { panic!("wanted") };
    reception.receive(&encoded[..5 * GROUP], &mut |_, _| {}).expect_err("cut short");
    let (other, encoded_other) = file(b"other", &content(9 * GROUP, 3));
    let Ok(Verdict::Want(reception)) = pair.store().consider(&other) else { panic!("wanted") };
    reception.receive(&encoded_other[..5 * GROUP], &mut |_, _| {}).expect_err("cut short");
    assert_eq!(pair.leftovers().len(), 4);
    let (newer, encoded) = file(b"file", &content(4 * GROUP, 2));
    let Ok(Verdict::Want(reception)) = pair.store().consider(&newer) else { panic!("wanted") };
    reception.receive(&encoded[..], &mut |_, _| {}).expect("stored");
    assert_eq!(pair.leftovers().len(), 2, "the other file's stay");
}

#[test]
fn many_sessions_race_for_the_same_files_and_each_file_is_received_once() {
    let pair = Pair::new();
    let files: Vec<_> =
        (0..20).map(|n| file(format!("d/{n}").as_bytes(), &content(5 * GROUP + n, n as u64))).collect();
    let received = std::sync::atomic::AtomicU64::new(0);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let store = pair.store();
                for (offered, encoded) in &files {
                    loop {
                        match store.consider(offered).expect("a verdict") {
                            Verdict::Have(_) => break,
                            Verdict::Busy => std::thread::yield_now(),
                            Verdict::Want(reception) => {
                                let mut count = |_, bytes| {
                                    received.fetch_add(bytes, std::sync::atomic::Ordering::Relaxed);
                                };
                                reception.receive(&encoded[..], &mut count).expect("stored");
                            }
                            other => panic!("{other:?}"),
                        }
                    }
                }
            });
        }
    });
    let whole: u64 = (0..20).map(|n| 5 * GROUP_BYTES + n).sum();
    assert_eq!(received.into_inner(), whole);
    assert_eq!(names(&pair.to()), ["d"]);
}

#[test]
fn a_source_that_changed_says_so_and_can_be_prepared_anew() {
    let pair = Pair::new();
    pair.write("file", &content(20 * GROUP, 1));
    let prepared = single(&pair.source());
    let path = pair.from().join("file");
    let time = std::fs::metadata(&path).expect("metadata").modified().expect("a time");
    let whole = afteryou_transfer::entry::Wanted(vec![(0, 20 * GROUP_BYTES)]);

    // Same size and time: the kernel's own time of the change shows it.
    let mut bytes = content(20 * GROUP, 1);
    bytes[10 * GROUP] ^= 1;
    std::fs::write(&path, &bytes).expect("writes");
    std::fs::File::options().write(true).open(&path).expect("opens").set_modified(time).expect("a time");
    let mut out = Vec::new();
    assert!(matches!(prepared.encode(&whole, &mut out), Err(EncodeError::Changed)));
    assert!(out.is_empty());

    let Item::Entry(prepared) = prepared.again() else { panic!("prepared") };
    prepared.encode(&whole, io::sink()).expect("encodes");

    pair.write("file", &content(21 * GROUP, 1));
    let mut out = Vec::new();
    assert!(matches!(prepared.encode(&whole, &mut out), Err(EncodeError::Changed)));
    assert!(out.is_empty());
    let Item::Entry(prepared) = prepared.again() else { panic!("prepared") };
    assert!(matches!(prepared.encode(&whole, io::sink()), Ok(())));

    std::fs::remove_file(&path).expect("removes");
    assert!(matches!(prepared.encode(&whole, io::sink()), Err(EncodeError::Gone)));
    assert!(matches!(prepared.again(), Item::Failed { .. }));
}

#[test]
fn a_file_that_is_being_written_is_prepared_again_when_it_is_whole() {
    let pair = Pair::new();
    pair.write("file", &content(20 * GROUP, 1));
    let prepared = single(&pair.source());
    let bytes = content(30 * GROUP, 2);
    // As whoever writes it anew begins: without its content.
    pair.write("file", b"");
    let again = std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut file =
                std::fs::File::options().append(true).open(pair.from().join("file")).expect("opens");
            for part in bytes.chunks(GROUP) {
                std::thread::sleep(Duration::from_millis(10));
                file.write_all(part).expect("writes");
            }
        });
        prepared.again()
    });
    let Item::Entry(prepared) = again else { panic!("{again:?}") };
    let Kind::File { size, root } = prepared.entry().kind else { panic!("a file") };
    assert_eq!((size, root), (bytes.len() as u64, *blake3::hash(&bytes).as_bytes()));
}

#[test]
fn a_writer_that_fails_is_not_taken_for_a_file_that_fails() {
    struct Full(usize);
    impl io::Write for Full {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let count = bytes.len().min(self.0);
            self.0 -= count;
            match count {
                0 => Err(io::Error::new(io::ErrorKind::ConnectionReset, "stopped")),
                _ => Ok(count),
            }
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let pair = Pair::new();
    pair.write("file", &content(3 * GROUP, 1));
    let prepared = single(&pair.source());
    let whole = afteryou_transfer::entry::Wanted(vec![(0, 3 * GROUP_BYTES)]);
    for room in [0, 10, 64, 200, 2 * GROUP] {
        let result = prepared.encode(&whole, Full(room));
        assert!(
            matches!(&result, Err(EncodeError::Out(error)) if error.to_string() == "stopped"),
            "{result:?}"
        );
    }
    let beyond = afteryou_transfer::entry::Wanted(vec![(0, 4 * GROUP_BYTES)]);
    assert!(matches!(prepared.encode(&beyond, io::sink()), Err(EncodeError::Ranges)));
}

#[test]
fn what_has_verified_is_on_the_disk_before_the_sink_waits_for_more() {
    let pair = Pair::new();
    let bytes = content(50 * GROUP + 5, 1);
    pair.write("file", &bytes);
    let prepared = single(&pair.source());
    for burst in [1000, GROUP, 5 * GROUP, 30 * GROUP, 100 * GROUP] {
        let store = pair.store();
        let Ok(Verdict::Want(reception)) = store.consider(prepared.entry()) else { panic!("wanted") };
        let encoded = encode(&prepared, reception.wanted());
        let (verified, waits) = (Cell::new(0), Cell::new(0));
        let before = || {
            waits.set(waits.get() + 1);
            let there = names(&pair.to().join(".afteryou"));
            let part = there.iter().find(|name| name.ends_with(".part")).expect("a partial file");
            let part = std::fs::read(pair.to().join(".afteryou").join(part)).expect("reads");
            assert_eq!(part.len() as u64, verified.get(), "{burst}");
            assert!(bytes.starts_with(&part));
        };
        let arriving = Bursts { left: &encoded, at_hand: 0, burst, before };
        let mut on_group = |_, bytes| verified.set(verified.get() + bytes);
        reception.receive_from(arriving, &mut on_group).expect("stored");
        assert!(waits.get() >= encoded.len().div_ceil(burst), "{waits:?}");
        pair.assert_same();
        std::fs::remove_file(pair.to().join("file")).expect("removes");
    }
}

#[test]
fn a_file_that_changes_between_two_runs_ends_as_the_new_one() {
    let pair = Pair::new();
    pair.write("file", &content(9 * GROUP, 1));
    let prepared = single(&pair.source());
    let Ok(Verdict::Want(reception)) = pair.store().consider(prepared.entry()) else { panic!("wanted") };
    let encoded = encode(&prepared, reception.wanted());
    reception.receive(&encoded[..4 * GROUP], &mut |_, _| {}).expect_err("cut short");
    pair.write("file", &content(9 * GROUP, 2));
    let source = Source::below(&pair.from(), b"", SourceOptions::default()).expect("a source");
    assert_eq!(move_all(&source, &pair.store()), [("file".into(), Outcome::Stored)]);
    pair.assert_same();
}

#[test]
fn files_that_are_begun_and_never_ended_leave_so_many_partial_ones() {
    let pair = Pair::new();
    let store = pair.store();
    let (entry, encoded) = super::common::file(b"", &content(70_000, 1));
    for n in 0..3000 {
        let entry = afteryou_transfer::entry::Entry {
            path: afteryou_transfer::entry::EntryPath(format!("d/{n}").into_bytes()),
            ..entry.clone()
        };
        let Ok(Verdict::Want(reception)) = store.consider(&entry) else { panic!("it is not there") };
        assert!(reception.receive(&encoded[..40_000], &mut |_, _| {}).is_err());
    }
    let parts = || pair.leftovers().iter().filter(|name| name.ends_with(".part")).count() as u64;
    assert!((1024..=1281).contains(&parts()), "{}", parts());
    let abandoned = store.abandoned();
    assert!(abandoned.files == parts() && abandoned.bytes >= 16_384 * parts(), "{abandoned:?}");
}
