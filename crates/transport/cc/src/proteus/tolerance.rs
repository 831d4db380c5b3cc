//! Noise tolerance: which changes of the round-trip time are taken for those of a queue.
//!
//! ```text
//!   within an interval:  the line through its samples is clear    ⇔    error < |gradient|
//!   over six intervals:  trend = slope of their mean round-trip times
//!                        unusual: outside of its average ± 2 · its usual change from interval to interval
//!   deviation:           unusual: above its average + 4 · its usual distance from that, and above 1 ms
//!
//!   the gradient counts:   a clear line, or an unusual trend upwards
//!   the deviation counts:  a clear line, an unusual trend, or an unusual deviation
//! ```
//! Averages have a weight of 0.1 for the newest interval, and unusual ones do not enter them. A deviation that stays unusual for about 28
//! intervals in a row is usual from then on.

use super::utility::Outcome;
use crate::monitor_intervals::Report;
use crate::regression::Regression;

/// Intervals of a trend.
const TREND: usize = 6;
/// Weight of the newest interval in averages.
const WEIGHT: f64 = 0.1;
/// Usual changes within which a trend is usual, and usual distances within which a deviation is.
const TREND_GAIN: f64 = 2.0;
const DEVIATION_GAIN: f64 = 4.0;
/// Deviation below which none is unusual, s.
const SMALL_DEVIATION: f64 = 1e-3;
/// Samples below which an interval shows nothing.
const FEWEST_SAMPLES: u32 = 2;
/// A trend this number of times smaller than any before begins new averages. So does a smallest one of less than a picosecond.
const FAR_SMALLER: f64 = 100.0;
const NO_TREND: f64 = 1e-12;
/// Part of the latest intervals that is unusual from which on it is the usual one.
const MOSTLY: f64 = 0.95;

/// The averages of the intervals before.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tolerance {
    means: History,
    trends: Trends,
    deviations: Deviations,
}

impl Tolerance {
    /// Returns an interval's outcome without what is noise, and takes it into the averages.
    pub fn judge(&mut self, report: &Report) -> Outcome {
        let is_clear = report.error < report.gradient.abs();
        let (mut gradient_counts, mut deviation_counts) = (is_clear, is_clear);
        if report.samples >= FEWEST_SAMPLES {
            self.means.push(report.mean_rtt);
            if let Some(trend) = self.means.slope() {
                let is_unusual = self.trends.is_unusual(trend);
                gradient_counts |= is_unusual && trend > 0.0;
                deviation_counts |= is_unusual | self.deviations.is_unusual(report.deviation);
            }
        }
        Outcome {
            mbit_s: report.rate / super::MBIT_S,
            loss: report.loss,
            gradient: if gradient_counts { report.gradient.max(0.0) } else { 0.0 },
            deviation: if deviation_counts { report.deviation } else { 0.0 },
        }
    }
}

/// The mean round-trip times of the latest intervals, s.
#[derive(Clone, Copy, Debug, Default)]
struct History {
    means: [f64; TREND],
    len: usize,
}

impl History {
    fn push(&mut self, mean: f64) {
        if self.len == TREND {
            self.means.rotate_left(1);
            self.len -= 1;
        }
        self.means[self.len] = mean;
        self.len += 1;
    }

    /// Returns the change from interval to interval once there are enough, s.
    fn slope(&self) -> Option<f64> {
        if self.len < TREND {
            return None;
        }
        let mut line = Regression::default();
        self.means.iter().enumerate().for_each(|(i, mean)| line.add(i as f64, *mean));
        Some(line.slope())
    }
}

/// The usual trends.
#[derive(Clone, Copy, Debug, Default)]
struct Trends {
    average: f64,
    change: f64,
    latest: f64,
    smallest: f64,
}

impl Trends {
    fn is_unusual(&mut self, trend: f64) -> bool {
        let size = trend.abs();
        if self.smallest < NO_TREND || size < self.smallest / FAR_SMALLER {
            *self = Trends { average: 0.0, change: size, latest: trend, smallest: size };
            return false;
        }
        self.smallest = self.smallest.min(size);
        if (trend - self.average).abs() > TREND_GAIN * self.change {
            return true;
        }
        self.change += WEIGHT * ((trend - self.latest).abs() - self.change);
        self.average += WEIGHT * (trend - self.average);
        self.latest = trend;
        false
    }
}

/// The usual deviations.
#[derive(Clone, Copy, Debug, Default)]
struct Deviations {
    average: Option<f64>,
    distance: f64,
    unusual_part: f64,
}

impl Deviations {
    fn is_unusual(&mut self, deviation: f64) -> bool {
        self.unusual_part *= 1.0 - WEIGHT;
        let Some(average) = self.average.filter(|average| *average > 0.0) else {
            (self.average, self.distance) = (Some(deviation), deviation / 2.0);
            return false;
        };
        if deviation <= average + DEVIATION_GAIN * self.distance || deviation <= SMALL_DEVIATION {
            self.distance += WEIGHT * ((deviation - average).abs() - self.distance);
            self.average = Some(average + WEIGHT * (deviation - average));
            return false;
        }
        self.unusual_part += WEIGHT;
        if self.unusual_part > MOSTLY {
            *self = Deviations::default();
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the report of an interval of 50 samples.
    fn report(gradient: f64, error: f64, mean_ms: f64, deviation_ms: f64) -> Report {
        Report {
            rate: 1.25e6,
            samples: 50,
            gradient,
            error,
            mean_rtt: mean_ms / 1e3,
            deviation: deviation_ms / 1e3,
            ..Report::default()
        }
    }

    /// Returns a tolerance for a path of 50 ms whose delay wavers by 0.2 ms up and down.
    fn wavering() -> Tolerance {
        let mut tolerance = Tolerance::default();
        for i in 0..60 {
            tolerance.judge(&report(0.001, 0.01, 50.0 + 0.2 * f64::from(i % 2), 0.3));
        }
        tolerance
    }

    #[test]
    fn a_clear_line_counts_and_one_that_is_lost_in_its_noise_does_not() {
        let judge = |gradient, error| Tolerance::default().judge(&report(gradient, error, 50.0, 2.0));
        let (clear, noisy) = (judge(0.02, 0.01), judge(0.01, 0.01));
        assert_eq!((clear.gradient, clear.deviation, clear.mbit_s), (0.02, 0.002, 10.0));
        assert_eq!((noisy.gradient, noisy.deviation), (0.0, 0.0));
        let falling = judge(-0.02, 0.01);
        assert_eq!((falling.gradient, falling.deviation), (0.0, 0.002), "a queue that drains is no gain");
    }

    #[test]
    fn a_trend_beyond_the_usual_ones_counts_although_each_interval_is_noisy() {
        let mut tolerance = wavering();
        let usual = tolerance.judge(&report(0.01, 0.02, 50.1, 0.3));
        assert_eq!((usual.gradient, usual.deviation), (0.0, 0.0));
        let rising: Vec<Outcome> =
            (1..6).map(|i| tolerance.judge(&report(0.01, 0.02, 50.0 + 3.0 * f64::from(i), 0.3))).collect();
        assert_eq!((rising[4].gradient, rising[4].deviation), (0.01, 0.0003));
    }

    #[test]
    fn a_trend_downwards_brings_the_deviation_alone() {
        let mut tolerance = wavering();
        let falling =
            (1..6).map(|i| tolerance.judge(&report(0.01, 0.02, 50.0 - 3.0 * f64::from(i), 0.3))).last();
        assert_eq!(falling.map(|outcome| (outcome.gradient, outcome.deviation)), Some((0.0, 0.0003)));
    }

    #[test]
    fn an_unusual_deviation_counts_above_a_millisecond_until_it_is_the_usual_one() {
        let mut tolerance = wavering();
        let mut next = |i: u32, deviation| {
            tolerance.judge(&report(0.001, 0.01, 50.0 + 0.2 * f64::from(i % 2), deviation)).deviation > 0.0
        };
        assert!(!next(0, 0.9), "below a millisecond");
        let counted = (1..100).take_while(|i| next(*i, 5.0)).count();
        assert_eq!(counted, 29, "1 − 0.9^n exceeds 0.95");
    }

    #[test]
    fn five_intervals_are_no_trend() {
        let mut history = History::default();
        let slopes: Vec<_> = (0..8)
            .map(|i| {
                history.push(f64::from(i));
                history.slope()
            })
            .collect();
        assert_eq!(slopes[..5], [None; 5]);
        assert!(slopes[5..].iter().all(|slope| slope.is_some_and(|slope| (slope - 1.0).abs() < 1e-12)));
    }
}
