//! Curves: means over a setting or over time.

use super::axis::Axis;
use super::frame::Frame;
use super::groups::{points, Group, Point};
use super::{intervals, legend, Chosen};
use crate::error::Error;
use crate::palette;
use crate::phases::Phases;
use crate::svg::canvas::{width, Canvas, Text};
use crate::svg::marks::mark;
use crate::svg::strips;

/// Longer curves have marks here and there, and no intervals.
const MOST_MARKED: usize = 40;
/// Marks along a long curve.
const MARKS: usize = 6;
/// The quantity of curves below which phases are shown.
const WINDOW: &str = "cwnd";
/// Half the width of an interval's ends, px.
const END: f64 = 3.0;

/// A group's curve.
struct Curve<'a> {
    group: &'a Group,
    points: Vec<Point>,
}

impl Curve<'_> {
    fn is_short(&self) -> bool {
        self.points.len() <= MOST_MARKED
    }

    fn shows_intervals(&self) -> bool {
        self.is_short() && !self.group.is_baseline
    }
}

pub fn draw(canvas: &Canvas<'_>, chosen: &Chosen<'_>) -> Result<(), Error> {
    let (x, y) = (chosen.numbers(chosen.required_x()?)?, chosen.y()?);
    let groups = chosen.groups()?;
    let curves: Vec<Curve> = groups
        .iter()
        .map(|group| Curve { group, points: points(&group.rows, &x.values, &y.values) })
        .collect();
    let places: Vec<f64> = curves.iter().flat_map(|curve| curve.points.iter().map(|point| point.x)).collect();
    if places.is_empty() {
        return Err(Error::Plot(format!("no row has both {} and {}", x.label, y.label)));
    }
    let is_time = chosen.x() == Some("time_s");
    let moments_at = chosen.data.marks.iter().map(|(at, _)| *at);
    let end = places.iter().copied().chain(moments_at).fold(0.0, f64::max);
    let across = if is_time { Axis::of_times(end) } else { Axis::of_settings(&places) };
    let tops = curves.iter().flat_map(|curve| &curve.points).flat_map(|point| {
        let width = point.y.half_width.unwrap_or(0.0);
        [point.y.mean - width, point.y.mean + width]
    });
    let up = Axis::of_values(tops);
    let whole = Frame::begin(canvas, &chosen.words(&x.label, &y.label), &legend(&groups), 0.0)?;
    let shows_phases = is_time && chosen.figure.y == WINDOW;
    let flows = groups.iter().filter(|group| !group.is_baseline);
    let flows = flows.map(|group| (group.name.as_str(), group.style));
    let phases = Phases::of(&chosen.data.phases, flows).filter(|_| shows_phases);
    let frame = Frame { bottom: whole.bottom - phases.as_ref().map_or(0.0, strips::height), ..whole };
    frame.rule_y(&up)?;
    whole.rule_x(&across, false)?;
    if let Some(phases) = phases {
        let place = |at: f64| frame.at(across.part(at), 0.0).0;
        strips::draw(canvas, &phases, (frame.left, frame.bottom), place)?;
    }
    if is_time {
        moments(&frame, &chosen.data.marks, &across)?;
    }
    let with_interval = curves.iter().filter(|curve| curve.shows_intervals()).flat_map(|curve| &curve.points);
    intervals(&frame, with_interval.map(|point| &point.y))?;
    // The curves to compare with are below.
    let mut order: Vec<(usize, &Curve)> = curves.iter().enumerate().collect();
    order.sort_by_key(|(_, curve)| !curve.group.is_baseline);
    for (i, curve) in order {
        draw_curve(&frame, curve, i, &across, &up)?;
    }
    Ok(())
}

/// Draws the run's moments as ticks above the data, in the colours of their kinds.
fn moments(frame: &Frame<'_, '_>, marks: &[(f64, String)], across: &Axis) -> Result<(), Error> {
    for (at, what) in marks {
        let (x, _) = frame.at(across.part(*at), 0.0);
        frame.canvas.line(
            (x, frame.top - 6.0),
            (x, frame.top + 1.0),
            palette::mark(what).colour.light,
            1.5,
        )?;
    }
    let mut kinds: Vec<&str> = marks.iter().map(|(_, what)| what.as_str()).collect();
    kinds.sort_unstable();
    kinds.dedup();
    // From the right end, above the ticks.
    let mut x = frame.right;
    for what in kinds.into_iter().rev() {
        let text = Text::new(11.0, palette::FAINT_INK.light).ending();
        frame.canvas.text(what, (x, frame.top - 17.0), &text)?;
        x -= width(what, 11.0) + 6.0;
        frame.canvas.line(
            (x, frame.top - 21.0),
            (x, frame.top - 13.0),
            palette::mark(what).colour.light,
            1.5,
        )?;
        x -= 14.0;
    }
    Ok(())
}

fn draw_curve(
    frame: &Frame<'_, '_>,
    curve: &Curve<'_>,
    index: usize,
    across: &Axis,
    up: &Axis,
) -> Result<(), Error> {
    let Curve { group, points } = curve;
    let at = |x: f64, y: f64| frame.at(across.part(x), up.part(y));
    let colour = group.style.colour.light;
    let drawn: Vec<(f64, f64)> = points.iter().map(|point| at(point.x, point.y.mean)).collect();
    if group.is_baseline {
        return frame.canvas.dashes(&drawn, colour, 1.25);
    }
    let is_short = curve.is_short();
    for point in points.iter().filter(|_| is_short) {
        let Some(width) = point.y.half_width else { continue };
        let ends = [point.y.mean - width, point.y.mean + width].map(|y| at(point.x, y));
        frame.canvas.line(ends[0], ends[1], colour, 1.0)?;
        for (x, y) in ends {
            frame.canvas.line((x - END, y), (x + END, y), colour, 1.0)?;
        }
    }
    frame.canvas.polyline(drawn.iter().copied(), colour, 1.75)?;
    // Curves are marked at different places.
    let step = if is_short { 1 } else { points.len() / MARKS };
    let first = if is_short { 0 } else { step * (1 + index % 4) / 5 };
    drawn
        .iter()
        .skip(first)
        .step_by(step.max(1))
        .try_for_each(|place| mark(frame.canvas, group.style, *place))
}
