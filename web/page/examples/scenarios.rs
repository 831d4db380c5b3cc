//! Prints the contents of the lab page beside its engine: scenarios, the files that they name, and the guided tour. Run at the project's
//! root.

mod support;

use afteryou_scenario_file::Experiment;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::Path;

/// `web/tour/tour.toml`.
#[derive(Deserialize)]
struct Tour {
    step: Vec<Step>,
}

#[derive(Deserialize)]
struct Step {
    title: String,
    /// The scenario's file, from the project's root.
    file: String,
    text: String,
    published: String,
}

#[derive(Serialize)]
struct Shown {
    title: String,
    text: String,
    published: String,
    scenario: String,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut scenarios = BTreeMap::new();
    for folder in ["scenarios", "scenarios/gallery"] {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "toml") {
                add(&mut scenarios, &path)?;
            }
        }
    }
    let tour: Tour = toml_edit::de::from_str(&fs::read_to_string("web/tour/tour.toml")?)?;
    let shown = |Step { title, file, text, published }| {
        let scenario = fs::read_to_string(&file).map_err(|error| format!("{file}: {error}"))?;
        Ok::<_, Box<dyn Error>>(Shown { title, text, published, scenario })
    };
    let tour: Vec<Shown> = tour.step.into_iter().map(shown).collect::<Result<_, _>>()?;
    let version = env!("CARGO_PKG_VERSION");
    let all = serde_json::json!({
        "version": version, "scenarios": scenarios, "files": support::files()?, "tour": tour
    });
    // Nothing in it may end the element that holds it.
    println!("{}", all.to_string().replace('<', "\\u003c"));
    Ok(())
}

/// Adds a file that a page runs.
fn add(scenarios: &mut BTreeMap<String, String>, path: &Path) -> Result<(), Box<dyn Error>> {
    let name = path.strip_prefix("scenarios")?.with_extension("").display().to_string();
    let runs = Experiment::read(path, &[])?.runs(None, None)?;
    if runs.first().is_some_and(|run| afteryou_page::takes(&run.scenario)) {
        scenarios.insert(name, fs::read_to_string(path)?);
    }
    Ok(())
}
