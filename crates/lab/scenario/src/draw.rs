//! Times that are left to chance. The same bits on every machine: uniform draws are integer arithmetic, the rest takes its
//! functions from `libm`.

use crate::points::Points;
use afteryou_base::Span;
use afteryou_notation::Duration;
use rand_core::Rng;
use rand_pcg::Pcg64;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A distribution of times.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Distribution {
    /// Always the same.
    Fixed(Duration),
    /// Anywhere between two times, the first included.
    Uniform(Duration, Duration),
    /// Normal, with 0 in place of negative times.
    Normal {
        /// Mean.
        mean: Duration,
        /// Standard deviation.
        deviation: Duration,
    },
    /// Its logarithm is normal.
    Lognormal {
        /// Half of the times are below.
        median: Duration,
        /// Standard deviation of the natural logarithm.
        sigma: f64,
        /// Times beyond these bounds are set to them.
        #[serde(skip_serializing_if = "Option::is_none", default)]
        clip: Option<[Duration; 2]>,
    },
    /// One of these times, each with the frequency of its weight.
    Samples(Samples),
}

/// Times with weights.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "Vec<(Duration, u32)>", into = "Vec<(Duration, u32)>")]
#[schemars(with = "Vec<(Duration, u32)>")]
pub struct Samples {
    /// Each time and the sum of the weights up to it.
    times: Points<(Duration, u64)>,
}

impl From<Vec<(Duration, u32)>> for Samples {
    fn from(weighted: Vec<(Duration, u32)>) -> Samples {
        let mut sum = 0;
        let cumulated = weighted.into_iter().map(|(time, weight)| {
            sum += u64::from(weight);
            (time, sum)
        });
        Samples { times: cumulated.collect() }
    }
}

impl From<Samples> for Vec<(Duration, u32)> {
    fn from(samples: Samples) -> Vec<(Duration, u32)> {
        let mut last = 0;
        let weighted = samples.times.iter().map(|(time, sum)| {
            let weight = sum - std::mem::replace(&mut last, *sum);
            (*time, weight as u32)
        });
        weighted.collect()
    }
}

impl Samples {
    fn total(&self) -> u64 {
        self.times.last().map_or(0, |(_, sum)| *sum)
    }

    fn draw(&self, random: &mut Pcg64) -> Duration {
        let at = ((u128::from(self.total()) * u128::from(random.next_u64())) >> 64) as u64;
        let index = self.times.partition_point(|(_, sum)| *sum <= at);
        self.times.get(index).map_or(Duration::default(), |(time, _)| *time)
    }

    /// Returns the number of times.
    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// Returns whether there is nothing to draw.
    pub fn is_empty(&self) -> bool {
        self.total() == 0
    }
}

/// Longest time that is drawn: the tail of a wide distribution has no end.
const LONGEST: Span = Span::from_secs(3600);

impl Distribution {
    /// Returns a lognormal distribution with this mean, before it is clipped.
    pub fn lognormal_of_mean(mean: Duration, sigma: f64, clip: Option<[Duration; 2]>) -> Distribution {
        let median = Duration::from_secs_f64(mean.as_secs_f64() * libm::exp(-sigma * sigma / 2.0));
        Distribution::Lognormal { median, sigma, clip }
    }

    /// Returns whether there are times among which it chooses.
    pub fn is_random(&self) -> bool {
        !matches!(self, Distribution::Fixed(_))
    }

    /// Draws a time.
    pub fn draw(&self, random: &mut Pcg64) -> Duration {
        match self {
            Distribution::Fixed(time) => *time,
            Distribution::Uniform(from, to) => {
                let width = u128::from((to.0 - from.0).0);
                Duration(from.0 + Span(((width * u128::from(random.next_u64())) >> 64) as u64))
            }
            Distribution::Normal { mean, deviation } => {
                let s = mean.as_secs_f64() + deviation.as_secs_f64() * normal(random);
                Duration(Span::from_secs_f64(s.max(0.0)).min(LONGEST))
            }
            Distribution::Lognormal { median, sigma, clip } => {
                let factor = libm::exp(sigma * normal(random));
                let drawn = Duration(Span::from_secs_f64(median.as_secs_f64() * factor).min(LONGEST));
                clip.map_or(drawn, |[least, most]| drawn.clamp(least, most.max(least)))
            }
            Distribution::Samples(samples) => samples.draw(random),
        }
    }
}

/// Draws a number from the standard normal distribution (Box and Muller 1958); takes two random numbers.
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
        let mut values =
            sample(Distribution::Lognormal { median: Duration::from_millis(1000), sigma: 0.5, clip: None });
        let (mean, variance) = mean_and_variance(&values);
        values.sort_by(f64::total_cmp);
        // e^(σ²/2) and (e^σ² − 1)·e^σ².
        assert!((values[50_000] - 1.0).abs() < 0.01, "{}", values[50_000]);
        assert!((mean - 1.1331).abs() < 0.01 && (variance - 0.3647).abs() < 0.02, "{mean} {variance}");
    }

    #[test]
    fn a_lognormal_mean_is_that_of_the_textbook_and_its_clip_bounds_it() {
        let ms = Duration::from_millis;
        // The access delays of carofiglio2013: mean 37.9 ms, σ 0.8, within [2, 400] ms.
        let (mean, _) = mean_and_variance(&sample(Distribution::lognormal_of_mean(ms(38), 0.8, None)));
        // Standard error: 38 ms · √((e^0.64 − 1)/100 000) = 0.114 ms.
        assert!((mean - 0.038).abs() < 4.0 * 0.000_114, "{mean}");
        let clipped = sample(Distribution::lognormal_of_mean(ms(38), 0.8, Some([ms(20), ms(60)])));
        assert!(clipped.iter().all(|value| (0.02..=0.06).contains(value)));
        assert!(clipped.contains(&0.02) && clipped.contains(&0.06));
    }

    #[test]
    fn normal_times_have_the_mean_and_variance_of_the_textbook_and_are_never_negative() {
        let ms = Duration::from_millis;
        let (mean, variance) =
            mean_and_variance(&sample(Distribution::Normal { mean: ms(100), deviation: ms(10) }));
        // Standard errors: 10 ms/√100 000 = 0.032 ms; 100 ms²·√(2/100 000) = 0.45 ms².
        assert!(
            (mean - 0.1).abs() < 4.0 * 0.000_032 && (variance - 1e-4).abs() < 4.0 * 0.45e-6,
            "{mean} {variance}"
        );
        let half = sample(Distribution::Normal { mean: ms(0), deviation: ms(10) });
        let zero = half.iter().filter(|value| **value == 0.0).count() as f64 / 1e5;
        assert!((zero - 0.5).abs() < 4.0 * 0.0016, "{zero}");
    }

    #[test]
    fn samples_come_as_often_as_their_weights_say() {
        let ms = Duration::from_millis;
        let samples = Samples::from(vec![(ms(10), 1), (ms(20), 0), (ms(30), 3)]);
        assert_eq!(Vec::from(samples.clone()), [(ms(10), 1), (ms(20), 0), (ms(30), 3)]);
        let values = sample(Distribution::Samples(samples));
        let of = |time: f64| values.iter().filter(|value| **value == time).count() as f64 / 1e5;
        // Standard error √(3/16/100 000) = 0.0014.
        assert!((of(0.01) - 0.25).abs() < 4.0 * 0.0014 && of(0.02) == 0.0 && of(0.01) + of(0.03) == 1.0);
        assert!(Samples::from(vec![(ms(1), 0)]).is_empty());
    }

    #[test]
    fn the_same_stream_gives_the_same_nanoseconds_everywhere() {
        let mut random = stream(7, "golden");
        let lognormal = Distribution::Lognormal { median: Duration::from_millis(50), sigma: 0.7, clip: None };
        let uniform = Distribution::Uniform(Duration::default(), Duration::from_millis(10_000));
        let drawn: Vec<u64> =
            [&lognormal, &uniform, &lognormal, &uniform].iter().map(|d| d.draw(&mut random).0 .0).collect();
        assert_eq!(drawn, GOLDEN);
    }

    const GOLDEN: [u64; 4] = [37_849_273, 9_919_244_983, 16_617_863, 9_719_449_865];
}
