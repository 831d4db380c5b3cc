//! Makes a curve fit for drawing: no gaps inside, nothing outside the chart, no more points than dots.

/// The points of a curve that are drawn.
#[derive(Clone, Copy)]
pub struct Bounds {
    /// Times from 0 to this, s. (Clipping lines that end far outside is not reliable.)
    pub until_s: f64,
    /// Values from 0 to this; others count as the nearest of these.
    pub ceiling: f64,
    /// At most about one point in this time, s.
    pub step_s: f64,
}

/// Returns the stretches of `points` between gaps.
pub fn stretches(points: &[(f64, f64)], bounds: Bounds) -> Vec<Vec<(f64, f64)>> {
    let gap = |point: &(f64, f64)| !(0.0..=bounds.until_s).contains(&point.0) || !point.1.is_finite();
    let stretches = points.split(gap).filter(|stretch| !stretch.is_empty());
    stretches.map(|stretch| thin(stretch, bounds)).collect()
}

/// Returns the means over steps.
fn thin(points: &[(f64, f64)], bounds: Bounds) -> Vec<(f64, f64)> {
    let Bounds { step_s, ceiling, .. } = bounds;
    let same_step = |a: &(f64, f64), b: &(f64, f64)| (a.0 / step_s).floor() == (b.0 / step_s).floor();
    let mean = |step: &[(f64, f64)]| {
        let n = step.len() as f64;
        let time = step.iter().map(|point| point.0 / n).sum();
        let value: f64 = step.iter().map(|point| point.1 / n).sum();
        (time, value.clamp(0.0, ceiling))
    };
    points.chunk_by(same_step).map(mean).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_splits_a_curve_and_steps_hold_means() {
        let bounds = Bounds { until_s: 3.0, ceiling: 10.0, step_s: 1.0 };
        let points = [(0.0, 1.0), (0.5, 3.0), (1.0, f64::NAN), (2.0, 100.0), (3.0, -5.0), (3.1, 1.0)];
        let expected = vec![vec![(0.25, 2.0)], vec![(2.0, 10.0), (3.0, 0.0)]];
        assert_eq!(stretches(&points, bounds), expected);
        assert_eq!(stretches(&[], bounds), Vec::<Vec<_>>::new());
        let huge = stretches(&[(0.0, f64::MAX), (0.1, f64::MAX)], bounds);
        assert_eq!(huge, vec![vec![(0.05, 10.0)]]);
    }
}
