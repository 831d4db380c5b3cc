//! Replays the fuzzer's corpus: a failure found once stays found.

#[path = "../../../../fuzz/src/replay.rs"]
mod fuzz;

use fuzz::replay;

#[test]
fn every_datagram_of_the_corpus_is_a_packet_or_refused() {
    replay("packet", crate::packet::run);
}

#[test]
fn every_story_of_the_corpus_leaves_the_connection_within_its_bounds() {
    replay("connection", crate::connection::run);
}
