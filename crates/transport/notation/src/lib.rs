//! How people write quantities and algorithms, in files, on command lines and in results.
//!
//! ```
//! use afteryou_notation::{Algorithm, Dscp, Rate};
//!
//! assert_eq!("20 Mbit/s".parse::<Rate>()?.bits_per_second(), 20_000_000);
//! assert_eq!("le".parse::<Dscp>()?, Dscp::LE);
//! let written: Algorithm = "ledbat++,target=40ms".parse()?;
//! let (entry, overrides) = written.controller()?;
//! assert_eq!((entry.name, overrides.len()), ("ledbat++", 1));
//! let error = "20".parse::<Rate>().unwrap_err();
//! assert_eq!(error.to_string(), "\"20\" is not a rate: write a number and a unit, such as 20Mbit/s");
//! # Ok::<(), afteryou_notation::Error>(())
//! ```
//!
//! A quantity has its unit in the type and is written with it. An [`Algorithm`] is a name with parameters; the table that the algorithm
//! declares reads them. [`catalogue`] is the only place where controllers are looked up by name: the built-in list, then what the process
//! has registered. It only grows. It is the one global of the project, because names in files, options and results must have one meaning.
//! Every [`Error`] names the thing, the value and what would be valid.

mod algorithm;
pub mod catalogue;
mod dscp;
mod error;
pub mod format;
mod plain;
mod units;
mod unknown;

pub use algorithm::{Algorithm, Overrides};
pub use dscp::Dscp;
pub use error::Error;
pub use plain::{Plain, Unit};
pub use units::{Duration, Form, Probability, Rate, Size};
pub use unknown::{nearest, unknown};
