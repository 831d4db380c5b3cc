//! Rules of the source's structure.

mod rules;
mod workspace;
