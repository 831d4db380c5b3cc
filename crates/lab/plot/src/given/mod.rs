//! Figures of given numbers, with what somebody else published laid over them.
//!
//! [`Figure`](crate::Figure) draws saved rows and finds everything by itself. Here the caller has the numbers, the axes of
//! the figure that it redraws, and points of that figure. Published values are drawn hollow, in ink, above the curves.

mod chart;
mod map;
mod rings;

pub use chart::{Chart, Line, Spot};
pub use map::{Map, Panel};
pub use rings::{Ring, Rings};

use crate::error::Error;
use crate::escape;
use crate::svg::canvas::{self, Canvas};

/// Returns one SVG document with what `draw` draws.
fn document(name: &str, draw: impl FnOnce(&Canvas<'_>) -> Result<(), Error>) -> Result<String, Error> {
    let mut body = String::new();
    {
        let canvas = Canvas::on(&mut body)?;
        draw(&canvas)?;
        canvas.finish()?;
    }
    canvas::with_root(&body, &escape::html(name))
}
