//! Laws that sizes and times of traffic, and rates of hosts, are drawn from.
//!
//! A law is written as a value, or as a table with one word: `{ uniform = [from, to] }`, `{ exponential = mean }`,
//! `{ lognormal = { median = …, sigma = … } }` (or `mean`), `{ pareto = { shape = …, min = …, cap = … } }`,
//! `{ listed = […] }`. Draws invert the law's distribution function; logarithm, exponential and power come from `libm`, so that
//! they are the same bits on every machine. A draw is rounded to whole bytes or nanoseconds.

use crate::draw::normal;
use crate::random::uniform;
use afteryou_base::Span;
use afteryou_notation::{Duration, Error, Rate, Size};
use rand_pcg::Pcg64;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A law of sizes or times.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Law<Q> {
    /// Always the same.
    Fixed(Q),
    /// Drawn anew each time.
    Drawn(Drawn<Q>),
}

/// The laws that leave something to chance.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Drawn<Q> {
    /// Anywhere between two values.
    Uniform(Q, Q),
    /// Without memory, with this mean.
    Exponential(Q),
    /// Its logarithm is normal.
    Lognormal(Lognormal<Q>),
    /// A power law.
    Pareto(Pareto<Q>),
    /// One of these, each as often as the others.
    Listed(Vec<Q>),
}

/// A lognormal law: by its median or by its mean.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Lognormal<Q> {
    /// Half of the values are below.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub median: Option<Q>,
    /// The mean, before `clip` is applied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean: Option<Q>,
    /// Standard deviation of the natural logarithm.
    pub sigma: f64,
    /// Values outside are moved to the nearer end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clip: Option<(Q, Q)>,
}

/// A Pareto law: P(X > x) = (min / x)^shape.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Pareto<Q> {
    /// The exponent; the mean is finite above 1.
    pub shape: f64,
    /// The least value.
    pub min: Q,
    /// Larger values are moved to this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cap: Option<Q>,
}

/// The quantities of a law.
pub trait Quantity: Copy {
    /// Returns the quantity in its smallest unit.
    fn amount(self) -> f64;
    /// Converts an amount of the smallest unit, rounded.
    fn of(amount: f64) -> Self;
}

impl Quantity for Size {
    fn amount(self) -> f64 {
        self.bytes() as f64
    }
    fn of(amount: f64) -> Size {
        Size::from_bytes(amount.round().min(LARGEST_SIZE) as u64)
    }
}

impl Quantity for Rate {
    fn amount(self) -> f64 {
        self.bits_per_second() as f64
    }
    fn of(amount: f64) -> Rate {
        Rate::from_bits(amount.round() as u64).min(Rate::LARGEST)
    }
}

impl Quantity for Duration {
    fn amount(self) -> f64 {
        self.0 .0 as f64
    }
    fn of(amount: f64) -> Duration {
        Duration(Span(amount.round() as u64)).min(Duration::LONGEST)
    }
}

/// Largest size that is drawn: the tail of a power law has no end.
const LARGEST_SIZE: f64 = 1e12;
/// Widths of lognormal laws and exponents of power laws that mean something.
const MOST_SIGMA: f64 = 5.0;
const SHAPES: std::ops::RangeInclusive<f64> = 0.1..=100.0;

impl<Q: Quantity> Law<Q> {
    /// Draws a value.
    pub fn draw(&self, random: &mut Pcg64) -> Q {
        match self {
            Law::Fixed(value) => *value,
            Law::Drawn(Drawn::Listed(values)) => {
                let index = (uniform(random) * values.len() as f64) as usize;
                values[index.min(values.len() - 1)]
            }
            Law::Drawn(law) => Q::of(law.amount(random)),
        }
    }

    /// Returns the mean, before clips and caps; none if it is infinite.
    pub fn mean(&self) -> Option<f64> {
        match self {
            Law::Fixed(value) => Some(value.amount()),
            Law::Drawn(Drawn::Uniform(from, to)) => Some((from.amount() + to.amount()) / 2.0),
            Law::Drawn(Drawn::Exponential(mean)) => Some(mean.amount()),
            Law::Drawn(Drawn::Lognormal(law)) => Some(law.median() * libm::exp(law.sigma * law.sigma / 2.0)),
            Law::Drawn(Drawn::Pareto(Pareto { shape, min, .. })) => {
                (*shape > 1.0).then(|| min.amount() * shape / (shape - 1.0))
            }
            Law::Drawn(Drawn::Listed(values)) => {
                Some(values.iter().map(|value| value.amount()).sum::<f64>() / values.len() as f64)
            }
        }
    }

    /// Checks that it is a law. If not, returns what is wrong.
    ///
    /// # Errors
    /// A range that ends before it begins, a parameter out of its range, both or neither of median and mean, an empty list.
    pub fn check(&self) -> Result<(), Error> {
        let Law::Drawn(drawn) = self else { return Ok(()) };
        let wrong = |what: &str| Err(Error::Contradiction(what.to_owned()));
        let backwards = |from: &Q, to: &Q| from.amount() > to.amount();
        match drawn {
            Drawn::Uniform(from, to) if backwards(from, to) => {
                wrong("the first value is larger than the second: swap them")
            }
            Drawn::Lognormal(law) if law.median.is_some() == law.mean.is_some() => {
                wrong("a lognormal law takes either median or mean: write one of them")
            }
            Drawn::Lognormal(law) if !(0.0..=MOST_SIGMA).contains(&law.sigma) => {
                wrong("sigma is out of range: write a number from 0 to 5")
            }
            Drawn::Lognormal(Lognormal { clip: Some((from, to)), .. }) if backwards(from, to) => {
                wrong("clip begins above its end: swap its values")
            }
            Drawn::Pareto(law) if !SHAPES.contains(&law.shape) => {
                wrong("shape is out of range: write a number from 0.1 to 100")
            }
            Drawn::Pareto(Pareto { min, cap, .. }) if cap.is_some_and(|cap| backwards(min, &cap)) => {
                wrong("cap is below min: swap them")
            }
            Drawn::Listed(values) if values.is_empty() => {
                wrong("the list is empty: write one value at least")
            }
            _ => Ok(()),
        }
    }
}

impl<Q: Quantity> Lognormal<Q> {
    /// Returns the median, by mean = median · e^(σ²/2).
    fn median(&self) -> f64 {
        let by_mean = || self.mean.map(|mean| mean.amount() * libm::exp(-self.sigma * self.sigma / 2.0));
        self.median.map(Q::amount).or_else(by_mean).unwrap_or_default()
    }
}

impl<Q: Quantity> Drawn<Q> {
    fn amount(&self, random: &mut Pcg64) -> f64 {
        match self {
            Drawn::Uniform(from, to) => {
                let (from, to) = (from.amount(), to.amount());
                from + (to - from) * uniform(random)
            }
            // 1 − u is in (0, 1], so that the logarithm exists.
            Drawn::Exponential(mean) => -mean.amount() * libm::log(1.0 - uniform(random)),
            Drawn::Lognormal(law) => {
                let value = law.median() * libm::exp(law.sigma * normal(random));
                law.clip.map_or(value, |(from, to)| value.clamp(from.amount(), to.amount()))
            }
            Drawn::Pareto(Pareto { shape, min, cap }) => {
                let value = min.amount() * libm::pow(1.0 - uniform(random), -1.0 / shape);
                cap.map_or(value, |cap| value.min(cap.amount()))
            }
            Drawn::Listed(_) => 0.0, // drawn without a number in between
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::stream;

    const DRAWS: usize = 200_000;

    fn size(bytes: u64) -> Size {
        Size::from_bytes(bytes)
    }

    /// Draws values and sorts them.
    fn sample(law: &Law<Size>) -> Vec<f64> {
        let mut random = stream(3, "test");
        let mut values: Vec<f64> = (0..DRAWS).map(|_| law.draw(&mut random).bytes() as f64).collect();
        values.sort_by(f64::total_cmp);
        values
    }

    /// Asserts that the sample's quantiles are those of the textbook: the share of values below each lies within four
    /// standard errors.
    fn assert_quantiles(law: Drawn<Size>, quantile: impl Fn(f64) -> f64) {
        let law = Law::Drawn(law);
        let values = sample(&law);
        for p in [0.1, 0.25, 0.5, 0.75, 0.9, 0.99] {
            let below = values.partition_point(|value| *value <= quantile(p)) as f64 / DRAWS as f64;
            let error = 4.0 * (p * (1.0 - p) / DRAWS as f64).sqrt();
            assert!((below - p).abs() < error, "{law:?}: {below} below the quantile of {p}");
        }
    }

    #[test]
    fn quantiles_of_every_law_are_those_of_the_textbook() {
        let big = 1_000_000.0;
        assert_quantiles(Drawn::Uniform(size(1_000_000), size(3_000_000)), |p| big * (1.0 + 2.0 * p));
        assert_quantiles(Drawn::Exponential(size(1_000_000)), |p| -big * libm::log(1.0 - p));
        let pareto = Pareto { shape: 1.2, min: size(1_000_000), cap: None };
        assert_quantiles(Drawn::Pareto(pareto), |p| big * libm::pow(1.0 - p, -1.0 / 1.2));
        // Normal quantiles: tables.
        let z = |p: f64| match (p * 100.0) as u32 {
            10 => -1.281_552,
            25 => -0.674_490,
            50 => 0.0,
            75 => 0.674_490,
            90 => 1.281_552,
            _ => 2.326_348,
        };
        let by = |median, mean| Drawn::Lognormal(Lognormal { median, mean, sigma: 0.8, clip: None });
        assert_quantiles(by(Some(size(1_000_000)), None), |p| big * libm::exp(0.8 * z(p)));
        assert_quantiles(by(None, Some(size(1_000_000))), |p| big * libm::exp(0.8 * z(p) - 0.32));
    }

    #[test]
    fn clips_and_caps_move_values_to_their_ends() {
        let clip = Some((size(900), size(1100)));
        let lognormal = Lognormal { median: Some(size(1000)), mean: None, sigma: 1.0, clip };
        let values = sample(&Law::Drawn(Drawn::Lognormal(lognormal)));
        assert_eq!((values[0], values[DRAWS - 1]), (900.0, 1100.0));
        let pareto = Pareto { shape: 1.0, min: size(1000), cap: Some(size(10_000)) };
        let values = sample(&Law::Drawn(Drawn::Pareto(pareto)));
        let capped = values.iter().filter(|value| **value == 10_000.0).count() as f64 / DRAWS as f64;
        assert!((capped - 0.1).abs() < 0.003, "{capped} at the cap");
    }

    #[test]
    fn each_listed_value_comes_as_often_as_the_others() {
        let values = sample(&Law::Drawn(Drawn::Listed(vec![size(1), size(2), size(4)])));
        // χ² with two degrees of freedom is above 13.8 once in a thousand.
        let expected = DRAWS as f64 / 3.0;
        let counts = [1.0, 2.0, 4.0].map(|v| values.iter().filter(|value| **value == v).count() as f64);
        let chi: f64 = counts.iter().map(|n| (n - expected) * (n - expected) / expected).sum();
        assert!(chi < 13.8, "χ² = {chi}");
    }

    #[test]
    fn counts_of_poisson_arrivals_pass_a_chi_squared_test() {
        // 20 000 intervals with 5 arrivals each on average.
        let law = Law::Drawn(Drawn::Exponential(Duration::from_millis(200)));
        let (mut random, mut at, mut counts) = (stream(11, "test"), 0.0, vec![0u32; 20_000]);
        loop {
            at += law.draw(&mut random).as_secs_f64();
            let Some(count) = counts.get_mut(at as usize) else { break };
            *count += 1;
        }
        let (mut chi, mut p, mut rest) = (0.0, libm::exp(-5.0), 1.0);
        for k in 0..12 {
            let expected = 20_000.0 * p;
            let seen = counts.iter().filter(|count| **count == k).count() as f64;
            chi += (seen - expected) * (seen - expected) / expected;
            (rest, p) = (rest - p, p * 5.0 / f64::from(k + 1));
        }
        let tail = counts.iter().filter(|count| **count >= 12).count() as f64;
        chi += (tail - 20_000.0 * rest) * (tail - 20_000.0 * rest) / (20_000.0 * rest);
        // Twelve degrees of freedom: above 32.9 once in a thousand.
        assert!(chi < 32.9, "χ² = {chi}");
    }
}
