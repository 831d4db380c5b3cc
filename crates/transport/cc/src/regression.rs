//! A straight line through samples that come one by one, in constant memory.
//!
//! # Model
//! Least squares of y over x. Means and the sums of squared deviations are updated with each sample:
//!
//! ```text
//!   slope     = Σ(x − mean x)(y − mean y) / Σ(x − mean x)²
//!   residual  = sqrt((Σ(y − mean y)² − slope · Σ(x − mean x)(y − mean y)) / n)        what the line leaves
//!   deviation = sqrt(Σ(y − mean y)² / n)                                             what the mean leaves
//! ```
//!
//! # Source
//! Welford (1962), for two variables. The deviations are those of the samples themselves: divided by n, not by n − 1.
//!
//! # Known bad cases
//! Samples with the same x have no slope; it is 0 then.

/// A line through samples.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Regression {
    samples: u32,
    mean_x: f64,
    mean_y: f64,
    xx: f64,
    xy: f64,
    yy: f64,
}

impl Regression {
    /// Takes in a sample.
    pub fn add(&mut self, x: f64, y: f64) {
        self.samples = self.samples.saturating_add(1);
        let n = f64::from(self.samples);
        let (dx, dy) = (x - self.mean_x, y - self.mean_y);
        self.mean_x += dx / n;
        self.mean_y += dy / n;
        self.xx += dx * (x - self.mean_x);
        self.xy += dx * (y - self.mean_y);
        self.yy += dy * (y - self.mean_y);
    }

    /// Returns the number of samples.
    pub fn samples(&self) -> u32 {
        self.samples
    }

    /// Returns the mean of y.
    pub fn mean(&self) -> f64 {
        self.mean_y
    }

    /// Returns the change of y for each unit of x.
    pub fn slope(&self) -> f64 {
        if self.xx > 0.0 {
            self.xy / self.xx
        } else {
            0.0
        }
    }

    /// Returns the root mean square of the samples' distances from the line.
    pub fn residual(&self) -> f64 {
        self.root_mean(self.yy - self.slope() * self.xy)
    }

    /// Returns the standard deviation of y.
    pub fn deviation(&self) -> f64 {
        self.root_mean(self.yy)
    }

    fn root_mean(&self, sum: f64) -> f64 {
        libm::sqrt(sum.max(0.0) / f64::from(self.samples.max(1)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(samples: &[(f64, f64)]) -> Regression {
        let mut line = Regression::default();
        samples.iter().for_each(|(x, y)| line.add(*x, *y));
        line
    }

    #[test]
    fn samples_on_a_line_have_its_slope_and_no_residual() {
        let line = of(&[(0.0, 50.0), (1.0, 52.0), (2.0, 54.0), (5.0, 60.0)]);
        assert!((line.slope() - 2.0).abs() < 1e-12 && line.residual() < 1e-6, "{line:?}");
        assert_eq!((line.mean(), line.samples()), (54.0, 4));
    }

    #[test]
    fn a_zigzag_has_a_deviation_and_a_residual_but_hardly_a_slope() {
        // By hand: xx = 5, xy = 2, yy = 4; the slope is 0.4, the rest 4 − 0.8.
        let line = of(&[(0.0, 9.0), (1.0, 11.0), (2.0, 9.0), (3.0, 11.0)]);
        assert!((line.slope() - 0.4).abs() < 1e-12, "{line:?}");
        assert!((line.deviation() - 1.0).abs() < 1e-12, "{line:?}");
        assert!((line.residual() - 0.8f64.sqrt()).abs() < 1e-12, "{line:?}");
    }

    #[test]
    fn no_sample_one_sample_and_one_x_have_no_slope() {
        for samples in [&[][..], &[(1.0, 3.0)], &[(1.0, 3.0), (1.0, 5.0)]] {
            assert_eq!(of(samples).slope(), 0.0, "{samples:?}");
        }
        assert_eq!(of(&[(1.0, 3.0), (1.0, 5.0)]).deviation(), 1.0);
    }

    proptest! {
        #[test]
        fn it_is_the_sum_over_all_samples(samples in prop::collection::vec((0.0..1e3, 0.0..1e3), 2..100)) {
            let n = samples.len() as f64;
            let mean = |of: fn(&(f64, f64)) -> f64| samples.iter().map(of).sum::<f64>() / n;
            let (x, y) = (mean(|s| s.0), mean(|s| s.1));
            let sum = |f: &dyn Fn(f64, f64) -> f64| samples.iter().map(|s| f(s.0 - x, s.1 - y)).sum::<f64>();
            let (xx, xy, yy) = (sum(&|x, _| x * x), sum(&|x, y| x * y), sum(&|_, y| y * y));
            prop_assume!(xx > 1.0);
            let rest = sum(&|dx, dy| (dy - xy / xx * dx) * (dy - xy / xx * dx));
            let line = of(&samples);
            prop_assert!((line.slope() - xy / xx).abs() < 1e-6, "{line:?}");
            prop_assert!((line.deviation() - (yy / n).sqrt()).abs() < 1e-6, "{line:?}");
            prop_assert!((line.residual() - (rest / n).sqrt()).abs() < 1e-3, "{line:?}");
        }
    }
}
