//! The frame of a figure: title, legend, axes, grid.

use super::axis::Axis;
use crate::error::Error;
use crate::palette::{self, Style};
use crate::svg::canvas::{self, Canvas, Text, HEIGHT, WIDTH};
use crate::svg::{fit, marks};

/// Left, right, bottom and least top end of the area of data.
const LEFT: f64 = 78.0;
const BOTTOM: f64 = HEIGHT - 58.0;
const MARGIN: f64 = 20.0;
const LEGEND_ROW: f64 = 20.0;
/// More rows of a legend would leave no room for data.
const MOST_ROWS: usize = 4;

/// Words of a figure.
pub struct Words<'a> {
    /// Above all.
    pub title: &'a str,
    /// Below the title, and fainter.
    pub subtitle: &'a str,
    /// At the axes.
    pub x: &'a str,
    pub y: &'a str,
}

/// An entry of the legend.
pub struct Entry<'a> {
    pub style: Style,
    pub dashed: bool,
    pub name: &'a str,
}

/// The area of data, with its axes.
pub struct Frame<'a, 'b> {
    pub canvas: &'a Canvas<'b>,
    pub left: f64,
    pub right: f64,
    pub top: f64,
    pub bottom: f64,
}

impl<'a, 'b> Frame<'a, 'b> {
    /// Draws title, legend and words of the axes; `right` px stay free on the right.
    pub fn begin(
        canvas: &'a Canvas<'b>,
        words: &Words<'_>,
        legend: &[Entry<'_>],
        right: f64,
    ) -> Result<Frame<'a, 'b>, Error> {
        let (ink, faint) = (palette::INK.light, palette::FAINT_INK.light);
        let room = WIDTH - 2.0 * MARGIN;
        canvas.text(&fit(words.title, 16.0, room), (MARGIN, 24.0), &Text::new(16.0, ink).bold())?;
        canvas.text(&fit(words.subtitle, 12.0, room), (MARGIN, 45.0), &Text::new(12.0, faint))?;
        let under_title = if words.subtitle.is_empty() { 46.0 } else { 66.0 };
        let top = draw_legend(canvas, legend, under_title)? + 44.0;
        let frame = Frame { canvas, left: LEFT, right: WIDTH - MARGIN - right, top, bottom: BOTTOM };
        canvas.text(words.y, (MARGIN, top - 17.0), &Text::new(12.0, ink).bold())?;
        let middle = (frame.left + frame.right) / 2.0;
        canvas.text(words.x, (middle, BOTTOM + 40.0), &Text::new(12.0, ink).bold().centred())?;
        Ok(frame)
    }

    /// Writes a note on all data into the lower right corner.
    pub fn note(&self, note: &str) -> Result<(), Error> {
        let text = Text::new(11.0, palette::FAINT_INK.light).ending();
        self.canvas.text(note, (self.right, BOTTOM + 40.0), &text)
    }

    /// Returns the place on the paper of one that is given in parts of both axes.
    pub fn at(&self, x: f64, y: f64) -> (f64, f64) {
        (self.left + x * (self.right - self.left), self.bottom - y * (self.bottom - self.top))
    }

    /// Draws lines and numbers of the vertical axis.
    pub fn rule_y(&self, axis: &Axis) -> Result<(), Error> {
        for (at, number) in &axis.ticks {
            let (_, y) = self.at(0.0, *at);
            self.canvas.line((self.left, y), (self.right, y), palette::GRID.light, 1.0)?;
            self.canvas.text(
                number,
                (self.left - 8.0, y),
                &Text::new(11.0, palette::FAINT_INK.light).ending(),
            )?;
        }
        Ok(())
    }

    /// Draws the horizontal axis with its numbers, and lines above them if `ruled`.
    pub fn rule_x(&self, axis: &Axis, ruled: bool) -> Result<(), Error> {
        for (at, number) in &axis.ticks {
            let (x, _) = self.at(*at, 0.0);
            if ruled {
                self.canvas.line((x, self.top), (x, self.bottom), palette::GRID.light, 1.0)?;
            }
            self.canvas.line((x, self.bottom), (x, self.bottom + 4.0), palette::BAND_NAME.light, 1.0)?;
            let text = Text::new(11.0, palette::FAINT_INK.light).centred();
            self.canvas.text(number, (x, self.bottom + 16.0), &text)?;
        }
        self.base()
    }

    /// Draws the line below the data.
    pub fn base(&self) -> Result<(), Error> {
        self.canvas.line((self.left, self.bottom), (self.right, self.bottom), palette::BAND_NAME.light, 1.0)
    }
}

/// Draws the legend from `top` on; returns where it ends.
fn draw_legend(canvas: &Canvas<'_>, entries: &[Entry<'_>], top: f64) -> Result<f64, Error> {
    if entries.is_empty() {
        return Ok(top - LEGEND_ROW);
    }
    let (mut x, mut row) = (MARGIN, 0);
    for (i, entry) in entries.iter().enumerate() {
        let name = fit(entry.name, 12.0, 280.0);
        let needs = 30.0 + canvas::width(&name, 12.0) + 16.0;
        let last = row + 1 == MOST_ROWS && i + 1 < entries.len();
        if x > MARGIN && x + needs > WIDTH - MARGIN - if last { 90.0 } else { 0.0 } {
            if row + 1 == MOST_ROWS {
                let more = format!("and {} more", entries.len() - i);
                canvas.text(
                    &more,
                    (x, top + row as f64 * LEGEND_ROW),
                    &Text::new(12.0, palette::FAINT_INK.light),
                )?;
                break;
            }
            (x, row) = (MARGIN, row + 1);
        }
        let y = top + row as f64 * LEGEND_ROW;
        sample(canvas, entry, (x, y))?;
        canvas.text(&name, (x + 30.0, y), &Text::new(12.0, palette::INK.light))?;
        x += needs;
    }
    Ok(top + row as f64 * LEGEND_ROW)
}

fn sample(canvas: &Canvas<'_>, entry: &Entry<'_>, (x, y): (f64, f64)) -> Result<(), Error> {
    let colour = entry.style.colour.light;
    if entry.dashed {
        for from in [0.0, 9.0, 18.0] {
            canvas.line((x + from, y), (x + from + 6.0, y), colour, 1.75)?;
        }
        return Ok(());
    }
    canvas.line((x, y), (x + 24.0, y), colour, 1.75)?;
    marks::mark(canvas, entry.style, (x + 12.0, y))
}
