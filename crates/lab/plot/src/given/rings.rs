//! Rings: two shares at each pair of settings, one within the other.

use super::document;
use crate::error::Error;
use crate::palette::{self, looks};
use crate::svg::canvas::{Canvas, Text, HEIGHT, WIDTH};
use crate::svg::fit;
use std::f64::consts::{FRAC_PI_2, TAU};

/// Margins, px.
const LEFT: f64 = 90.0;
const TOP: f64 = 96.0;
const RIGHT: f64 = 20.0;
const BOTTOM: f64 = 20.0;
/// Corners of a whole ring.
const CORNERS: f64 = 72.0;

/// A table of rings.
#[derive(Clone, Debug, Default)]
pub struct Rings {
    /// Above all.
    pub title: String,
    /// Below the title.
    pub subtitle: String,
    /// The meaning of the outer and the inner ring.
    pub shows: [String; 2],
    /// Names across.
    pub columns: Vec<String>,
    /// Names down.
    pub rows: Vec<String>,
    /// Row by row; none where nothing was measured.
    pub rings: Vec<Vec<Option<Ring>>>,
}

/// Two shares, 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Ring {
    /// The outer one.
    pub outer: f64,
    /// The inner one.
    pub inner: f64,
}

impl Rings {
    /// Returns the figure as an SVG document of 900 × 520 px.
    ///
    /// # Errors
    /// No ring, and a failure of the drawing library.
    pub fn svg(&self) -> Result<String, Error> {
        if self.columns.is_empty() || self.rows.is_empty() {
            return Err(Error::Plot("there is no ring to draw".to_owned()));
        }
        document(&self.title, |canvas| self.draw(canvas))
    }

    fn draw(&self, canvas: &Canvas<'_>) -> Result<(), Error> {
        let (ink, faint) = (palette::INK.light, palette::FAINT_INK.light);
        canvas.text(&fit(&self.title, 16.0, WIDTH - 40.0), (20.0, 24.0), &Text::new(16.0, ink).bold())?;
        canvas.text(&fit(&self.subtitle, 12.0, WIDTH - 40.0), (20.0, 45.0), &Text::new(12.0, faint))?;
        let colours = [looks::nth(0).colour.light, looks::nth(1).colour.light];
        let mut x = 20.0;
        for (words, colour) in self.shows.iter().zip(colours) {
            canvas.disc((x + 5.0, 64.0), 5.0, colour)?;
            canvas.text(words, (x + 16.0, 64.0), &Text::new(12.0, ink))?;
            x += 30.0 + crate::svg::canvas::width(words, 12.0);
        }
        let wide = (WIDTH - LEFT - RIGHT) / self.columns.len() as f64;
        let high = (HEIGHT - TOP - BOTTOM) / self.rows.len() as f64;
        let radius = (wide.min(high) / 2.0 - 6.0).max(8.0);
        let thick = radius / 4.0;
        for (c, name) in self.columns.iter().enumerate() {
            let middle = LEFT + (c as f64 + 0.5) * wide;
            canvas.text(name, (middle, TOP - 10.0), &Text::new(12.0, ink).centred())?;
        }
        for (r, (name, rings)) in self.rows.iter().zip(&self.rings).enumerate() {
            let y = TOP + (r as f64 + 0.5) * high;
            canvas.text(name, (LEFT - 12.0, y), &Text::new(12.0, ink).ending())?;
            for (c, ring) in rings.iter().enumerate() {
                let (Some(ring), centre) = (ring, (LEFT + (c as f64 + 0.5) * wide, y)) else { continue };
                arc(canvas, centre, [radius - thick, radius], ring.outer, colours[0])?;
                arc(canvas, centre, [radius - 2.2 * thick, radius - 1.2 * thick], ring.inner, colours[1])?;
                let percent = format!("{:.0}", ring.inner * 100.0);
                canvas.text(&percent, centre, &Text::new(11.0, ink).centred())?;
            }
        }
        Ok(())
    }
}

/// Draws a ring between two radii: grey, and from the top clockwise coloured as far as `share` goes.
fn arc(
    canvas: &Canvas<'_>,
    centre: (f64, f64),
    radii: [f64; 2],
    share: f64,
    colour: &str,
) -> Result<(), Error> {
    for (part, colour) in [(1.0, palette::GRID.light), (share.clamp(0.0, 1.0), colour)] {
        let steps = (CORNERS * part).ceil().max(1.0) as usize;
        let at = |radius: f64, step: usize| {
            let angle = part * TAU * step as f64 / steps as f64 - FRAC_PI_2;
            (centre.0 + radius * angle.cos(), centre.1 + radius * angle.sin())
        };
        // One shape, there along the outer edge and back along the inner one: pieces would show their seams.
        let there = (0..=steps).map(|step| at(radii[1], step));
        let back = (0..=steps).rev().map(|step| at(radii[0], step));
        canvas.polygon(&there.chain(back).collect::<Vec<_>>(), colour)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_has_its_inner_share_as_a_number() {
        let rings = Rings {
            columns: vec!["codel".to_owned()],
            rows: vec!["ledbat".to_owned(), "nice".to_owned()],
            rings: vec![vec![Some(Ring { outer: 0.02, inner: 0.55 })], vec![None]],
            ..Rings::default()
        };
        let svg = rings.svg().unwrap();
        assert!(svg.contains("55") && svg.contains("codel"));
        assert!(Rings::default().svg().is_err());
    }
}
