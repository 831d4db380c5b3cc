//! Scenario files: read, written, refused. The schemas of files and results.

mod fields;
mod hostile;
mod key_examples;
mod keys;
mod round_trip;
mod schema;
mod validator;
