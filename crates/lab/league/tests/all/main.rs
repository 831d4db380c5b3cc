//! Whole leagues on a part of the quick grid.

mod broken;
mod misbehaving;
mod resumed;
mod support;
