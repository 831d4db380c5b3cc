//! A quantity that holds a value until it changes: its distribution over time.
//!
//! Bins of a thousandth of the value hold the nanoseconds during which it was there, so that hours of acks fit; mean and maximum
//! are exact.

use afteryou_base::{Span, Time};
use afteryou_scenario::outcome::{round, Levels};
use hdrhistogram::Histogram;

/// The distribution of a quantity over time, in windows.
#[derive(Clone, Debug)]
pub struct Level {
    windows: Vec<Window>,
}

/// The value that the quantity has at one of those that have it, and since when.
#[derive(Clone, Copy, Debug, Default)]
pub struct Held {
    value: Option<u64>,
    since: Time,
}

impl Held {
    /// Returns the value, if there is one.
    pub fn value(&self) -> Option<u64> {
        self.value
    }
}

#[derive(Clone, Debug)]
struct Window {
    from: Time,
    to: Time,
    bins: Histogram<u64>,
    /// Value × ns.
    area: u128,
    lasted: Span,
    max: u64,
}

/// Largest value that is distinguished from larger ones.
const LARGEST: u64 = 1 << 50;

impl Level {
    /// Creates a level without a value, in windows `(from, to)`.
    pub fn new(windows: &[(Time, Time)]) -> Level {
        // Three digits are a valid precision, so this cannot fail.
        let bins = || Histogram::new(3).unwrap_or_else(|error| unreachable!("bug: {error}"));
        let window = |&(from, to): &(Time, Time)| Window {
            from,
            to,
            bins: bins(),
            area: 0,
            lasted: Span::ZERO,
            max: 0,
        };
        Level { windows: windows.iter().map(window).collect() }
    }

    /// Sets the value of `held` from now on, or none.
    pub fn set(&mut self, held: &mut Held, now: Time, value: Option<u64>) {
        if let Some(value) = held.value {
            self.windows.iter_mut().for_each(|window| window.hold(value, held.since, now));
        }
        *held = Held { value, since: now };
    }

    /// Returns the distribution in a window, multiplied by `scale`, of values that hold no more.
    pub fn levels(&self, window: usize, scale: f64) -> Option<Levels> {
        self.windows[window].levels(scale)
    }
}

impl Window {
    /// Counts that the quantity had `value` from `since` to `until`.
    fn hold(&mut self, value: u64, since: Time, until: Time) {
        let lasted = until.min(self.to).since(since.max(self.from));
        if lasted == Span::ZERO {
            return;
        }
        // The bins grow by themselves up to the largest value.
        let _ = self.bins.record_n(value.min(LARGEST), lasted.0);
        self.area += u128::from(value) * u128::from(lasted.0);
        self.lasted = self.lasted + lasted;
        self.max = self.max.max(value);
    }

    fn levels(&self, scale: f64) -> Option<Levels> {
        if self.lasted == Span::ZERO {
            return None;
        }
        let scaled = |value: f64| round(value * scale, 3);
        let at = |q: f64| scaled(self.bins.value_at_quantile(q).min(self.max) as f64);
        Some(Levels {
            mean: scaled(self.area as f64 / self.lasted.0 as f64),
            p5: at(0.05),
            p50: at(0.5),
            p95: at(0.95),
            max: scaled(self.max as f64),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(s: u64) -> Time {
        Time::from_millis(s * 1000)
    }

    #[test]
    fn a_value_counts_for_as_long_as_it_lasts_within_the_window() {
        let mut level = Level::new(&[(at(1), at(5)), (at(20), at(30))]);
        let mut held = Held::default();
        let mut set = |at, value| level.set(&mut held, at, value);
        set(at(0), Some(4000));
        set(at(2), Some(2000)); // 4000 for a second of the window
        set(at(4), None); // 2000 for two
        set(at(5), Some(900));
        let levels = level.levels(0, 1e-3).unwrap();
        assert_eq!((levels.mean, levels.max), (2.667, 4.0));
        assert!((levels.p50 - 2.0).abs() < 0.01 && (levels.p95 - 4.0).abs() < 0.01, "{levels:?}");
        assert_eq!(level.levels(1, 1.0), None, "the second window has not begun");
        level.set(&mut held, at(25), None);
        assert_eq!(level.levels(1, 1.0).unwrap().mean, 900.0, "the value held");
    }

    #[test]
    fn several_that_have_the_quantity_at_the_same_time_count_each_for_as_long_as_it_has_it() {
        let mut level = Level::new(&[(at(0), at(4))]);
        let (mut one, mut other) = (Held::default(), Held::default());
        level.set(&mut one, at(0), Some(1000));
        level.set(&mut other, at(1), Some(4000));
        level.set(&mut other, at(2), None);
        level.set(&mut one, at(9), None);
        // 1000 for four seconds, 4000 for one: 8000 / 5.
        let levels = level.levels(0, 1.0).unwrap();
        assert_eq!((levels.mean, levels.max), (1600.0, 4000.0));
    }
}
