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

/// The vertical axes of both panels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Each has that of its own values.
    Own,
    /// Both have the same.
    Common,
}

/// Draws `quantity` of two runs as one SVG document of 900 × 520 px. Each comes with the words above its panel, and with its link and
/// engine where the other has different ones.
pub fn pair_svg(
    title: &str,
    quantity: &str,
    runs: [(&str, &Outcome); 2],
    scale: Scale,
) -> Result<String, Error> {
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
    runs: [(&str, &Outcome); 2],
    scale: Scale,
) -> Result<(), Error> {
    let (ink, faint) = (palette::INK.light, palette::FAINT_INK.light);
    canvas.text(&fitted(title, 16.0), (MARGIN, 22.0), &Text::new(16.0, ink).bold())?;
    let [(_, first), (_, second)] = runs;
    let about = [first, second].map(subtitle);
    let is_one = about[0] == about[1];
    if is_one {
        canvas.text(&fitted(&about[0], 12.0), (MARGIN, 42.0), &Text::new(12.0, faint))?;
    }

    let mut plans = [first, second].map(Plan::of);
    let end_s = plans[0].end_s.max(plans[1].end_s);
    for plan in &mut plans {
        plan.end_s = end_s;
    }
    let both = Plan { marks: kinds_of_either(&plans), ..plans[1].clone() };
    let charts = [(first, plans[0].chart(quantity)), (second, plans[1].chart(quantity))];
    let legend_end = legend::draw(canvas, &both, charts, if is_one { 64.0 } else { 46.0 })?;

    let first_top = legend_end + 12.0 + PANEL_NAME;
    let height = ((HEIGHT - first_top - 2.0 * LANE - APART - PANEL_NAME - TIME_AXIS) / 2.0).floor();
    let panel = |i: usize| {
        let (outcome, plan) = (runs[i].1, &plans[i]);
        let top = first_top + LANE + i as f64 * (LANE + height + APART + PANEL_NAME);
        Panel { outcome, plan, chart: plan.chart(quantity), range: None, top, height, time_axis: i == 1 }
    };
    let panels = [panel(0), panel(1)];
    let [one, other] = panels.each_ref().map(Panel::range);
    let range = (scale == Scale::Common).then_some((one.0.min(other.0), one.1.max(other.1)));
    for ((panel, (words, outcome)), about) in panels.into_iter().zip(runs).zip(about) {
        let edge = panel.top - LANE;
        let words = if is_one { words.to_owned() } else { format!("{words}: {about}") };
        panel::heading(canvas, &words, edge)?;
        panel::marks(canvas, outcome, panel.plan, edge + 2.0)?;
        Panel { range, ..panel }.draw(canvas)?;
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
