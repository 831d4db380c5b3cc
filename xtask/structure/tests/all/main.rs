//! Rules of the source's structure.

mod packages;
mod rules;
mod workspace;
