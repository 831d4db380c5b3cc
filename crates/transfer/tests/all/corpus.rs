//! Replays the fuzzer's corpus: whatever it has found once stays found.

#[path = "../../../../fuzz/src/bodies/transfer_control.rs"]
mod transfer_control;
#[path = "../../../../fuzz/src/bodies/transfer_words.rs"]
mod transfer_words;

#[test]
fn every_control_message_of_the_corpus_is_read_or_refused() {
    replay("transfer_control", transfer_control::run);
}

#[test]
fn every_ticket_address_rate_and_timetable_of_the_corpus_is_read_or_refused() {
    replay("transfer_words", transfer_words::run);
}

fn replay(target: &str, run: fn(&[u8])) {
    let directory = format!("{}/../../fuzz/corpus/{target}", env!("CARGO_MANIFEST_DIR"));
    let files = std::fs::read_dir(&directory).expect("the corpus is there");
    let mut count = 0;
    for file in files {
        let path = file.expect("readable").path();
        println!("{}", path.display()); // shown if the body panics
        run(&std::fs::read(&path).expect("readable"));
        count += 1;
    }
    assert!(count > 0, "{directory} is empty");
}
