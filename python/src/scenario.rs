//! Scenario files as values.

use crate::errors;
use afteryou_scenario_file::Experiment;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyString;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Stands for the file in messages about a text.
const OF_TEXT: &str = "scenario";

/// Contents of files that a text names, by these names.
type Files = BTreeMap<String, String>;

/// A scenario in a pickle: text, name of the file, contents of the files that it names, settings.
type Saved = (String, Option<String>, Files, Vec<String>);

/// Where a text comes from, and with it the files that it names.
#[derive(Clone)]
enum Source {
    /// It names none.
    Text,
    /// They are read from its folder.
    File { path: PathBuf, untrusted: bool },
    /// They came with it, as to a worker, which opens none of its own.
    Brought { name: String, files: Files },
}

/// A scenario file that was read and checked. It never changes: `set` returns another one.
#[pyclass(frozen, module = "afteryou")]
#[derive(Clone)]
pub struct Scenario {
    text: String,
    source: Source,
    sets: Vec<String>,
    pub experiment: Experiment,
}

impl Scenario {
    fn read(py: Python<'_>, text: String, source: Source, sets: Vec<String>) -> PyResult<Scenario> {
        let read = py.detach(|| match &source {
            Source::Text => Experiment::parse(&text, OF_TEXT, &sets),
            Source::File { path, untrusted: false } => Experiment::read(path, &sets),
            Source::File { path, untrusted: true } => Experiment::read_untrusted(path, &sets),
            Source::Brought { name, files } => Experiment::parse_beside(&text, name, &sets, files.clone()),
        });
        let experiment = read.map_err(|error| errors::of_file(py, &error))?;
        let text = match &source {
            Source::File { path, .. } => std::fs::read_to_string(path)?,
            Source::Text | Source::Brought { .. } => text,
        };
        Ok(Scenario { text, source, sets, experiment })
    }

    fn files(&self) -> Files {
        match &self.source {
            Source::Brought { files, .. } => files.clone(),
            Source::Text | Source::File { .. } => self.experiment.files(),
        }
    }
}

#[pymethods]
impl Scenario {
    /// Reads a scenario from TOML text, or from a dictionary with the same keys.
    #[new]
    fn new(py: Python<'_>, source: &Bound<'_, PyAny>) -> PyResult<Scenario> {
        let text = match source.cast::<PyString>() {
            Ok(text) => text.to_string(),
            Err(_) => toml_of(py, source)?,
        };
        Scenario::read(py, text, Source::Text, Vec::new())
    }

    /// Reads a scenario file. With `untrusted` it may name files below its own folder only, symbolic links resolved.
    #[staticmethod]
    #[pyo3(signature = (path, *, untrusted=false))]
    fn load(py: Python<'_>, path: PathBuf, untrusted: bool) -> PyResult<Scenario> {
        let name = path.display().to_string();
        let read = Scenario::read(py, String::new(), Source::File { path, untrusted }, Vec::new())?;
        // A text without references needs its file no longer.
        let stands_alone = Experiment::parse(&read.text, &name, &[]).ok();
        Ok(match stands_alone {
            Some(experiment) => Scenario { source: Source::Text, experiment, ..read },
            None => read,
        })
    }

    /// Returns the scenario with a setting replaced, as `--set KEY=VALUE` does: `set("link.rate", "5 Mbit/s")`.
    fn set(&self, py: Python<'_>, key: &str, value: &Bound<'_, PyAny>) -> PyResult<Scenario> {
        let value = match value.extract::<bool>() {
            Ok(flag) => flag.to_string(),
            Err(_) => value.str()?.to_string(),
        };
        let mut sets = self.sets.clone();
        sets.push(format!("{key}={value}"));
        Scenario::read(py, self.text.clone(), self.source.clone(), sets)
    }

    /// The name that the file gives itself.
    #[getter]
    fn name(&self) -> String {
        self.experiment.name()
    }

    /// The text of the file, without the settings that `set` replaced.
    #[getter]
    fn text(&self) -> &str {
        &self.text
    }

    /// The settings that `set` replaced, as "key=value".
    #[getter]
    fn settings(&self) -> Vec<String> {
        self.sets.clone()
    }

    /// The number of runs: every combination of `[sweep]`, times `repeat`.
    #[getter]
    fn runs(&self, py: Python<'_>) -> PyResult<usize> {
        let lineup = self.experiment.lineup(None, None).map_err(|error| errors::of_file(py, &error))?;
        Ok(lineup.number())
    }

    fn __repr__(&self) -> String {
        let sets = self.sets.iter().map(|set| format!(", {set}")).collect::<String>();
        format!("Scenario({:?}{sets})", self.experiment.name())
    }

    fn __eq__(&self, other: &Scenario) -> bool {
        (&self.text, &self.sets) == (&other.text, &other.sets) && self.files() == other.files()
    }

    fn __hash__(&self) -> u64 {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let mut hasher = DefaultHasher::new();
        (&self.text, &self.sets).hash(&mut hasher);
        hasher.finish()
    }

    /// Returns a pickle that holds the files that the scenario names, so it can be read on a machine that has none of them.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Saved)> {
        let restore = py.get_type::<Scenario>().getattr("_restore")?;
        let name = match &self.source {
            Source::Text => None,
            Source::File { path, .. } => Some(path.display().to_string()),
            Source::Brought { name, .. } => Some(name.clone()),
        };
        Ok((restore, (self.text.clone(), name, self.files(), self.sets.clone())))
    }

    #[staticmethod]
    fn _restore(
        py: Python<'_>,
        text: String,
        name: Option<String>,
        files: Files,
        sets: Vec<String>,
    ) -> PyResult<Scenario> {
        let source = name.map_or(Source::Text, |name| Source::Brought { name, files });
        Scenario::read(py, text, source, sets)
    }
}

/// Returns a dictionary as TOML.
fn toml_of(py: Python<'_>, source: &Bound<'_, PyAny>) -> PyResult<String> {
    let refused =
        |reason: String| PyTypeError::new_err(format!("a scenario is TOML text or a dictionary: {reason}"));
    let dumps = py.import("json")?.getattr("dumps")?;
    let options = pyo3::types::PyDict::new(py);
    options.set_item("allow_nan", false)?;
    let json: String =
        dumps.call((source,), Some(&options)).map_err(|error| refused(error.to_string()))?.extract()?;
    let value: serde_json::Value = serde_json::from_str(&json).map_err(|error| refused(error.to_string()))?;
    if !value.is_object() {
        return Err(refused(format!("this is a {}", source.get_type().name()?)));
    }
    toml::to_string(&value).map_err(|error| refused(error.to_string()))
}
