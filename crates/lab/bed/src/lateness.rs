//! How late packets were delivered.

use afteryou_base::Span;
use afteryou_scenario::outcome::{Lateness, Quantiles};
use hdrhistogram::Histogram;

/// The 99th percentile, ms, above which a run is no evidence about the network.
pub const LATENESS_BOUND_MS: f64 = 5.0;

/// A distribution of lateness with bounded memory; quantiles are within 1 %.
pub struct Distribution {
    nanos: Histogram<u64>,
}

impl Distribution {
    pub fn new() -> Distribution {
        let nanos = Histogram::new_with_bounds(1, 600_000_000_000, 2);
        Distribution { nanos: nanos.expect("bug: these bounds are valid") }
    }

    pub fn add(&mut self, late: Span) {
        self.nanos.saturating_record(late.as_nanos());
    }

    /// Returns the lateness; `None` of nothing.
    pub fn lateness(&self) -> Option<Lateness> {
        if self.nanos.is_empty() {
            return None;
        }
        let at = |quantile| self.nanos.value_at_quantile(quantile) as f64 / 1e6;
        let departures = Quantiles {
            samples: self.nanos.len(),
            mean_ms: self.nanos.mean() / 1e6,
            p50_ms: at(0.5),
            p95_ms: at(0.95),
            p99_ms: at(0.99),
            max_ms: self.nanos.max() as f64 / 1e6,
        };
        Some(Lateness { departures, bound_ms: LATENESS_BOUND_MS })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_packet_in_fifty_that_is_6_ms_late_spoils_a_run_and_one_in_200_does_not() {
        let spoiled = |every: usize| {
            let mut distribution = Distribution::new();
            (1..=1000).for_each(|n| {
                distribution.add(Span::from_micros(if n % every == 0 { 6000 } else { 50 }));
            });
            distribution.lateness().unwrap().spoiled()
        };
        assert!(spoiled(50) && !spoiled(200));
    }

    #[test]
    fn quantiles_are_right_within_one_per_cent_and_nothing_has_none() {
        let mut distribution = Distribution::new();
        assert!(distribution.lateness().is_none());
        (1..=1000).for_each(|n| distribution.add(Span::from_micros(n)));
        let Quantiles { samples, mean_ms, p50_ms, p99_ms, .. } = distribution.lateness().unwrap().departures;
        assert_eq!(samples, 1000);
        for (value, expected) in [(mean_ms, 0.5), (p50_ms, 0.5), (p99_ms, 0.99)] {
            assert!((value / expected - 1.0).abs() < 0.01, "{value} instead of {expected}");
        }
    }
}
