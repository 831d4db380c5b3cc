//! The engine of the lab page, natively.

mod answers;
