//! Distributions: which part of the cases is at most so large.

use super::axis::Axis;
use super::frame::Frame;
use super::groups::Group;
use super::{legend, Chosen};
use crate::error::Error;
use crate::svg::canvas::Canvas;
use crate::svg::marks::mark;

/// Marks along a curve.
const MARKS: [f64; 5] = [0.1, 0.3, 0.5, 0.7, 0.9];

/// A group's curve.
struct Curve<'a> {
    group: &'a Group,
    /// Each value, the smallest first, and the part of all cases that is at most so large.
    parts: Vec<(f64, f64)>,
}

pub fn draw(canvas: &Canvas<'_>, chosen: &Chosen<'_>) -> Result<(), Error> {
    let (y, weights) = (chosen.y()?, chosen.data.weights());
    let groups = chosen.groups()?;
    let cases = |group: &Group| {
        let rows = group.rows.iter();
        parts(rows.filter_map(|row| Some((y.values[*row]?, weights[*row]))).collect())
    };
    let curves: Vec<Curve<'_>> = groups.iter().map(|group| Curve { group, parts: cases(group) }).collect();
    let values = || curves.iter().flat_map(|curve| curve.parts.iter().map(|(value, _)| *value));
    if values().next().is_none() {
        return Err(Error::Plot(format!("no row has {}", y.label)));
    }
    let across = Axis::of_values(values());
    let up = Axis::of_shares();
    let frame = Frame::begin(canvas, &chosen.words(&y.label, "part of all"), &legend(&groups), 0.0)?;
    frame.rule_y(&up)?;
    frame.rule_x(&across, true)?;
    // The curves to compare with are below.
    let mut order: Vec<(usize, &Curve<'_>)> = curves.iter().enumerate().collect();
    order.sort_by_key(|(_, curve)| !curve.group.is_baseline);
    order.into_iter().try_for_each(|(i, curve)| draw_curve(&frame, curve, i, &across, &up))
}

/// Returns values with their weights as a distribution.
fn parts(mut cases: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    cases.sort_by(|a, b| a.0.total_cmp(&b.0));
    let all: f64 = cases.iter().map(|(_, weight)| weight).sum();
    let mut reached = 0.0;
    let part = |(value, weight)| {
        reached += weight;
        (value, reached / all)
    };
    cases.into_iter().map(part).collect()
}

fn draw_curve(
    frame: &Frame<'_, '_>,
    Curve { group, parts }: &Curve<'_>,
    index: usize,
    across: &Axis,
    up: &Axis,
) -> Result<(), Error> {
    let at = |value: f64, part: f64| frame.at(across.part(value), up.part(part));
    // A step at each value.
    let mut below = 0.0;
    let mut steps: Vec<(f64, f64)> = Vec::new();
    for (value, part) in parts {
        steps.extend([at(*value, below), at(*value, *part)]);
        below = *part;
    }
    let colour = group.style.colour.light;
    if group.is_baseline {
        return frame.canvas.dashes(&steps, colour, 1.25);
    }
    steps.extend(parts.last().map(|_| frame.at(1.0, 1.0)));
    frame.canvas.polyline(steps, colour, 1.75)?;
    for share in MARKS {
        let share = share + (index % 4) as f64 * 0.04;
        if let Some((value, _)) = parts.iter().find(|(_, part)| *part > share) {
            mark(frame.canvas, group.style, at(*value, share))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::parts;

    #[test]
    fn a_case_counts_as_often_as_it_stands_for() {
        assert_eq!(parts(vec![(5.0, 1.0), (1.0, 3.0)]), [(1.0, 0.75), (5.0, 1.0)]);
        assert!(parts(Vec::new()).is_empty());
    }
}
