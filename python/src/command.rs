//! The command line.

use crate::sweep;
use pyo3::prelude::*;
use std::ffi::OsString;

/// Runs the command `afteryou` with these words, the program's name among them, and returns its exit code.
#[pyfunction]
pub fn command(py: Python<'_>, words: Vec<OsString>) -> PyResult<u8> {
    // The running program is Python; the keys of runs follow from the code of this module.
    afteryou::cli::is_within(sweep::program(py)?);
    Ok(py.detach(|| afteryou::cli::code(words, &[])))
}
