//! Times that are left to chance. The same bits on every machine: uniform draws are integer arithmetic, the rest takes its
//! functions from `libm`.

use crate::units::Duration;
use afteryou_base::Span;
use rand_core::Rng;
use rand_pcg::Pcg64;

/// A distribution of times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Distribution {
    /// Always the same.
    Fixed(Duration),
    /// Anywhere between two times, the first included.
    Uniform(Duration, Duration),
    /// Its logarithm is normal.
    Lognormal {
        /// Half of the times are below.
        median: Duration,
        /// Standard deviation of the natural logarithm.
        sigma: f64,
    },
}

/// Longest time that is drawn: the tail of a wide distribution has no end.
const LONGEST: Span = Span::from_secs(3600);

impl Distribution {
    /// A time.
    pub fn draw(&self, random: &mut Pcg64) -> Duration {
        match *self {
            Distribution::Fixed(time) => time,
            Distribution::Uniform(from, to) => {
                let width = u128::from((to.0 - from.0).0);
                Duration(from.0 + Span(((width * u128::from(random.next_u64())) >> 64) as u64))
            }
            Distribution::Lognormal { median, sigma } => {
                let factor = libm::exp(sigma * normal(random));
                Duration(Span::from_secs_f64(median.as_secs_f64() * factor).min(LONGEST))
            }
        }
    }
}

/// A number from the standard normal distribution (Box and Muller 1958); takes two random numbers.
pub(crate) fn normal(random: &mut Pcg64) -> f64 {
    // In (0, 1], so that the logarithm exists.
    let uniform = |bits: u64| ((bits >> 11) + 1) as f64 / (1u64 << 53) as f64;
    let (u, v) = (uniform(random.next_u64()), uniform(random.next_u64()));
    (-2.0 * libm::log(u)).sqrt() * libm::cos(2.0 * std::f64::consts::PI * v)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::stream;

    fn sample(distribution: Distribution) -> Vec<f64> {
        let mut random = stream(1, "test");
        (0..100_000).map(|_| distribution.draw(&mut random).as_secs_f64()).collect()
    }

    fn mean_and_variance(values: &[f64]) -> (f64, f64) {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        (mean, values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / values.len() as f64)
    }

    #[test]
    fn uniform_times_have_the_mean_and_variance_of_the_textbook() {
        let values = sample(Distribution::Uniform(Duration::from_millis(1000), Duration::from_millis(4000)));
        let (mean, variance) = mean_and_variance(&values);
        assert!((mean - 2.5).abs() < 0.01 && (variance - 9.0 / 12.0).abs() < 0.01, "{mean} {variance}");
        assert!(values.iter().all(|value| (1.0..4.0).contains(value)));
    }

    #[test]
    fn lognormal_times_have_the_median_and_mean_of_the_textbook() {
        let mut values = sample(Distribution::Lognormal { median: Duration::from_millis(1000), sigma: 0.5 });
        let (mean, variance) = mean_and_variance(&values);
        values.sort_by(f64::total_cmp);
        // e^(σ²/2) and (e^σ² − 1)·e^σ².
        assert!((values[50_000] - 1.0).abs() < 0.01, "{}", values[50_000]);
        assert!((mean - 1.1331).abs() < 0.01 && (variance - 0.3647).abs() < 0.02, "{mean} {variance}");
    }

    #[test]
    fn the_same_stream_gives_the_same_nanoseconds_everywhere() {
        let mut random = stream(7, "golden");
        let lognormal = Distribution::Lognormal { median: Duration::from_millis(50), sigma: 0.7 };
        let uniform = Distribution::Uniform(Duration::default(), Duration::from_millis(10_000));
        let drawn: Vec<u64> =
            [lognormal, uniform, lognormal, uniform].iter().map(|d| d.draw(&mut random).0 .0).collect();
        assert_eq!(drawn, GOLDEN);
    }

    const GOLDEN: [u64; 4] = [37_849_273, 9_919_244_983, 16_617_863, 9_719_449_865];
}
