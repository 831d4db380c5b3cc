//! afteryou for Python: the native half of the package `afteryou`.
//!
//! Everything is a thin cover of a crate of the project. These are [`scenario`] of `afteryou-scenario-file`, [`run`] of
//! `afteryou-engines`, [`result`] and [`table`] of `afteryou-report`, [`analysis`] of `afteryou-fluid`, [`study`] of
//! `afteryou-studies`, [`league`] and [`standings`] of `afteryou-league`, [`command`] of the command line, [`sweep`] the folders
//! of sweeps, [`steering`] a flow for the Gymnasium environment, [`background`] of `afteryou-background`. Errors become exceptions of `afteryou.errors` ([`errors`]). The interpreter is released while an
//! engine runs, unless a rule in Python does ([`rules`], [`events`]).
//!
//! A catalogue entry is permanent and its constructor carries no data, so a parameter `rule` names the Python class. A rule that raises an
//! exception leaves it to its thread, and the run ends.
//!
//! [`sweep`] and the command continue each other's folders. The key of a run has the hash of the extension module in both, which the command
//! takes for its program. `sweeps.py` sends indices of runs to Dask's workers and keeps two tasks for each thread, sized by what runs have taken.
//! Finished runs come back as lines of the journal, so a task that is computed twice changes nothing.
//!
//! A [`league`] has the runs of rules in Python made one at a time, after the others, in threads that [`rule_threads`] can end. A loop in C
//! that keeps the interpreter to itself cannot be ended, and holds up the whole process.
//!
//! [`steering`] carries a simulation on in pieces until its steered flow has seen a round trip. In a thread of its own a simulation took
//! six times as long, since each step woke two threads.

#![cfg(feature = "module")]

mod analysis;
mod background;
mod command;
mod errors;
mod events;
mod league;
mod result;
mod rule_threads;
mod rules;
mod run;
mod scenario;
mod signals;
mod standings;
mod steering;
mod study;
mod sweep;
mod table;

use pyo3::prelude::*;

/// The native half of the package.
#[pymodule]
mod _afteryou {
    #[pymodule_export]
    use super::analysis::explain;
    #[pymodule_export]
    use super::background::{set_background, Background};
    #[pymodule_export]
    use super::command::command;
    #[pymodule_export]
    use super::events::{AckView, IdleView, LossView, SpuriousLossView, TimeoutView};
    #[pymodule_export]
    use super::league::{background, league_part, Season};
    #[pymodule_export]
    use super::result::Result;
    #[pymodule_export]
    use super::rules::register;
    #[pymodule_export]
    use super::run::run;
    #[pymodule_export]
    use super::scenario::Scenario;
    #[pymodule_export]
    use super::standings::League;
    #[pymodule_export]
    use super::steering::{register_steered, Round, Steering};
    #[pymodule_export]
    use super::study::study;
    #[pymodule_export]
    use super::sweep::{build, run_part, Sweep};
    #[pymodule_export]
    use super::table::Table;
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
