//! One run of an engine.

use crate::errors;
use crate::result::Result;
use crate::scenario::Scenario;
use afteryou_lab::{find, Choices, Error, Lineup};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::time::{Duration, Instant};

/// How often a run looks for Ctrl-C.
const SIGNALS: Duration = Duration::from_millis(50);

/// Runs a scenario and returns its result.
///
/// scenario: one run; a file with `[sweep]` is for `sweep`.
/// engine: "sim", packet by packet; "fluid", equations; "bed", real packets in real time.
/// seed: replaces the scenario's own.
#[pyfunction]
#[pyo3(signature = (scenario, engine = "sim", seed = None))]
pub fn run(py: Python<'_>, scenario: &Scenario, engine: &str, seed: Option<u64>) -> PyResult<Result> {
    let failed = |error: Error| errors::of_run(py, &error);
    let engine = find(engine).map_err(failed)?;
    let lineup = Lineup::new(engine, &scenario.experiment, Choices { seed, repeat: None }).map_err(failed)?;
    if lineup.number() != 1 {
        let runs = lineup.number();
        return Err(PyValueError::new_err(format!("the scenario asks for {runs} runs: use afteryou.sweep")));
    }
    let point = lineup.point(0).map_err(failed)?;
    let mut signals = Signals { next: Instant::now() + SIGNALS, raised: None };
    let outcome = py.detach(|| point.run_with(engine, &mut |_| signals.go_on()));
    match (outcome, signals.raised) {
        (_, Some(raised)) => Err(raised),
        (Ok(outcome), None) => Ok(Result::new(outcome)),
        (Err(error), None) => Err(failed(error)),
    }
}

/// Lets Python's signal handlers run while an engine does.
struct Signals {
    next: Instant,
    raised: Option<PyErr>,
}

impl Signals {
    /// Returns whether the run goes on.
    fn go_on(&mut self) -> bool {
        if Instant::now() < self.next {
            return true;
        }
        self.next = Instant::now() + SIGNALS;
        self.raised = Python::attach(|py| py.check_signals()).err();
        self.raised.is_none()
    }
}
