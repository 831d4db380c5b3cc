//! Replays the fuzzer's corpus: a failure found once stays found.

#[path = "../../../../fuzz/src/replay.rs"]
mod fuzz;
#[path = "../../../../fuzz/src/bodies/quantities.rs"]
mod quantities;
#[path = "../../../../fuzz/src/bodies/scenario_file.rs"]
mod scenario_file;

use fuzz::replay;

#[test]
fn every_text_of_the_corpus_is_refused_or_reads_back() {
    replay("quantities", quantities::run);
}

#[test]
fn every_file_of_the_corpus_is_refused_or_makes_valid_runs() {
    replay("scenario_file", scenario_file::run);
}
