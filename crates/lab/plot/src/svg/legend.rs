//! The legend: one row or a few, above the panels.

use super::canvas::{width, Canvas, Text, WIDTH};
use super::marks::mark;
use super::{fit, MARGIN};
use crate::error::Error;
use crate::escape::plain;
use crate::names;
use crate::palette::{self, Colour, Style};
use crate::plan::{Chart, MarkKind};
use afteryou_notation::format::count;
use afteryou_scenario::outcome::Outcome;

const SIZE: f64 = 12.0;
const ROW: f64 = 19.0;
/// Space between entries.
const APART: f64 = 16.0;
/// More rows than this would leave no room for the panels.
const MOST_ROWS: usize = 3;
/// More names than this help nobody, and would push out what dashes and ticks mean.
const MOST_CURVES: usize = 12;
/// A longer name is cut.
const LONGEST: f64 = 260.0;

/// An entry's mark beside its words.
enum Sample {
    Curve(Style),
    Dashes,
    Tick(Colour),
    Nothing,
}

impl Sample {
    /// Returns space for it and behind it, px.
    fn width(&self) -> f64 {
        match self {
            Sample::Curve(_) | Sample::Dashes => 28.0,
            Sample::Tick(_) => 9.0,
            Sample::Nothing => 0.0,
        }
    }
}

/// A chart, if there is one, and the outcome with its numbers.
pub type Drawn<'a> = (&'a Outcome, Option<&'a Chart>);

/// Draws the legend from `top` on and returns where it ends.
pub fn draw(canvas: &Canvas<'_>, marks: &[MarkKind], charts: &[Drawn<'_>], top: f64) -> Result<f64, Error> {
    let entries = entries(marks, charts);
    let (mut x, mut row) = (MARGIN, 0);
    let at = |row: usize| top + row as f64 * ROW;
    for (i, (sample, words)) in entries.iter().enumerate() {
        let words = fit(words, SIZE, LONGEST);
        let needs = sample.width() + width(&words, SIZE);
        // The last row keeps room for the words about how many are missing.
        let last_row = row + 1 == MOST_ROWS && i + 1 < entries.len();
        let end = WIDTH - MARGIN - if last_row { 100.0 } else { 0.0 };
        if x > MARGIN && x + needs > end {
            if row + 1 == MOST_ROWS {
                let missing = format!("and {} more", entries.len() - i);
                canvas.text(&missing, (x, at(row)), &Text::new(SIZE, palette::FAINT_INK.light))?;
                break;
            }
            (x, row) = (MARGIN, row + 1);
        }
        draw_sample(canvas, sample, (x, at(row)))?;
        canvas.text(&words, (x + sample.width(), at(row)), &Text::new(SIZE, palette::INK.light))?;
        x += needs + APART;
    }
    Ok(if entries.is_empty() { top - ROW } else { at(row) })
}

fn entries(marks: &[MarkKind], charts: &[Drawn<'_>]) -> Vec<(Sample, String)> {
    let curves = || {
        charts.iter().flat_map(|(outcome, chart)| {
            chart.iter().flat_map(|chart| &chart.curves).map(move |curve| (*outcome, curve))
        })
    };
    let mut shown: Vec<(Style, String, &str)> = Vec::new();
    for (outcome, curve) in curves() {
        let of = curve.series(outcome).map_or("", |series| series.of.as_str());
        let name = plain(names::shown_name(outcome, of)).into_owned();
        if !shown.iter().any(|(style, other, _)| (*style, other) == (curve.style, &name)) {
            shown.push((curve.style, name, controller(outcome, of)));
        }
    }
    // A flow with another controller in another run has another colour there.
    let differ = |name: &String| shown.iter().filter(|(_, other, _)| other == name).count() > 1;
    let words = |name: &String, controller: &str| match differ(name) && !controller.is_empty() {
        true => format!("{name} ({controller})"),
        false => name.clone(),
    };
    let entry =
        |(style, name, controller): &(Style, String, &str)| (Sample::Curve(*style), words(name, controller));
    let mut entries: Vec<(Sample, String)> = shown.iter().map(entry).collect();
    let missing = entries.len().saturating_sub(MOST_CURVES);
    entries.truncate(MOST_CURVES);
    if missing > 0 {
        entries.push((Sample::Nothing, format!("and {missing} more")));
    }
    if curves().any(|(_, curve)| curve.baseline) {
        entries.push((Sample::Dashes, "without background".to_owned()));
    }
    let marks = marks.iter().map(|kind| {
        let times = if kind.count > 1 { format!(" ({}×)", count(kind.count as u64)) } else { String::new() };
        (Sample::Tick(kind.style.colour), format!("{}{times}", plain(&kind.what)))
    });
    entries.extend(marks);
    entries
}

/// Returns the controller of a flow; nothing for what is no flow.
fn controller<'a>(outcome: &'a Outcome, flow: &str) -> &'a str {
    let flow = outcome.scenario.flow.iter().find(|known| known.name == flow);
    flow.and_then(|flow| flow.controller.as_ref()).map_or("", |controller| &controller.kind)
}

fn draw_sample(canvas: &Canvas<'_>, sample: &Sample, (x, y): (f64, f64)) -> Result<(), Error> {
    match sample {
        Sample::Nothing => Ok(()),
        Sample::Curve(style) => {
            canvas.line((x, y), (x + 22.0, y), style.colour.light, 2.0)?;
            mark(canvas, *style, (x + 11.0, y))
        }
        Sample::Dashes => [0.0, 8.0, 16.0].into_iter().try_for_each(|from| {
            canvas.line((x + from, y), (x + from + 5.0, y), palette::FAINT_INK.light, 1.5)
        }),
        Sample::Tick(colour) => canvas.line((x + 2.0, y - 4.0), (x + 2.0, y + 4.0), colour.light, 1.5),
    }
}
