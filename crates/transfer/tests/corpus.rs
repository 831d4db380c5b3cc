//! Replays the fuzzer's corpus: whatever it has found once stays found.

#[path = "../../../fuzz/src/bodies/transfer_control.rs"]
mod transfer_control;

#[test]
fn every_control_message_of_the_corpus_is_read_or_refused() {
    let directory = format!("{}/../../fuzz/corpus/transfer_control", env!("CARGO_MANIFEST_DIR"));
    let files = std::fs::read_dir(&directory).expect("the corpus is there");
    let mut count = 0;
    for file in files {
        let path = file.expect("readable").path();
        println!("{}", path.display()); // shown if the body panics
        transfer_control::run(&std::fs::read(&path).expect("readable"));
        count += 1;
    }
    assert!(count > 0, "{directory} is empty");
}
