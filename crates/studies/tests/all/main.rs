//! The papers' data and the studies as a whole.

mod broken;
mod data;
mod study;
