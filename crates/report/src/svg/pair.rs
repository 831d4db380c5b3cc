//! Two runs one above the other: one quantity, one time axis.

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

/// Draws `quantity` of two runs on the same link as one SVG document of 900 × 520 px. Each comes with the words above its
/// panel; the second names the link, and its flows should include those of the first.
pub fn pair_svg(title: &str, quantity: &str, runs: [(&str, &Outcome); 2]) -> Result<String, Error> {
    let mut body = String::new();
    {
        let canvas = Canvas::on(&mut body)?;
        draw(&canvas, title, quantity, runs)?;
        canvas.finish()?;
    }
    canvas::with_root(&body, &escape::html(title))
}

fn draw(canvas: &Canvas<'_>, title: &str, quantity: &str, runs: [(&str, &Outcome); 2]) -> Result<(), Error> {
    let (ink, faint) = (palette::INK.light, palette::FAINT_INK.light);
    canvas.text(&fitted(title, 16.0), (MARGIN, 22.0), &Text::new(16.0, ink).bold())?;
    let [(_, first), (_, second)] = runs;
    canvas.text(&fitted(&subtitle(second), 12.0), (MARGIN, 42.0), &Text::new(12.0, faint))?;

    let mut plans = [first, second].map(Plan::of);
    let end_s = plans[0].end_s.max(plans[1].end_s);
    for plan in &mut plans {
        plan.end_s = end_s;
    }
    let both = Plan { marks: kinds_of_either(&plans), ..plans[1].clone() };
    let charts = [plans[0].chart(quantity), both.chart(quantity)];
    let legend_end = legend::draw(canvas, second, &both, charts, 64.0)?;

    let first_top = legend_end + 12.0 + PANEL_NAME;
    let height = ((HEIGHT - first_top - 2.0 * LANE - APART - PANEL_NAME - TIME_AXIS) / 2.0).floor();
    let mut edge = first_top;
    for (i, (words, outcome)) in runs.into_iter().enumerate() {
        let plan = &plans[i];
        let top = edge + LANE;
        panel::heading(canvas, words, edge)?;
        panel::marks(canvas, outcome, plan, edge + 2.0)?;
        let chart = plan.chart(quantity);
        Panel { outcome, plan, chart, top, height, time_axis: i == 1 }.draw(canvas)?;
        edge = top + height + APART + PANEL_NAME;
    }
    Ok(())
}

/// The kinds of marks of both plans, without their numbers.
fn kinds_of_either(plans: &[Plan; 2]) -> Vec<MarkKind> {
    let mut kinds: Vec<MarkKind> = Vec::new();
    for kind in plans.iter().flat_map(|plan| &plan.marks) {
        if !kinds.iter().any(|known| known.what == kind.what) {
            kinds.push(MarkKind { count: 1, ..kind.clone() });
        }
    }
    kinds
}
