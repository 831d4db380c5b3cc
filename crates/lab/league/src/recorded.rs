//! The scores of the quick league as they were recorded, to notice when a change of a controller, a queue or the simulator moves them.
//!
//! A run is the same to the last bit on every machine, so a score that differs is due to a change. If the change is meant, the table that
//! `afteryou league --quick --out DIR` writes to `DIR/standings.csv` becomes `recorded/quick.csv`.

use crate::goal::GOALS;
use crate::play::Season;
use crate::score::Scores;
use afteryou_report::rows::Row;

const QUICK: &str = include_str!("../recorded/quick.csv");
/// Recorded numbers have three decimals.
const HALF: f64 = 0.000_5 + 1e-9;

/// Returns the order of a season as rows, with three decimals.
pub fn rows(season: &Season, scores: &Scores) -> Vec<Row> {
    let three = |number: f64| (number * 1e3).round() / 1e3;
    let row = |standing: &crate::score::Standing| {
        let mut row = Row::default();
        row.add("controller", season.entrants[standing.entrant].name.as_str());
        row.add("score", three(standing.total.mean));
        row.add("error", three(standing.total.error));
        for (goal, score) in GOALS.iter().zip(&standing.goals) {
            row.add(goal.name, score.map(|score| three(score.mean)));
        }
        row.add("failed", standing.failed as u64);
        row
    };
    scores.standings.iter().map(row).collect()
}

/// Returns a sentence for each entrant whose score is not the recorded one. Entrants that were not recorded are passed over.
pub fn differences(season: &Season, scores: &Scores) -> Vec<String> {
    let difference = |standing: &crate::score::Standing| {
        let name = &season.entrants[standing.entrant].name;
        let (recorded, now) = (recorded(name)?, standing.total.mean);
        ((recorded - now).abs() > HALF).then(|| format!("{name} has {now:.3}, recorded is {recorded:.3}"))
    };
    scores.standings.iter().filter_map(difference).collect()
}

fn recorded(name: &str) -> Option<f64> {
    // Names of controllers without parameters have no comma, so that no field is quoted.
    let line = QUICK.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(','))?;
    line.split(',').next()?.parse().ok()
}
