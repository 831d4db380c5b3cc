//! Transfers of an application in the whole run: how long they took, and what became of the bytes.

use super::{Levels, Quantiles};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Upper ends of the size classes, bytes; the last class has none.
pub const SIZE_CLASSES: [u64; 4] = [10_000, 100_000, 1_000_000, 10_000_000];

/// Most times of single transfers that a size class lists.
pub const MOST_TIMES: u64 = 200;

/// Transfers of one flow: flows of short lives, chunks, pages or segments.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Completions {
    /// Transfers that began.
    pub begun: u64,
    /// Transfers whose last byte arrived. The others were under way at the end of the run.
    pub completed: u64,
    /// From the beginning of a transfer, its handshake included, until its last byte arrived.
    pub time: Option<Quantiles>,
    /// Goodput of single transfers, kbit/s: the bytes of each over the time that it took.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub goodput_kbit_s: Option<Levels>,
    /// The times by size; only classes in which a transfer was completed.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub classes: Vec<SizeClass>,
    /// Those that began in each window of the scenario, whenever they ended.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub windows: Vec<WindowCompletions>,
    /// Segments of a video that had not arrived when the next one was due.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub late: Option<u64>,
    /// Connections opened.
    pub connections: u64,
    /// Every byte that the application offered.
    pub bytes: Offered,
}

/// Transfers of one flow that began in a window.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WindowCompletions {
    /// The window.
    pub window: String,
    /// Transfers that began in it.
    pub begun: u64,
    /// Those of them whose last byte arrived before the end of the run.
    pub completed: u64,
    /// From the beginning of a completed transfer, its handshake included, until its last byte arrived.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub time: Option<Quantiles>,
}

/// Transfers of one size.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SizeClass {
    /// Smallest size, bytes.
    pub from_bytes: u64,
    /// The size from which on transfers belong to the next class; none in the last one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub to_bytes: Option<u64>,
    /// How long they took.
    pub time: Quantiles,
    /// How long each took, ms, the shortest first. Of more than 200 transfers these are the times at 200 equal parts.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub times_ms: Vec<f64>,
}

/// The books of an application: offered = delivered + closed + queued.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Offered {
    /// Bytes that it gave to its connections.
    pub offered: u64,
    /// Bytes that arrived, each once.
    pub delivered: u64,
    /// Bytes given up when a connection closed before they had arrived.
    pub closed: u64,
    /// Bytes that had not been sent or had not arrived at the end.
    pub queued: u64,
}

impl Offered {
    /// Returns whether every byte is accounted for.
    pub fn balances(&self) -> bool {
        self.offered == self.delivered + self.closed + self.queued
    }
}
