//! The cost of the background to flows that end, or whose application makes transfers: how long these took with it and without.
//!
//! Goodput hides that cost. A user who waits longer for each page thinks as long as before, so the goodput of pages falls by little.

use super::{round, Quantiles, Totals};
use crate::scenario::{Flow, Window};
use crate::traffic::Traffic;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Completion times of a flow's transfers, with the background and without. Of a flow with a size it is the time of its only
/// transfer, in each window in which that was under way. Of an application that makes several they are those that began in the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CompletionCost {
    /// Transfers with the background.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub transfers: Option<u64>,
    /// Those of them whose last byte arrived before the end of the run.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub transfers_completed: Option<u64>,
    /// Mean time from the beginning of a completed transfer, its handshake included, until its last byte arrived, s.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub completion_mean_s: Option<f64>,
    /// 95th percentile of that time, s.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub completion_p95_s: Option<f64>,
    /// Transfers without the background.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub baseline_transfers: Option<u64>,
    /// Those of them whose last byte arrived before the end of the run.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub baseline_transfers_completed: Option<u64>,
    /// Mean time without the background, s.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub baseline_completion_mean_s: Option<f64>,
    /// 95th percentile without the background, s.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub baseline_completion_p95_s: Option<f64>,
    /// Mean time with the background over the mean time without.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub completion_mean_ratio: Option<f64>,
    /// 95th percentile with the background over that without.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub completion_p95_ratio: Option<f64>,
}

/// Transfers and how long the completed ones took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CompletionTimes {
    /// Transfers.
    pub transfers: u64,
    /// Those whose last byte arrived.
    pub completed: u64,
    /// Mean time, s.
    pub mean_s: Option<f64>,
    /// 95th percentile, s.
    pub p95_s: Option<f64>,
}

impl CompletionTimes {
    /// Returns the times of `completed` of `transfers` transfers.
    pub fn new(transfers: u64, completed: u64, time: Option<Quantiles>) -> CompletionTimes {
        CompletionTimes {
            transfers,
            completed,
            mean_s: time.map(|time| round(time.mean_ms / 1e3, 6)),
            p95_s: time.map(|time| round(time.p95_ms / 1e3, 6)),
        }
    }
}

impl CompletionCost {
    /// Returns the cost that follows from the times with the background and without; nothing where there were no transfers.
    pub fn of(with: Option<CompletionTimes>, without: Option<CompletionTimes>) -> CompletionCost {
        let has_any = [with, without].into_iter().flatten().any(|times| times.transfers > 0);
        if !has_any {
            return CompletionCost::default();
        }
        let ratio = |of: fn(CompletionTimes) -> Option<f64>| {
            let (with, without) = (with.and_then(of)?, without.and_then(of)?);
            (without > 0.0).then(|| round(with / without, 6))
        };
        CompletionCost {
            transfers: with.map(|times| times.transfers),
            transfers_completed: with.map(|times| times.completed),
            completion_mean_s: with.and_then(|times| times.mean_s),
            completion_p95_s: with.and_then(|times| times.p95_s),
            baseline_transfers: without.map(|times| times.transfers),
            baseline_transfers_completed: without.map(|times| times.completed),
            baseline_completion_mean_s: without.and_then(|times| times.mean_s),
            baseline_completion_p95_s: without.and_then(|times| times.p95_s),
            completion_mean_ratio: ratio(|times| times.mean_s),
            completion_p95_ratio: ratio(|times| times.p95_s),
        }
    }

    /// Returns the times with the background and without.
    pub fn times(&self) -> [Option<CompletionTimes>; 2] {
        let times = |transfers: Option<u64>, completed: Option<u64>, mean_s, p95_s| {
            let (transfers, completed) = transfers.zip(completed)?;
            Some(CompletionTimes { transfers, completed, mean_s, p95_s })
        };
        [
            times(self.transfers, self.transfers_completed, self.completion_mean_s, self.completion_p95_s),
            times(
                self.baseline_transfers,
                self.baseline_transfers_completed,
                self.baseline_completion_mean_s,
                self.baseline_completion_p95_s,
            ),
        ]
    }

    /// Returns the cost to several flows together. Their percentiles do not give that of all, so there is none.
    pub fn together(costs: &[CompletionCost]) -> CompletionCost {
        if let [one] = costs {
            return *one;
        }
        let run = |place: usize| {
            let all: Option<Vec<CompletionTimes>> = costs.iter().map(|cost| cost.times()[place]).collect();
            let all = all.filter(|all| !all.is_empty())?;
            let completed = all.iter().map(|times| times.completed).sum::<u64>();
            // A flow of which no transfer ended would be missing in the mean, and the mean would flatter.
            let sum_s: Option<f64> =
                all.iter().map(|times| Some(times.mean_s? * times.completed as f64)).sum();
            let mean_s = sum_s.map(|sum_s| round(sum_s / completed.max(1) as f64, 6));
            let transfers = all.iter().map(|times| times.transfers).sum();
            Some(CompletionTimes { transfers, completed, mean_s, p95_s: None })
        };
        CompletionCost::of(run(0), run(1))
    }

    /// Returns whether it has no transfers.
    pub fn is_empty(&self) -> bool {
        self.transfers.is_none() && self.baseline_transfers.is_none()
    }
}

/// A flow's counts in one run.
#[derive(Clone, Copy)]
pub(super) struct FlowInRun<'a> {
    pub(super) flow: &'a Flow,
    pub(super) totals: &'a Totals,
    pub(super) duration_s: f64,
}

impl FlowInRun<'_> {
    fn is_sized(&self) -> bool {
        matches!(self.flow.traffic, Traffic::Size(_))
    }

    /// Returns its completion times in a window; `None` where the run counted no transfers.
    pub(super) fn times(&self, window: &Window) -> Option<CompletionTimes> {
        if !self.is_sized() {
            return several(self.totals, &window.name);
        }
        let took_s = self.totals.completed_in_s;
        Some(CompletionTimes {
            transfers: u64::from(self.flow.start.as_secs_f64() < self.duration_s),
            completed: u64::from(took_s.is_some()),
            mean_s: took_s,
            p95_s: took_s,
        })
    }

    /// Returns whether a flow with a size had ended before `window` began.
    pub(super) fn ended_before(&self, window: &Window) -> bool {
        let end_s = self.totals.completed_in_s.map(|took_s| self.flow.start.as_secs_f64() + took_s);
        self.is_sized() && end_s.is_some_and(|end_s| end_s <= window.from.as_secs_f64())
    }
}

/// Returns the times of an application that makes several transfers. Formats before 4 count the whole run alone.
fn several(totals: &Totals, window: &str) -> Option<CompletionTimes> {
    let completions = totals.completions.as_ref()?;
    let in_window = completions.windows.iter().find(|times| times.window == window);
    Some(match in_window {
        Some(times) => CompletionTimes::new(times.begun, times.completed, times.time),
        None => CompletionTimes::new(completions.begun, completions.completed, completions.time),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(transfers: u64, completed: u64, mean_s: Option<f64>) -> Option<CompletionTimes> {
        Some(CompletionTimes { transfers, completed, mean_s, p95_s: mean_s.map(|mean| 2.0 * mean) })
    }

    #[test]
    fn a_cost_is_a_ratio_of_times_and_none_where_one_is_not_known() {
        let cost = CompletionCost::of(times(60, 60, Some(1.6)), times(62, 61, Some(1.25)));
        assert_eq!((cost.completion_mean_ratio, cost.completion_p95_ratio), (Some(1.28), Some(1.28)));
        assert_eq!((cost.transfers_completed, cost.baseline_transfers_completed), (Some(60), Some(61)));
        let unfinished = CompletionCost::of(times(1, 0, None), times(1, 1, Some(2.0)));
        assert_eq!((unfinished.completion_mean_ratio, unfinished.transfers_completed), (None, Some(0)));
        assert!(CompletionCost::of(times(0, 0, None), None).is_empty());
        assert!(CompletionCost::of(None, None).is_empty());
    }

    #[test]
    fn flows_together_have_the_mean_of_their_transfers() {
        let one = CompletionCost::of(times(10, 10, Some(1.0)), times(10, 10, Some(1.0)));
        let other = CompletionCost::of(times(30, 30, Some(3.0)), times(30, 30, Some(1.0)));
        let both = CompletionCost::together(&[one, other]);
        assert_eq!((both.transfers, both.completion_mean_s), (Some(40), Some(2.5)));
        assert_eq!((both.completion_mean_ratio, both.completion_p95_ratio), (Some(2.5), None));
        assert_eq!(CompletionCost::together(&[one]), one);
        let unfinished = CompletionCost::of(times(1, 0, None), times(1, 1, Some(2.0)));
        assert_eq!(CompletionCost::together(&[one, unfinished]).completion_mean_s, None);
        assert!(CompletionCost::together(&[one, CompletionCost::default()]).is_empty());
    }
}
