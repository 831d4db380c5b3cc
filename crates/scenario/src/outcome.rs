//! What came out of an experiment: the same words from every engine.
//!
//! An outcome carries the whole scenario, the version, the seed and the engine, and is enough to draw every figure
//! again. Times are seconds since the start of the run, rates bit/s of payload, delays ms; every field says so in its
//! name.

use crate::scenario::{Role, Scenario};
use serde::{Deserialize, Serialize};

/// Version of this format. Readers refuse a larger one.
pub const SCHEMA_VERSION: u32 = 1;

/// What came out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Outcome {
    /// [`SCHEMA_VERSION`] of the writer.
    pub schema_version: u32,
    /// Version of afteryou that ran it.
    pub afteryou_version: String,
    /// Which engine ran it: "bed", "sim", "fluid".
    pub engine: String,
    /// What was run.
    pub scenario: Scenario,
    /// The run.
    pub run: Run,
    /// The same without the background flows, if the scenario asks for it.
    pub baseline: Option<Run>,
    /// The run held against the baseline, for each window and foreground flow.
    pub comparison: Vec<Comparison>,
    /// Transfers whose two ends were compared.
    pub transfers: Vec<Transfer>,
    /// Values held against bounds.
    pub checks: Vec<Check>,
    /// The outcome in plain words, if somebody judged it.
    pub verdict: Option<Verdict>,
}

/// One run as it was measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// How long it took, s.
    pub duration_s: f64,
    /// Figures of each window of the scenario.
    pub windows: Vec<WindowFigures>,
    /// Curves.
    pub series: Vec<Series>,
    /// Moments worth a mark in a figure.
    pub marks: Vec<Mark>,
    /// Packets at the bottleneck, forward direction.
    pub packets: Packets,
    /// How late the emulation was, for engines that run in real time.
    pub lateness: Option<Lateness>,
}

/// Figures of one window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WindowFigures {
    /// The window's name.
    pub window: String,
    /// From, s.
    pub from_s: f64,
    /// Until, s.
    pub to_s: f64,
    /// Bytes that left the bottleneck (headers included) over what it could have sent.
    pub utilisation: f64,
    /// Time that packets spent in the bottleneck's queue.
    pub queuing_delay: Option<Quantiles>,
    /// Each flow.
    pub flows: Vec<FlowFigures>,
}

/// Figures of one flow in one window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FlowFigures {
    /// The flow's name.
    pub flow: String,
    /// The flow's role.
    pub role: Role,
    /// Payload that arrived for the first time, bit/s.
    pub goodput_bit_s: f64,
    /// Goodput over what the link could carry of this flow's payload, headers taken off.
    pub share_of_payload_capacity: f64,
    /// Delay of this flow's packets beyond the empty path, for flows that measure it (cbr).
    pub queuing_delay: Option<Quantiles>,
}

/// A distribution in ms: nearest-rank quantiles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Quantiles {
    /// Samples.
    pub samples: u64,
    /// Mean, ms.
    pub mean_ms: f64,
    /// Median, ms.
    pub p50_ms: f64,
    /// 95th percentile, ms.
    pub p95_ms: f64,
    /// 99th percentile, ms.
    pub p99_ms: f64,
    /// Largest, ms.
    pub max_ms: f64,
}

impl Quantiles {
    /// Quantiles of `samples_ms` by nearest rank: the ⌈p·n⌉-th smallest. None of nothing.
    pub fn of(samples_ms: &[f64]) -> Option<Quantiles> {
        if samples_ms.is_empty() {
            return None;
        }
        let mut sorted = samples_ms.to_vec();
        sorted.sort_by(f64::total_cmp);
        let n = sorted.len();
        let rank = |p: usize| sorted[(p * n).div_ceil(100).clamp(1, n) - 1];
        Some(Quantiles {
            samples: n as u64,
            mean_ms: sorted.iter().sum::<f64>() / n as f64,
            p50_ms: rank(50),
            p95_ms: rank(95),
            p99_ms: rank(99),
            max_ms: sorted[n - 1],
        })
    }
}

/// A curve sampled at equal steps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// Whose it is: a flow's name, or "link".
    pub of: String,
    /// What it is: "goodput", "queuing_delay", "cwnd", "base_delay" …
    pub quantity: String,
    /// Unit of the values: "Mbit/s", "ms", "kB".
    pub unit: String,
    /// Time of the first value, s.
    pub start_s: f64,
    /// Time between values, s.
    pub step_s: f64,
    /// The values; none where there was nothing to measure.
    pub values: Vec<Option<f64>>,
}

/// A moment worth a mark.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mark {
    /// When, s.
    pub at_s: f64,
    /// Whose.
    pub of: String,
    /// What: "slowdown", "start", "stop", "timeout".
    pub what: String,
}

/// Packets at the bottleneck.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Packets {
    /// Arrived.
    pub arrived: u64,
    /// Sent on.
    pub delivered: u64,
    /// Dropped by the queue.
    pub dropped: u64,
    /// Lost at random.
    pub lost: u64,
    /// Still queued or on the wire at the end.
    pub unfinished: u64,
}

/// How late a real-time emulation was with what it had to do.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Lateness {
    /// Actual minus scheduled departure of packets.
    pub departures: Quantiles,
    /// The bound on the 99th percentile, ms, above which the run says nothing about the network.
    pub bound_ms: f64,
}

impl Lateness {
    /// Did the machine spoil the run?
    pub fn spoiled(&self) -> bool {
        self.departures.p99_ms > self.bound_ms
    }
}

/// A foreground flow in one window, with the background and without.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The window.
    pub window: String,
    /// The flow.
    pub flow: String,
    /// Its goodput with the background over its goodput without; none if it sent nothing without.
    pub kept: Option<f64>,
    /// Its p95 delay with the background minus without, ms, for flows that measure delay.
    pub added_delay_p95_ms: Option<f64>,
    /// The same of the mean.
    pub added_delay_mean_ms: Option<f64>,
}

/// A transfer whose two ends were compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Transfer {
    /// The flow.
    pub flow: String,
    /// Bytes sent and acknowledged.
    pub sent_bytes: u64,
    /// Bytes received.
    pub received_bytes: u64,
    /// BLAKE3 of what was sent, hex.
    pub sent_blake3: String,
    /// BLAKE3 of what was received, hex.
    pub received_blake3: String,
}

impl Transfer {
    /// Did the same bytes arrive?
    pub fn identical(&self) -> bool {
        self.sent_bytes == self.received_bytes && self.sent_blake3 == self.received_blake3
    }
}

/// A value held against a bound.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Check {
    /// What it is, in a few words.
    pub what: String,
    /// The value; none if it could not be measured.
    pub value: Option<f64>,
    /// Unit, empty for ratios.
    pub unit: String,
    /// The least that is good.
    pub at_least: Option<f64>,
    /// The most that is good.
    pub at_most: Option<f64>,
    /// Does a bad value make the verdict bad?
    pub counts: bool,
}

impl Check {
    /// Is the value within its bounds? A value that is missing is not.
    pub fn met(&self) -> bool {
        let within = |value: f64| {
            self.at_least.is_none_or(|least| value >= least) && self.at_most.is_none_or(|most| value <= most)
        };
        self.value.is_some_and(within)
    }
}

/// The outcome in plain words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verdict {
    /// Good or bad.
    pub good: bool,
    /// One line.
    pub headline: String,
    /// The rest, a sentence each.
    pub details: Vec<String>,
}

impl Outcome {
    /// Holds `run` against `baseline` for every window that both have.
    pub fn compare(run: &Run, baseline: &Run) -> Vec<Comparison> {
        let mut comparison = Vec::new();
        for with in &run.windows {
            let Some(without) = baseline.windows.iter().find(|other| other.window == with.window) else {
                continue;
            };
            for flow in with.flows.iter().filter(|flow| flow.role == Role::Foreground) {
                let Some(alone) = without.flows.iter().find(|other| other.flow == flow.flow) else {
                    continue;
                };
                let delays = flow.queuing_delay.zip(alone.queuing_delay);
                comparison.push(Comparison {
                    window: with.window.clone(),
                    flow: flow.flow.clone(),
                    kept: (alone.goodput_bit_s > 0.0).then(|| flow.goodput_bit_s / alone.goodput_bit_s),
                    added_delay_p95_ms: delays.map(|(with, without)| with.p95_ms - without.p95_ms),
                    added_delay_mean_ms: delays.map(|(with, without)| with.mean_ms - without.mean_ms),
                });
            }
        }
        comparison
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_nearest_rank() {
        let ten: Vec<f64> = (1..=10).map(f64::from).collect();
        let hundred: Vec<f64> = (1..=100).map(f64::from).collect();
        let (ten, hundred) = (Quantiles::of(&ten).unwrap(), Quantiles::of(&hundred).unwrap());
        assert_eq!((ten.p50_ms, ten.p95_ms), (5.0, 10.0));
        assert_eq!((hundred.p50_ms, hundred.p95_ms, hundred.p99_ms), (50.0, 95.0, 99.0));
        assert_eq!(Quantiles::of(&[]), None);
    }

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
