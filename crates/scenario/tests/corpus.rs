//! Replays the fuzzer's corpus: whatever it has found once stays found.

#[path = "../../../fuzz/src/bodies/quantities.rs"]
mod quantities;

#[test]
fn every_text_of_the_corpus_is_refused_or_reads_back() {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/quantities");
    let files = std::fs::read_dir(directory).expect("the corpus is there");
    let mut count = 0;
    for file in files {
        let path = file.expect("readable").path();
        println!("{}", path.display()); // shown if the body panics
        quantities::run(&std::fs::read(&path).expect("readable"));
        count += 1;
    }
    assert!(count > 0, "{directory} is empty");
}
