//! The papers' data and the studies as a whole.

mod bands;
mod bed;
mod broken;
mod data;
mod study;
