//! Plans and pools as their callers use them.

mod coverage;
mod dummy;
mod plan;
mod pool;
mod sample;
