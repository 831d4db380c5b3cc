//! Replays the fuzzer's corpus: a failure found once stays found.

#[path = "../../../../fuzz/src/replay.rs"]
mod fuzz;
#[path = "../../../../fuzz/src/bodies/transfer_control.rs"]
mod transfer_control;
#[path = "../../../../fuzz/src/bodies/transfer_words.rs"]
mod transfer_words;

use fuzz::replay;

#[test]
fn every_control_message_of_the_corpus_is_read_or_refused() {
    replay("transfer_control", transfer_control::run);
}

#[test]
fn every_ticket_address_rate_and_timetable_of_the_corpus_is_read_or_refused() {
    replay("transfer_words", transfer_words::run);
}
