//! Distributions of delays, and numbers without the digits that no measurement has.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Returns `value` rounded to `decimals` decimals: more digits than a measurement has only make files longer.
pub fn round(value: f64, decimals: i32) -> f64 {
    // By multiplication: exact on every machine, which `powi` need not be.
    let factor = (0..decimals).fold(1.0, |factor, _| factor * 10.0);
    (value * factor).round() / factor
}

/// A distribution in ms: nearest-rank quantiles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Quantiles {
    /// Samples.
    pub samples: u64,
    /// Mean, ms.
    pub mean_ms: f64,
    /// Median, ms.
    pub p50_ms: f64,
    /// 95th percentile, ms.
    pub p95_ms: f64,
    /// 99th percentile, ms.
    pub p99_ms: f64,
    /// Largest, ms.
    pub max_ms: f64,
}

impl Quantiles {
    /// Returns the quantiles of `samples_ms` by nearest rank: the ⌈p·n⌉-th smallest. `None` of nothing.
    pub fn of(samples_ms: &[f64]) -> Option<Quantiles> {
        if samples_ms.is_empty() {
            return None;
        }
        let mut sorted = samples_ms.to_vec();
        sorted.sort_by(f64::total_cmp);
        let n = sorted.len();
        let rank = |p: usize| sorted[(p * n).div_ceil(100).clamp(1, n) - 1];
        Some(Quantiles {
            samples: n as u64,
            mean_ms: sorted.iter().sum::<f64>() / n as f64,
            p50_ms: rank(50),
            p95_ms: rank(95),
            p99_ms: rank(99),
            max_ms: sorted[n - 1],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_nearest_rank() {
        let ten: Vec<f64> = (1..=10).map(f64::from).collect();
        let hundred: Vec<f64> = (1..=100).map(f64::from).collect();
        let (ten, hundred) = (Quantiles::of(&ten).unwrap(), Quantiles::of(&hundred).unwrap());
        assert_eq!((ten.p50_ms, ten.p95_ms), (5.0, 10.0));
        assert_eq!((hundred.p50_ms, hundred.p95_ms, hundred.p99_ms), (50.0, 95.0, 99.0));
        assert_eq!(Quantiles::of(&[]), None);
    }
}
