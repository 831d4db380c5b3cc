//! Plans and pools as their callers use them.

mod coverage;
mod dummy;
mod paths;
mod plan;
mod pool;
mod sample;

// The programs that print the tables of the book's pages.
#[path = "../../../../../bench/paths/day.rs"]
#[expect(dead_code, reason = "tests do not print")]
mod day;
#[path = "../../../../../bench/paths/low_satellite.rs"]
#[expect(dead_code, reason = "tests do not print")]
mod low_satellite;
#[path = "../../../../../bench/paths/support.rs"]
#[expect(dead_code, reason = "tests do not print")]
mod support;
