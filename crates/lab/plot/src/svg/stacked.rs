//! Several runs one above the other: one quantity, one time axis.

use super::canvas::{self, Canvas, Text, HEIGHT};
use super::panel::Panel;
use super::{fitted, legend, panel, subtitle, LANE, MARGIN, PANEL_NAME, TIME_AXIS};
use crate::error::Error;
use crate::escape;
use crate::palette;
use crate::plan::{MarkKind, Plan};
use afteryou_scenario::outcome::Outcome;

/// Space between the panels.
const APART: f64 = 8.0;

/// The vertical axes of the panels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Each has that of its own values.
    Own,
    /// All have the same.
    Common,
}

/// A run, with the words above its panel.
type Named<'a> = (&'a str, &'a Outcome);

/// Draws `quantity` of several runs as one SVG document of 900 × 520 px. Each comes with the words above its panel, and with its link and
/// engine where another has different ones.
///
/// # Errors
/// A drawing that fails.
pub fn stacked_svg(title: &str, quantity: &str, runs: &[Named<'_>], scale: Scale) -> Result<String, Error> {
    let mut body = String::new();
    {
        let canvas = Canvas::on(&mut body)?;
        draw(&canvas, title, quantity, runs, scale)?;
        canvas.finish()?;
    }
    canvas::with_root(&body, &escape::html(title))
}

fn draw(
    canvas: &Canvas<'_>,
    title: &str,
    quantity: &str,
    runs: &[Named<'_>],
    scale: Scale,
) -> Result<(), Error> {
    let (ink, faint) = (palette::INK.light, palette::FAINT_INK.light);
    canvas.text(&fitted(title, 16.0), (MARGIN, 22.0), &Text::new(16.0, ink).bold())?;
    let about: Vec<String> = runs.iter().map(|(_, outcome)| subtitle(outcome)).collect();
    let common = about.first().filter(|first| about.iter().all(|other| other == *first));
    if let Some(common) = common {
        canvas.text(&fitted(common, 12.0), (MARGIN, 42.0), &Text::new(12.0, faint))?;
    }

    let mut plans: Vec<Plan> = runs.iter().map(|(_, outcome)| Plan::of(outcome)).collect();
    let end_s = plans.iter().map(|plan| plan.end_s).fold(0.0, f64::max);
    plans.iter_mut().for_each(|plan| plan.end_s = end_s);
    let charts: Vec<legend::Drawn<'_>> =
        runs.iter().zip(&plans).map(|((_, outcome), plan)| (*outcome, plan.chart(quantity))).collect();
    let marks = kinds_of_any(&plans);
    let legend_end = legend::draw(canvas, &marks, &charts, if common.is_some() { 64.0 } else { 46.0 })?;

    let first_top = legend_end + 12.0 + PANEL_NAME;
    let number = runs.len().max(1) as f64;
    let between = LANE + APART + PANEL_NAME;
    let height = ((HEIGHT - first_top - number * between + APART + PANEL_NAME - TIME_AXIS) / number).floor();
    let panels = runs.iter().zip(&plans).enumerate().map(|(i, ((_, outcome), plan))| {
        let top = first_top + LANE + i as f64 * (height + between);
        let time_axis = i + 1 == runs.len();
        Panel { outcome, plan, chart: plan.chart(quantity), range: None, top, height, time_axis }
    });
    let panels: Vec<Panel<'_>> = panels.collect();
    let widest = |one: (f64, f64), other: (f64, f64)| (one.0.min(other.0), one.1.max(other.1));
    let range = panels.iter().map(Panel::range).reduce(widest).filter(|_| scale == Scale::Common);
    for ((panel, (words, outcome)), about) in panels.into_iter().zip(runs).zip(&about) {
        let edge = panel.top - LANE;
        let words = if common.is_some() { (*words).to_owned() } else { format!("{words}: {about}") };
        panel::heading(canvas, &words, edge)?;
        panel::marks(canvas, outcome, panel.plan, edge + 2.0)?;
        Panel { range, ..panel }.draw(canvas)?;
    }
    Ok(())
}

/// Returns the kinds of marks of all plans, without their numbers.
fn kinds_of_any(plans: &[Plan]) -> Vec<MarkKind> {
    let mut kinds: Vec<MarkKind> = Vec::new();
    for kind in plans.iter().flat_map(|plan| &plan.marks) {
        if !kinds.iter().any(|known| known.what == kind.what) {
            kinds.push(MarkKind { count: 1, ..kind.clone() });
        }
    }
    kinds
}
