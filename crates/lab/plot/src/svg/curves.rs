//! Curves with no more points than the paper can show.

use crate::plan::points;
use afteryou_scenario::outcome::Series;

/// A stretch of a curve without gaps: (time in s, value).
pub type Stretch = Vec<(f64, f64)>;

/// The points that remain of a column with more values than it can show.
#[derive(Clone, Copy)]
pub enum Keep {
    /// The smallest and the largest: peaks are seen.
    Extremes,
    /// The mean: a dashed line through every peak would be a cloud of dashes.
    Mean,
}

/// Returns the stretches of `series` between its gaps, with at most two points for each of `columns` columns of `0..end_s`.
pub fn stretches(series: &Series, end_s: f64, columns: usize, keep: Keep) -> Vec<Stretch> {
    let all = points(series).filter(|(at, _)| (0.0..=end_s).contains(at));
    if series.values.len() <= columns * 2 {
        return between_gaps(all.map(|(at, value)| vec![(at, value)]));
    }
    let mut by_column = vec![Vec::new(); columns];
    for (at, value) in all {
        let column = (at / end_s * columns as f64) as usize;
        by_column[column.min(columns - 1)].push((at, value));
    }
    let filled = by_column.into_iter().filter(|column| !column.is_empty());
    match keep {
        Keep::Extremes => between_gaps(filled.map(extremes)),
        Keep::Mean => between_gaps(filled.map(mean)),
    }
}

/// Returns the mean of a column at its middle; a gap if there is none.
fn mean(column: Vec<(f64, Option<f64>)>) -> Vec<(f64, Option<f64>)> {
    let values: Vec<f64> = column.iter().filter_map(|(_, value)| *value).collect();
    let mean = (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64);
    vec![(column[column.len() / 2].0, mean)]
}

/// Returns the smallest and the largest value of a column in the order of their times; a gap if there is none.
fn extremes(column: Vec<(f64, Option<f64>)>) -> Vec<(f64, Option<f64>)> {
    let values = || column.iter().filter_map(|(at, value)| value.map(|value| (*at, value)));
    let smallest = values().min_by(|a, b| a.1.total_cmp(&b.1));
    let largest = values().max_by(|a, b| a.1.total_cmp(&b.1));
    let Some((a, b)) = smallest.zip(largest) else {
        return vec![(column.first().map_or(0.0, |(at, _)| *at), None)];
    };
    let (first, second) = if a.0 <= b.0 { (a, b) } else { (b, a) };
    let mut kept = vec![(first.0, Some(first.1))];
    if first.0 != second.0 {
        kept.push((second.0, Some(second.1)));
    }
    kept
}

fn between_gaps(groups: impl Iterator<Item = Vec<(f64, Option<f64>)>>) -> Vec<Stretch> {
    let mut stretches = vec![Stretch::new()];
    for (at, value) in groups.flatten() {
        match (value, stretches.last_mut()) {
            (Some(value), Some(stretch)) => stretch.push((at, value)),
            (None, Some(stretch)) if !stretch.is_empty() => stretches.push(Stretch::new()),
            _ => {}
        }
    }
    stretches.retain(|stretch| !stretch.is_empty());
    stretches
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(values: Vec<Option<f64>>) -> Series {
        Series {
            of: String::new(),
            quantity: String::new(),
            unit: String::new(),
            start_s: 0.0,
            step_s: 0.1,
            values,
        }
    }

    #[test]
    fn a_curve_breaks_where_nothing_was_measured() {
        let gap = series(vec![Some(1.0), Some(2.0), None, None, Some(3.0)]);
        let stretches = stretches(&gap, 10.0, 100, Keep::Mean);
        assert_eq!(stretches.iter().map(Vec::len).collect::<Vec<_>>(), [2, 1]);
    }

    #[test]
    fn a_long_curve_keeps_its_peaks_and_loses_its_bulk() {
        let mut values = vec![Some(1.0); 100_000];
        values[54_321] = Some(99.0);
        let series = series(values);
        let kept = stretches(&series, 10_000.0, 500, Keep::Extremes);
        assert!(kept.iter().map(Vec::len).sum::<usize>() <= 1000);
        assert!(kept.iter().flatten().any(|(_, value)| *value == 99.0));
        assert_eq!(stretches(&series, 10_000.0, 500, Keep::Mean).iter().map(Vec::len).sum::<usize>(), 500);
    }

    #[test]
    fn impossible_steps_and_values_draw_nothing() {
        let mut broken = series(vec![Some(1.0), Some(f64::NAN), Some(f64::INFINITY), Some(1e300)]);
        assert_eq!(stretches(&broken, 10.0, 100, Keep::Extremes), [vec![(0.0, 1.0)]]);
        broken.step_s = 0.0;
        assert!(stretches(&broken, 10.0, 100, Keep::Extremes).is_empty());
        broken.step_s = f64::NAN;
        assert!(stretches(&broken, 10.0, 100, Keep::Extremes).is_empty());
    }
}
