//! The rules in C beside those in Rust, event by event.

mod compiled;
mod event;
mod random;
mod rules;
mod vectors;
