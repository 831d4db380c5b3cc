//! afteryou for Python: the native half of the package `afteryou`.
//!
//! Everything is a thin cover of a room of the project: [`scenario`] of `afteryou-scenario`, [`run`] of `afteryou-lab`,
//! [`result`] and [`table`] of `afteryou-report`, [`analysis`] of `afteryou-fluid`, [`command`] of the command line. Errors become
//! exceptions of `afteryou.errors` ([`errors`]). The interpreter is released while an engine runs.

mod analysis;
mod command;
mod errors;
mod result;
mod run;
mod scenario;
mod table;

use pyo3::prelude::*;

/// The native half of the package.
#[pymodule]
mod _afteryou {
    #[pymodule_export]
    use super::analysis::explain;
    #[pymodule_export]
    use super::command::command;
    #[pymodule_export]
    use super::result::Result;
    #[pymodule_export]
    use super::run::run;
    #[pymodule_export]
    use super::scenario::Scenario;
    #[pymodule_export]
    use super::table::Table;
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
