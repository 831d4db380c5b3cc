//! Replays the fuzzer's corpus: a failure found once stays found.

use afteryou_fuzz::bodies;

/// Runs `body` on every file of a target's corpus.
fn replay(target: &str, body: fn(&[u8])) {
    let directory = format!("{}/corpus/{target}", env!("CARGO_MANIFEST_DIR"));
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
fn every_datagram_is_a_packet_or_refused() {
    replay("packet", bodies::packet::run);
}

#[test]
fn every_story_leaves_the_connection_within_its_bounds() {
    replay("connection", bodies::connection::run);
}

#[test]
fn every_event_leaves_ebb_within_its_bounds() {
    replay("ebb", bodies::ebb::run);
}

#[test]
fn every_client_of_the_proxy_is_refused_or_read_in_one_way() {
    replay("proxy", bodies::proxy::run);
}

#[test]
fn every_quantity_is_refused_or_reads_back() {
    replay("quantities", bodies::quantities::run);
}

#[test]
fn every_scenario_file_is_refused_or_makes_valid_runs() {
    replay("scenario_file", bodies::scenario_file::run);
}

#[test]
fn every_control_message_is_read_or_refused() {
    replay("transfer_control", bodies::transfer_control::run);
}

#[test]
fn every_ticket_address_rate_and_timetable_is_read_or_refused() {
    replay("transfer_words", bodies::transfer_words::run);
}
