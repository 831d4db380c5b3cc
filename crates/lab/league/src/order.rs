//! The order of the entrants with their scores: as it was judged, or as it was recorded.
//!
//! The scores of the usual leagues are recorded in `recorded/`, to notice when a change of a controller, a queue or the simulator moves
//! them, and for the book. A run is the same to the last bit on every machine, so a score that differs is due to a change. If the change is
//! meant, the file `standings.csv` of `afteryou league --out DIR` takes the place of the recorded one.

use crate::error::Result;
use crate::goal::GOALS;
use crate::plan::Season;
use crate::rows;
use crate::score::{Scores, Standing};
use afteryou_plot::given::{Map, Panel};
use afteryou_report::rows::Row;
use afteryou_report::table::{Cell, Column, Table, Tone};

/// Recorded numbers have three decimals.
const HALF: f64 = 0.000_5 + 1e-9;

/// The order of a league, the best first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Order {
    /// A line for each entrant.
    pub lines: Vec<Line>,
}

/// An entrant's scores.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Line {
    /// The entrant.
    pub name: String,
    /// The mean of its goals.
    pub score: f64,
    /// The standard error of that.
    pub error: f64,
    /// Of each goal; `None` where no cell had an answer.
    pub goals: Vec<Option<f64>>,
    /// Cells in which its run failed.
    pub failed: u64,
}

/// Leagues whose orders are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recorded {
    /// The quick grid, train, seed 1.
    Quick,
    /// The whole grid, train, seed 1.
    Whole,
}

impl Recorded {
    /// Returns the recorded order. A line that is none is passed over.
    pub fn order(self) -> Order {
        let text = match self {
            Recorded::Quick => include_str!("../recorded/quick.csv"),
            Recorded::Whole => include_str!("../recorded/whole.csv"),
        };
        Order { lines: text.lines().skip(1).filter_map(line).collect() }
    }
}

/// Reads a line. Names of controllers without parameters have no comma, so that no field is quoted.
fn line(text: &str) -> Option<Line> {
    let mut fields = text.split(',');
    let name = fields.next()?.to_owned();
    let mut number = || fields.next()?.parse::<f64>().ok();
    let (score, error) = (number()?, number()?);
    let goals = GOALS.iter().map(|_| number()).collect();
    Some(Line { name, score, error, goals, failed: number()? as u64 })
}

impl Order {
    /// Returns the order of a season.
    pub fn of(season: &Season, scores: &Scores) -> Order {
        let line = |standing: &Standing| Line {
            name: season.entrants[standing.entrant].name.clone(),
            score: standing.total.mean,
            error: standing.total.error,
            goals: standing.goals.iter().map(|score| score.map(|score| score.mean)).collect(),
            failed: standing.failed as u64,
        };
        Order { lines: scores.standings.iter().map(line).collect() }
    }

    /// Returns a sentence for each entrant whose score is not the recorded one. Entrants that were not recorded are passed over.
    pub fn differences(&self, recorded: Recorded) -> Vec<String> {
        let recorded = recorded.order();
        let difference = |line: &Line| {
            let before = recorded.lines.iter().find(|before| before.name == line.name)?.score;
            let (name, now) = (&line.name, line.score);
            ((before - now).abs() > HALF).then(|| format!("{name} has {now:.3}, recorded is {before:.3}"))
        };
        self.lines.iter().filter_map(difference).collect()
    }

    /// Returns the order as rows, each number through `rounded`.
    pub fn rows(&self, rounded: fn(f64) -> f64) -> Vec<Row> {
        let row = |line: &Line| {
            let mut row = Row::default();
            row.add("controller", line.name.as_str());
            row.add("score", rounded(line.score));
            row.add("error", rounded(line.error));
            for (goal, score) in GOALS.iter().zip(&line.goals) {
                row.add(goal.name, score.map(rounded));
            }
            row.add("failed", line.failed);
            row
        };
        self.lines.iter().map(row).collect()
    }

    /// Returns the order as a file with three decimals, which may be recorded.
    ///
    /// # Errors
    /// As [`rows::tables`].
    pub fn csv(&self) -> Result<Vec<u8>> {
        let [csv, _] = rows::tables(&self.rows(|number| (number * 1e3).round() / 1e3))?;
        Ok(csv)
    }

    /// Returns the order as a table.
    pub fn table(&self) -> Table {
        let mut columns = vec![
            Column::numbers("#"),
            Column::setting("controller"),
            Column::numbers("score"),
            Column::numbers("±"),
        ];
        columns.extend(GOALS.iter().map(|goal| Column::numbers(goal.short)));
        let any_failed = self.lines.iter().any(|line| line.failed > 0);
        if any_failed {
            columns.push(Column::numbers("failed"));
        }
        let row = |(place, line): (usize, &Line)| {
            let mut cells = vec![
                Cell::new((place + 1).to_string()),
                Cell::new(&line.name),
                Cell::new(format!("{:.3}", line.score)),
                Cell::new(format!("{:.3}", line.error)).toned(Tone::Faint),
            ];
            cells.extend(line.goals.iter().map(|score| Cell::maybe(*score, |score| format!("{score:.2}"))));
            if any_failed {
                let tone = if line.failed > 0 { Tone::Bad } else { Tone::Faint };
                cells.push(Cell::new(line.failed.to_string()).toned(tone));
            }
            cells
        };
        let rows = self.lines.iter().enumerate().map(row).collect();
        let note = "Scores from 0 to 1: the part of each goal's bound that was reached, the mean of its cells; ± is a standard error, ¹⁰ the mean of the worst tenth.";
        Table { title: "Background controllers".to_owned(), note, grouped: 0, columns, rows }
    }

    /// Returns the picture of the order, an SVG document: entrants against goals.
    ///
    /// # Errors
    /// No entrant at all.
    pub fn picture(&self) -> Result<String> {
        let from_below = || self.lines.iter().rev();
        let values =
            |line: &Line| std::iter::once(Some(line.score)).chain(line.goals.iter().copied()).collect();
        let panel = Panel {
            name: String::new(),
            columns: std::iter::once("all")
                .chain(GOALS.iter().map(|goal| goal.short))
                .map(str::to_owned)
                .collect(),
            rows: from_below().map(|line| line.name.clone()).collect(),
            values: from_below().map(values).collect(),
        };
        let map = Map {
            title: "League of background controllers".to_owned(),
            subtitle: "the part of each goal's bound that was reached; ¹⁰ the worst tenth of its cells"
                .to_owned(),
            x: "goal".to_owned(),
            y: "controller".to_owned(),
            range: [0.0, 1.0],
            panels: vec![panel],
        };
        Ok(map.svg()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_recorded_reads_back_and_a_difference_is_said() {
        for recorded in [Recorded::Quick, Recorded::Whole] {
            let mut order = recorded.order();
            assert!(order.lines.len() >= 10, "{recorded:?}");
            assert_eq!(order.differences(recorded), Vec::<String>::new());
            let text = String::from_utf8(order.csv().unwrap()).unwrap();
            assert_eq!(text.lines().skip(1).filter_map(line).collect::<Vec<_>>(), order.lines);
            order.lines[0].score -= 0.002;
            assert_eq!(order.differences(recorded).len(), 1);
        }
    }
}
