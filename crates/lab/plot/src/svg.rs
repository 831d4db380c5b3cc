//! A figure for a README or a paper: rates above, queuing delay below, one time axis.
//!
//! The paper is white and the text dark, whatever surrounds the figure. The same outcome always gives the same bytes.

pub(crate) mod canvas;
mod curves;
mod legend;
pub(crate) mod marks;
mod panel;
mod stacked;
pub(crate) mod strips;

use crate::error::Error;
use crate::escape::{self, plain};
use crate::names::{engine_in_words, link_in_words, title};
use crate::palette;
use crate::plan::Plan;
use afteryou_scenario::outcome::Outcome;
use canvas::{Canvas, Text, HEIGHT, WIDTH};
use panel::Panel;
pub use stacked::{stacked_svg, Scale};

/// Space left and right of everything.
const MARGIN: f64 = 18.0;
/// Space for the numbers at the vertical axes.
const AXIS: f64 = 44.0;
/// Space for the numbers and the title of the time axis.
const TIME_AXIS: f64 = 40.0;
/// Space for the name of a panel.
const PANEL_NAME: f64 = 20.0;
/// Height of the lane of marks between the panels.
const LANE: f64 = 14.0;
/// Height of a row of window names.
const BAND_ROW: f64 = 15.0;
/// The upper panel's share of the height of both.
const UPPER_SHARE: f64 = 0.58;

/// Draws `outcome` as one SVG document of 900 × 520 px.
///
/// # Errors
/// [`Error::Figure`] if the drawing library fails: a fault of this program, not of the outcome.
pub fn svg(outcome: &Outcome) -> Result<String, Error> {
    let plan = Plan::of(outcome);
    let mut body = String::new();
    {
        let canvas = Canvas::on(&mut body)?;
        draw(&canvas, outcome, &plan)?;
        canvas.finish()?;
    }
    let name = escape::html(title(outcome));
    canvas::with_root(&body, &name)
}

fn draw(canvas: &Canvas<'_>, outcome: &Outcome, plan: &Plan) -> Result<(), Error> {
    let (ink, faint) = (palette::INK.light, palette::FAINT_INK.light);
    let name = fitted(title(outcome), 16.0);
    canvas.text(&name, (MARGIN, 22.0), &Text::new(16.0, ink).bold())?;
    let subtitle = fitted(&subtitle(outcome), 12.0);
    canvas.text(&subtitle, (MARGIN, 42.0), &Text::new(12.0, faint))?;

    let upper = plan.chart("goodput");
    let lower = plan.chart("queuing_delay");
    let legend_end = legend::draw(canvas, &plan.marks, &[(outcome, upper), (outcome, lower)], 64.0)?;
    let bands_top = legend_end + 12.0 + PANEL_NAME;
    let top = bands_top + plan.band_rows() as f64 * BAND_ROW;
    let strips_height = plan.phases.as_ref().map_or(0.0, strips::height);
    let room = HEIGHT - top - strips_height - LANE - PANEL_NAME - TIME_AXIS;
    let upper_height = (room * UPPER_SHARE).round();

    let panel =
        |chart, top, height, time_axis| Panel { outcome, plan, chart, range: None, top, height, time_axis };
    let upper = panel(upper, top, upper_height, false);
    let strips_top = top + upper_height;
    let lane_top = strips_top + strips_height;
    let lower_top = lane_top + LANE + PANEL_NAME;
    let lower = panel(lower, lower_top, room - upper_height, true);
    panel::name(canvas, upper.chart, "Goodput", bands_top)?;
    panel::band_names(canvas, plan, bands_top)?;
    upper.draw(canvas)?;
    if let Some(phases) = &plan.phases {
        strips::draw(canvas, phases, (panel::LEFT, strips_top), |at| panel::across(plan, at))?;
    }
    panel::marks(canvas, outcome, plan, lane_top + 4.0)?;
    panel::name(canvas, lower.chart, "Queuing delay", lower_top)?;
    lower.draw(canvas)
}

fn subtitle(outcome: &Outcome) -> String {
    let (link, engine) = (link_in_words(outcome), engine_in_words(outcome));
    format!("{link} · {engine} · seed {}", outcome.scenario.seed)
}

/// Returns as much of `text` as fits into one line.
fn fitted(text: &str, size: f64) -> String {
    fit(text, size, WIDTH - 2.0 * MARGIN)
}

/// Returns as much of `text` as fits into `width` px.
pub(crate) fn fit(text: &str, size: f64, width: f64) -> String {
    let text = plain(text);
    let mut chars = text.chars().count();
    let mut short = text.to_string();
    while chars > 1 && canvas::width(&short, size) > width {
        chars = (chars - 1).min((chars as f64 * width / canvas::width(&short, size)).ceil() as usize);
        short = escape::cut(&text, chars);
    }
    short
}
