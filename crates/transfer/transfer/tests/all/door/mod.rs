//! Who gets in, who does not, and what either learns.

mod admission;
mod dialling;
mod on_the_path;
mod probing;
mod support;
