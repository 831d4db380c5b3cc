//! Measures that are taken on demand, because each looks at every packet or every acknowledgement.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A measure beyond the usual figures. In files: `record = ["queues", "senders"]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Record {
    /// The length of each queue over time, and each flow's part of a link.
    Queues,
    /// Each sender's window, flight size and delays over time.
    Senders,
    /// Drops, losses, window cuts, timeouts and changes of phase at their very times.
    Events,
    /// The packets that follow a lost one, in sets of flows.
    Losses,
}

impl Record {
    /// Every one, with its word in files.
    pub const ALL: [(&'static str, Record); 4] = [
        ("queues", Record::Queues),
        ("senders", Record::Senders),
        ("events", Record::Events),
        ("losses", Record::Losses),
    ];
    /// The words alone.
    pub const WORDS: &'static [&'static str] = &["queues", "senders", "events", "losses"];

    /// Returns the measure of this word.
    pub fn of_word(word: &str) -> Option<Record> {
        Record::ALL.into_iter().find(|(known, _)| *known == word).map(|(_, record)| record)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_measure_has_the_word_that_json_has() {
        assert_eq!(Record::ALL.map(|(word, _)| word), Record::WORDS);
        for (word, record) in Record::ALL {
            assert_eq!(serde_json::to_value(record).unwrap(), word);
            assert_eq!(Record::of_word(word), Some(record));
        }
        assert_eq!(Record::of_word("everything"), None);
    }
}
