//! How fast a job may go: pure pieces, with time as an argument.
//!
//! - [`Rate`] is bytes per second, read from text with a unit.
//! - [`Timetable`] says which rate applies when in the week, in the words of rclone's `--bwlimit`.
//! - [`Limiter`] keeps a writer to a rate that may change at any time.

mod error;
mod limiter;
mod rate;
mod timetable;

pub use error::ParseError;
pub use limiter::{Grant, Limiter, Pace};
pub use rate::Rate;
pub use timetable::{Limits, Timetable, WeekTime, Weekday};
