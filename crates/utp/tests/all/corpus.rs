//! Replays the fuzzer's corpus: whatever it has found once stays found.

/// Runs `body` on every file of a target's corpus.
fn replay(target: &str, body: fn(&[u8])) {
    let directory = format!("{}/../../fuzz/corpus/{target}", env!("CARGO_MANIFEST_DIR"));
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
fn every_datagram_of_the_corpus_is_a_packet_or_refused() {
    replay("packet", crate::packet::run);
}

#[test]
fn every_story_of_the_corpus_leaves_the_connection_within_its_bounds() {
    replay("connection", crate::connection::run);
}
