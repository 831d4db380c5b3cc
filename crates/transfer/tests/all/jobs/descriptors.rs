//! A process that may open few files. The tests call this program again with a low limit.

use super::support::{options, Far};
use crate::alone;
use crate::disk::common::{content, file, Pair};
use afteryou_transfer::job::{send, JobOptions};
use afteryou_transfer::source::{Source, SourceOptions};
use afteryou_transfer::store::Verdict;
use afteryou_transfer::wire::Why;
use std::fs::File;
use std::process::Command;

/// Runs this file's `test` again in a process that may have so many descriptors.
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
