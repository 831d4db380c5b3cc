//! A sender over time: figures that need a look at each of its acks.

use super::Quantiles;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A sender in a window.
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
    /// Mean over the acks of its own estimate of the queuing delay less the excess of the RTT over the empty path's, ms. A
    /// latecomer that takes a standing queue for the empty path has a negative one. Queues on the reverse path count as excess.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub delay_error_ms: Option<f64>,
    /// Longest time without progress of the cumulative ack while data were outstanding, s.
    pub longest_stall_s: f64,
}

/// The distribution of a quantity over time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Levels {
    /// Mean.
    pub mean: f64,
    /// It was above this 95 % of the time.
    pub p5: f64,
    /// Median.
    pub p50: f64,
    /// It was at or below this 95 % of the time.
    pub p95: f64,
    /// Maximum.
    pub max: f64,
}
