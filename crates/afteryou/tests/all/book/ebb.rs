//! The page about ebb's rule: runs of the files in `scenarios/ebb`, drawn, and a table of them.

use super::{docs, root, text, THREADS};
use afteryou_engines::each;
use afteryou_plot::{Data, Figure};
use afteryou_scenario::Outcome;
use afteryou_scenario_file::Experiment;
use std::fmt::Write;
use std::ops::ControlFlow;

/// The files, in the order of the page.
const CASES: [&str; 4] = ["alone", "cubic", "route", "loss"];
/// What is drawn of each: the end of the picture's name, and the quantity.
const DRAWN: [(&str, &str); 2] = [("window", "cwnd"), ("queue", "queuing_delay")];

/// The line above the table in the page.
const MARK: &str = "<!-- Made from scenarios/ebb: UPDATE_BOOK=1 cargo test -p afteryou --test all book -->\n";

/// Returns the page with today's table, and its pictures, by their path below `docs/src`.
pub fn files() -> Vec<(String, String)> {
    let outcomes = each(&CASES, THREADS, |case| outcome(case));
    let mut files = vec![("ebb.md".to_owned(), page(&outcomes))];
    for (case, outcome) in CASES.iter().zip(&outcomes) {
        for (end, quantity) in DRAWN {
            files.push((format!("ebb/{case}-{end}.svg"), picture(outcome, quantity)));
        }
    }
    files
}

fn outcome(case: &str) -> Outcome {
    let path = root().join(format!("scenarios/ebb/{case}.toml"));
    let experiment = Experiment::read(&path, &[]).unwrap_or_else(|error| panic!("{error}"));
    let planned = &experiment.runs(None, Some(1)).expect("a run")[0];
    let outcome = afteryou_sim::run(&planned.scenario, &mut |_| ControlFlow::Continue(()));
    outcome.unwrap_or_else(|error| panic!("{case}: {error}"))
}

fn picture(outcome: &Outcome, quantity: &str) -> String {
    let title = Some(outcome.scenario.name.clone());
    let figure = Figure { y: quantity.to_owned(), title, ..Figure::default() };
    let drawn = Data::of(outcome).and_then(|data| figure.draw_of(data));
    drawn.unwrap_or_else(|error| panic!("{}: {error}", outcome.scenario.name))
}

fn page(outcomes: &[Outcome]) -> String {
    let page = text(&docs().join("src/ebb.md")).expect("docs/src/ebb.md is there");
    let (before, rest) = page
        .split_once(MARK)
        .unwrap_or_else(|| panic!("docs/src/ebb.md has no line {MARK:?} above its table: put it back"));
    let (_, after) = rest.split_once("\n\n").expect("text below the table");
    format!("{before}{MARK}{}\n{after}", table(outcomes))
}

fn table(outcomes: &[Outcome]) -> String {
    let mut text =
        "| scenario | window | Ebb, % of the link | CUBIC, % of the link | mean queue | 99 % below |\n\
                    |---|---|--:|--:|--:|--:|\n"
            .to_owned();
    for (case, outcome) in CASES.iter().zip(outcomes) {
        for window in &outcome.run.windows {
            let share = |i: usize| window.flows.get(i).map(|flow| 100.0 * flow.share_of_payload_capacity);
            let percent = |i: usize| share(i).map_or("–".to_owned(), |share| format!("{share:.1}"));
            let queue = window.links[0].queuing_delay.expect("packets");
            let _ = writeln!(
                text,
                "| `{case}` | {} | {} | {} | {:.1} ms | {:.1} ms |",
                window.window,
                percent(0),
                percent(1),
                queue.mean_ms,
                queue.p99_ms,
            );
        }
    }
    text
}
