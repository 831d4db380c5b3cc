//! Draws what came out of an experiment, whichever engine ran it: a page that works offline, a figure, a text for
//! the terminal, and the outcome itself as JSON.
//!
//! Everything is made from an [`Outcome`](afteryou_scenario::Outcome) alone, and nothing here knows any particular
//! experiment. Strings of an outcome are never trusted: a flow's name cannot become markup, script or a terminal's
//! command.
//!
//! | wanted | call |
//! |---|---|
//! | a folder with everything | [`write_folder`] |
//! | the page alone | [`html()`] |
//! | the figure alone | [`svg()`] |
//! | words for a terminal | [`text()`] |
//! | an outcome from a file | [`read`] |

mod error;
mod escape;
mod folder;
mod format;
mod html;
mod palette;
mod plan;
mod scenario_tables;
mod svg;
mod table;
mod tables;
mod text;

pub use error::Error;
pub use folder::{check_writable, read, write_folder, Written};
pub use html::html;
pub use svg::svg;
pub use text::text;
