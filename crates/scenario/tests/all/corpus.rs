//! Replays the fuzzer's corpus: whatever it has found once stays found.

#[path = "../../../../fuzz/src/bodies/quantities.rs"]
mod quantities;
#[path = "../../../../fuzz/src/bodies/scenario_file.rs"]
mod scenario_file;

/// Runs `body` on every file of a corpus.
fn replay(corpus: &str, body: fn(&[u8])) {
    let directory = format!("{}/../../fuzz/corpus/{corpus}", env!("CARGO_MANIFEST_DIR"));
    let files = std::fs::read_dir(&directory).expect("the corpus is there");
    let mut count = 0;
    for file in files {
        let path = file.expect("readable").path();
        println!("{}", path.display()); // shown if the body panics
        body(&std::fs::read(&path).expect("readable"));
        count += 1;
    }
    assert!(count > 0, "{directory} is empty");
}

#[test]
fn every_text_of_the_corpus_is_refused_or_reads_back() {
    replay("quantities", quantities::run);
}

#[test]
fn every_file_of_the_corpus_is_refused_or_makes_valid_runs() {
    replay("scenario_file", scenario_file::run);
}
