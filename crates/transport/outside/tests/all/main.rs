//! The rule over a small model of a path, in virtual time.

mod downloads;
mod many;
mod opposite;
mod path;
mod properties;
mod rows;
