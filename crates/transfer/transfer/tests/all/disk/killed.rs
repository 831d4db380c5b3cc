//! Processes that are killed, and a disk that is full.

use super::common::{content, encode, names, single, Pair};
use crate::alone;
use afteryou_transfer::entry::GROUP_BYTES;
use afteryou_transfer::source::{Item, Source, SourceOptions};
use afteryou_transfer::store::{Store, StoreOptions, Verdict};
use afteryou_transfer::wire::Why;
use std::collections::HashMap;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const FILES: usize = 3;
const GROUPS: usize = 800;
const KILLS: usize = 20;

/// Starts the part of `test`, in a process of its own.
fn child(test: &str, base: &Path) -> Command {
    let mut command = alone::again(test, base);
    command.stdout(Stdio::null()).stdin(Stdio::null());
    command
}

/// Gives a few kilobytes at a time and takes its time.
struct Slow<'a>(&'a [u8]);

impl Read for Slow<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        std::thread::sleep(Duration::from_micros(100));
        let count = buffer.len().min(4000);
        self.0.read(&mut buffer[..count])
    }
}

fn receive_until_killed(base: &Path) {
    let source = Source::below(&base.join("from"), b"", SourceOptions::default()).expect("a source");
    let store = Store::open(&base.join("to"), StoreOptions::default()).expect("a store");
    std::thread::scope(|scope| {
        for item in source.entries() {
            let Item::Entry(prepared) = item else { continue };
            let store = &store;
            scope.spawn(move || {
                let Verdict::Want(reception) = store.consider(prepared.entry()).expect("a verdict") else {
                    return;
                };
                let encoded = encode(&prepared, reception.wanted());
                let path = base.join("log").join(prepared.entry().path.to_string());
                let mut log = std::fs::File::options().create(true).append(true).open(path).expect("a log");
                let mut note = |offset: u64, _| {
                    log.write_all(&offset.to_le_bytes()).expect("a note");
                    // Between here and the disk a kill hurts: let it hit often.
                    std::thread::sleep(Duration::from_micros(300));
                };
                reception.receive(Slow(&encoded), &mut note).expect("stored");
            });
        }
    });
}

/// Returns the groups that were noted so far.
fn noted(log: &Path) -> u64 {
    names(log)
        .iter()
        .map(|name| std::fs::metadata(log.join(name)).map_or(0, |metadata| metadata.len() / 8))
        .sum()
}

/// Returns how often each group of each file came off the wire.
fn received(log: &Path) -> HashMap<(String, u64), usize> {
    let mut counts = HashMap::new();
    for name in names(log) {
        let bytes = std::fs::read(log.join(&name)).expect("a log");
        for offset in bytes.chunks_exact(8) {
            let offset = u64::from_le_bytes(offset.try_into().expect("eight bytes"));
            *counts.entry((name.clone(), offset)).or_default() += 1;
        }
    }
    counts
}

#[test]
fn a_killed_receiver_loses_at_most_one_group_of_each_open_file() {
    if let Some(base) = alone::part() {
        return receive_until_killed(Path::new(&base));
    }
    let pair = Pair::new();
    for n in 0..FILES {
        pair.write(&format!("{n}"), &content(GROUPS * GROUP_BYTES as usize - 100 * n, n as u64));
    }
    let log = pair.base.path().join("log");
    std::fs::create_dir(&log).expect("a directory");
    let start = || -> Child {
        child("disk::killed::a_killed_receiver_loses_at_most_one_group_of_each_open_file", pair.base.path())
            .spawn()
            .expect("a process")
    };
    let mut kills = 0;
    for n in 0..KILLS {
        let mut process = start();
        // Some groups further than the last time, and then at any moment.
        let enough = noted(&log) + 1 + (n as u64 * 7919) % 90;
        while noted(&log) < enough && process.try_wait().expect("a process").is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_micros((n as u64 * 104_729) % 2000));
        process.kill().expect("killed");
        if !process.wait().expect("ended").success() {
            kills += 1;
        }
        for name in names(&pair.to()).iter().filter(|name| *name != ".afteryou") {
            let (there, sent) = (pair.to().join(name), pair.from().join(name));
            assert!(std::fs::read(there).expect("a file") == std::fs::read(sent).expect("a file"), "{name}");
        }
    }
    let before_the_last = received(&log).len();
    assert!(start().wait().expect("ended").success());
    pair.assert_same_files();
    let counts = received(&log);
    assert_eq!(counts.len(), FILES * GROUPS);
    let twice: usize = counts.values().map(|count| count - 1).sum();
    println!("{kills} kills, {before_the_last} groups before the last run, {twice} groups twice");
    assert!(kills >= KILLS * 3 / 4, "{kills} kills hit a running process: the test says little");
    assert!(
        before_the_last > GROUPS / 4,
        "{before_the_last} groups before the last run: the test says little"
    );
    assert!(twice <= kills * FILES, "{twice} groups came twice after {kills} kills of {FILES} open files");
    for name in 0..FILES {
        let of_one = counts.iter().filter(|((file, _), _)| *file == name.to_string());
        let twice: usize = of_one.map(|(_, count)| count - 1).sum();
        assert!(twice <= kills, "file {name}: {twice} groups came twice after {kills} kills");
    }
    assert_eq!(pair.leftovers(), Vec::<String>::new());
}

fn receive_on_a_small_disk(base: &Path) {
    let to = base.join("to");
    // Room for about half of it.
    let ballast = to.join("ballast");
    std::fs::write(&ballast, vec![1; 1_000_000]).expect("ballast");
    let source = Source::below(&base.join("from"), b"", SourceOptions::default()).expect("a source");
    let prepared = single(&source);
    let store = Store::open(&to, StoreOptions::default()).expect("a store");
    let Ok(Verdict::Want(reception)) = store.consider(prepared.entry()) else { panic!("wanted") };
    let encoded = encode(&prepared, reception.wanted());
    let mut first = 0;
    let result = reception.receive(&encoded[..], &mut |_, bytes| first += bytes);
    assert_eq!(result, Err(Why::DiskFull));
    assert!(!to.join("file").exists());
    // Somebody makes room: it continues where it was.
    std::fs::remove_file(ballast).expect("removes");
    let Ok(Verdict::Want(reception)) = store.consider(prepared.entry()) else { panic!("wanted") };
    let mut second = 0;
    let encoded = encode(&prepared, reception.wanted());
    reception.receive(&encoded[..], &mut |_, bytes| second += bytes).expect("stored");
    let size = std::fs::metadata(base.join("from/file")).expect("metadata").len();
    assert!(first > 0 && first + second <= size + GROUP_BYTES, "{first} and {second} of {size}");
    let (there, sent) = (to.join("file"), base.join("from/file"));
    assert!(std::fs::read(there).expect("a file") == std::fs::read(sent).expect("a file"));
    std::fs::write(base.join("done"), b"").expect("a note");
}

#[test]
fn a_full_disk_is_said_and_the_rest_follows_when_there_is_room() {
    if let Some(base) = alone::part() {
        return receive_on_a_small_disk(Path::new(&base));
    }
    let pair = Pair::new();
    pair.write("file", &content(1_500_000, 1));
    let script = "mount -t tmpfs -o size=2m none \"$BASE/to\" || exit 99\nexec \"$0\" \"$@\"";
    let test = "disk::killed::a_full_disk_is_said_and_the_rest_follows_when_there_is_room";
    alone::on_a_mount_of_its_own(script, test, pair.base.path());
}

fn cached(base: &Path) -> Source {
    let mut options = SourceOptions::default();
    options.cache = Some(base.join("cache"));
    Source::below(&base.join("from"), b"", options).expect("a source")
}

fn hash_until_killed(base: &Path) {
    cached(base).entries().for_each(drop);
}

/// Killed when dropped: it would hash for minutes.
struct Hashing(Child);

impl Drop for Hashing {
    fn drop(&mut self) {
        _ = self.0.kill();
        _ = self.0.wait();
    }
}

/// Returns the trees that nobody has finished.
fn unfinished(base: &Path) -> Vec<String> {
    let mut names = names(&base.join("cache"));
    names.retain(|name| name.starts_with("new-"));
    names
}

#[test]
fn a_tree_that_a_killed_process_left_goes_at_the_next_start_and_those_of_others_stay() {
    if let Some(base) = alone::part() {
        return hash_until_killed(Path::new(&base));
    }
    let pair = Pair::new();
    let base = pair.base.path();
    // A hole: hashing it takes minutes. It is remembered only when its times are 2 s old.
    std::fs::File::create(pair.from().join("huge"))
        .expect("a file")
        .set_len(300_000_000_000)
        .expect("a length");
    std::thread::sleep(Duration::from_millis(2100));
    let mut processes = Vec::new();
    for count in 1..=2 {
        let process = child(
            "disk::killed::a_tree_that_a_killed_process_left_goes_at_the_next_start_and_those_of_others_stay",
            base,
        )
        .spawn()
        .expect("a process");
        processes.push(Hashing(process));
        while unfinished(base).len() < count {
            std::thread::sleep(Duration::from_millis(10));
        }
    }
    drop(processes.remove(0));
    let empty = Pair::new();
    let mut options = SourceOptions::default();
    options.cache = Some(base.join("cache"));
    let start = || Source::below(&empty.from(), b"", options.clone()).expect("a source").entries().count();
    start();
    assert_eq!(unfinished(base).len(), 1, "the one that is still being made");
    start();
    assert_eq!(unfinished(base).len(), 1);
    assert!(processes[0].0.try_wait().expect("a process").is_none(), "it still hashes");
    drop(processes);
    start();
    assert_eq!(unfinished(base), Vec::<String>::new());
}
