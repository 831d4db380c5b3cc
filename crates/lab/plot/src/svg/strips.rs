//! Strips of phases below curves: a key, and a row for each flow.

use super::canvas::{rgb, width, Canvas, Text};
use crate::error::Error;
use crate::escape::plain;
use crate::palette;
use crate::phases::{Kind, Phases};

/// Height of a row, px: the key, or a strip.
const ROW: f64 = 14.0;
/// Space above the key.
const ABOVE: f64 = 4.0;

/// Returns room that they take, px.
pub fn height(phases: &Phases) -> f64 {
    ROW * (phases.strips.len() + 1) as f64 + ABOVE
}

/// Draws the key and the strips from (`left`, `top`) on; `across` gives the place of a time.
pub fn draw(
    canvas: &Canvas<'_>,
    phases: &Phases,
    (left, top): (f64, f64),
    across: impl Fn(f64) -> f64,
) -> Result<(), Error> {
    let middle = |row: usize| top + ABOVE + ROW * (row as f64 + 0.5);
    key(canvas, phases, left, middle(0))?;
    for (i, strip) in phases.strips.iter().enumerate() {
        for (from_s, to_s, kind) in &strip.spans {
            let ends = (across(*from_s), across(*to_s));
            bar(canvas, &phases.kinds[*kind], strip.style.colour.light, ends, middle(i + 1))?;
        }
    }
    Ok(())
}

fn key(canvas: &Canvas<'_>, phases: &Phases, left: f64, middle: f64) -> Result<(), Error> {
    let mut x = left;
    for kind in &phases.kinds {
        let name = plain(&kind.name);
        bar(canvas, kind, palette::INK.light, (x, x + 16.0), middle)?;
        canvas.text(&name, (x + 21.0, middle), &Text::new(11.0, palette::FAINT_INK.light))?;
        x += 21.0 + width(&name, 11.0) + 14.0;
    }
    Ok(())
}

/// Draws a stretch of a phase around the height `middle`.
fn bar(
    canvas: &Canvas<'_>,
    kind: &Kind,
    colour: &str,
    (from, to): (f64, f64),
    middle: f64,
) -> Result<(), Error> {
    let (top, bottom) = (middle - kind.height / 2.0, middle + kind.height / 2.0);
    // A phase of a moment is seen, too.
    let to = to.max(from + 1.0);
    canvas.polygon(&[(from, top), (to, top), (to, bottom), (from, bottom)], &pale(colour, kind.shade))
}

/// Returns this part of a colour, the rest white.
fn pale(colour: &str, part: f64) -> String {
    let channels = rgb(colour);
    let [r, g, b] = [channels.0, channels.1, channels.2]
        .map(|channel| (255.0 - (255.0 - f64::from(channel)) * part).round() as u8);
    format!("#{r:02x}{g:02x}{b:02x}")
}
