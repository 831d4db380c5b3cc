//! A process that may open few files. The tests call this program again with a low limit.

use super::support::{options, Far};
use crate::disk::common::{content, file, Pair};
use afteryou_transfer::job::{send, JobOptions};
use afteryou_transfer::source::{Source, SourceOptions};
use afteryou_transfer::store::Verdict;
use afteryou_transfer::wire::Why;
use std::fs::File;
use std::process::Command;

/// Runs a test that is otherwise ignored in a process that may have so many descriptors.
fn with_limit(descriptors: u32, test: &str) {
    let script =
        format!("ulimit -n {descriptors} && exec \"$0\" --exact jobs::descriptors::{test} --ignored");
    let output = Command::new("sh").args(["-c", &script]).arg(std::env::current_exe().unwrap()).output();
    let output = output.unwrap();
    let words = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && words.contains("1 passed"), "{words}");
}

#[test]
fn thousands_of_files_arrive_where_few_may_be_open() {
    with_limit(256, "three_thousand_files");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "called by the test above"]
async fn three_thousand_files() {
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
        assert_eq!((summary.stored, summary.failed), (files, 0), "with {connections} connections");
        pair.assert_same();
        far.stop().await;
    }
}

#[test]
fn a_store_that_gets_no_descriptor_says_so() {
    with_limit(64, "all_descriptors_are_taken");
}

#[test]
#[ignore = "called by the test above"]
fn all_descriptors_are_taken() {
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
    with_limit(64, "hundreds_of_names");
}

#[test]
#[ignore = "called by the test above"]
fn hundreds_of_names() {
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
