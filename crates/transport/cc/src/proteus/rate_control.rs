//! Which rates to try, and where to go from their utilities.
//!
//! Rates are in Mbit/s here, since utilities are.

use crate::bbr::mixed;
use crate::monitor_intervals::MOST_INTERVALS;

/// How far the rates of a pair are from the rate in the middle.
const PROBING_STEP: f64 = 0.05;
/// Change per slope of the utility, and the exponent of its growth while the direction stays.
const CONVERSION: f64 = 1.0;
const AMPLIFIER: f64 = 1.2;
/// Largest change as a part of the rate at first, and what is added to that when a change would exceed it.
const STEP_BOUND: f64 = 0.05;
/// Smallest change: Mbit/s, and as a part of the rate, whichever is less.
const MIN_CHANGE_MBIT_S: f64 = 0.5;
const MIN_CHANGE_PART: f64 = 0.025;
/// Largest rate, Mbit/s.
pub(super) const MAX_MBIT_S: f64 = 1e6;

/// A rate that was tried.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Trial {
    /// The rate that was asked for, Mbit/s.
    pub mbit_s: f64,
    /// Utility of its interval.
    pub utility: f64,
    /// The application gave less than the rate.
    pub app_limited: bool,
}

/// Where the rate goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// To more.
    Up,
    /// To less.
    Down,
}

impl Direction {
    /// Returns the direction from the worse of two trials to the better one.
    fn to_the_better(one: &Trial, other: &Trial) -> Direction {
        let (better, worse) = if one.utility > other.utility { (one, other) } else { (other, one) };
        if better.mbit_s > worse.mbit_s {
            Direction::Up
        } else {
            Direction::Down
        }
    }

    fn step(self, by: f64) -> f64 {
        match self {
            Direction::Up => by,
            Direction::Down => -by,
        }
    }
}

/// The state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Mode {
    /// The rate doubles for as long as the utility grows.
    Starting,
    /// Pairs of rates around the one of now are compared.
    Probing {
        /// Comparisons without a result so far.
        undecided: u32,
    },
    /// The rate moves for as long as the utility follows.
    Moving {
        /// The direction.
        to: Direction,
        /// Changes so far.
        rounds: u32,
    },
}

/// Limits that do not change.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Pairs of a comparison.
    pub pairs: usize,
    /// The direction for which a majority of the pairs is enough; the other one takes all of them.
    pub favours: Direction,
    /// Least rate, Mbit/s.
    pub least: f64,
}

/// The rate and how it came about.
#[derive(Clone, Copy, Debug)]
pub struct RateControl {
    limits: Limits,
    random: u64,
    mode: Mode,
    rate: f64,
    latest: Trial,
    /// Changes in a row that exceeded the bound on a step.
    excesses: u32,
    plan: [f64; MOST_INTERVALS],
    planned: usize,
}

impl RateControl {
    /// Creates the control of a flow; the rate is set by [`start`](RateControl::start).
    pub fn new(limits: Limits, random: u64) -> RateControl {
        RateControl {
            limits,
            random,
            mode: Mode::Starting,
            rate: limits.least,
            latest: Trial::default(),
            excesses: 0,
            plan: [0.0; MOST_INTERVALS],
            planned: 0,
        }
    }

    /// Returns the state.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// Returns the rate between trials, Mbit/s.
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// Returns the utility with which later ones are compared.
    pub fn latest_utility(&self) -> f64 {
        self.latest.utility
    }

    /// Returns the rates to try now, Mbit/s, each for an interval.
    pub fn plan(&self) -> &[f64] {
        &self.plan[..self.planned]
    }

    /// Starts to double from a rate, whatever was learnt before.
    pub fn start(&mut self, rate: f64) {
        self.latest = Trial::default();
        self.restart(rate);
    }

    fn restart(&mut self, rate: f64) {
        (self.mode, self.excesses) = (Mode::Starting, 0);
        self.set_rate(rate);
        self.make_plan();
    }

    /// Halves the rate and looks around there: nothing has come back for a timeout.
    pub fn halve(&mut self) {
        self.probe(self.rate / 2.0);
        self.make_plan();
    }

    /// Decides on the next rates by the trials of the plan.
    pub fn decide(&mut self, trials: &[Trial]) {
        let Some(first) = trials.first() else { return };
        match self.mode {
            Mode::Starting => self.double(first),
            Mode::Probing { undecided } => self.compare(trials, undecided),
            Mode::Moving { to, rounds } => self.follow(first, to, rounds),
        }
        self.make_plan();
    }

    fn set_rate(&mut self, rate: f64) {
        self.rate = rate.clamp(self.limits.least, MAX_MBIT_S);
    }

    fn double(&mut self, trial: &Trial) {
        if trial.utility <= self.latest.utility {
            return self.probe(self.rate / 2.0);
        }
        if !trial.app_limited {
            self.latest = *trial;
            self.set_rate(2.0 * self.rate);
        }
    }

    fn probe(&mut self, around: f64) {
        self.mode = Mode::Probing { undecided: 0 };
        self.set_rate(around);
    }

    /// Returns the direction that enough pairs prefer.
    fn preferred(&self, trials: &[Trial]) -> Option<Direction> {
        let pairs = trials.len() / 2;
        let is_limited = trials.iter().any(|trial| trial.app_limited);
        let prefer = |to| {
            trials.chunks_exact(2).filter(|pair| Direction::to_the_better(&pair[0], &pair[1]) == to).count()
        };
        let has_enough = |to| match to == self.limits.favours {
            true => 2 * prefer(to) > pairs,
            false => prefer(to) == pairs,
        };
        [Direction::Down, Direction::Up]
            .into_iter()
            .find(|to| has_enough(*to) && !(is_limited && *to == Direction::Up))
    }

    fn compare(&mut self, trials: &[Trial], undecided: u32) {
        let Some(to) = self.preferred(trials) else {
            let undecided = undecided + 1;
            self.mode = Mode::Probing { undecided };
            if undecided > 1 && self.rate <= self.limits.least {
                self.restart(self.rate); // nothing is gained by waiting at the bottom
            }
            return;
        };
        let agreeing =
            || trials.chunks_exact(2).filter(|pair| Direction::to_the_better(&pair[0], &pair[1]) == to);
        let gain: f64 = agreeing().map(|pair| (pair[0].utility - pair[1].utility).abs()).sum();
        let gain = gain / (trials.len() / 2) as f64;
        let apart = (trials[0].mbit_s - trials[1].mbit_s).abs();
        if let Some(pair) = agreeing().next_back() {
            self.latest = if pair[0].utility > pair[1].utility { pair[0] } else { pair[1] };
        }
        self.excesses = 0;
        self.set_rate(self.rate * (1.0 + to.step(PROBING_STEP)));
        let change = self.bounded(slope(gain, apart) * CONVERSION);
        self.move_by(change, to, 1);
    }

    fn follow(&mut self, trial: &Trial, to: Direction, rounds: u32) {
        let gain = (trial.utility - self.latest.utility).abs();
        let apart = (trial.mbit_s - self.latest.mbit_s).abs();
        if apart == 0.0 || Direction::to_the_better(trial, &self.latest) != to {
            return self.probe(self.latest.mbit_s);
        }
        if trial.app_limited && to == Direction::Up {
            return self.probe(self.rate);
        }
        let rounds = rounds.saturating_add(1);
        let amplified = libm::pow(f64::from(rounds.saturating_add(1) / 2), AMPLIFIER);
        let change = self.bounded(slope(gain, apart) * CONVERSION * amplified);
        self.latest = *trial;
        self.move_by(change, to, rounds);
    }

    fn move_by(&mut self, change: f64, to: Direction, rounds: u32) {
        let rate = self.rate + to.step(change);
        self.mode = Mode::Moving { to, rounds };
        if rate < self.limits.least {
            self.mode = Mode::Probing { undecided: 0 };
            self.excesses = 0;
        }
        self.set_rate(rate);
    }

    /// Returns a change within the bounds on a step. Each one in a row that exceeds the bound widens it.
    fn bounded(&mut self, change: f64) -> f64 {
        let bound = self.rate * STEP_BOUND * f64::from(self.excesses.saturating_add(1));
        let least = MIN_CHANGE_MBIT_S.min(MIN_CHANGE_PART * self.rate);
        if change > bound {
            self.excesses = self.excesses.saturating_add(1);
            return bound;
        }
        self.excesses = self.excesses.saturating_sub(1);
        change.max(least)
    }

    fn make_plan(&mut self) {
        self.plan[0] = self.rate;
        self.planned = 1;
        if !matches!(self.mode, Mode::Probing { .. }) {
            return;
        }
        self.planned = 2 * self.limits.pairs.min(MOST_INTERVALS / 2);
        for pair in self.plan[..self.planned].chunks_exact_mut(2) {
            self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15); // SplitMix64's step
            let sign = if mixed(self.random) & 1 == 0 { 1.0 } else { -1.0 };
            pair[0] = self.rate * (1.0 + sign * PROBING_STEP);
            pair[1] = self.rate * (1.0 - sign * PROBING_STEP);
        }
    }
}

/// Returns the slope of the utility, at most a number that is finite.
fn slope(gain: f64, apart: f64) -> f64 {
    if apart > 0.0 {
        (gain / apart).min(MAX_MBIT_S)
    } else {
        0.0
    }
}
