//! Distributions of delays: counts in bins of a thousandth, so that hours of packets fit; mean and maximum are exact.

use afteryou_base::Span;
use afteryou_scenario::outcome::{round, Quantiles};
use hdrhistogram::Histogram;

/// A distribution of delays.
#[derive(Clone, Debug)]
pub struct Delays {
    /// In µs.
    bins: Histogram<u32>,
    sum_ns: u128,
    max: Span,
}

impl Default for Delays {
    fn default() -> Delays {
        // Three digits are a valid precision, so this cannot fail.
        let bins = Histogram::new(3).unwrap_or_else(|error| unreachable!("bug: {error}"));
        Delays { bins, sum_ns: 0, max: Span::ZERO }
    }
}

/// Longest delay that is distinguished from longer ones, µs: 10 h.
const LONGEST_US: u64 = 36_000_000_000;

impl Delays {
    /// Records one more.
    pub fn record(&mut self, delay: Span) {
        // The bins grow by themselves up to the longest delay.
        let _ = self.bins.record(delay.as_micros().min(LONGEST_US));
        self.sum_ns += u128::from(delay.0);
        self.max = self.max.max(delay);
    }

    /// Adds the delays of another distribution.
    pub fn add(&mut self, other: &Delays) {
        // Both have the same precision, and the bins grow by themselves.
        let _ = self.bins.add(&other.bins);
        self.sum_ns += other.sum_ns;
        self.max = self.max.max(other.max);
    }

    /// Returns the distribution in ms; `None` of nothing.
    pub fn quantiles(&self) -> Option<Quantiles> {
        self.quantiles_with(0)
    }

    /// Returns every delay in ms, the smallest first; of more than `most` delays, the values at `most` equal parts.
    pub fn in_order(&self, most: u64) -> Vec<f64> {
        let parts = self.bins.len().min(most);
        let largest = round(self.max.as_millis_f64(), 3);
        let (mut delays, mut counted) = (Vec::new(), 0);
        for bin in self.bins.iter_recorded() {
            counted += bin.count_since_last_iteration();
            let delay = round(bin.value_iterated_to() as f64 / 1e3, 3).min(largest);
            // The k-th part ends at rank ⌈k·n/parts⌉.
            let reached = (counted * parts / self.bins.len()) as usize;
            delays.resize(reached, delay);
        }
        delays
    }

    /// Returns the distribution together with `zeros` delays of zero.
    pub fn quantiles_with(&self, zeros: u64) -> Option<Quantiles> {
        let samples = self.bins.len() + zeros;
        if samples == 0 {
            return None;
        }
        let mut bins = self.bins.clone();
        // Zero is always a value of the bins.
        let _ = bins.record_n(0, u32::try_from(zeros).unwrap_or(u32::MAX));
        let rank =
            |q: f64| round(bins.value_at_quantile(q) as f64 / 1e3, 3).min(round(self.max.as_millis_f64(), 3));
        Some(Quantiles {
            samples,
            mean_ms: round((self.sum_ns / u128::from(samples)) as f64 / 1e6, 3),
            p50_ms: rank(0.5),
            p95_ms: rank(0.95),
            p99_ms: rank(0.99),
            max_ms: round(self.max.as_millis_f64(), 3),
        })
    }
}

/// The mean within a step.
#[derive(Clone, Copy, Debug, Default)]
pub struct StepMean {
    sum_ns: u64,
    samples: u64,
}

impl StepMean {
    /// Records one more.
    pub fn record(&mut self, delay: Span) {
        self.sum_ns += delay.0;
        self.samples += 1;
    }

    /// Records `samples` more, which sum up to `delays`.
    pub fn record_many(&mut self, samples: u64, delays: Span) {
        self.sum_ns += delays.0;
        self.samples += samples;
    }

    /// Returns the mean in ms since the last call; `None` if there was nothing.
    pub fn take_ms(&mut self) -> Option<f64> {
        self.take_ms_with(0)
    }

    /// Returns the same together with `zeros` delays of zero.
    pub fn take_ms_with(&mut self, zeros: u64) -> Option<f64> {
        let StepMean { sum_ns, samples } = std::mem::take(self);
        let samples = samples + zeros;
        (samples > 0).then(|| sum_ns as f64 / samples as f64 / 1e6)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_nearest_rank_within_a_thousandth() {
        let mut delays = Delays::default();
        assert_eq!(delays.quantiles(), None);
        (1..=100).for_each(|ms| delays.record(Span::from_millis(ms)));
        let quantiles = delays.quantiles().unwrap();
        for (is, should) in [(quantiles.p50_ms, 50.0), (quantiles.p95_ms, 95.0), (quantiles.p99_ms, 99.0)] {
            assert!((is / should - 1.0).abs() < 1e-3, "{is} for {should}");
        }
        assert_eq!((quantiles.mean_ms, quantiles.max_ms, quantiles.samples), (50.5, 100.0, 100));
    }

    #[test]
    fn delays_in_order_are_all_of_a_few_and_equal_parts_of_many() {
        let mut delays = Delays::default();
        assert!(delays.in_order(4).is_empty());
        [7, 3, 3].into_iter().for_each(|ms| delays.record(Span::from_millis(ms)));
        let close = |delays: &[f64], expected: &[f64]| {
            assert_eq!(delays.len(), expected.len(), "{delays:?}");
            let near = |(is, should): (&f64, &f64)| (is / should - 1.0).abs() < 1e-3;
            assert!(delays.iter().zip(expected).all(near), "{delays:?} for {expected:?}");
        };
        close(&delays.in_order(4), &[3.0, 3.0, 7.0]);
        (1..=97).for_each(|_| delays.record(Span::from_millis(20)));
        // Of a hundred delays the quarters end at the 25th, 50th, 75th and 100th.
        close(&delays.in_order(4), &[20.0, 20.0, 20.0, 20.0]);
        close(&delays.in_order(40)[..3], &[7.0, 20.0, 20.0]);
    }

    #[test]
    fn delays_of_zero_count_whether_they_are_recorded_or_only_counted() {
        let (mut recorded, mut counted) = (Delays::default(), Delays::default());
        (1..=30).for_each(|ms| recorded.record(Span::from_millis(ms)));
        (1..=30).for_each(|ms| counted.record(Span::from_millis(ms)));
        (0..50).for_each(|_| recorded.record(Span::ZERO));
        assert_eq!(counted.quantiles_with(50), recorded.quantiles());
        assert_eq!(Delays::default().quantiles_with(2).map(|quantiles| quantiles.max_ms), Some(0.0));
        let mut step = StepMean::default();
        step.record(Span::from_millis(9));
        assert_eq!((step.take_ms_with(2), step.take_ms_with(0)), (Some(3.0), None));
    }
}
