//! Figures of experiments, as SVG and PNG.
//!
//! ```
//! use afteryou_plot::{Data, Figure};
//!
//! let rows = "buffer_s,controller,kept\n0.1,ledbat++,0.98\n0.3,ledbat++,0.97\n0.1,cubic,0.52\n0.3,cubic,0.5\n";
//! let figure = Figure {
//!     x: Some("buffer_s".to_owned()),
//!     y: "kept".to_owned(),
//!     by: vec!["controller".to_owned()],
//!     ..Figure::default()
//! };
//! let svg = figure.draw_of(Data::parse(rows, "flows.csv".as_ref())?)?;
//! assert!(svg.starts_with("<svg") && svg.contains("ledbat++"));
//! # Ok::<(), afteryou_plot::Error>(())
//! ```
//!
//! | wanted | call |
//! |---|---|
//! | a run: rates, queuing delay, marks, phases | [`svg()`] |
//! | one quantity of several runs, one above the other | [`stacked_svg`] |
//! | any columns of saved rows: lines, bars, distributions, maps | [`Figure`] |
//! | given numbers, with published points laid over them | [`given`] |
//! | a figure as PNG | `png`, with the feature of that name |
//! | an outcome from a file | [`read`] |
//! | a mean with its interval | [`Estimate`] |
//!
//! # Design
//! `plan.rs` decides what is drawn of a run and `palette.rs` how, for figures and pages alike. `palette/looks.rs` alone has the colour and the
//! mark of each controller. Names of an outcome are never trusted: [`escape`] makes them harmless. Numbers are written for people by
//! [`afteryou_notation::format`]. The pages of `afteryou-report` are made of these parts. Nothing here writes a file.

mod error;
pub mod escape;
pub mod estimate;
pub mod figure;
pub mod given;
pub mod names;
pub mod palette;
mod phases;
pub mod plan;
#[cfg(feature = "png")]
mod png;
mod saved;
mod svg;

pub use error::Error;
pub use estimate::Estimate;
pub use figure::{Data, Figure, Kind};
pub use plan::Plan;
#[cfg(feature = "png")]
pub use png::png;
pub use saved::read;
pub use svg::{stacked_svg, svg, Scale};
