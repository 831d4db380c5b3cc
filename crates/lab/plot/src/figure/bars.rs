//! Bars: a mean and its interval for each setting and group.

use super::axis::Axis;
use super::frame::{Entry, Frame};
use super::groups::{kind, Group};
use super::{intervals, legend, Chosen};
use crate::error::Error;
use crate::estimate::Estimate;
use crate::palette::looks;
use crate::palette::{self, Style};
use crate::svg::canvas::{Canvas, Text};
use crate::svg::fit;
use crate::svg::marks::mark;

/// Part of a setting's place that its bars take.
const FILLED: f64 = 0.74;
/// Widest bar, px.
const WIDEST: f64 = 64.0;
/// More settings than this are for a curve.
const MOST: usize = 60;

/// Returns the look of a group's bar. Where there is one group, a setting that is a controller's name looks like it.
fn style(group: &Group, setting: &str) -> Style {
    match kind(setting) {
        name if group.name.is_empty() && looks::is_known(name) => looks::of(Some(name), 0),
        _ => group.style,
    }
}

pub fn draw(canvas: &Canvas<'_>, chosen: &Chosen<'_>) -> Result<(), Error> {
    let y = chosen.y()?;
    let groups = chosen.groups()?;
    let x = chosen.x().map(|name| chosen.data.column(name)).transpose()?;
    let value = |row: &usize| x.map_or("", |x| chosen.data.rows[*row][x].as_str());
    let settings = in_order(chosen.data.rows.iter().map(|row| x.map_or("", |x| row[x].as_str())));
    if settings.len() > MOST {
        return Err(Error::Plot(format!("{} bars are too many to read: draw --kind line", settings.len())));
    }
    let bar = |setting: &str, rows: &[usize]| {
        let of_setting = rows.iter().filter(|row| value(row) == setting);
        Estimate::of(&of_setting.filter_map(|row| y.values[*row]).collect::<Vec<f64>>())
    };
    let bars: Vec<Vec<Option<Estimate>>> = settings
        .iter()
        .map(|setting| groups.iter().map(|group| bar(setting, &group.rows)).collect())
        .collect();
    let tops = bars.iter().flatten().flatten().flat_map(|bar| {
        let width = bar.half_width.unwrap_or(0.0);
        [bar.mean - width, bar.mean + width]
    });
    let up = Axis::of_values(tops);
    let words = chosen.x().unwrap_or_default().replace('_', " ");
    let entries: Vec<Entry<'_>> = legend(&groups);
    let frame = Frame::begin(canvas, &chosen.words(&words, &y.label), &entries, 0.0)?;
    frame.rule_y(&up)?;
    intervals(&frame, bars.iter().flatten().flatten())?;
    let place = 1.0 / settings.len() as f64;
    let room = (frame.right - frame.left) * place;
    for (i, (setting, bars)) in settings.iter().zip(&bars).enumerate() {
        let (middle, _) = frame.at((i as f64 + 0.5) * place, 0.0);
        let width = (room * FILLED / bars.len() as f64).min(WIDEST);
        let left = middle - width * bars.len() as f64 / 2.0;
        for (k, (bar, group)) in bars.iter().zip(&groups).enumerate() {
            if let Some(bar) = bar {
                let style = style(group, setting);
                draw_bar(&frame, &up, *bar, style, (left + k as f64 * width, width))?;
            }
        }
        let text = Text::new(11.0, palette::FAINT_INK.light).centred();
        canvas.text(&fit(setting, 11.0, room - 4.0), (middle, frame.bottom + 16.0), &text)?;
    }
    frame.base()
}

fn draw_bar(
    frame: &Frame<'_, '_>,
    up: &Axis,
    bar: Estimate,
    style: Style,
    (left, width): (f64, f64),
) -> Result<(), Error> {
    let at = |value: f64| frame.at(0.0, up.part(value)).1;
    let gap = (width * 0.08).min(2.0);
    let (left, right) = (left + gap, left + width - gap);
    let (zero, top) = (at(0.0), at(bar.mean));
    frame.canvas.polygon(&[(left, zero), (left, top), (right, top), (right, zero)], style.colour.light)?;
    let middle = (left + right) / 2.0;
    if let Some(half) = bar.half_width {
        let ends = [at(bar.mean - half), at(bar.mean + half)];
        frame.canvas.line((middle, ends[0]), (middle, ends[1]), palette::INK.light, 1.25)?;
        for y in ends {
            frame.canvas.line((middle - 4.0, y), (middle + 4.0, y), palette::INK.light, 1.25)?;
        }
    }
    // The group's mark is at the bar's foot, for readers who cannot distinguish the colours.
    if right - left >= 14.0 && (zero - top).abs() > 22.0 {
        let paper = crate::palette::Colour { light: "#ffffff", dark: "#ffffff" };
        mark(frame.canvas, Style { colour: paper, ..style }, (middle, zero - 10.0))?;
    }
    Ok(())
}

/// Returns each value once: numbers ascending, words as they appear.
pub fn in_order<'a>(values: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut seen: Vec<&str> = Vec::new();
    for value in values {
        if !seen.contains(&value) {
            seen.push(value);
        }
    }
    let number = |value: &str| afteryou_notation::Plain::of(value).map(|plain| plain.value);
    if seen.iter().all(|value| number(value).is_some()) {
        seen.sort_by(|a, b| number(a).unwrap_or(0.0).total_cmp(&number(b).unwrap_or(0.0)));
    }
    seen
}
