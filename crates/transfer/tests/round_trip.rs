//! Files of every kind from one directory to another, without a network.

mod common;

use afteryou_transfer::entry::GROUP_BYTES;
use common::{content, move_all, Outcome, Pair};

#[test]
fn files_of_every_length_arrive_whole() {
    let pair = Pair::new();
    let group = GROUP_BYTES as usize;
    for size in [0, 1, 1023, 1024, 1025, group - 1, group, group + 1, 2 * group, 5 * group + 77, 64 * group] {
        pair.write(&format!("of-{size}"), &content(size, size as u64));
    }
    let outcomes = move_all(&pair.source(), &pair.store());
    assert!(outcomes.iter().all(|(_, outcome)| *outcome == Outcome::Stored || *outcome == Outcome::Had));
    pair.assert_same();
    assert_eq!(pair.leftovers(), Vec::<String>::new());
}
