//! Any bytes as a quantity, as a controller with parameters, as a stored outcome.

use afteryou_scenario::{Algorithm, Buffer, Duration, Outcome, Probability, Rate, Size};
use std::fmt::Display;
use std::str::FromStr;

/// Reads `data` as each quantity; what is accepted must be written so that it can be read again.
pub fn run(data: &[u8]) {
    if let Ok(text) = std::str::from_utf8(data) {
        reads_back::<Rate>(text, |a, b| a == b);
        reads_back::<Size>(text, |a, b| a == b);
        reads_back::<Duration>(text, |a, b| close(a.as_secs_f64(), b.as_secs_f64(), 1e-9));
        reads_back::<Probability>(text, |a, b| close(a.ratio(), b.ratio(), 1e-8));
        reads_back::<Buffer>(text, |a, b| std::mem::discriminant(a) == std::mem::discriminant(b));
        reads_back::<Algorithm>(text, |a, b| a == b);
        build(text);
    }
    if let Ok(outcome) = serde_json::from_slice::<Outcome>(data) {
        let _ = outcome.scenario.clone().checked();
        if let Some(baseline) = &outcome.baseline {
            Outcome::compare(&outcome.scenario, &outcome.run, baseline);
        }
        let written = serde_json::to_vec(&outcome).expect("an outcome can be written");
        serde_json::from_slice::<Outcome>(&written).expect("a written outcome can be read");
    }
}

fn close(a: f64, b: f64, precision: f64) -> bool {
    (a - b).abs() <= precision * a.abs().max(1.0)
}

fn reads_back<T: FromStr + Display>(text: &str, same: impl Fn(&T, &T) -> bool) {
    let Ok(value) = text.parse::<T>() else {
        return;
    };
    let written = value.to_string();
    let again = written.parse::<T>();
    assert!(again.is_ok_and(|again| same(&value, &again)), "{text:?} was written as {written:?}");
}

/// Checks that a controller whose parameters are accepted can be made.
fn build(text: &str) {
    let Ok(algorithm) = text.parse::<Algorithm>() else {
        return;
    };
    let _ = afteryou_scenario::discipline(&algorithm);
    if let Ok((entry, overrides)) = algorithm.controller() {
        let controller =
            entry.build(&overrides, afteryou_cc::Setup::of(1352)).expect("checked parameters are taken");
        controller.snapshot();
    }
}
