//! Lines from the process that steers to the one in front of it: JSON, one a line.

use serde::{Deserialize, Serialize};

/// A line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Message {
    /// The program runs.
    Started {
        /// Process number.
        pid: i32,
    },
    /// The program was stopped, by Ctrl-Z for instance.
    Stopped,
    /// The program has ended, with the code to exit with.
    Ended {
        /// Exit code.
        code: u8,
    },
    /// The program did not start: the message has been printed.
    Failed {
        /// Exit code.
        code: u8,
    },
}
