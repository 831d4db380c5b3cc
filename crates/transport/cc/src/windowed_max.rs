//! The largest sample of a window that slides, with three samples in memory.
//!
//! # Model
//! The best sample counts. Behind it wait the best of those that came later, and the best of those after that. When the best one is
//! older than the window, the next one takes its place:
//!
//! ```text
//!   a new best:                       it is all three
//!   a new second or third:            it is that one, and those behind it
//!   the best is older than a window:  the second becomes the best, the third the second, the new one the third
//!   no second within a quarter, no third within half a window:  the new one
//! ```
//! The clock is whatever the caller counts, such as round trips. Samples age only when new ones come: what nobody measures does not expire.
//!
//! # Source
//! K. Nichols' windowed filter, as in Linux `lib/minmax.c` (read for facts).
//!
//! # Known bad cases
//! The result may be a little smaller than the largest sample of the window, where that one fell between the second and the third.

/// A value and when it was measured.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Sample {
    at: u64,
    value: f64,
}

/// A sliding maximum. It is 0 before the first sample.
#[derive(Clone, Copy, Debug)]
pub struct WindowedMax {
    window: u64,
    best: [Sample; 3],
}

impl WindowedMax {
    /// Creates the filter of a window of this length, in units of the caller's clock.
    pub const fn new(window: u64) -> WindowedMax {
        WindowedMax { window, best: [Sample { at: 0, value: 0.0 }; 3] }
    }

    /// Creates the filter with a first sample, which may be negative.
    pub(crate) const fn starting_with(window: u64, at: u64, value: f64) -> WindowedMax {
        WindowedMax { window, best: [Sample { at, value }; 3] }
    }

    /// Changes the window's length. Samples that are too old for it leave with the next one.
    pub(crate) fn set_window(&mut self, window: u64) {
        self.window = window;
    }

    /// Returns the largest sample.
    pub fn get(&self) -> f64 {
        self.best[0].value
    }

    /// Takes in a sample of the time `at`, which is not before that of the sample before it.
    pub fn update(&mut self, at: u64, value: f64) {
        let new = Sample { at, value };
        if value >= self.best[0].value || at.saturating_sub(self.best[2].at) > self.window {
            self.best = [new; 3];
            return;
        }
        if value >= self.best[1].value {
            self.best[1..].fill(new);
        } else if value >= self.best[2].value {
            self.best[2] = new;
        }
        self.age(new);
    }

    fn age(&mut self, new: Sample) {
        let age = new.at.saturating_sub(self.best[0].at);
        if age > self.window {
            self.drop_best(new);
            if new.at.saturating_sub(self.best[0].at) > self.window {
                self.drop_best(new);
            }
        } else if self.best[1].at == self.best[0].at && age > self.window / 4 {
            self.best[1..].fill(new);
        } else if self.best[2].at == self.best[1].at && age > self.window / 2 {
            self.best[2] = new;
        }
    }

    fn drop_best(&mut self, new: Sample) {
        self.best = [self.best[1], self.best[2], new];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_best_sample_counts_for_a_window_and_then_the_next_best() {
        let mut filter = WindowedMax::new(10);
        filter.update(0, 100.0);
        let values: Vec<f64> = (1..=12)
            .map(|at| {
                filter.update(at, 50.0 - at as f64);
                filter.get()
            })
            .collect();
        assert_eq!(values[..10], [100.0; 10]);
        assert!(values[10] < 50.0 && values[11] < 50.0, "{values:?}");
    }

    #[test]
    fn nothing_expires_while_there_are_no_samples() {
        let mut filter = WindowedMax::new(10);
        filter.update(3, 7.0);
        assert_eq!(filter.get(), 7.0);
        filter.update(500, 2.0);
        assert_eq!(filter.get(), 2.0);
    }

    proptest! {
        #[test]
        fn it_is_a_sample_of_the_window_and_no_less_than_the_newest(
            steps in prop::collection::vec((0..4u64, 0.0..100.0f64), 1..200),
        ) {
            let mut filter = WindowedMax::new(10);
            let (mut at, mut all) = (0, Vec::new());
            for (gap, value) in steps {
                at += gap;
                filter.update(at, value);
                all.push((at, value));
                let inside = || all.iter().filter(|(then, _)| at - then <= 10).map(|(_, value)| *value);
                let exact = inside().fold(0.0, f64::max);
                prop_assert!(filter.get() <= exact, "{} is more than {exact}", filter.get());
                prop_assert!(inside().any(|value| value == filter.get()), "{} is not of the window", filter.get());
                prop_assert!(filter.get() >= value);
            }
        }
    }
}
