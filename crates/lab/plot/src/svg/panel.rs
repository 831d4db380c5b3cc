//! One panel: axes, bands of windows, curves.

use super::canvas::{failed, rgb, stroke_style, units, width, Backend, Canvas, Text, WIDTH};
use super::curves::{stretches, Keep, Stretch};
use super::marks::mark;
use super::{fit, AXIS, BAND_ROW, MARGIN, TIME_AXIS};
use crate::error::Error;
use crate::escape::plain;
use crate::palette;
use crate::plan::{Chart, Curve, Plan};
use afteryou_notation::format::short;
use afteryou_scenario::outcome::Outcome;
use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use std::collections::BTreeSet;

/// No panel shows more curves. Beyond this number nobody can distinguish them, and the file grows without bound.
const MOST_CURVES: usize = 24;
/// Shapes along a curve.
const SHAPES: usize = 6;
/// Among more curves than this, shapes would hide more than they show.
const MOST_WITH_SHAPES: usize = 8;
/// Left and right end of every panel.
pub const LEFT: f64 = MARGIN + AXIS;
const RIGHT: f64 = WIDTH - MARGIN;

type Axes<'a, 'b> = ChartContext<'a, Backend<'b>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

/// One panel.
pub struct Panel<'a> {
    /// Where the numbers are.
    pub outcome: &'a Outcome,
    /// The contents of the drawing.
    pub plan: &'a Plan,
    /// The panel's curves; nothing was measured if none.
    pub chart: Option<&'a Chart>,
    /// The lower and the upper end of the vertical axis; if none, those of the values.
    pub range: Option<(f64, f64)>,
    /// Its upper edge, px.
    pub top: f64,
    /// Its height without the time axis, px.
    pub height: f64,
    /// Whether it has the numbers of the time axis.
    pub time_axis: bool,
}

/// A curve ready to draw.
struct Drawn<'a> {
    curve: &'a Curve,
    stretches: Vec<Stretch>,
}

impl Panel<'_> {
    /// Draws it.
    pub fn draw(&self, canvas: &Canvas<'_>) -> Result<(), Error> {
        let drawn = self.curves();
        let (low, high) = self.range.unwrap_or_else(|| value_range(&drawn));
        let below = if self.time_axis { TIME_AXIS } else { 0.0 };
        let (wide, high_px) = (units(RIGHT - MARGIN) as u32, units(self.height + below) as u32);
        let area = canvas.area.clone().shrink((units(MARGIN), units(self.top)), (wide, high_px));
        let mut axes = ChartBuilder::on(&area)
            .set_label_area_size(LabelAreaPosition::Left, units(AXIS))
            .set_label_area_size(LabelAreaPosition::Bottom, units(below))
            .build_cartesian_2d(0.0..self.plan.end_s, low..high)
            .map_err(failed)?;
        self.bands(&mut axes, low, high)?;
        self.mesh(&mut axes)?;
        for drawn in &drawn {
            draw_curve(&mut axes, drawn)?;
        }
        // Shapes are above every line.
        let shaped = || drawn.iter().filter(|drawn| !drawn.curve.baseline);
        for drawn in shaped().filter(|_| shaped().count() <= MOST_WITH_SHAPES) {
            self.shapes(canvas, &axes, drawn)?;
        }
        if drawn.is_empty() {
            let middle = ((LEFT + RIGHT) / 2.0, self.top + self.height / 2.0);
            canvas.text(
                "nothing was measured",
                middle,
                &Text::new(12.0, palette::FAINT_INK.light).centred(),
            )?;
        }
        if self.time_axis {
            let end = (RIGHT, self.top + self.height + 32.0);
            canvas.text("time (s)", end, &Text::new(12.0, palette::FAINT_INK.light).ending())?;
        }
        Ok(())
    }

    /// Returns the ends of the vertical axis that its values need.
    pub fn range(&self) -> (f64, f64) {
        value_range(&self.curves())
    }

    fn curves(&self) -> Vec<Drawn<'_>> {
        let columns = (RIGHT - LEFT) as usize;
        let curves = self.chart.into_iter().flat_map(|chart| &chart.curves).take(MOST_CURVES);
        let drawn = curves.filter_map(|curve| {
            let (columns, keep) =
                if curve.baseline { (columns / 2, Keep::Mean) } else { (columns, Keep::Extremes) };
            let stretches = stretches(curve.series(self.outcome)?, self.plan.end_s, columns, keep);
            (!stretches.is_empty()).then_some(Drawn { curve, stretches })
        });
        drawn.collect()
    }

    fn bands(&self, axes: &mut Axes<'_, '_>, low: f64, high: f64) -> Result<(), Error> {
        let fill = rgb(palette::BAND.light).mix(palette::BAND_OPACITY).filled();
        let bands = self.plan.bands.iter().map(|band| {
            let (from, to) = (band.from_s.clamp(0.0, self.plan.end_s), band.to_s.clamp(0.0, self.plan.end_s));
            Rectangle::new([(from, low), (to, high)], fill)
        });
        axes.draw_series(bands).map_err(failed)?;
        Ok(())
    }

    fn mesh(&self, axes: &mut Axes<'_, '_>) -> Result<(), Error> {
        let numbers = Text::new(11.0, palette::FAINT_INK.light).style();
        let lines = stroke_style(palette::GRID.light, 1.0);
        let time = |at: &f64| short(*at);
        let mut mesh = axes.configure_mesh();
        mesh.max_light_lines(0)
            .bold_line_style(lines)
            .axis_style(stroke_style(palette::BAND_NAME.light, 1.0))
            .label_style(numbers)
            .x_labels(12)
            .y_labels(6)
            .y_label_formatter(&|value| short(*value))
            .x_label_formatter(&time)
            .set_all_tick_mark_size(units(5.0));
        mesh.draw().map_err(failed)
    }

    /// Marks a curve at intervals, so that readers recognise it without its colour. Curves are marked at different
    /// times.
    fn shapes(&self, canvas: &Canvas<'_>, axes: &Axes<'_, '_>, drawn: &Drawn<'_>) -> Result<(), Error> {
        let offset = (drawn.curve.index % 5) as f64 / 5.0;
        for i in 0..SHAPES {
            let at = self.plan.end_s * (i as f64 + 0.15 + offset * 0.8) / SHAPES as f64;
            let stretch = drawn.stretches.iter().find(|s| s[0].0 <= at && s[s.len() - 1].0 >= at);
            let point = stretch.and_then(|stretch| stretch.iter().find(|(time, _)| *time >= at));
            if let Some(point) = point {
                let (x, y) = axes.backend_coord(point);
                let px = 1.0 / f64::from(units(1.0));
                mark(canvas, drawn.curve.style, (f64::from(x) * px, f64::from(y) * px))?;
            }
        }
        Ok(())
    }
}

/// Returns a range from zero, or below if something is, to a little above the largest value.
fn value_range(drawn: &[Drawn<'_>]) -> (f64, f64) {
    let values = || drawn.iter().flat_map(|d| d.stretches.iter().flatten()).map(|(_, value)| *value);
    let (low, high) = (values().fold(0.0, f64::min), values().fold(0.0, f64::max));
    match high - low {
        span if span < 1e-9 => (low, low + 1.0),
        span => (if low < 0.0 { low - span * 0.05 } else { 0.0 }, high + span * 0.06),
    }
}

fn draw_curve(axes: &mut Axes<'_, '_>, drawn: &Drawn<'_>) -> Result<(), Error> {
    let colour = drawn.curve.style.colour.light;
    for stretch in &drawn.stretches {
        let points = stretch.iter().copied();
        if let [point] = stretch[..] {
            let dot = Circle::new(point, units(1.0), rgb(colour).filled());
            axes.draw_series([dot]).map_err(failed)?;
        } else if drawn.curve.baseline {
            let dashes = DashedLineSeries::new(points, units(5.0), units(3.0), stroke_style(colour, 1.25));
            axes.draw_series(dashes).map_err(failed)?;
        } else {
            axes.draw_series(LineSeries::new(points, stroke_style(colour, 1.75))).map_err(failed)?;
        }
    }
    Ok(())
}

/// Names a panel just above `edge`.
pub fn name(canvas: &Canvas<'_>, chart: Option<&Chart>, otherwise: &str, edge: f64) -> Result<(), Error> {
    let title = chart.map_or(otherwise, |chart| chart.title.as_str());
    let unit = chart.map(|chart| plain(&chart.unit)).filter(|unit| !unit.is_empty());
    heading(canvas, &unit.map_or(title.to_owned(), |unit| format!("{title} ({unit})")), edge)
}

/// Writes `words` just above `edge`.
pub fn heading(canvas: &Canvas<'_>, words: &str, edge: f64) -> Result<(), Error> {
    let words = fit(words, 12.0, RIGHT - LEFT);
    canvas.text(&words, (LEFT, edge - 9.0), &Text::new(12.0, palette::INK.light).bold())
}

/// Returns the place of a time on the axis of every panel.
pub fn across(plan: &Plan, at: f64) -> f64 {
    LEFT + (RIGHT - LEFT) * (at / plan.end_s).clamp(0.0, 1.0)
}

/// Names the windows above the upper panel.
pub fn band_names(canvas: &Canvas<'_>, plan: &Plan, top: f64) -> Result<(), Error> {
    for band in &plan.bands {
        let (from, to) = (across(plan, band.from_s), across(plan, band.to_s));
        let bottom = top + (band.row + 1) as f64 * BAND_ROW;
        let colour = palette::BAND_NAME.light;
        canvas.line((from + 0.5, bottom - 1.5), (to - 0.5, bottom - 1.5), colour, 1.5)?;
        let name = fit(&band.name, 11.0, to - from);
        if width(&name, 11.0) <= to - from {
            let text = Text::new(11.0, palette::FAINT_INK.light).centred();
            canvas.text(&name, ((from + to) / 2.0, bottom - 8.5), &text)?;
        }
    }
    Ok(())
}

/// Draws the run's marks as ticks in a lane below `top`; those of a kind that fall together are one tick.
pub fn marks(canvas: &Canvas<'_>, outcome: &Outcome, plan: &Plan, top: f64) -> Result<(), Error> {
    let mut kinds: Vec<_> = plan.marks.iter().collect();
    // What is rare is on top.
    kinds.sort_by_key(|kind| std::cmp::Reverse(kind.count));
    for kind in kinds {
        let marks = outcome.run.marks.iter().filter(|mark| mark.what == kind.what);
        let columns: BTreeSet<i32> = marks
            .filter(|mark| (0.0..=plan.end_s).contains(&mark.at_s))
            .map(|mark| (LEFT + (RIGHT - LEFT) * mark.at_s / plan.end_s).round() as i32)
            .collect();
        for column in columns {
            let x = f64::from(column);
            canvas.line((x, top), (x, top + 8.0), kind.style.colour.light, 1.5)?;
        }
    }
    Ok(())
}
