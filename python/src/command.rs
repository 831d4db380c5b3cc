//! The command line.

use pyo3::prelude::*;
use std::ffi::OsString;

/// Runs the command `afteryou` with these words, the program's name among them, and returns its exit code.
#[pyfunction]
pub fn command(py: Python<'_>, words: Vec<OsString>) -> u8 {
    py.detach(|| afteryou::cli::code(words, &[]))
}
