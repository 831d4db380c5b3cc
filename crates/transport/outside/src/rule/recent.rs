//! The recent past: a count's growth, and the largest of late values.

use afteryou_base::{Span, Time};
use std::collections::VecDeque;

/// Most values that are remembered for a largest one.
const KEPT_AT_MOST: u64 = 256;

/// A count that only grows, with its values of the last while.
#[derive(Clone, Debug)]
pub struct Count {
    kept: Span,
    values: VecDeque<(Time, u64)>,
}

impl Count {
    /// Creates a count whose values are remembered for `kept`.
    pub fn new(kept: Span) -> Count {
        Count { kept, values: VecDeque::new() }
    }

    /// Notes the count's value at `now`.
    pub fn note(&mut self, now: Time, value: u64) {
        self.values.push_back((now, value));
        while self.values.get(1).is_some_and(|(at, _)| now.since(*at) > self.kept) {
            self.values.pop_front();
        }
    }

    /// Returns by how much the count grew in the last `span`, or since it is known; in proportion where it is not known that finely. `None`
    /// before it has two values.
    pub fn grown_within(&self, span: Span) -> Option<f64> {
        let (grown, passed_s) = self.growth(span)?;
        Some(grown * (span.as_secs_f64() / passed_s).min(1.0))
    }

    /// Returns by how much the count grew in a second, on average of the last `span` or since it is known. `None` before it has two values.
    pub fn per_s_within(&self, span: Span) -> Option<f64> {
        let (grown, passed_s) = self.growth(span)?;
        Some(grown / passed_s)
    }

    /// Returns by how much the count grew in the shortest known time of `span` at least, or since it is known, and that time, seconds.
    fn growth(&self, span: Span) -> Option<(f64, f64)> {
        let (newest_at, newest) = *self.values.back()?;
        let before = self.values.iter().rposition(|(at, _)| newest_at.since(*at) >= span).unwrap_or(0);
        let (at, value) = self.values[before];
        let passed_s = newest_at.since(at).as_secs_f64();
        (passed_s > 0.0).then(|| (newest.saturating_sub(value) as f64, passed_s))
    }
}

/// The largest value of the last while.
#[derive(Clone, Debug)]
pub struct Largest {
    kept: Span,
    /// Values that no later one exceeds, the largest first.
    values: VecDeque<(Time, f64)>,
}

impl Largest {
    /// Creates it without a value; each counts for `kept`.
    pub fn new(kept: Span) -> Largest {
        Largest { kept, values: VecDeque::new() }
    }

    /// Notes a value.
    pub fn note(&mut self, now: Time, value: f64) {
        while self.values.back().is_some_and(|(_, last)| *last <= value) {
            self.values.pop_back();
        }
        let apart = Span(self.kept.as_nanos() / KEPT_AT_MOST);
        if self.values.back().is_none_or(|(at, _)| now.since(*at) >= apart) {
            self.values.push_back((now, value));
        }
        self.forget(now);
    }

    /// Forgets what is too old.
    fn forget(&mut self, now: Time) {
        while self.values.front().is_some_and(|(at, _)| now.since(*at) > self.kept) {
            self.values.pop_front();
        }
    }

    /// Returns the largest value, if there was one.
    pub fn get(&self) -> Option<f64> {
        self.values.front().map(|(_, value)| *value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_has_grown_by_what_came_within_the_span() {
        let mut count = Count::new(Span::from_secs(1));
        for ms in (0..=2000).step_by(10) {
            count.note(Time::from_millis(ms), ms * 100);
        }
        assert_eq!(count.grown_within(Span::from_millis(40)), Some(4000.0));
        assert_eq!(
            count.grown_within(Span::from_millis(45)),
            Some(4500.0),
            "in proportion between two values"
        );
        assert_eq!(
            count.grown_within(Span::from_secs(4)),
            Some(101_000.0),
            "since the oldest value that is kept"
        );
        assert_eq!(count.per_s_within(Span::from_millis(45)), Some(100_000.0));
        assert_eq!(count.per_s_within(Span::from_secs(4)), Some(100_000.0));
        assert!(count.values.len() < 110);
    }

    #[test]
    fn the_largest_value_leaves_when_it_is_old() {
        let mut largest = Largest::new(Span::from_secs(1));
        largest.note(Time::from_millis(0), 5.0);
        largest.note(Time::from_millis(500), 3.0);
        assert_eq!(largest.get(), Some(5.0));
        largest.note(Time::from_millis(1100), 1.0);
        assert_eq!(largest.get(), Some(3.0));
    }

    #[test]
    fn values_that_fall_slowly_take_no_more_memory() {
        let mut largest = Largest::new(Span::from_secs(300));
        for tick in 0..100_000 {
            largest.note(Time::from_millis(10 * tick), 1e9 - tick as f64);
        }
        assert!(largest.values.len() <= 257, "{}", largest.values.len());
        let oldest = 100_000.0 - 30_000.0;
        assert!((largest.get().unwrap() - (1e9 - oldest)).abs() <= 120.0, "{:?}", largest.get());
    }
}
