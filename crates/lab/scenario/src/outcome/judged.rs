//! Judgements of an outcome: checks, a verdict, transfers whose ends were compared, and whether the machine kept up.

use super::Quantiles;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The lateness of a real-time emulation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Lateness {
    /// Actual minus scheduled departure of packets.
    pub departures: Quantiles,
    /// The bound on the 99th percentile, ms, above which the measurement is invalid: the host was too slow.
    pub bound_ms: f64,
}

impl Lateness {
    /// Returns whether the measurement is invalid because the machine was too slow.
    pub fn spoiled(&self) -> bool {
        self.departures.p99_ms > self.bound_ms
    }
}

/// A transfer whose two ends were compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Transfer {
    /// The flow.
    pub flow: String,
    /// Bytes sent and acknowledged.
    pub sent_bytes: u64,
    /// Bytes received.
    pub received_bytes: u64,
    /// BLAKE3 of the bytes sent, hex.
    pub sent_blake3: String,
    /// BLAKE3 of the bytes received, hex.
    pub received_blake3: String,
}

impl Transfer {
    /// Returns whether the same bytes arrived.
    pub fn identical(&self) -> bool {
        self.sent_bytes == self.received_bytes && self.sent_blake3 == self.received_blake3
    }
}

/// A value held against a bound.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Check {
    /// Describes it in a few words.
    pub what: String,
    /// The value; none if it could not be measured.
    pub value: Option<f64>,
    /// Unit, empty for ratios.
    pub unit: String,
    /// The least that is good.
    pub at_least: Option<f64>,
    /// The most that is good.
    pub at_most: Option<f64>,
    /// Whether a bad value makes the verdict bad.
    pub counts: bool,
}

impl Check {
    /// Returns whether the value is within its bounds. A value that is missing is not.
    pub fn met(&self) -> bool {
        let within = |value: f64| {
            self.at_least.is_none_or(|least| value >= least) && self.at_most.is_none_or(|most| value <= most)
        };
        self.value.is_some_and(within)
    }
}

/// The outcome in plain words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    /// Good or bad.
    pub good: bool,
    /// One line.
    pub headline: String,
    /// The rest, a sentence each.
    pub details: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_value_meets_no_bound() {
        let check = |value| Check {
            what: String::new(),
            value,
            unit: String::new(),
            at_least: Some(0.92),
            at_most: None,
            counts: true,
        };
        assert!(check(Some(0.92)).met());
        assert!(!check(Some(0.91)).met());
        assert!(!check(Some(f64::NAN)).met());
        assert!(!check(None).met());
    }
}
