//! How fast a job may go: pure pieces, with time as an argument.
//!
//! - [`Rate`] is bytes per second, read from text with a unit.
//! - [`Timetable`] holds the rates of a week, in the words of rclone's `--bwlimit`.
//! - [`Limiter`] keeps a writer to a rate that may change at any time.
//!
//! ```
//! use afteryou_rate::{Rate, Timetable, WeekTime, Weekday};
//!
//! let timetable: Timetable = "08:00,512k 19:00,off".parse()?;
//! let at = |hour: u32| timetable.limits_at(WeekTime::new(Weekday::Monday, hour * 3600)).up;
//! assert_eq!(at(9).map(Rate::bytes_per_second), Some(512 * 1024));
//! assert_eq!(at(20), None);
//! # Ok::<(), afteryou_rate::ParseError>(())
//! ```

mod error;
mod limiter;
mod rate;
mod timetable;

pub use error::ParseError;
pub use limiter::{Grant, Limiter, WriterPace};
pub use rate::Rate;
pub use timetable::{Limits, Timetable, WeekTime, Weekday};
