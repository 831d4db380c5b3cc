//! The words that all other crates share. Nothing in here depends on anything.
//!
//! - [`units`] has instants and spans of time.
//! - [`param`] has parameter tables: an algorithm declares its own, and all other code reads it.
//! - [`about`] has the entry under which a controller, a queue or a transport is listed.
//! - [`dscp`] has the differentiated services code points.
#![cfg_attr(not(test), no_std)]

pub mod about;
pub mod dscp;
pub mod param;
pub mod units;

pub use about::About;
pub use units::{Span, Time};
