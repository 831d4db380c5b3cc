//! Measures of a curve: period, swing, envelope, derivative.
//!
//! # Model
//! A curve has values at equal steps. It passes a level where a straight line between two values does. A peak is at
//! the top of the parabola through the highest value of a swing and its neighbours. So its height is exact to the third
//! order of the step. Rates are slopes of straight lines through logarithms, by least squares:
//! `ln |value| = c − rate·t`.
//!
//! # Known bad cases
//! Noise passes a level more than once in a swing: smooth a curve first. A rate needs values that do not change their sign.

/// Values at equal steps of time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    /// Time of the first value, s.
    pub from_s: f64,
    /// From one value to the next, s.
    pub step_s: f64,
    /// Values.
    pub values: Vec<f64>,
}

/// The end of a swing to one side of a level.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Peak {
    /// When, s.
    pub at_s: f64,
    /// Distance from the level, negative below it.
    pub off: f64,
}

impl Curve {
    /// Creates a curve of values from time zero on.
    pub fn new(step_s: f64, values: Vec<f64>) -> Curve {
        Curve { from_s: 0.0, step_s, values }
    }

    /// Returns the time of a value, s.
    pub fn time_s(&self, index: usize) -> f64 {
        self.from_s + index as f64 * self.step_s
    }

    /// Returns the last value.
    pub fn last(&self) -> Option<f64> {
        self.values.last().copied()
    }

    /// Returns the mean of the values.
    pub fn mean(&self) -> Option<f64> {
        let sum = self.values.iter().fold(0.0, |sum, value| sum + value);
        (!self.values.is_empty()).then(|| sum / self.values.len() as f64)
    }

    /// Returns the part of the curve from this time on.
    pub fn since(&self, from_s: f64) -> Curve {
        let skipped = ((from_s - self.from_s) / self.step_s - 1e-9).ceil().max(0.0) as usize;
        let skipped = skipped.min(self.values.len());
        Curve { from_s: self.time_s(skipped), step_s: self.step_s, values: self.values[skipped..].to_vec() }
    }

    /// Returns this curve less another one of the same times.
    pub fn minus(&self, other: &Curve) -> Curve {
        let values = self.values.iter().zip(&other.values).map(|(a, b)| a - b).collect();
        Curve { values, ..*self }
    }

    /// Returns the times at which the curve passes upwards through a level, s.
    pub fn upward_crossings(&self, level: f64) -> Vec<f64> {
        let passes = |(index, pair): (usize, &[f64])| {
            let (before, now) = (pair[0] - level, pair[1] - level);
            (before < 0.0 && now >= 0.0).then(|| self.time_s(index) + before / (before - now) * self.step_s)
        };
        self.values.windows(2).enumerate().filter_map(passes).collect()
    }

    /// Returns the mean time between upward crossings of a level, s; none with fewer than two.
    pub fn period_s(&self, level: f64) -> Option<f64> {
        let times = self.upward_crossings(level);
        let (first, last) = (times.first()?, times.last()?);
        (times.len() > 1).then(|| (last - first) / (times.len() - 1) as f64)
    }

    /// Returns the peaks of whole swings, above and below a level in turn. A swing that the curve begins or ends in is left out.
    pub fn peaks(&self, level: f64) -> Vec<Peak> {
        let mut peaks = Vec::new();
        let mut furthest: Option<usize> = None;
        for index in 1..self.values.len() {
            let (before, now) = (self.values[index - 1] - level, self.values[index] - level);
            if (before < 0.0) != (now < 0.0) {
                peaks.extend(furthest.map(|index| self.peak(index, level)));
                furthest = Some(index);
            } else if let Some(most) = &mut furthest {
                if now.abs() > (self.values[*most] - level).abs() {
                    *most = index;
                }
            }
        }
        peaks
    }

    /// Returns the top of the parabola through a value and its neighbours.
    fn peak(&self, index: usize, level: f64) -> Peak {
        let at = |index: usize| self.values.get(index).map(|value| value - level);
        let here = Peak { at_s: self.time_s(index), off: self.values[index] - level };
        let (Some(left), Some(right)) = (at(index.wrapping_sub(1)), at(index + 1)) else { return here };
        let bend = left - 2.0 * here.off + right;
        if bend == 0.0 {
            return here;
        }
        let part = ((left - right) / (2.0 * bend)).clamp(-1.0, 1.0);
        Peak { at_s: here.at_s + part * self.step_s, off: here.off - (left - right) * part / 4.0 }
    }

    /// Returns half the way from the lowest swing to the highest; none without a swing to each side.
    pub fn amplitude(&self, level: f64) -> Option<f64> {
        let peaks = self.peaks(level);
        let highest = peaks.iter().map(|peak| peak.off).reduce(f64::max)?;
        let lowest = peaks.iter().map(|peak| peak.off).reduce(f64::min)?;
        (highest > 0.0 && lowest < 0.0).then_some((highest - lowest) / 2.0)
    }

    /// Returns the rate at which swings about a level die away, 1/s, negative if they grow: least squares through the
    /// logarithms of the peaks. None with fewer than three.
    pub fn envelope_rate(&self, level: f64) -> Option<f64> {
        let peaks = self.peaks(level);
        let points = peaks.iter().map(|peak| (peak.at_s, libm::log(peak.off.abs())));
        if peaks.len() < 3 {
            return None;
        }
        slope(points).map(|slope| -slope)
    }

    /// Returns the rate at which the curve itself dies away, 1/s: least squares through the logarithms of its values. None if
    /// it changes its sign or has fewer than three values.
    pub fn decay_rate(&self) -> Option<f64> {
        let first = self.values.first()?.signum();
        if self.values.len() < 3 || self.values.iter().any(|value| value * first <= 0.0) {
            return None;
        }
        let values = self.values.iter().enumerate();
        slope(values.map(|(index, value)| (self.time_s(index), libm::log(value.abs())))).map(|slope| -slope)
    }

    /// Returns the derivative, 1/s, to the fourth order of the step. It has two values less at each end.
    pub fn derivative(&self) -> Curve {
        let central = |five: &[f64]| (8.0 * (five[3] - five[1]) - (five[4] - five[0])) / (12.0 * self.step_s);
        let values = self.values.windows(5).map(central).collect();
        Curve { from_s: self.time_s(2), step_s: self.step_s, values }
    }
}

/// Returns the slope of the straight line through points, by least squares; `None` if it is not a number.
fn slope(points: impl Iterator<Item = (f64, f64)> + Clone) -> Option<f64> {
    let n = points.clone().count() as f64;
    let (x, y) = points.clone().fold((0.0, 0.0), |(x, y), point| (x + point.0 / n, y + point.1 / n));
    let sums = points.fold((0.0, 0.0), |(xy, xx), point| {
        (xy + (point.0 - x) * (point.1 - y), xx + (point.0 - x) * (point.0 - x))
    });
    let slope = sums.0 / sums.1;
    slope.is_finite().then_some(slope)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the curve 3 + 2·e^(−0.3·t)·sin 5t over 20 s.
    fn swing(step_s: f64) -> Curve {
        let at = |index: u32| {
            let t = f64::from(index) * step_s;
            3.0 + 2.0 * libm::exp(-0.3 * t) * libm::sin(5.0 * t)
        };
        Curve::new(step_s, (0..(20.0 / step_s) as u32).map(at).collect())
    }

    #[test]
    fn a_damped_sine_has_its_period_its_envelope_and_its_amplitude() {
        let curve = swing(0.01);
        let period_s = 2.0 * std::f64::consts::PI / 5.0;
        assert!((curve.period_s(3.0).unwrap() / period_s - 1.0).abs() < 1e-4);
        assert!((curve.envelope_rate(3.0).unwrap() / 0.3 - 1.0).abs() < 1e-4);
        // The first whole swing begins below: its end is at tan 5t = 5/0.3, three quarters of a period on.
        let first = curve.peaks(3.0)[0];
        let at_s = (libm::atan(5.0 / 0.3) + std::f64::consts::PI) / 5.0;
        assert!((first.at_s - at_s).abs() < 1e-4, "{first:?}");
        let off = 2.0 * libm::exp(-0.3 * at_s) * libm::sin(5.0 * at_s);
        assert!((first.off / off - 1.0).abs() < 1e-5, "{first:?}, {off}");
        let second = curve.peaks(3.0)[1];
        assert!((curve.amplitude(3.0).unwrap() - (second.off - first.off) / 2.0).abs() < 1e-12);
        assert_eq!((curve.period_s(9.0), curve.amplitude(9.0), curve.envelope_rate(9.0)), (None, None, None));
    }

    #[test]
    fn derivatives_are_exact_for_a_polynomial_of_the_fourth_degree() {
        let at = |t: f64| ((t - 2.0) * t + 3.0) * t * t - 1.0;
        let slope = |t: f64| ((4.0 * t - 6.0) * t + 6.0) * t;
        let curve = Curve::new(0.1, (0..50).map(|index| at(f64::from(index) * 0.1)).collect());
        let derivative = curve.derivative();
        assert_eq!(derivative.values.len(), 46);
        for (index, value) in derivative.values.iter().enumerate() {
            let t = derivative.time_s(index);
            assert!((value - slope(t)).abs() < 1e-10, "{t}: {value}");
        }
    }

    #[test]
    fn an_exponential_has_its_rate_and_a_curve_that_changes_its_sign_has_none() {
        let falling =
            Curve::new(0.1, (0..40).map(|index| -5.0 * libm::exp(-0.096 * f64::from(index))).collect());
        assert!((falling.decay_rate().unwrap() - 0.96).abs() < 1e-12);
        assert!((falling.since(1.95).decay_rate().unwrap() - 0.96).abs() < 1e-12);
        assert_eq!((falling.since(1.95).from_s, falling.since(2.0).from_s), (2.0, 2.0));
        assert_eq!(swing(0.1).minus(&Curve::new(0.1, vec![3.0; 200])).decay_rate(), None);
        assert_eq!(Curve::default().decay_rate(), None);
        assert!(falling.since(100.0).values.is_empty());
    }
}
