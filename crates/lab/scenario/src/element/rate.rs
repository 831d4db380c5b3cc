//! Rates that change.

use super::steps::Steps;
use crate::points::Points;
use afteryou_notation::{Duration, Rate};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Bytes of a full packet, which a link may send at each opportunity of a packet-delivery trace.
pub const OPPORTUNITY_BYTES: u64 = 1500;

/// How the rate of a link changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RateLaw {
    /// A rate from each time on; 0 is an outage.
    Steps {
        /// From when, and which rate.
        steps: Steps<Rate>,
        /// The steps begin again after this time, and again; the last one holds to the end by default.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        period: Option<Duration>,
    },
    /// A packet-delivery trace as Mahimahi has it.
    Opportunities {
        /// When the link may send 1500 bytes, ms, ascending; the same time twice is twice as much.
        at_ms: Points<u32>,
        /// The trace begins again when it is over: its last time is its length.
        #[serde(skip_serializing_if = "is_false", default)]
        repeat: bool,
    },
}

fn is_false(flag: &bool) -> bool {
    !flag
}

/// Bits × ns per s in a bit.
const NANO: u128 = 1_000_000_000;

impl RateLaw {
    /// Returns the capacity of the time before `until`, in 10⁻⁹ bits.
    pub fn nanobits(&self, until: Duration) -> u128 {
        match self {
            RateLaw::Steps { steps, period } => {
                let once = |until: u64| of_steps(steps.points(), until);
                let (whole, rest) = rounds(until.0 .0, period.map(|period| period.0 .0));
                once(rest) + period.map_or(0, |period| once(period.0 .0)) * u128::from(whole)
            }
            RateLaw::Opportunities { at_ms, repeat } => {
                let period = repeat.then(|| at_ms.last().map_or(0, |last| u64::from(*last) * 1_000_000));
                let (whole, rest) = rounds(until.0 .0, period);
                // The end of a round is in it, so that nothing at its last time is lost.
                let before = at_ms.partition_point(|at| u64::from(*at) * 1_000_000 < rest);
                let count = u128::from(whole) * at_ms.len() as u128 + before as u128;
                count * u128::from(OPPORTUNITY_BYTES) * 8 * NANO
            }
        }
    }

    /// Returns the mean rate from `from` to `to`, bit/s.
    pub fn mean(&self, from: Duration, to: Duration) -> f64 {
        let nanos = to.0 - from.0;
        let nanobits = self.nanobits(to) - self.nanobits(from);
        nanobits as f64 / nanos.0.max(1) as f64
    }

    /// Checks that it is a rate. If not, returns the reason.
    ///
    /// # Errors
    /// Steps that do not begin at 0 or do not ascend, and a period that ends before the last step. A trace whose times do not ascend or whose
    /// last one is 0 ms.
    pub fn check(&self) -> Result<(), String> {
        match self {
            RateLaw::Steps { steps, period } => {
                steps.check().map_err(|(at, why)| format!("step {}: {why}", at + 1))?;
                let last = steps.points().last().map_or(Duration::default(), |(at, _)| *at);
                let ends_early = period.is_some_and(|period| period <= last);
                match ends_early {
                    true => Err("the rate begins again before its last step: use a longer period".to_owned()),
                    false => Ok(()),
                }
            }
            RateLaw::Opportunities { at_ms, .. } => match at_ms.windows(2).position(|pair| pair[0] > pair[1])
            {
                Some(at) => Err(format!("opportunity {}: times ascend", at + 2)),
                None if at_ms.last().is_none_or(|last| *last == 0) => {
                    Err("a trace has an opportunity after 0 ms".to_owned())
                }
                None => Ok(()),
            },
        }
    }
}

/// Returns the whole periods before `until`, and the time after them.
fn rounds(until: u64, period: Option<u64>) -> (u64, u64) {
    match period {
        Some(period @ 1..) => (until / period, until % period),
        _ => (0, until),
    }
}

fn of_steps(points: &[(Duration, Rate)], until: u64) -> u128 {
    let ends = points.iter().skip(1).map(|(at, _)| at.0 .0).chain([u64::MAX]);
    let step = |((from, rate), end): (&(Duration, Rate), u64)| {
        let nanos = end.min(until).saturating_sub(from.0 .0);
        u128::from(nanos) * u128::from(rate.bits_per_second())
    };
    points.iter().zip(ends).map(step).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn s(s: u64) -> Duration {
        Duration::from_millis(s * 1000)
    }

    #[test]
    fn the_capacity_of_steps_is_their_integral() {
        let mbit = Rate::from_mbit;
        let steps = Steps::new(vec![(s(0), mbit(10)), (s(2), mbit(0)), (s(3), mbit(4))]).unwrap();
        let once = RateLaw::Steps { steps: steps.clone(), period: None };
        assert_eq!(once.mean(s(0), s(4)), 6e6, "(20 + 0 + 4)/4");
        assert_eq!(once.mean(s(1), s(3)), 5e6);
        let looped = RateLaw::Steps { steps, period: Some(s(4)) };
        assert_eq!((looped.mean(s(0), s(400)), looped.mean(s(5), s(7))), (6e6, 5e6));
    }

    #[test]
    fn the_capacity_of_a_trace_is_1500_bytes_at_each_opportunity() {
        let trace = |repeat| RateLaw::Opportunities { at_ms: vec![2, 2, 5, 10].into(), repeat };
        let bytes = |law: &RateLaw, ms: u64| law.nanobits(Duration::from_millis(ms)) / NANO / 8;
        assert_eq!([2, 3, 6, 11, 99].map(|ms| bytes(&trace(false), ms)), [0, 3000, 4500, 6000, 6000]);
        assert_eq!([11, 13, 16].map(|ms| bytes(&trace(true), ms)), [6000, 9000, 10_500]);
        assert_eq!(trace(true).mean(s(0), s(10)), 4.0 * 12_000.0 / 0.010);
    }
}
