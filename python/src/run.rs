//! One run of an engine.

use crate::errors;
use crate::result::Result;
use crate::rules;
use crate::scenario::Scenario;
use crate::signals::Signals;
use afteryou_engines::{find, Choices, Error, Lineup};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::ops::ControlFlow;

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
    let outcome;
    let mut signals = Signals::default();
    match rules::used(&point.scenario) {
        None => outcome = py.detach(|| point.run_with(engine, &mut |_| signals.go_on())),
        Some((flow, rule)) if !engine.capabilities().on_one_thread => {
            let engine = engine.name();
            return Err(PyValueError::new_err(format!(
                "flow {flow:?} has the rule {rule:?} in Python, which runs in \"sim\", not in {engine:?}"
            )));
        }
        // The rule is called for each ack, so the interpreter is not released.
        Some(_) => {
            drop(rules::take_failure());
            outcome = point.run_with(engine, &mut |_| match rules::have_failed() {
                true => ControlFlow::Break(()),
                false => signals.go_on(),
            });
        }
    }
    match (outcome, rules::take_failure().or(signals.take())) {
        (_, Some(raised)) => Err(raised),
        (Ok(outcome), None) => Ok(Result::new(outcome)),
        (Err(error), None) => Err(failed(error)),
    }
}
