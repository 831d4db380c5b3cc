//! The goals: for each a number of a cell, a bound, and the reason for the bound.
//!
//! A cell's score of a goal is the number over the bound where more is better, the bound over the number where less is, and 1 at most. A goal
//! is not asked of a cell that cannot answer it, such as a completion time of a call.

use crate::figures::{Figures, Phase, PhaseFigures, Transfers};
use crate::grid::{Arrival, Cell, Foreground};

/// A goal.
#[derive(Clone, Copy, Debug)]
pub struct Goal {
    /// The goal's name.
    pub name: &'static str,
    /// A short name for narrow columns.
    pub short: &'static str,
    /// The meaning of its number.
    pub meaning: &'static str,
    /// The bound, and which side of it is good.
    pub bound: Bound,
    /// Decimals and unit of the number, for people.
    pub unit: &'static str,
    /// Why this bound.
    pub reason: &'static str,
    /// How the scores of its cells become one.
    pub over: Over,
    /// Whether it is asked of this cell.
    asked: fn(&Cell) -> bool,
    /// The number of a run, beside the same cell without a background.
    number: fn(&Cell, &Figures, &Figures) -> Option<f64>,
}

/// A bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// This or more.
    AtLeast(f64),
    /// This or less.
    AtMost(f64),
    /// This or less, in ms, or this number of times of a full packet on the link, if that is more.
    AtMostOrPackets(f64, f64),
}

/// How scores of cells become the score of a goal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    /// The mean.
    All,
    /// The mean of the worst tenth: a mean over all hides that some starve.
    WorstTenth,
}

const KEPT: Goal = Goal {
    name: "kept",
    short: "kept",
    meaning: "goodput of foreground transfers beside the background over that without",
    bound: Bound::AtLeast(0.98),
    unit: "",
    reason: "2 % less makes a transfer of an hour 73 s longer",
    over: Over::All,
    asked: |cell| cell.foreground.is_greedy(),
    number: |_, run, alone| ratio(together(run)?.foreground_bit_s, together(alone)?.foreground_bit_s),
};

const COMPLETION: Goal = Goal {
    name: "completion",
    short: "time",
    meaning:
        "mean time of short flows, pages and segments of a video beside the background over that without",
    bound: Bound::AtMost(1.1),
    unit: "",
    reason: "a tenth of a page of 1 s is 0.1 s, which people take for no time at all (Nielsen 1993)",
    over: Over::All,
    asked: |cell| cell.foreground.has_transfers(),
    number: |_, run, alone| slowdown(run.transfers?, alone.transfers?),
};

/// Every goal, in the order of tables.
pub const GOALS: &[Goal] = &[
    KEPT,
    Goal { name: "kept, worst tenth", short: "kept¹⁰", over: Over::WorstTenth, ..KEPT },
    COMPLETION,
    Goal { name: "completion, worst tenth", short: "time¹⁰", over: Over::WorstTenth, ..COMPLETION },
    Goal {
        name: "delay",
        short: "delay",
        meaning: "95th percentile of the foreground's queuing delay beside the background less that without, ms",
        bound: Bound::AtMostOrPackets(15.0, 3.0),
        unit: " ms",
        reason: "a tenth of the 150 ms that ITU-T G.114 gives a call one way; on slow links the time of three packets is more",
        over: Over::All,
        asked: |cell| !cell.foreground.is_bulk() && cell.foreground != Foreground::Nobody,
        number: |_, run, alone| Some((together(run)?.delay_p95_ms? - together(alone)?.delay_p95_ms?).max(0.0)),
    },
    Goal {
        name: "harvest",
        short: "harvest",
        meaning: "goodput of the background over the payload capacity that the foreground left",
        bound: Bound::AtLeast(0.9),
        unit: "",
        reason: "a background that takes nine tenths of what is free needs a tenth more time",
        over: Over::All,
        asked: |cell| !cell.foreground.is_bulk() && cell.foreground != Foreground::Nobody,
        number: |cell, run, _| Some(together(run)?.harvest? / cell.arrives),
    },
    Goal {
        name: "recovery",
        short: "recover",
        meaning: "share of the payload capacity in the phase after the foreground, from its first moment on",
        bound: Bound::AtLeast(0.85),
        unit: "",
        reason: "back within 1.5 s of 10 s",
        over: Over::All,
        asked: |cell| cell.foreground != Foreground::Nobody,
        number: |cell, run, _| Some(run.phase(Phase::After)?.background / cell.arrives),
    },
    Goal {
        name: "start",
        short: "start",
        meaning: "share of the payload capacity in the first 5 s or 20 round trips",
        bound: Bound::AtLeast(0.85),
        unit: "",
        reason: "three of twenty round trips to find the rate",
        over: Over::All,
        asked: |cell| cell.arrival != Arrival::Spread,
        number: |cell, run, _| Some(run.phase(Phase::Start)?.background / cell.arrives),
    },
    Goal {
        name: "alone",
        short: "alone",
        meaning: "share of the payload capacity while nobody else is there, after the start",
        bound: Bound::AtLeast(0.97),
        unit: "",
        reason: "nobody waits for what is left free",
        over: Over::All,
        asked: |_| true,
        number: |cell, run, _| Some(run.phase(Phase::Alone)?.background / cell.arrives),
    },
    Goal {
        name: "fairness",
        short: "fair",
        meaning: "Jain's index of the background's flows when all are there and have had time",
        bound: Bound::AtLeast(0.95),
        unit: "",
        reason: "two flows at 61 and 39 % have an index of 0.95",
        over: Over::All,
        asked: |cell| cell.flows > 1,
        number: |cell, run, _| {
            let nobody = cell.foreground == Foreground::Nobody;
            run.phase(if nobody { Phase::After } else { Phase::Alone })?.fairness
        },
    },
    Goal {
        name: "convergence",
        short: "converge",
        meaning: "goodput of a flow that comes last over the mean of all, in its first 20 s or 80 round trips; or the inverse if that is less",
        bound: Bound::AtLeast(0.8),
        unit: "",
        reason: "an equal share after a fifth of that time",
        over: Over::All,
        asked: |cell| cell.arrival == Arrival::Late,
        number: |_, run, _| together(run)?.late.map(|late| late.min(1.0 / late.max(1e-9))),
    },
];

fn together(figures: &Figures) -> Option<&PhaseFigures> {
    figures.phase(Phase::Together)
}

fn ratio(with: f64, without: f64) -> Option<f64> {
    (without > 0.0).then(|| with / without)
}

/// Returns the time of transfers over that without a background. If fewer of them are completed, the ratio grows in proportion.
fn slowdown(with: Transfers, without: Transfers) -> Option<f64> {
    if without.completed == 0 || without.mean_ms <= 0.0 {
        return None;
    }
    if with.completed == 0 {
        return Some(f64::INFINITY);
    }
    let completed = |transfers: Transfers| transfers.completed as f64 / transfers.begun.max(1) as f64;
    Some(with.mean_ms / without.mean_ms * (completed(without) / completed(with)).max(1.0))
}

impl Goal {
    /// Returns the number of a cell; `None` where the goal is not asked of it, or the runs have no answer.
    pub fn number(&self, cell: &Cell, run: &Figures, alone: &Figures) -> Option<f64> {
        if !self.is_asked(cell) {
            return None;
        }
        (self.number)(cell, run, alone)
    }

    /// Returns whether the goal is asked of a cell.
    pub fn is_asked(&self, cell: &Cell) -> bool {
        (self.asked)(cell)
    }

    /// Returns the score of a number, from 0 to 1.
    pub fn score(&self, cell: &Cell, number: f64) -> f64 {
        let packet_ms = 12_000.0 / cell.rate_bit_s * 1e3;
        let score = match self.bound {
            Bound::AtLeast(bound) => number / bound,
            Bound::AtMost(bound) => bound / number,
            Bound::AtMostOrPackets(bound, packets) => bound.max(packets * packet_ms) / number,
        };
        // No number is worse than none: 0 over 0 is as good as it gets.
        if score.is_nan() {
            1.0
        } else {
            score.clamp(0.0, 1.0)
        }
    }
}

impl Bound {
    /// Returns the bound in words.
    pub fn words(self, unit: &str) -> String {
        match self {
            Bound::AtLeast(bound) => format!("≥ {bound}{unit}"),
            Bound::AtMost(bound) => format!("≤ {bound}{unit}"),
            Bound::AtMostOrPackets(bound, packets) => format!("≤ {bound}{unit}, or {packets} packets"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::{draw, Set, QUICK, WHOLE};

    #[test]
    fn each_goal_is_asked_of_a_hundred_cells_at_least_and_of_a_dozen_of_the_quick_grid() {
        for (strata, least) in [(WHOLE, 100), (QUICK, 12)] {
            for set in [Set::Train, Set::Hold] {
                let cells = draw(strata, set, 1);
                for goal in GOALS {
                    let asked = cells.iter().filter(|cell| goal.is_asked(cell)).count();
                    assert!(asked >= least, "{} is asked of {asked} cells of {}", goal.name, set.name());
                }
                // Each serves several: the sum is a multiple of the cells.
                let all: usize =
                    GOALS.iter().map(|goal| cells.iter().filter(|cell| goal.is_asked(cell)).count()).sum();
                assert!(all > 3 * cells.len());
            }
        }
    }

    #[test]
    fn a_score_is_one_within_the_bound_and_falls_in_proportion() {
        let cell = &draw(QUICK, Set::Train, 1)[0];
        let score =
            |name: &str, number| GOALS.iter().find(|goal| goal.name == name).unwrap().score(cell, number);
        assert_eq!([score("kept", 1.2), score("kept", 0.49), score("kept", 0.0)], [1.0, 0.5, 0.0]);
        assert_eq!(
            [score("completion", 1.0), score("completion", 2.2), score("completion", f64::INFINITY)],
            [1.0, 0.5, 0.0]
        );
        let bound_ms = 15.0_f64.max(36e6 / cell.rate_bit_s);
        assert_eq!(
            [score("delay", 0.0), score("delay", bound_ms), score("delay", 4.0 * bound_ms)],
            [1.0, 1.0, 0.25]
        );
    }

    #[test]
    fn transfers_that_never_end_are_no_advantage() {
        let of = |completed, mean_ms| Transfers { begun: 10, completed, mean_ms };
        assert_eq!(slowdown(of(10, 200.0), of(10, 100.0)), Some(2.0));
        assert_eq!(slowdown(of(5, 100.0), of(10, 100.0)), Some(2.0));
        assert_eq!(slowdown(of(0, 0.0), of(10, 100.0)), Some(f64::INFINITY));
        assert_eq!(slowdown(of(10, 100.0), of(0, 0.0)), None);
    }
}
