//! The page "Your first experiment": its file is run, and its figures are drawn.

use super::{docs, text, THREADS};
use afteryou_engines::{each, find, Choices, Lineup, Point};
use afteryou_plot::{Data, Figure};
use afteryou_report::rows::{Columns, Csv, Identity, Rows};
use afteryou_scenario::Outcome;
use afteryou_scenario_file::Experiment;
use std::ops::ControlFlow;
use std::path::Path;

/// The settings of the sweep, as the page writes them.
const SWEEP: [&str; 3] = [
    "noise=\"testbed\"",
    "sweep.link.buffer=[\"20 ms\", \"50 ms\", \"100 ms\", \"300 ms\"]",
    "sweep.flow.backup.controller=[\"ledbat++\", \"ledbat\", \"cubic\"]",
];
const REPEAT: u32 = 5;

fn page() -> String {
    text(&docs().join("src/first-experiment.md")).expect("the page is there")
}

/// Returns the file that the page asks for.
fn experiment(sets: &[&str]) -> Experiment {
    let page = page();
    let block = page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next());
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    Experiment::parse(block.expect("a scenario"), "first.toml", &sets)
        .unwrap_or_else(|error| panic!("{error}"))
}

fn outcomes(experiment: &Experiment, repeat: Option<u32>) -> Vec<Outcome> {
    let sim = find("sim").expect("the simulator");
    let lineup = Lineup::new(sim, experiment, Choices { seed: None, repeat }).expect("runs");
    let points: Vec<Point> = (0..lineup.number()).map(|index| lineup.point(index).expect("a run")).collect();
    each(&points, THREADS, |point| {
        point.run(&mut |_| ControlFlow::Continue(())).unwrap_or_else(|error| panic!("{error}"))
    })
}

/// Returns the figures of the page, by their path below `docs/src`.
pub fn figures() -> [(String, String); 2] {
    let first = &outcomes(&experiment(&[]), None)[0];
    let page = page();
    for sentence in afteryou_report::headline(first) {
        let sentence = sentence.replace('\u{a0}', " ");
        assert!(page.contains(&sentence), "first-experiment.md should have the line: {sentence}");
    }
    for set in SWEEP {
        assert!(
            page.contains(&format!("--set '{set}'")),
            "first-experiment.md should have the setting {set}"
        );
    }
    let drawn = afteryou_plot::svg(first).expect("a figure");
    [("figures/first-experiment.svg".to_owned(), drawn), ("figures/first-sweep.svg".to_owned(), sweep())]
}

fn sweep() -> String {
    let outcomes = outcomes(&experiment(&SWEEP), Some(REPEAT));
    let rows: Vec<_> = outcomes
        .iter()
        .enumerate()
        .map(|(index, outcome)| {
            Rows::of(outcome, Identity { run: index as u64 + 1, key: outcome.content_hash }).run
        })
        .collect();
    let mut columns = Columns::default();
    rows.iter().for_each(|row| columns.add(row));
    let mut csv = Csv::new(&columns, Vec::new()).expect("a table");
    rows.iter().for_each(|row| csv.write(row).expect("a row"));
    let table = String::from_utf8(csv.finish().expect("a table")).expect("text");
    let figure = Figure {
        x: Some("link.buffer_s".to_owned()),
        y: "kept".to_owned(),
        by: vec!["controller".to_owned()],
        ..Figure::default()
    };
    let drawn = Data::parse(&table, Path::new("runs.csv")).and_then(|data| figure.draw_of(data));
    drawn.unwrap_or_else(|error| panic!("{error}"))
}
