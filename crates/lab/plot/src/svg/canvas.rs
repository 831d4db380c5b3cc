//! Paper of a fixed size, in px, and the few things that are drawn on it.
//!
//! The back end rounds to whole units. The paper has four of them to a px, so that curves are smooth.

use crate::error::Error;
use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::fmt::Display;

/// Width of the figure, px.
pub const WIDTH: f64 = 900.0;
/// Height of the figure, px.
pub const HEIGHT: f64 = 520.0;
/// Units of the back end to a px.
const UNITS: f64 = 4.0;
/// The back end divides font sizes by this.
const FONT: f64 = 1.24;
/// A dash and the space behind it, px.
const DASH: f64 = 6.0;
const GAP: f64 = 4.0;

/// The back end.
pub type Backend<'a> = SVGBackend<'a>;

/// Paper.
pub struct Canvas<'a> {
    /// All of it.
    pub area: DrawingArea<Backend<'a>, Shift>,
}

/// How a text looks.
pub struct Text {
    size: f64,
    colour: RGBColor,
    bold: bool,
    across: HPos,
}

impl Text {
    /// Returns text of `size` px that starts at its place.
    pub fn new(size: f64, colour: &str) -> Text {
        Text { size, colour: rgb(colour), bold: false, across: HPos::Left }
    }

    /// Returns the same in bold.
    pub fn bold(self) -> Text {
        Text { bold: true, ..self }
    }

    /// Returns the same, centred at its place.
    pub fn centred(self) -> Text {
        Text { across: HPos::Center, ..self }
    }

    /// Returns the same, ending at its place.
    pub fn ending(self) -> Text {
        Text { across: HPos::Right, ..self }
    }

    /// Returns the style for the back end.
    pub fn style(&self) -> TextStyle<'static> {
        let style = if self.bold { FontStyle::Bold } else { FontStyle::Normal };
        let font = ("sans-serif", self.size * UNITS * FONT, style).into_font();
        font.color(&self.colour).pos(Pos::new(self.across, VPos::Center))
    }
}

impl<'a> Canvas<'a> {
    /// Returns empty white paper that is written into `body`.
    pub fn on(body: &'a mut String) -> Result<Canvas<'a>, Error> {
        let size = (units(WIDTH) as u32, units(HEIGHT) as u32);
        let area = SVGBackend::with_string(body, size).into_drawing_area();
        area.fill(&WHITE).map_err(failed)?;
        Ok(Canvas { area })
    }

    /// Ends the document.
    pub fn finish(&self) -> Result<(), Error> {
        self.area.present().map_err(failed)
    }

    /// Writes `text` at `at`, its vertical middle.
    pub fn text(&self, text: &str, at: (f64, f64), look: &Text) -> Result<(), Error> {
        self.area.draw_text(text, &look.style(), place(at)).map_err(failed)
    }

    /// Draws a line of `stroke` px.
    pub fn line(&self, from: (f64, f64), to: (f64, f64), colour: &str, stroke: f64) -> Result<(), Error> {
        let line = PathElement::new([place(from), place(to)], stroke_style(colour, stroke));
        self.area.draw(&line).map_err(failed)
    }

    /// Draws lines of `stroke` px from point to point.
    pub fn polyline(
        &self,
        points: impl IntoIterator<Item = (f64, f64)>,
        colour: &str,
        stroke: f64,
    ) -> Result<(), Error> {
        let points: Vec<_> = points.into_iter().map(place).collect();
        self.area.draw(&PathElement::new(points, stroke_style(colour, stroke))).map_err(failed)
    }

    /// Draws dashes of `stroke` px from point to point.
    pub fn dashes(&self, points: &[(f64, f64)], colour: &str, stroke: f64) -> Result<(), Error> {
        let mut walked = 0.0;
        for pair in points.windows(2) {
            let [(x, y), (to_x, to_y)] = [pair[0], pair[1]];
            let length = (to_x - x).hypot(to_y - y);
            let place = |at: f64| (x + (to_x - x) * at / length, y + (to_y - y) * at / length);
            let mut from = 0.0;
            while from < length {
                let phase: f64 = (walked + from) % (DASH + GAP);
                let is_dash = phase < DASH;
                let rest = if is_dash { DASH - phase } else { DASH + GAP - phase };
                let to = (from + rest.max(0.01)).min(length);
                if is_dash {
                    self.line(place(from), place(to), colour, stroke)?;
                }
                from = to;
            }
            walked += length;
        }
        Ok(())
    }

    /// Draws a filled shape.
    pub fn polygon(&self, corners: &[(f64, f64)], colour: &str) -> Result<(), Error> {
        let corners: Vec<_> = corners.iter().copied().map(place).collect();
        self.area.draw(&Polygon::new(corners, rgb(colour).filled())).map_err(failed)
    }

    /// Draws a filled disc.
    pub fn disc(&self, centre: (f64, f64), radius: f64, colour: &str) -> Result<(), Error> {
        let disc = Circle::new(place(centre), units(radius), rgb(colour).filled());
        self.area.draw(&disc).map_err(failed)
    }
}

/// Converts px to units of the back end.
pub fn units(px: f64) -> i32 {
    (px * UNITS).round() as i32
}

fn place((x, y): (f64, f64)) -> (i32, i32) {
    (units(x), units(y))
}

/// Returns a line of `stroke` px.
pub fn stroke_style(colour: &str, stroke: f64) -> ShapeStyle {
    rgb(colour).stroke_width(units(stroke) as u32)
}

/// Returns "#rrggbb" for the back end.
pub fn rgb(hex: &str) -> RGBColor {
    let channel = |i: usize| hex.get(i..i + 2).and_then(|two| u8::from_str_radix(two, 16).ok()).unwrap_or(0);
    RGBColor(channel(1), channel(3), channel(5))
}

/// Returns about how wide `text` is at `size` px. No font is at hand; common sans-serif ones are no wider on average.
pub fn width(text: &str, size: f64) -> f64 {
    let em = |c: char| match c {
        'i' | 'j' | 'l' | 't' | 'f' | 'r' | ' ' | '.' | ',' | ':' | '|' | '\'' | '(' | ')' => 0.36,
        'm' | 'w' | 'M' | 'W' | '%' | '@' => 0.92,
        c if c.is_ascii_uppercase() => 0.70,
        c if (c as u32) < 0x1100 => 0.585,
        _ => 1.0,
    };
    text.chars().map(em).sum::<f64>() * size
}

/// Returns an error of the back end.
pub fn failed(error: impl Display) -> Error {
    Error::Figure(error.to_string())
}

/// Gives the document its size in px and a name for screen readers. `name` must be escaped.
pub fn with_root(body: &str, name: &str) -> Result<String, Error> {
    let end = body.find('>').ok_or_else(|| failed("the back end wrote no document"))?;
    let (wide, high) = (units(WIDTH), units(HEIGHT));
    let root = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{HEIGHT}\" \
         viewBox=\"0 0 {wide} {high}\" role=\"img\" aria-label=\"{name}\" stroke-linejoin=\"round\">\n\
         <title>{name}</title>"
    );
    Ok(root + &body[end + 1..])
}
