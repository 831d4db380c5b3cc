//! Distributions: which part of the rows is at most so large.

use super::axis::Axis;
use super::frame::Frame;
use super::{legend, Chosen};
use crate::error::Error;
use crate::svg::canvas::Canvas;
use crate::svg::marks::mark;

/// Marks along a curve.
const MARKS: [f64; 5] = [0.1, 0.3, 0.5, 0.7, 0.9];

pub fn draw(canvas: &Canvas<'_>, chosen: &Chosen<'_>) -> Result<(), Error> {
    let y = chosen.y()?;
    let groups = chosen.groups()?;
    let sorted = |rows: &[usize]| {
        let mut values: Vec<f64> = rows.iter().filter_map(|row| y.values[*row]).collect();
        values.sort_by(f64::total_cmp);
        values
    };
    let curves: Vec<Vec<f64>> = groups.iter().map(|group| sorted(&group.rows)).collect();
    if curves.iter().all(Vec::is_empty) {
        return Err(Error::Plot(format!("no row has {}", y.label)));
    }
    let across = Axis::of_values(curves.iter().flatten().copied());
    let up = Axis::of_shares();
    let frame = Frame::begin(canvas, &chosen.words(&y.label, "part of all"), &legend(&groups), 0.0)?;
    frame.rule_y(&up)?;
    frame.rule_x(&across, true)?;
    for (i, (group, values)) in groups.iter().zip(&curves).enumerate() {
        let part = |rank: usize| rank as f64 / values.len() as f64;
        let at = |value: f64, part: f64| frame.at(across.part(value), up.part(part));
        // A step at each value.
        let steps = values
            .iter()
            .enumerate()
            .flat_map(|(rank, value)| [at(*value, part(rank)), at(*value, part(rank + 1))]);
        let end = frame.at(1.0, 1.0);
        let after = values.last().map(|_| end);
        canvas.polyline(
            steps.chain(after),
            group.style.colour.light,
            if group.is_baseline { 1.0 } else { 1.75 },
        )?;
        for share in MARKS {
            let share = share + (i % 4) as f64 * 0.04;
            let rank = ((share * values.len() as f64) as usize).min(values.len().saturating_sub(1));
            if let Some(value) = values.get(rank) {
                mark(canvas, group.style, at(*value, part(rank) + 0.5 / values.len() as f64))?;
            }
        }
    }
    Ok(())
}
