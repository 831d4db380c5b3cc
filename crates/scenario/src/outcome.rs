//! What came out of an experiment: the same words from every engine.
//!
//! An outcome carries the whole scenario, the version, the seed and the engine, and is enough to draw every figure
//! again. Times are seconds since the start of the run, rates bit/s of payload, delays ms; every field says so in its
//! name.

mod compare;
mod queues;

pub use compare::Comparison;
pub use queues::{class_name, ClassCounts, ClassFigures, QueueFigures};

use crate::scenario::{Role, Scenario};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashSet};

/// Version of this format. Readers refuse a larger one.
pub const SCHEMA_VERSION: u32 = 1;

/// What came out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Outcome {
    /// [`SCHEMA_VERSION`] of the writer.
    pub schema_version: u32,
    /// Version of afteryou that ran it.
    pub afteryou_version: String,
    /// Which engine ran it: "bed", "sim", "fluid".
    pub engine: String,
    /// What was run.
    pub scenario: Scenario,
    /// Where in a sweep this is: the varied settings and their values.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub point: BTreeMap<String, String>,
    /// Which of several repetitions this is, from 0.
    #[serde(default)]
    pub repetition: u32,
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
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    /// What each flow did in all, where the engine counts it.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub totals: Vec<Totals>,
    /// Every byte on each link accounted for, where the engine does so.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub ledger: Vec<Ledger>,
    /// What each queue did, per class.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub queues: Vec<QueueFigures>,
}

/// What a flow did in the whole run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Totals {
    /// The flow.
    pub flow: String,
    /// Data packets sent, retransmissions included.
    pub packets: u64,
    /// Retransmissions.
    pub retransmissions: u64,
    /// Packets that the sender took for lost.
    pub losses: u64,
    /// Packets taken for lost that had arrived.
    pub spurious: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Payload that arrived, each byte once.
    pub received_bytes: u64,
    /// From the start until the last byte arrived in order, s, for a flow with an end that came to it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub completed_in_s: Option<f64>,
}

/// Every byte on a link: `arrived = delivered + dropped + lost + queued + in_flight`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Ledger {
    /// The link.
    pub link: String,
    /// Bytes that came to it.
    pub arrived: u64,
    /// Bytes that came out at its far end.
    pub delivered: u64,
    /// Bytes that its queue dropped.
    pub dropped: u64,
    /// Bytes lost at random or by the scenario's script.
    pub lost: u64,
    /// Bytes still in the queue.
    pub queued: u64,
    /// Bytes still on the wire.
    pub in_flight: u64,
}

impl Ledger {
    /// Is every byte accounted for?
    pub fn balances(&self) -> bool {
        self.arrived == self.delivered + self.dropped + self.lost + self.queued + self.in_flight
    }
}

/// Figures of one window.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    /// Mean number of packets in the queue over time, the one in transmission not counted.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub queue_packets: Option<f64>,
    /// Each class at the bottleneck, in scenarios with flows of both.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub classes: Vec<ClassFigures>,
    /// Jain's index of the goodput of background flows with a controller, where there are two or more.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub fairness: Option<f64>,
    /// The same index of foreground flows.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub foreground_fairness: Option<f64>,
    /// Goodput of the background over what the foreground left of the payload capacity; none if less than 5 % was left.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub harvest: Option<f64>,
    /// Goodput of the foreground over that of all flows.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub foreground_share: Option<f64>,
    /// Each flow.
    pub flows: Vec<FlowFigures>,
}

/// Jain's index of fairness: (Σx)² / (n · Σx²). 1 of nothing, and where nobody has anything.
pub fn jain(rates: &[f64]) -> f64 {
    let (sum, squares) = rates.iter().fold((0.0, 0.0), |(sum, squares), x| (sum + x, squares + x * x));
    if squares == 0.0 {
        return 1.0;
    }
    sum * sum / (rates.len() as f64 * squares)
}

/// Where less of the payload capacity than this is left over, a harvest means nothing.
const LEAST_LEFT_OVER: f64 = 0.05;

impl WindowFigures {
    /// Fills in what follows from the flows' figures.
    pub fn derive(&mut self, scenario: &Scenario) {
        let of = |role: Role| self.flows.iter().filter(move |flow| flow.role == role);
        // From +0: the empty sum is −0, which would show.
        let share = |role| of(role).fold(0.0, |sum, flow| sum + flow.share_of_payload_capacity);
        let goodput = |role| of(role).fold(0.0, |sum, flow| sum + flow.goodput_bit_s);
        // A constant rate is no share of anything: the application set it.
        let elastic = scenario.flow.iter().filter(|flow| flow.controller.is_some());
        let elastic: HashSet<&str> = elastic.map(|flow| flow.name.as_str()).collect();
        let fairness = |role| {
            let competing = of(role).filter(|flow| elastic.contains(flow.flow.as_str()));
            let rates: Vec<f64> = competing.map(|flow| flow.goodput_bit_s).collect();
            (rates.len() > 1).then(|| round(jain(&rates), 4))
        };
        let left_over = 1.0 - share(Role::Foreground);
        let harvests = of(Role::Background).next().is_some() && left_over >= LEAST_LEFT_OVER;
        let all = goodput(Role::Foreground) + goodput(Role::Background);
        let (harvest, foreground_share) =
            (share(Role::Background) / left_over, goodput(Role::Foreground) / all);
        let (of_foreground, of_background) = (fairness(Role::Foreground), fairness(Role::Background));
        (self.foreground_fairness, self.fairness) = (of_foreground, of_background);
        self.harvest = harvests.then(|| round(harvest, 4));
        self.foreground_share = (all > 0.0).then(|| round(foreground_share, 4));
    }
}

/// Rounded to so many decimals: more digits than a measurement has only make files longer.
pub fn round(value: f64, decimals: i32) -> f64 {
    // By multiplication: exact on every machine, which `powi` need not be.
    let factor = (0..decimals).fold(1.0, |factor, _| factor * 10.0);
    (value * factor).round() / factor
}

/// Figures of one flow in one window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Mark {
    /// When, s.
    pub at_s: f64,
    /// Whose.
    pub of: String,
    /// What: "slowdown", "start", "stop", "timeout".
    pub what: String,
}

/// Packets at the bottleneck.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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

/// A transfer whose two ends were compared.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Verdict {
    /// Good or bad.
    pub good: bool,
    /// One line.
    pub headline: String,
    /// The rest, a sentence each.
    pub details: Vec<String>,
}

impl Outcome {
    /// What `engine` of version `version` made of `scenario`; the comparison follows from the two runs.
    pub fn new(engine: &str, version: &str, scenario: Scenario, run: Run, baseline: Option<Run>) -> Outcome {
        let comparison =
            baseline.as_ref().map(|baseline| Outcome::compare(&scenario, &run, baseline)).unwrap_or_default();
        Outcome {
            schema_version: SCHEMA_VERSION,
            afteryou_version: version.to_owned(),
            engine: engine.to_owned(),
            scenario,
            point: BTreeMap::new(),
            repetition: 0,
            run,
            baseline,
            comparison,
            transfers: Vec::new(),
            checks: Vec::new(),
            verdict: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{Buffer, Duration, Rate, Size};
    use crate::{Flow, Link};

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
    fn jain_of_the_check_vectors() {
        let index = |rates: &[f64]| round(jain(rates), 6);
        assert_eq!(index(&[9.0, 1.0]), 0.609756);
        assert_eq!(index(&[10.0, 0.0]), 0.5);
        assert_eq!(index(&[4.0, 3.0, 2.0, 1.0]), 0.833333);
        assert_eq!(index(&[5.0, 5.0]), 1.0);
        assert_eq!(index(&[0.0, 0.0]), 1.0);
    }

    fn figures(flow: &str, role: Role, share: f64) -> FlowFigures {
        FlowFigures {
            flow: flow.to_owned(),
            role,
            goodput_bit_s: share * 1e7,
            share_of_payload_capacity: share,
            queuing_delay: None,
        }
    }

    /// Flows with a controller.
    fn scenario(flows: &[(&str, Role)]) -> Scenario {
        let rtt = Duration::from_millis(40);
        let flow = flows.iter().map(|(name, role)| Flow::new(*name, *role, "cubic", rtt)).collect();
        let link = Link::new(Rate::from_mbit(10), Buffer::Time(rtt));
        Scenario { flow, ..Scenario::new("", rtt, link) }
    }

    #[test]
    fn foreground_flows_have_an_index_of_their_own_and_constant_rates_are_in_none() {
        let (front, back) = (Role::Foreground, Role::Background);
        let mut scenario = scenario(&[("one", front), ("two", front), ("backup", back)]);
        let flows = vec![
            figures("one", front, 0.6),
            figures("two", front, 0.2),
            figures("call", front, 0.01),
            figures("backup", back, 0.1),
        ];
        let call = Flow::cbr(
            "call",
            front,
            Rate::from_bits(64_000),
            Size::from_bytes(160),
            Duration::from_millis(40),
        );
        scenario.flow.push(call);
        let mut derived = WindowFigures { flows, ..WindowFigures::default() };
        derived.derive(&scenario);
        assert_eq!((derived.foreground_fairness, derived.fairness), (Some(0.8), None));
    }

    #[test]
    fn a_harvest_is_what_the_background_takes_of_what_is_left() {
        let flow = |role, share| figures("", role, share);
        let derived = |flows| {
            let mut figures = WindowFigures { flows, ..WindowFigures::default() };
            figures.derive(&scenario(&[("", Role::Background)]));
            (figures.harvest, figures.fairness, figures.foreground_share)
        };
        let (front, back) = (Role::Foreground, Role::Background);
        let three = vec![flow(front, 0.6), flow(back, 0.2), flow(back, 0.2)];
        assert_eq!(derived(three), (Some(1.0), Some(1.0), Some(0.6)));
        assert_eq!(derived(vec![flow(front, 0.96), flow(back, 0.04)]), (None, None, Some(0.96)));
        assert_eq!(derived(vec![flow(back, 0.0)]), (Some(0.0), None, None));
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
