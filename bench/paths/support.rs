//! Runs of a scenario with a rule that is put in, and medians.

use afteryou_engines::{find, Choices, Plan, Pool};
use afteryou_notation::Algorithm;
use afteryou_scenario::Outcome;
use afteryou_scenario_file::Experiment;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

pub type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Returns the named rules, or the default ones where none is named.
pub fn rules(names: &[String], default: &[&str]) -> Result<Vec<Algorithm>> {
    let default: Vec<String> = default.iter().map(|name| (*name).to_owned()).collect();
    let names = if names.is_empty() { &default } else { names };
    names
        .iter()
        .map(|name| {
            let rule: Algorithm = name.parse()?;
            rule.controller()?;
            Ok(rule)
        })
        .collect()
}

/// Returns an assignment that puts a rule into the flow of this name.
pub fn with_rule(flow: &str, rule: &Algorithm) -> String {
    let params = rule.params.iter().map(|(name, value)| format!(", {name} = \"{value}\""));
    format!("flow.{flow}.controller={{ kind = \"{}\"{} }}", rule.kind, params.collect::<String>())
}

/// Returns a file of the folder `scenarios/paths`.
pub fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../scenarios/paths").join(name)
}

/// Returns the outcomes of an experiment with this seed, one of each repetition.
pub fn outcomes(experiment: &Experiment, seed: u64, repeat: u64) -> Result<Vec<Outcome>> {
    let engine = find("sim")?;
    let repeat = u32::try_from(repeat)?;
    let choices = Choices { seed: Some(seed), repeat: Some(repeat) };
    let plan = Plan::new(engine, experiment, choices)?;
    Ok(Pool::default().outcomes(engine, &plan.points, &AtomicBool::new(false))?)
}

/// Returns the median; of an even number the mean of the middle two.
pub fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    let middle = numbers.len() / 2;
    match numbers.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => numbers[middle],
        _ => (numbers[middle - 1] + numbers[middle]) / 2.0,
    }
}

/// Prints a line of a table in Markdown.
pub fn line(cells: impl IntoIterator<Item = String>) {
    println!("| {} |", cells.into_iter().collect::<Vec<_>>().join(" | "));
}

/// Prints the head of a table with words in the first column.
pub fn head(cells: &[String]) {
    line(cells.to_vec());
    println!("|---|{}", "--:|".repeat(cells.len() - 1));
}
