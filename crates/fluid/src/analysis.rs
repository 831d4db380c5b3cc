//! What can be said of a scenario without running it: every closed form that applies to it, by name.

use crate::error::Error;
use crate::options::Options;
use afteryou_scenario::Scenario;

/// A number that follows from a scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Quantity {
    /// What it is about: "link", the name of a flow, or "fledbat × 2" for flows of one kind.
    pub of: String,
    /// What it is, in a few words.
    pub what: String,
    /// Its value.
    pub value: f64,
    /// Unit; empty for ratios.
    pub unit: &'static str,
    /// How it was computed, in symbols.
    pub formula: &'static str,
}

/// What can be said of a scenario without running it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Analysis {
    /// Numbers, in the order in which they should be read.
    pub quantities: Vec<Quantity>,
    /// Sentences: what follows from the numbers, and which assumptions of a closed form the scenario does not meet.
    pub notes: Vec<String>,
}

/// Computes every closed form that applies to `scenario`.
///
/// # Errors
/// As [`crate::run`], but for what only a run can show.
pub fn explain(scenario: &Scenario, _options: &Options) -> Result<Analysis, Error> {
    scenario.check()?;
    Ok(Analysis::default())
}
