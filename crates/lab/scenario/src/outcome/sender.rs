//! A sender over time: figures that need a look at each of its acks.

use super::{round, Quantiles};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The senders of a flow in a window. Of several connections at the same time each counts for as long as it is open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SenderFigures {
    /// Its window over time, kB.
    pub cwnd_kb: Levels,
    /// Payload in flight over time, kB: sent, not yet reported as delivered and not taken for lost (the pipe of RFC 6675).
    pub in_flight_kb: Levels,
    /// Its own estimate of the queuing delay over time, ms; none of controllers that make no estimate.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub queuing_delay_ms: Option<Levels>,
    /// Round-trip times, one of each ack with a sample.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rtt: Option<Quantiles>,
    /// Mean over the acks of its own estimate of the queuing delay less the excess of the RTT over the base RTT, ms. A
    /// latecomer that takes a standing queue for propagation delay has a negative one. Queues on the reverse path count
    /// as excess.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub delay_error_ms: Option<f64>,
    /// Mean over the acks of its own base delay less the path's base RTT, ms. Only controllers that measure round trips
    /// report a base delay.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub base_delay_error_ms: Option<f64>,
    /// Longest time without progress of the cumulative ack while data were outstanding, s.
    pub longest_stall_s: f64,
    /// The times without such progress that are longer than the window's `stall`, 200 ms by default.
    #[serde(default)]
    pub stalls: Stalls,
}

/// Times without progress of the cumulative acknowledgement while data were outstanding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Stalls {
    /// Only longer times count, s.
    pub above_s: f64,
    /// Stalls that ended in the window.
    pub count: u64,
    /// Their sum, s.
    pub total_s: f64,
    /// The longest of them, s.
    pub longest_s: f64,
}

impl Stalls {
    /// Adds those of another sender.
    pub fn add(&mut self, other: &Stalls) {
        self.above_s = other.above_s;
        self.count += other.count;
        self.total_s = round(self.total_s + other.total_s, 6);
        self.longest_s = self.longest_s.max(other.longest_s);
    }
}

/// The distribution of a quantity: over time, or over transfers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Levels {
    /// Mean.
    pub mean: f64,
    /// It was above this 95 % of the time, or in 95 % of the transfers.
    pub p5: f64,
    /// Median.
    pub p50: f64,
    /// It was at or below this 95 % of the time.
    pub p95: f64,
    /// Maximum.
    pub max: f64,
}
