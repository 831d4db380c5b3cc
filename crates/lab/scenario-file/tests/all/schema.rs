//! The committed schemas are those of the code, and the examples fit them.

use crate::validator::Validator;
use afteryou_scenario::outcome::{Outcome, Run};
use afteryou_scenario_file::Experiment;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn examples() -> Vec<PathBuf> {
    let folders = ["", "/keys", "/bad-cases", "/testbed"].map(|inner| format!("../../../scenarios{inner}"));
    let files =
        folders.iter().flat_map(|name| std::fs::read_dir(folder(name)).expect("the examples are there"));
    let mut paths: Vec<PathBuf> = files.map(|file| file.expect("readable").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    paths.sort();
    assert!(paths.len() >= 6, "{paths:?}");
    paths
}

/// Returns a value with the keys of all objects sorted: whether a map keeps its order depends on features that other crates
/// switch on.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let sorted: BTreeMap<_, _> =
                fields.iter().map(|(name, value)| (name.clone(), sorted(value))).collect();
            Value::Object(sorted.into_iter().collect())
        }
        Value::Array(values) => values.iter().map(sorted).collect(),
        other => other.clone(),
    }
}

/// Compares a committed schema with the code's; with UPDATE_SCHEMA=1 it is written instead.
fn assert_current(name: &str, schema: &Value) {
    let path = folder("schema").join(name);
    let schema = &sorted(schema);
    let mut text = serde_json::to_string_pretty(schema).expect("JSON");
    text.push('\n');
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        std::fs::write(&path, &text).expect("writable");
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    let committed: Value = serde_json::from_str(&committed).unwrap_or_default();
    assert!(
        committed == *schema,
        "{name} is not current: run UPDATE_SCHEMA=1 cargo test -p afteryou-scenario-file --test all schema"
    );
}

fn outcome_schema() -> Value {
    without_formats(&schemars::schema_for!(Outcome).to_value())
}

/// Returns a value without the names of Rust's number types. No draft of JSON Schema has them as formats, and ajv refuses a
/// schema with an unknown one.
fn without_formats(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let kept = fields.iter().filter(|(name, value)| *name != "format" || !value.is_string());
            Value::Object(kept.map(|(name, value)| (name.clone(), without_formats(value))).collect())
        }
        Value::Array(values) => values.iter().map(without_formats).collect(),
        other => other.clone(),
    }
}

#[test]
fn the_committed_schemas_are_current() {
    assert_current("scenario.schema.json", &afteryou_scenario_file::schema());
    assert_current("outcome.schema.json", &outcome_schema());
}

#[test]
fn the_book_has_every_field_of_a_result() {
    let path = folder("../../../docs/src/results.md");
    let page = std::fs::read_to_string(&path).expect("the page is there");
    let filled = crate::fields::filled(&page, &sorted(&outcome_schema()));
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        std::fs::write(&path, &filled).expect("writable");
    }
    let page = std::fs::read_to_string(&path).expect("the page is there");
    assert!(
        page == filled,
        "results.md is not current: run UPDATE_SCHEMA=1 cargo test -p afteryou-scenario-file --test all schema"
    );
}

#[test]
fn the_book_has_every_key_of_a_scenario_file() {
    let path = folder("../../../docs/src/scenario-file.md");
    let page = std::fs::read_to_string(&path).expect("the page is there");
    let examples =
        crate::key_examples::Examples::read(&folder("../../../scenarios"), &["keys", "gallery", "testbed"]);
    let filled = crate::keys::filled(&page, &examples);
    if std::env::var_os("UPDATE_SCHEMA").is_some() {
        std::fs::write(&path, &filled).expect("writable");
    }
    let page = std::fs::read_to_string(&path).expect("the page is there");
    assert!(
        page == filled,
        "scenario-file.md is not current: run UPDATE_SCHEMA=1 cargo test -p afteryou-scenario-file --test all schema"
    );
}

#[test]
fn the_books_examples_of_scenarios_make_runs() {
    let page = std::fs::read_to_string(folder("../../../docs/src/scenarios.md")).expect("the page is there");
    let examples: Vec<&str> =
        page.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert_eq!(examples.len(), 6);
    for example in examples {
        let duration = if example.contains("duration") { "" } else { "duration = \"60 s\"\n" };
        let experiment = Experiment::parse(&format!("{duration}{example}"), "scenarios.md", &[]);
        let runs = experiment.unwrap_or_else(|error| panic!("{error}")).runs(None, None).unwrap();
        assert!(!runs.is_empty());
    }
}

#[test]
fn every_example_fits_the_schema_and_makes_runs() {
    let schema = afteryou_scenario_file::schema();
    let validator = Validator::new(&schema);
    for path in examples() {
        let text = std::fs::read_to_string(&path).expect("readable");
        let value: Value = toml::from_str(&text).expect("TOML");
        let errors = validator.errors(&value);
        assert!(errors.is_empty(), "{}: {errors:?}", path.display());
        let experiment = Experiment::read(&path, &[]).unwrap_or_else(|error| panic!("{error}"));
        assert!(!experiment.runs(None, None).unwrap().is_empty());
    }
}

#[test]
fn what_the_checker_accepts_the_schema_accepts_too() {
    let schema = afteryou_scenario_file::schema();
    let validator = Validator::new(&schema);
    let corpus =
        std::fs::read_dir(folder("../../../fuzz/corpus/scenario_file")).expect("the corpus is there");
    let mut accepted = 0;
    for path in corpus.map(|file| file.expect("readable").path()) {
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        if Experiment::parse(&text, "", &[]).is_err() {
            continue;
        }
        let value: Value = toml::from_str(&text).expect("TOML");
        let errors = validator.errors(&value);
        assert!(errors.is_empty(), "{}: {errors:?}", path.display());
        accepted += 1;
    }
    assert!(accepted > 10, "{accepted}");
}

#[test]
fn what_the_checker_refuses_the_schema_refuses_too() {
    let schema = afteryou_scenario_file::schema();
    let validator = Validator::new(&schema);
    let good = "duration = \"9 s\"\nlink = { rate = \"1 Mbit/s\", buffer = \"9 packets\" }\n";
    let wrong = [
        "flow = [{ controller = \"cubik\", rtt = \"1 ms\" }]",
        "flow = [{ controller = \"cubic\", rtt = 1 }]",
        "flow = [{ controller = { kind = \"ledbat++\", tarjet = \"1 ms\" }, rtt = \"1 ms\" }]",
        "flow = [{ controller = \"cubic\", rtt = \"1 ms\", traffic = { sise = \"1 MB\" } }]",
        "flow = [{ controller = \"cubic\", rtt = \"1 ms\", role = true }]",
        "seed = -1",
        "hosts = 3",
        "sweep.\"link.rate\" = []",
        "sweep.\"link.rate\" = \"1 Mbit/s\"",
        "sweep.\"link.rate\" = { from = \"1 Mbit/s\", to = \"9 Mbit/s\" }",
        "sweep.\"link.rate\" = { log = [\"1 Mbit/s\"], per_decade = 3 }",
        "sweep.\"link.rate\" = { log = [\"1 Mbit/s\", \"9 Mbit/s\"], per_decade = 0 }",
    ];
    let fits = |text: &str| validator.is_valid(&toml::from_str::<Value>(text).expect("TOML"));
    assert!(fits(good));
    for range in [
        "{ from = \"1 Mbit/s\", to = \"9 Mbit/s\", step = \"1 Mbit/s\" }",
        "{ log = [\"1 Mbit/s\", \"9 Mbit/s\"], per_decade = 3 }",
    ] {
        assert!(fits(&format!("{good}sweep.link.rate = {range}")), "{range}");
        assert!(fits(&format!("{good}sweep.\"link.rate\" = {range}")), "{range}");
    }
    for line in wrong {
        let text = format!("{good}{line}");
        assert!(!fits(&text), "{line}");
        assert!(Experiment::parse(&text, "", &[]).is_err(), "{line}");
    }
}

#[test]
fn a_result_fits_its_schema() {
    let text = std::fs::read_to_string(&examples()[0]).expect("readable");
    let scenario = Experiment::parse(&text, "", &[])
        .unwrap()
        .runs(None, None)
        .unwrap()
        .remove(0)
        .scenario
        .into_scenario();
    let empty = Outcome::new("sim", "0", scenario, Run::default(), Some(Run::default()));
    let stored = ["sim", "fluid", "bed"].map(|engine| {
        let path = folder("../scenario/tests/results").join(format!("schema1-{engine}.json"));
        Outcome::from_json(&std::fs::read_to_string(path).expect("the stored result is there")).unwrap()
    });
    let schema = outcome_schema();
    let validator = Validator::new(&schema);
    for outcome in stored.into_iter().chain([empty]) {
        let mut value = serde_json::to_value(&outcome).expect("JSON");
        let errors = validator.errors(&value);
        assert!(errors.is_empty(), "{}: {errors:?}", outcome.engine);
        if let Some(link) = value["run"]["windows"].get_mut(0).map(|window| &mut window["links"][0]) {
            link["utilisation"] = "full".into();
            assert!(!validator.is_valid(&value), "{}: a word for a number", outcome.engine);
        }
    }
}

#[test]
fn every_example_in_which_something_is_random_is_repeated_five_times() {
    for path in examples() {
        let experiment = Experiment::read(&path, &[]).unwrap();
        let planned = experiment.runs(Some(1), Some(2)).unwrap();
        let (first, second) = (&planned[0].scenario, &planned[1].scenario);
        let traffic = first.flow.iter().any(|flow| flow.traffic.is_random());
        let is_random = first.flow != second.flow
            || first.link != second.link
            || first.link.loss.ratio() > 0.0
            || traffic
            || first.flow.iter().any(|flow| flow.elements.is_random())
            || first.links().any(|link| link.elements.is_random());
        let runs = experiment.runs(None, None).unwrap();
        let repetitions = runs.iter().map(|run| run.repetition).max();
        // A scenario that draws nothing would be run five times for the same numbers.
        assert_eq!(repetitions, Some(if is_random { 5 } else { 1 }), "{}", path.display());
    }
}
