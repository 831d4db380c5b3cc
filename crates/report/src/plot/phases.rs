//! Strips of a controller's phases below the curves of windows, one for each flow, where the scenario records senders.
//!
//! The phase in which the flows of a figure spend most of their time is a thin line. The others are bars, each darker than the next,
//! and a key names them all: what a strip says can be read without its colour.

use super::axis::Axis;
use super::data::Data;
use super::frame::Frame;
use super::groups::Group;
use crate::error::Error;
use crate::palette;
use crate::svg::canvas::{rgb, width, Text};
use afteryou_scenario::outcome::PhaseSpan;

/// More strips would leave no room for curves.
const MOST_FLOWS: usize = 4;
/// Height of a row, px: the key, or a strip.
const ROW: f64 = 14.0;
/// Height of a bar and of the thin line, px.
const BAR: f64 = 8.0;
const LINE: f64 = 2.0;
/// How much of its colour a bar has: that of the phase with most time first.
const SHADES: [f64; 3] = [1.0, 0.6, 0.3];

/// The strips of a figure.
pub struct Phases<'a> {
    /// All phases, the one with most time first.
    names: Vec<&'a str>,
    strips: Vec<(&'a Group, Vec<&'a PhaseSpan>)>,
}

impl<'a> Phases<'a> {
    /// The strips of these groups; none without phases, or of too many flows.
    pub fn of(data: &'a Data, groups: &'a [Group]) -> Option<Phases<'a>> {
        let flows = groups.iter().filter(|group| !group.is_baseline);
        let strips = flows.map(|group| {
            let spans = data.phases.iter().filter(|span| span.flow == group.name);
            (group, spans.collect::<Vec<_>>())
        });
        let strips: Vec<_> = strips.filter(|(_, spans)| !spans.is_empty()).collect();
        let mut times: Vec<(&str, f64)> = Vec::new();
        for span in strips.iter().flat_map(|(_, spans)| spans) {
            let time = span.to_s - span.from_s;
            match times.iter_mut().find(|(name, _)| *name == span.phase) {
                Some((_, known)) => *known += time,
                None => times.push((&span.phase, time)),
            }
        }
        times.sort_by(|a, b| b.1.total_cmp(&a.1));
        let names = times.into_iter().map(|(name, _)| name).collect();
        ((1..=MOST_FLOWS).contains(&strips.len())).then_some(Phases { names, strips })
    }

    /// Room that they take, px.
    pub fn height(&self) -> f64 {
        ROW * (self.strips.len() + 1) as f64 + 4.0
    }

    /// Draws the key and the strips from `top` on.
    pub fn draw(&self, frame: &Frame<'_, '_>, across: &Axis, top: f64) -> Result<(), Error> {
        self.key(frame, top + 4.0)?;
        for (i, (group, spans)) in self.strips.iter().enumerate() {
            let middle = top + 4.0 + ROW * (i as f64 + 1.5);
            for span in spans {
                let [from, to] = [span.from_s, span.to_s].map(|at| frame.at(across.part(at), 0.0).0);
                self.bar(frame, &span.phase, group.style.colour.light, (from, to), middle)?;
            }
        }
        Ok(())
    }

    fn key(&self, frame: &Frame<'_, '_>, top: f64) -> Result<(), Error> {
        let (mut x, middle) = (frame.left, top + ROW / 2.0);
        for name in &self.names {
            self.bar(frame, name, palette::INK.light, (x, x + 16.0), middle)?;
            frame.canvas.text(name, (x + 21.0, middle), &Text::new(11.0, palette::FAINT_INK.light))?;
            x += 21.0 + width(name, 11.0) + 14.0;
        }
        Ok(())
    }

    /// Draws a stretch of a phase around the height `middle`.
    fn bar(
        &self,
        frame: &Frame<'_, '_>,
        phase: &str,
        colour: &str,
        (from, to): (f64, f64),
        middle: f64,
    ) -> Result<(), Error> {
        let rank = self.names.iter().position(|name| *name == phase).unwrap_or(0);
        let (height, shade) = match rank.checked_sub(1) {
            None => (LINE, 1.0),
            Some(bar) => (BAR, SHADES[bar.min(SHADES.len() - 1)]),
        };
        let (top, bottom) = (middle - height / 2.0, middle + height / 2.0);
        // A phase of a moment is seen, too.
        let to = to.max(from + 1.0);
        frame.canvas.polygon(&[(from, top), (to, top), (to, bottom), (from, bottom)], &pale(colour, shade))
    }
}

/// This part of a colour, the rest white.
fn pale(colour: &str, part: f64) -> String {
    let channels = rgb(colour);
    let [r, g, b] = [channels.0, channels.1, channels.2]
        .map(|channel| (255.0 - (255.0 - f64::from(channel)) * part).round() as u8);
    format!("#{r:02x}{g:02x}{b:02x}")
}
