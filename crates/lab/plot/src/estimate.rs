//! Means of repetitions and how far to trust them.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// An interval of two values is 12.7 standard errors wide, which is of no use.
pub const FEWEST_FOR_AN_INTERVAL: usize = 3;

/// A mean, and half the width of its 95 % interval where there are enough values and they differ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The mean.
    pub mean: f64,
    /// Half the width of the interval, by Student's t.
    pub half_width: Option<f64>,
    /// The number of values; of a difference, that of the smaller sample.
    pub n: usize,
}

impl Estimate {
    /// Returns the mean of the values. Of nothing there is none.
    pub fn of(values: &[f64]) -> Option<Estimate> {
        let (n, first) = (values.len(), *values.first()?);
        if values.iter().all(|value| *value == first) {
            return Some(Estimate { mean: first, half_width: None, n });
        }
        let mean = values.iter().sum::<f64>() / n as f64;
        let half_width = (n >= FEWEST_FOR_AN_INTERVAL)
            .then(|| t_95((n - 1) as f64) * (variance(values) / n as f64).sqrt());
        Some(Estimate { mean, half_width, n })
    }

    /// Returns "96.1 ± 0.3 %": the unit once.
    pub fn written(&self, write: fn(f64) -> String) -> String {
        let mean = write(self.mean);
        // Differences carry a sign; widths have none.
        let width = |width| at_least_its_last_digit(write(width).trim_start_matches('+'));
        let Some(half_width) = self.half_width.map(width) else { return mean };
        let apart = |text| str::split_once(text, char::is_whitespace);
        match (apart(&mean), apart(&half_width)) {
            (Some((value, unit)), Some((width, other))) if unit == other => {
                format!("{value} ± {width} {unit}")
            }
            _ => format!("{mean} ± {half_width}"),
        }
    }
}

/// Returns the second mean minus the first, of independent runs, with Welch's interval (Welch 1947) where both have enough values.
pub fn of_difference(first: &[f64], second: &[f64]) -> Option<Estimate> {
    let mean = mean(second)? - mean(first)?;
    let n = first.len().min(second.len());
    let enough = n >= FEWEST_FOR_AN_INTERVAL;
    // Squared standard errors of both means.
    let [one, other] = [first, second].map(|values| variance(values) / values.len() as f64);
    let all = one + other;
    let half_width = (enough && all > 0.0).then(|| {
        let part = |error: f64, values: &[f64]| error * error / (values.len() - 1) as f64;
        let freedom = all * all / (part(one, first) + part(other, second));
        t_95(freedom) * all.sqrt()
    });
    Some(Estimate { mean, half_width, n })
}

/// Returns Student's t for a two-sided interval of 95 %. Welch's degrees of freedom are no whole number; a mean has one at least.
fn t_95(degrees_of_freedom: f64) -> f64 {
    StudentsT::new(0.0, 1.0, degrees_of_freedom.max(1.0))
        .map_or(f64::NAN, |student| student.inverse_cdf(0.975))
}

/// Returns "95 %, n = 5" for the intervals of figures with that number of values each, "95 %, n = 3–5" where they differ. None without any.
pub fn caption(n_of_intervals: impl IntoIterator<Item = usize>) -> Option<String> {
    let n: Vec<usize> = n_of_intervals.into_iter().collect();
    let (least, most) = (n.iter().min()?, n.iter().max()?);
    Some(if least == most { format!("95 %, n = {least}") } else { format!("95 %, n = {least}–{most}") })
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Returns the unbiased variance of two values or more.
fn variance(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / (values.len() - 1) as f64
}

/// Returns "<0.01 ms" for "0.00 ms": values that differ have no interval of nothing.
fn at_least_its_last_digit(width: &str) -> String {
    let digits = width.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(width.len());
    let (number, unit) = width.split_at(digits);
    match number.strip_suffix('0') {
        Some(rest) if rest.chars().all(|c| matches!(c, '0' | '.')) => format!("<{rest}1{unit}"),
        _ => width.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use afteryou_notation::format::ms;

    #[test]
    fn the_interval_is_students() {
        // 1, 2, 3: mean 2, s = 1, t(2) = 4.3027, so ± 4.3027/√3.
        let estimate = Estimate::of(&[1.0, 2.0, 3.0]).unwrap();
        assert_eq!(estimate.mean, 2.0);
        assert!((estimate.half_width.unwrap() - 2.48414).abs() < 1e-4);
        assert_eq!(Estimate::of(&[5.0]).unwrap().half_width, None);
        assert_eq!(Estimate::of(&[]), None);
        let many = Estimate::of(&[0.0, 2.0].repeat(50)).unwrap();
        // 99 degrees of freedom.
        assert!((many.half_width.unwrap() - 1.98422 * (1.0101f64 / 100.0).sqrt()).abs() < 1e-4);
    }

    /// Tabulated by NIST/SEMATECH, e-Handbook of Statistical Methods, 1.3.6.7.2; a table that ends at 30 and continues with the normal law's
    /// 1.960 gives intervals that are 4 % too narrow at 31.
    #[test]
    fn students_quantiles_go_on_behind_thirty_degrees_of_freedom() {
        for (freedom, t) in [
            (1.0, 12.706),
            (2.0, 4.303),
            (30.0, 2.042),
            (31.0, 2.040),
            (40.0, 2.021),
            (60.0, 2.000),
            (100.0, 1.984),
            (1e6, 1.960),
        ] {
            assert!((t_95(freedom) - t).abs() < 0.0006, "{freedom}: {}", t_95(freedom));
        }
        assert_eq!(caption([5, 5]).unwrap(), "95 %, n = 5");
        assert_eq!(caption([5, 3]).unwrap(), "95 %, n = 3–5");
        assert_eq!(caption([]), None);
    }

    #[test]
    fn the_interval_of_a_difference_is_welchs() {
        // Variances 1 and 4 of three each: squared errors 1/3 and 4/3, (5/3)² / (1/18 + 16/18) = 50/17 degrees of freedom.
        let estimate = of_difference(&[1.0, 2.0, 3.0], &[4.0, 6.0, 8.0]).unwrap();
        assert_eq!(estimate.mean, 4.0);
        assert!((estimate.half_width.unwrap() - t_95(50.0 / 17.0) * (5.0f64 / 3.0).sqrt()).abs() < 1e-9);
        assert_eq!(of_difference(&[1.0, 2.0], &[4.0, 6.0, 8.0]).unwrap().half_width, None);
        assert_eq!(of_difference(&[], &[1.0]), None);
    }

    #[test]
    fn fewer_than_three_values_or_equal_ones_have_no_interval() {
        for values in [&[1.0, 3.0][..], &[0.1, 0.1, 0.1][..]] {
            assert_eq!(Estimate::of(values).unwrap().half_width, None, "{values:?}");
        }
    }

    #[test]
    fn values_that_differ_never_have_an_interval_of_nothing() {
        let written = |values: &[f64]| Estimate::of(values).unwrap().written(ms).replace('\u{a0}', " ");
        assert_eq!(written(&[20.0, 20.0, 20.001]), "20.0 ± <0.01 ms");
        assert_eq!(written(&[20.0, 20.0, 20.0]), "20.0 ms");
        assert_eq!(written(&[20.0, 30.0]), "25.0 ms");
        assert_eq!(written(&[20.0, 21.0, 22.0]), "21.0 ± 2.48 ms");
    }
}
