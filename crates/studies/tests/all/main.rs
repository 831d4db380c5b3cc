//! The papers' data and the studies as a whole.

mod data;
