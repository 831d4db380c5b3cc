//! A process that may open few files. The tests call this program again with a low limit.

use super::support::{options, Far};
use crate::alone;
use crate::disk::common::{content, file, names, Pair};
use afteryou_transfer::job::{send, JobOptions, Service};
use afteryou_transfer::source::{Source, SourceOptions};
use afteryou_transfer::store::{Allow, Store, StoreOptions, Verdict};
use afteryou_transfer::wire::{Why, Wishes};
use std::fs::File;
use std::process::Command;

/// Runs this file's `test` again in a process that may have this number of descriptors.
fn with_limit(descriptors: u32, test: &str) {
    let script = format!("ulimit -n {descriptors} && exec \"$0\" \"$@\"");
    let test = format!("jobs::descriptors::{test}");
    alone::assert_passes(alone::again_after(Command::new("sh"), &script, &test, ""));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn thousands_of_files_arrive_where_few_may_be_open() {
    if alone::part().is_none() {
        return with_limit(256, "thousands_of_files_arrive_where_few_may_be_open");
    }
    for (connections, files) in [(1, 3000), (8, 600)] {
        let pair = Pair::new();
        for i in 0..files {
            // Some of them have a tree, too.
            let bytes = if i % 50 == 0 { 40_000 } else { 1000 };
            pair.write(&format!("{}/{i}", i % 20), &content(bytes, i));
        }
        let far = Far::receive(&pair);
        let options = JobOptions { connections, ..options().1 };
        let summary = send(far.dialer(), pair.source(), options).await.unwrap();
        assert_eq!((summary.stored_files, summary.failed), (files, 0), "with {connections} connections");
        pair.assert_same();
        far.stop().await;
    }
}

#[test]
fn a_store_that_gets_no_descriptor_says_so() {
    if alone::part().is_none() {
        return with_limit(64, "a_store_that_gets_no_descriptor_says_so");
    }
    let pair = Pair::new();
    let store = pair.store();
    let (entry, _) = file(b"deep/file", b"content");
    let taken: Vec<File> = std::iter::from_fn(|| File::open("/dev/null").ok()).collect();
    let verdict = store.consider(&entry);
    drop(taken);
    assert!(matches!(verdict, Err(Why::TooManyFiles)), "{verdict:?}");
    assert!(matches!(store.consider(&entry), Ok(Verdict::Want(_))));
}

#[test]
fn names_in_one_directory_are_sent_with_few_descriptors() {
    if alone::part().is_none() {
        return with_limit(64, "names_in_one_directory_are_sent_with_few_descriptors");
    }
    let pair = Pair::new();
    let paths: Vec<_> = (0..300)
        .map(|i| {
            let (file, directory) = (format!("file-{i}"), format!("directory-{i}"));
            pair.write(&file, b"content");
            pair.write(&format!("{directory}/file"), b"content");
            [pair.from().join(file), pair.from().join(directory)]
        })
        .collect();
    let source = Source::of(&paths.concat(), SourceOptions::default()).expect("a source");
    assert_eq!(source.scan().entries, 900);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tree_of_thousands_of_levels_goes_and_one_of_hundreds_comes_where_few_may_be_open() {
    if alone::part().is_none() {
        return with_limit(
            256,
            "a_tree_of_thousands_of_levels_goes_and_one_of_hundreds_comes_where_few_may_be_open",
        );
    }
    let pair = Pair::new();
    let deep = format!("top/{}file", "d/".repeat(600));
    pair.write(&deep, b"content");
    std::fs::create_dir(pair.to().join("top")).unwrap();
    make_levels(&pair.to().join("top"), 3000);
    let mut options_there = StoreOptions::default();
    options_there.allow = Allow::all();
    let store = Store::open(&pair.to(), options_there).unwrap();
    let far = Far::start(Service::Receive(store));
    let source = Source::of(&[pair.from().join("top")], SourceOptions::default()).unwrap();
    let wishes = Wishes { delete: true, ..Wishes::default() };
    let summary = send(far.dialer(), source, JobOptions { wishes, ..options().1 }).await.unwrap();
    // The path of the last that is named has 4095 bytes.
    assert_eq!((summary.stored_files, summary.failed, summary.removed), (1, 0, 2046));
    assert_eq!(names(&pair.to().join("top")), ["d"]);
    assert_eq!(std::fs::read(pair.to().join(&deep)).unwrap(), b"content");
    far.stop().await;
}

fn make_levels(top: &std::path::Path, levels: usize) {
    use rustix::fs::{mkdirat, openat, Mode, OFlags, CWD};
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut dir = openat(CWD, top, flags, Mode::empty()).unwrap();
    for _ in 0..levels {
        mkdirat(&dir, "e", Mode::RWXU).unwrap();
        dir = openat(&dir, "e", flags, Mode::empty()).unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_renamed_file_is_found_among_more_directories_than_may_be_open() {
    if alone::part().is_none() {
        return with_limit(128, "a_renamed_file_is_found_among_more_directories_than_may_be_open");
    }
    let pair = Pair::new();
    let bytes = content(1_500_000, 1);
    pair.write("new", &bytes);
    for i in 0..300 {
        let dir = pair.to().join(format!("{i}"));
        std::fs::create_dir(&dir).unwrap();
        std::fs::write(dir.join("old"), if i == 200 { &bytes[..] } else { &b"small"[..] }).unwrap();
    }
    let far = Far::receive(&pair);
    let summary = send(far.dialer(), pair.source(), options().1).await.unwrap();
    assert_eq!((summary.failed, summary.bytes_moved), (0, 0));
    far.stop().await;
}
