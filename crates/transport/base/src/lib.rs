//! The words that all other crates share. Nothing in here depends on anything.
//!
//! ```
//! use afteryou_base::{Span, Time};
//!
//! let sent = Time::from_millis(1000);
//! let arrived = sent + Span::from_micros(25_500);
//! assert_eq!(arrived.since(sent).as_millis_f64(), 25.5);
//! // A packet of 1500 bytes on a link of 10 Mbit/s.
//! assert_eq!(Span::of_bytes(1500, 1_250_000), Span::from_micros(1200));
//! ```
//!
//! - [`units`] has instants and spans of time.
//! - [`param`] has parameter tables: an algorithm declares its own, and all other code reads it.
//! - [`about`] has the entry under which a controller, a queue or a transport is listed.
//! - [`dscp`] has the differentiated services code points.
//! - [`lock`] has the answer to poisoned locks; it needs the feature `std`.
//! - [`nearest`] finds the name that a mistyped one meant.
//! - [`shown`] makes text from elsewhere fit for terminals, logs and pages.
//!
//! The crate has no `std` by default, so that `afteryou-cc` needs none.
#![cfg_attr(not(test), no_std)]

#[cfg(all(feature = "std", not(test)))]
extern crate std;

pub mod about;
pub mod dscp;
#[cfg(feature = "std")]
pub mod lock;
pub mod nearest;
pub mod param;
pub mod shown;
pub mod units;

pub use about::About;
pub use dscp::Dscp;
pub use units::{Span, Time};
