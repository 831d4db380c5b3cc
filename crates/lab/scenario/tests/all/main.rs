//! Scenario files and results: read, written, refused; their schemas.

mod fields;
mod hostile;
mod key_examples;
mod keys;
mod results;
mod round_trip;
mod schema;
mod validator;
