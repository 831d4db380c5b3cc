//! One run, with what the page shows of it.

use crate::error::{json, Error};
use crate::packets;
use afteryou_engines::{find, Choices, Lineup};
use afteryou_fluid::Quantity;
use afteryou_plot::Plan;
use afteryou_scenario::content::ContentHash;
use afteryou_scenario::outcome::{Comparison, Run, Series, WindowFigures};
use afteryou_scenario::Outcome;
use afteryou_scenario_file::Experiment;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// The name of the text in messages.
pub const FILE: &str = "scenario.toml";

/// A scenario as the page has it.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Written {
    /// The text, in TOML.
    pub text: String,
    /// Assignments, as of `--set`.
    #[serde(default)]
    pub sets: Vec<String>,
    /// Contents of the files that it names.
    #[serde(default)]
    pub files: BTreeMap<String, String>,
}

impl Written {
    /// Reads the text.
    ///
    /// # Errors
    /// A text that is no scenario, and a file that is not there.
    pub fn experiment(&self) -> Result<Experiment, Error> {
        Ok(Experiment::parse_beside(&self.text, FILE, &self.sets, self.files.clone())?)
    }
}

/// Runs the first point of the text's sweep. `progress` gets the part that is done.
///
/// # Errors
/// A text that is no scenario, a run that is too large for a page or that the engine refuses.
pub fn outcome(
    engine: &str,
    written: &Written,
    progress: &mut dyn FnMut(f64),
) -> Result<(Outcome, Notes), Error> {
    let engine = find(engine)?;
    let experiment = written.experiment()?;
    let lineup = Lineup::new(engine, &experiment, Choices::default())?;
    let point = lineup.point(0)?;
    packets::check(&point.scenario)?;
    let notes = Notes { runs: lineup.number(), warnings: lineup.warnings() };
    let outcome = point.run_with(engine, &mut |at| {
        progress(at.done);
        ControlFlow::Continue(())
    })?;
    Ok((outcome, notes))
}

/// The page's text beside a result.
pub struct Notes {
    runs: usize,
    warnings: Vec<String>,
}

/// Everything that the page shows of a run.
#[derive(Serialize)]
struct Shown<'a> {
    engine: &'a str,
    name: &'a str,
    /// Of `result.json`.
    hash: ContentHash,
    content_hash: ContentHash,
    plan: Plan,
    run: Curves<'a>,
    baseline: Option<Curves<'a>>,
    windows: &'a [WindowFigures],
    comparison: &'a [Comparison],
    /// One or two, empty where nothing was measured.
    sentence: String,
    runs: usize,
    warnings: Vec<String>,
}

#[derive(Serialize)]
struct Curves<'a> {
    series: &'a [Series],
}

impl Curves<'_> {
    fn of(run: &Run) -> Curves<'_> {
        Curves { series: &run.series }
    }
}

/// Runs it and answers with curves, key numbers, a sentence and the hash of the result's file.
///
/// # Errors
/// As [`outcome`], and figures that cannot be drawn.
pub fn answer(engine: &str, written: &Written, progress: &mut dyn FnMut(f64)) -> Result<String, Error> {
    let (outcome, mut notes) = outcome(engine, written, progress)?;
    notes.warnings.extend(outcome.warnings.iter().cloned());
    json(&Shown {
        engine: &outcome.engine,
        name: &outcome.scenario.name,
        hash: ContentHash::of_text(&afteryou_report::result_json(&outcome)?),
        content_hash: outcome.content_hash,
        plan: Plan::of(&outcome),
        run: Curves::of(&outcome.run),
        baseline: outcome.baseline.as_ref().map(Curves::of),
        windows: &outcome.run.windows,
        comparison: &outcome.comparison,
        sentence: afteryou_report::headline(&outcome).join(" "),
        runs: notes.runs,
        warnings: notes.warnings,
    })
}

#[derive(Serialize)]
struct File {
    content: String,
}

/// Runs it and returns a file: "svg", "csv" or "json", each as the command line writes it.
///
/// # Errors
/// As [`outcome`], and a file that cannot be made.
pub fn file(
    engine: &str,
    written: &Written,
    form: Form,
    progress: &mut dyn FnMut(f64),
) -> Result<String, Error> {
    let (outcome, _) = outcome(engine, written, progress)?;
    let content = match form {
        Form::Svg => afteryou_plot::svg(&outcome)?,
        Form::Csv => afteryou_report::series_csv(&outcome),
        Form::Json => afteryou_report::result_json(&outcome)?,
    };
    json(&File { content })
}

/// A file of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// `figure.svg`.
    Svg,
    /// `series.csv`.
    Csv,
    /// `result.json`.
    Json,
}

#[derive(Serialize)]
struct Explained {
    quantities: Vec<Explanation>,
    notes: Vec<String>,
}

#[derive(Serialize)]
struct Explanation {
    of: String,
    what: &'static str,
    value: f64,
    unit: &'static str,
    formula: &'static str,
}

/// Returns what follows from the text without a run: numbers with their formulas, and sentences.
///
/// # Errors
/// A text that is no scenario, and rules without equations.
pub fn explain(written: &Written) -> Result<String, Error> {
    let experiment = written.experiment()?;
    let lineup = Lineup::new(find("fluid")?, &experiment, Choices::default())?;
    let scenario = lineup.point(0)?.scenario;
    let analysis = afteryou_fluid::explain(&scenario, &afteryou_fluid::Options::of(&scenario))?;
    let explanation =
        |Quantity { of, what, value, unit, formula }| Explanation { of, what, value, unit, formula };
    let quantities = analysis.quantities.into_iter().map(explanation).collect();
    json(&Explained { quantities, notes: analysis.notes })
}
