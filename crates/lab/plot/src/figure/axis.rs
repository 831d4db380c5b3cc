//! Axes: the place of a value, and the numbers beside it.

use afteryou_notation::format::short;

/// About this many numbers are at an axis.
const TICKS: f64 = 6.0;
/// Values that span more than this factor, all above zero, get a logarithmic axis if they are spaced that way.
const LOGARITHMIC_FROM: f64 = 20.0;

/// An axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    low: f64,
    high: f64,
    logarithmic: bool,
    /// The numbers, and their places as a part of the axis.
    pub ticks: Vec<(f64, String)>,
}

impl Axis {
    /// Returns an axis of measured values, from zero if none is below.
    pub fn of_values(values: impl Iterator<Item = f64> + Clone) -> Axis {
        let (low, high) = (values.clone().fold(0.0, f64::min), values.fold(0.0, f64::max));
        let span = if high - low < 1e-12 { 1.0 } else { high - low };
        Axis::linear(if low < 0.0 { low - span * 0.05 } else { 0.0 }, high.max(low + span) + span * 0.05)
    }

    /// Returns an axis of settings or times: as long as they are, with every setting a number where there are few.
    pub fn of_settings(values: &[f64]) -> Axis {
        let mut values = values.to_vec();
        values.sort_by(f64::total_cmp);
        values.dedup();
        let (Some(first), Some(last)) = (values.first().copied(), values.last().copied()) else {
            return Axis::linear(0.0, 1.0);
        };
        let mut axis = match spaced_by_factors(&values) {
            true => Axis { low: first.ln(), high: last.ln(), logarithmic: true, ticks: Vec::new() },
            false if first < last => {
                Axis::linear(if first >= 0.0 && first < last * 0.3 { 0.0 } else { first }, last)
            }
            false => Axis::linear(first - 0.5, first + 0.5),
        };
        let pad = 0.03 * (axis.high - axis.low);
        if axis.logarithmic || axis.low != 0.0 {
            axis.low -= pad;
        }
        axis.high += pad;
        axis.ticks.retain(|(at, _)| (0.0..=1.0).contains(at));
        if axis.logarithmic || values.len() <= 12 {
            axis.ticks = spread(values.iter().map(|value| (axis.part(*value), short(*value))), 0.045);
        } else {
            axis.ticks = Axis::linear_ticks(axis.low, axis.high);
        }
        axis
    }

    /// Returns an axis from one value to another.
    pub fn between(low: f64, high: f64) -> Axis {
        if low < high {
            Axis::linear(low, high)
        } else {
            Axis { low: low - 0.5, high: low + 0.5, logarithmic: false, ticks: vec![(0.5, short(low))] }
        }
    }

    /// Returns an axis from 0 to 1.
    pub fn of_shares() -> Axis {
        Axis::linear(0.0, 1.0)
    }

    /// Returns an axis of times from zero.
    pub fn of_times(end: f64) -> Axis {
        Axis::linear(0.0, end)
    }

    fn linear(low: f64, high: f64) -> Axis {
        Axis { low, high, logarithmic: false, ticks: Axis::linear_ticks(low, high) }
    }

    fn linear_ticks(low: f64, high: f64) -> Vec<(f64, String)> {
        let rough = (high - low) / TICKS;
        let power = 10f64.powf(rough.log10().floor());
        let step =
            [1.0, 2.0, 2.5, 5.0, 10.0].into_iter().find(|step| step * power >= rough).unwrap_or(10.0) * power;
        let from = (low / step).ceil() as i64;
        let to = (high / step + 1e-9).floor() as i64;
        (from..=to).map(|i| ((i as f64 * step - low) / (high - low), short(i as f64 * step))).collect()
    }

    /// Returns the place of a value, as a part of the axis.
    pub fn part(&self, value: f64) -> f64 {
        let value = if self.logarithmic { value.max(f64::MIN_POSITIVE).ln() } else { value };
        (value - self.low) / (self.high - self.low)
    }
}

/// Returns whether these settings are spaced by factors rather than by steps.
fn spaced_by_factors(values: &[f64]) -> bool {
    let (Some(first), Some(last)) = (values.first(), values.last()) else { return false };
    if *first <= 0.0 || last / first < LOGARITHMIC_FROM || !(3..=40).contains(&values.len()) {
        return false;
    }
    let widest = |parts: &dyn Fn(f64) -> f64| {
        let whole = parts(*last) - parts(*first);
        values.windows(2).map(|pair| (parts(pair[1]) - parts(pair[0])) / whole).fold(0.0, f64::max)
    };
    widest(&|value| value.ln()) < widest(&|value| value)
}

/// Returns ticks that are at least `apart` from each other.
fn spread(ticks: impl Iterator<Item = (f64, String)>, apart: f64) -> Vec<(f64, String)> {
    let mut kept: Vec<(f64, String)> = Vec::new();
    for tick in ticks {
        if kept.last().is_none_or(|(at, _)| tick.0 - at >= apart) {
            kept.push(tick);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measured_values_begin_at_zero_and_have_round_numbers() {
        let axis = Axis::of_values([3.0, 17.3].into_iter());
        let numbers: Vec<&str> = axis.ticks.iter().map(|(_, number)| number.as_str()).collect();
        assert_eq!(numbers, ["0", "5", "10", "15"]);
        assert_eq!(axis.part(0.0), 0.0);
    }

    #[test]
    fn settings_that_double_get_a_logarithmic_axis_with_each_of_them() {
        let axis = Axis::of_settings(&[10.0, 20.0, 50.0, 100.0, 200.0, 400.0]);
        let numbers: Vec<&str> = axis.ticks.iter().map(|(_, number)| number.as_str()).collect();
        assert_eq!(numbers, ["10", "20", "50", "100", "200", "400"]);
        let gap = axis.part(200.0) - axis.part(100.0);
        assert!((gap - (axis.part(400.0) - axis.part(200.0))).abs() < 1e-9);
        assert!(!Axis::of_settings(&[1.0, 2.0, 3.0, 4.0]).logarithmic);
    }

    #[test]
    fn axes_of_one_value_or_none_are_axes() {
        for axis in [Axis::of_settings(&[]), Axis::of_settings(&[5.0]), Axis::of_values([].into_iter())] {
            assert!(axis.part(5.0).is_finite() && !axis.ticks.is_empty());
        }
    }
}
