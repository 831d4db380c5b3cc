//! A map of two settings: what was measured at each pair, as a colour and a number.

use super::axis::Axis;
use super::bars::in_order;
use super::frame::Frame;
use super::{label, Chosen};
use crate::error::Error;
use crate::estimate::Estimate;
use crate::palette::{self, heat};
use crate::svg::canvas::{width, Canvas, Text};
use crate::svg::fit;
use afteryou_notation::format::significant;
use afteryou_notation::Plain;

/// Most settings on one side.
const MOST: usize = 60;
/// Space for the scale on the right, and the width of its bar, px.
const SCALE: f64 = 86.0;
const BAR: f64 = 16.0;
/// Steps of the scale's bar.
const SHADES: usize = 64;

pub fn draw(canvas: &Canvas<'_>, chosen: &Chosen<'_>) -> Result<(), Error> {
    let [by] = chosen.figure.by.as_slice() else {
        return Err(Error::Plot("a map needs a column for --x and one for --by".to_owned()));
    };
    let x = chosen.required_x()?;
    let y = chosen.y()?;
    let (across, up) = (chosen.data.column(x)?, chosen.data.column(by)?);
    let cells = |place: usize| in_order(chosen.data.rows.iter().map(|row| row[place].as_str()));
    let (columns, rows) = (cells(across), cells(up));
    if columns.len() > MOST || rows.len() > MOST {
        return Err(Error::Plot(format!("{} x {} settings are too many to read", columns.len(), rows.len())));
    }
    let mean = |column: &str, row: &str| {
        let here = chosen
            .data
            .rows
            .iter()
            .zip(&y.values)
            .filter(|(cells, _)| cells[across] == column && cells[up] == row);
        Estimate::of(&here.filter_map(|(_, value)| *value).collect::<Vec<f64>>())
            .map(|estimate| estimate.mean)
    };
    let means: Vec<Vec<Option<f64>>> =
        rows.iter().map(|row| columns.iter().map(|column| mean(column, row)).collect()).collect();
    let values = || means.iter().flatten().flatten().copied();
    if values().next().is_none() {
        return Err(Error::Plot(format!("no row has {}", y.label)));
    }
    let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
    let scale = Scale { low, high };
    let (x_label, x_names) = shown(x, &columns);
    let (by_label, by_names) = shown(by, &rows);
    let frame = Frame::begin(canvas, &chosen.words(&x_label, &by_label), &[], SCALE)?;
    let (wide, high_px) = (1.0 / columns.len() as f64, 1.0 / rows.len() as f64);
    for (r, row) in means.iter().enumerate() {
        for (c, mean) in row.iter().enumerate() {
            let (left, bottom) = frame.at(c as f64 * wide, r as f64 * high_px);
            let (right, top) = frame.at((c + 1) as f64 * wide, (r + 1) as f64 * high_px);
            draw_cell(canvas, *mean, &scale, [left, top, right, bottom])?;
        }
        let (_, middle) = frame.at(0.0, (r as f64 + 0.5) * high_px);
        let text = Text::new(11.0, palette::FAINT_INK.light).ending();
        canvas.text(&fit(&by_names[r], 11.0, frame.left - 12.0), (frame.left - 8.0, middle), &text)?;
    }
    let room = (frame.right - frame.left) * wide;
    for (c, name) in x_names.iter().enumerate() {
        let (middle, _) = frame.at((c as f64 + 0.5) * wide, 0.0);
        let text = Text::new(11.0, palette::FAINT_INK.light).centred();
        canvas.text(&fit(name, 11.0, room - 2.0), (middle, frame.bottom + 16.0), &text)?;
    }
    scale.draw(&frame, &y.label)
}

/// Returns a column's name and its settings as people read them.
fn shown(name: &str, settings: &[&str]) -> (String, Vec<String>) {
    let plain: Option<Vec<Plain>> = settings.iter().map(|setting| Plain::of(setting)).collect();
    let as_written =
        || (name.replace('_', " "), settings.iter().map(|setting| (*setting).to_owned()).collect());
    let Some(plain) = plain.filter(|plain| !plain.is_empty()) else { return as_written() };
    let largest = plain.iter().map(|plain| plain.value.abs()).fold(0.0, f64::max);
    let label = label::of(name, plain[0].unit, None, largest);
    (
        label.text,
        plain.iter().map(|plain| afteryou_notation::format::short(plain.value * label.factor)).collect(),
    )
}

struct Scale {
    low: f64,
    high: f64,
}

impl Scale {
    fn part(&self, value: f64) -> f64 {
        if self.high > self.low {
            (value - self.low) / (self.high - self.low)
        } else {
            0.5
        }
    }

    /// Draws the bar of colours right of the map.
    fn draw(&self, frame: &Frame<'_, '_>, label: &str) -> Result<(), Error> {
        let canvas = frame.canvas;
        let left = frame.right + 18.0;
        let step = (frame.bottom - frame.top) / SHADES as f64;
        for shade in 0..SHADES {
            let bottom = frame.bottom - shade as f64 * step;
            let colour = heat::colour((shade as f64 + 0.5) / SHADES as f64);
            let top = bottom - step - 0.5;
            canvas
                .polygon(&[(left, bottom), (left, top), (left + BAR, top), (left + BAR, bottom)], &colour)?;
        }
        let end = frame.right + SCALE;
        canvas.text(
            &fit(label, 12.0, 380.0),
            (end, frame.top - 17.0),
            &Text::new(12.0, palette::INK.light).bold().ending(),
        )?;
        let axis = Axis::between(self.low, self.high);
        for (at, number) in &axis.ticks {
            let y = frame.bottom - at * (frame.bottom - frame.top);
            canvas.text(number, (left + BAR + 6.0, y), &Text::new(11.0, palette::FAINT_INK.light))?;
        }
        Ok(())
    }
}

fn draw_cell(
    canvas: &Canvas<'_>,
    mean: Option<f64>,
    scale: &Scale,
    [left, top, right, bottom]: [f64; 4],
) -> Result<(), Error> {
    let middle = ((left + right) / 2.0, (top + bottom) / 2.0);
    let Some(mean) = mean else {
        return canvas.text("–", middle, &Text::new(11.0, palette::FAINT_INK.light).centred());
    };
    let part = scale.part(mean);
    let corners = [(left, bottom), (left, top), (right - 1.0, top), (right - 1.0, bottom)]
        .map(|(x, y)| (x, y.min(bottom - 1.0)));
    canvas.polygon(&corners, &heat::colour(part))?;
    let number = significant(mean, 3);
    if width(&number, 11.0) > right - left - 4.0 || bottom - top < 13.0 {
        return Ok(());
    }
    let ink = if heat::is_dark(part) { "#ffffff" } else { palette::INK.light };
    canvas.text(&number, middle, &Text::new(11.0, ink).centred())
}
