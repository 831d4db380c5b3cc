//! The page of papers: every entry once, and each scenario that it names is one that the simulator runs.

use super::{docs, root, text};
use afteryou_aqm::list::QUEUES;
use afteryou_cc::list::CONTROLLERS;
use afteryou_scenario_file::Experiment;
use serde_json::Value;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::PathBuf;

/// Entries of each paper.
const ENTRIES: [(&str, usize); 5] =
    [("gong2012", 10), ("carofiglio2013", 28), ("kuhn2014", 15), ("alsaadi2017", 21), ("bagnulo2022", 39)];
/// Answers without a scenario.
const WITHOUT: [&str; 4] = ["arithmetic", "closed form", "context", "unit"];

/// A row of the page.
struct Entry {
    id: String,
    scenario: String,
    settings: Vec<String>,
    figures: String,
}

fn entries() -> Vec<Entry> {
    let page = text(&docs().join("src/papers.md")).expect("the page is there");
    let rows = page.lines().filter(|line| line.starts_with("| ") && line.contains('/'));
    let cells = rows.map(|row| row.trim_matches('|').split(" | ").map(str::trim).collect::<Vec<_>>());
    cells
        .map(|cells| match cells[..] {
            [id, scenario, settings, figures] => Entry {
                id: id.to_owned(),
                scenario: scenario.to_owned(),
                settings: words(settings),
                figures: figures.to_owned(),
            },
            _ => panic!("a row of four cells is needed: {cells:?}"),
        })
        .collect()
}

/// Returns all words between backticks.
fn words(cell: &str) -> Vec<String> {
    cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

fn folder() -> PathBuf {
    root().join("crates/lab/studies/scenarios/papers")
}

/// Returns the file that an entry names.
fn file(entry: &Entry) -> Option<String> {
    words(&entry.scenario).into_iter().find(|word| folder().join(word).is_file())
}

#[test]
fn the_page_of_papers_has_every_entry_once() {
    let entries = entries();
    let ids: BTreeSet<&str> = entries.iter().map(|entry| entry.id.as_str()).collect();
    assert_eq!(ids.len(), entries.len(), "an entry stands twice");
    for (paper, number) in ENTRIES {
        let of_paper = ids.iter().filter(|id| id.starts_with(&format!("{paper}/"))).count();
        assert_eq!(of_paper, number, "{paper}");
    }
    assert_eq!(ids.len(), 113);
}

#[test]
fn every_scenario_of_the_page_of_papers_is_accepted_with_its_settings() {
    let mut used = BTreeSet::new();
    for entry in entries() {
        let Some(name) = file(&entry) else {
            let without = WITHOUT.iter().any(|word| entry.scenario.starts_with(word));
            assert!(without, "{}: neither a file nor a reason: {}", entry.id, entry.scenario);
            continue;
        };
        let read = Experiment::read(&folder().join(&name), &entry.settings);
        let experiment = read.unwrap_or_else(|error| panic!("{}: {error}", entry.id));
        let planned = experiment.runs(None, Some(1)).unwrap_or_else(|error| panic!("{}: {error}", entry.id));
        assert!(!planned.is_empty(), "{}: no run", entry.id);
        used.insert(name);
    }
    let present = std::fs::read_dir(folder()).expect("the folder").flatten();
    let present = present.map(|file| file.file_name().to_string_lossy().into_owned());
    assert_eq!(present.collect::<BTreeSet<_>>(), used, "files that no entry names");
}

#[test]
fn every_scenario_of_the_papers_runs() {
    const LONG_ENOUGH_S: f64 = 3.0;
    for file in std::fs::read_dir(folder()).expect("the folder").flatten() {
        let experiment = Experiment::read(&file.path(), &[]).unwrap_or_else(|error| panic!("{error}"));
        let planned = &experiment.runs(None, Some(1)).expect("a run")[0];
        let mut packets = 0_u64;
        let watchers = afteryou_sim::Watchers {
            every: afteryou_sim::NEVER,
            take: &mut |_| {},
            tap: Some(&mut |_| packets += 1),
            observers: None,
        };
        let mut watch = |progress: afteryou_sim::SimProgress| match progress.at_s < LONG_ENOUGH_S {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        };
        // Stopped before its end, unless its few events are over sooner.
        let ran = afteryou_sim::watched(&planned.scenario, &mut watch, watchers);
        assert!(matches!(ran, Ok(_) | Err(afteryou_sim::Error::Interrupted)), "{:?}: {ran:?}", file.path());
        assert!(packets > 0, "{:?}", file.path());
    }
}

#[test]
fn every_figure_that_the_page_of_papers_names_exists() {
    let mut known: BTreeSet<String> = CONTROLLERS.iter().map(|entry| entry.name.to_owned()).collect();
    known.extend(QUEUES.iter().map(|entry| entry.name.to_owned()));
    for schema in ["scenario", "outcome"] {
        let path = root().join(format!("crates/lab/scenario-file/schema/{schema}.schema.json"));
        let schema = serde_json::from_str(&text(&path).expect("the schema is there")).expect("JSON");
        add_properties(&schema, &mut known);
    }
    for entry in entries() {
        for word in words(&entry.figures) {
            let name = word.rsplit('.').next().unwrap_or(&word);
            let is_command = word.starts_with("afteryou ");
            assert!(is_command || known.contains(name), "{}: there is no `{word}`", entry.id);
        }
    }
}

/// Adds the names of all fields that a schema describes.
fn add_properties(schema: &Value, names: &mut BTreeSet<String>) {
    match schema {
        Value::Object(fields) => {
            if let Some(Value::Object(properties)) = fields.get("properties") {
                names.extend(properties.keys().cloned());
            }
            fields.values().for_each(|value| add_properties(value, names));
        }
        Value::Array(values) => values.iter().for_each(|value| add_properties(value, names)),
        _ => {}
    }
}
