//! Scenario files as values.

use crate::errors;
use afteryou_scenario::Experiment;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyString;
use std::path::PathBuf;

/// Stands for the file in messages about a text.
const OF_TEXT: &str = "scenario";

/// A scenario in a pickle: text, file, settings.
type Saved = (String, Option<PathBuf>, Vec<String>);

/// A scenario file that was read and checked. It never changes: `set` returns another one.
#[pyclass(frozen, module = "afteryou")]
#[derive(Clone)]
pub struct Scenario {
    text: String,
    /// The file, where the text names other files beside it.
    path: Option<PathBuf>,
    sets: Vec<String>,
    pub experiment: Experiment,
}

impl Scenario {
    fn of_text(py: Python<'_>, text: String, sets: Vec<String>) -> PyResult<Scenario> {
        let read = py.detach(|| Experiment::parse(&text, OF_TEXT, &sets));
        let experiment = read.map_err(|error| errors::of_file(py, &error))?;
        Ok(Scenario { text, path: None, sets, experiment })
    }

    fn of_file(py: Python<'_>, path: PathBuf, sets: Vec<String>) -> PyResult<Scenario> {
        let read = py.detach(|| Experiment::read(&path, &sets));
        let experiment = read.map_err(|error| errors::of_file(py, &error))?;
        let text = std::fs::read_to_string(&path)?;
        Ok(Scenario { text, path: Some(path), sets, experiment })
    }

    fn again(&self, py: Python<'_>, sets: Vec<String>) -> PyResult<Scenario> {
        match &self.path {
            Some(path) => Scenario::of_file(py, path.clone(), sets),
            None => Scenario::of_text(py, self.text.clone(), sets),
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
        Scenario::of_text(py, text, Vec::new())
    }

    /// Reads a scenario file.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Scenario> {
        // A text that stands alone needs its file no longer: it may travel to another machine.
        let read = Scenario::of_file(py, path.clone(), Vec::new())?;
        let name = path.display().to_string();
        let stands_alone = Experiment::parse(&read.text, &name, &[]).ok();
        Ok(match stands_alone {
            Some(experiment) => Scenario { path: None, experiment, ..read },
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
        self.again(py, sets)
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
        (&self.text, &self.path, &self.sets) == (&other.text, &other.path, &other.sets)
    }

    fn __hash__(&self) -> u64 {
        use std::hash::{DefaultHasher, Hash, Hasher};
        let mut hasher = DefaultHasher::new();
        (&self.text, &self.path, &self.sets).hash(&mut hasher);
        hasher.finish()
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Saved)> {
        let restore = py.get_type::<Scenario>().getattr("_restore")?;
        Ok((restore, (self.text.clone(), self.path.clone(), self.sets.clone())))
    }

    #[staticmethod]
    fn _restore(
        py: Python<'_>,
        text: String,
        path: Option<PathBuf>,
        sets: Vec<String>,
    ) -> PyResult<Scenario> {
        match path {
            Some(path) => Scenario::of_file(py, path, sets),
            None => Scenario::of_text(py, text, sets),
        }
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
