//! Two results beside each other: every figure that both have, with the difference, and the curves of both on one page.
//!
//! Figures are those of the tidy rows ([`rows`](crate::rows)), so a new figure of an outcome is compared without a change here.

mod names;
mod sweeps;

pub use names::short_names;
pub use sweeps::{ComparedMeans, SweepPair};

use crate::error::Error;
use crate::escape;
use crate::format::significant;
use crate::html::{markup, CSS};
use crate::plan::Plan;
use crate::rows::{Identity, Row, Rows, Value};
use crate::svg::{pair_svg, Scale};
use crate::table::{Cell, Column, Table, Tone};
use crate::text::table_text;
use afteryou_scenario::outcome::Outcome;

/// Columns that say which row it is, and none of what was measured.
const IDENTITY: &[&str] = &["run", "repetition", "seed", "from_s", "to_s", "capacity_bit_s", "duration_s"];
/// Less than this part of the larger value is no difference worth a tone.
const WORTH_A_TONE: f64 = 0.05;

/// Two results, each with a name.
#[derive(Clone, Copy, Debug)]
pub struct Pair<'a> {
    /// Their names.
    pub names: [&'a str; 2],
    /// The results.
    pub outcomes: [&'a Outcome; 2],
}

/// A figure of both.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// Window and flow or link.
    pub about: String,
    /// The figure's name, which ends with its unit.
    pub figure: String,
    /// The two values; a result may lack one.
    pub values: [Option<f64>; 2],
}

impl Compared {
    /// The second minus the first.
    pub fn difference(&self) -> Option<f64> {
        let [first, second] = self.values;
        Some(second? - first?)
    }

    /// The difference as a part of the first.
    pub fn relative(&self) -> Option<f64> {
        relative(self.values)
    }
}

impl Pair<'_> {
    /// Every figure of either result: of each flow in each window, then of each link.
    pub fn figures(&self) -> Vec<Compared> {
        let rows =
            self.outcomes.map(|outcome| Rows::of(outcome, Identity { run: 1, key: outcome.content_hash }));
        let mut figures = Vec::new();
        for (side, rows) in rows.iter().enumerate() {
            rows.flows.iter().for_each(|row| add(&mut figures, row, "flow", side));
        }
        for (side, rows) in rows.iter().enumerate() {
            rows.links.iter().for_each(|row| add(&mut figures, row, "link", side));
        }
        figures
    }

    /// The figures for a terminal of `width` columns.
    pub fn text(&self, width: usize, colour: bool) -> String {
        table_text(&self.table(), width, colour)
    }

    /// The figures, and both runs' curves with one time axis for each quantity, as a page that works offline.
    ///
    /// # Errors
    /// An outcome that cannot be drawn.
    pub fn html(&self) -> Result<String, Error> {
        let [first, second] = self.outcomes;
        let plans = [first, second].map(Plan::of);
        let mut pictures = String::new();
        for chart in &plans[1].charts {
            if plans[0].chart(&chart.quantity).is_none() {
                continue;
            }
            let runs = [(self.names[0], first), (self.names[1], second)];
            let title = match chart.unit.as_str() {
                "" => chart.title.clone(),
                unit => format!("{} ({unit})", chart.title),
            };
            let picture = pair_svg(&title, &chart.quantity, runs, Scale::Common)?;
            pictures += &format!("<figure>{picture}</figure>\n");
        }
        Ok(document(&self.names, &format!("{pictures}{}", markup(&self.table()))))
    }

    fn table(&self) -> Table {
        let rows = self.figures().into_iter().map(|figure| {
            let number = |value: Option<f64>| value.map_or_else(|| "–".to_owned(), shown);
            let is_near = figure.relative().is_some_and(|part| part.abs() < WORTH_A_TONE);
            let is_same = figure.difference() == Some(0.0);
            let tone = if is_near || is_same { Tone::Faint } else { Tone::Plain };
            let cell = |text: String| Cell { text, tone, ..Cell::default() };
            vec![
                Cell { text: escape::plain(&figure.about).into_owned(), ..Cell::default() },
                cell(figure.figure.clone()),
                cell(number(figure.values[0])),
                cell(number(figure.values[1])),
                cell(figure.difference().map(signed).unwrap_or_default()),
                cell(part(figure.relative())),
            ]
        });
        let named = |name: &str| Column { number: true, ..Column::setting(name) };
        Table {
            title: format!("{} and {}", self.names[0], self.names[1]),
            note: "The difference is the second minus the first, also as a part of the first.",
            grouped: 1,
            columns: vec![
                Column::setting("about"),
                Column::setting("figure"),
                named(self.names[0]),
                named(self.names[1]),
                Column::numbers("difference"),
                Column::numbers("of the first"),
            ],
            rows: rows.collect(),
        }
    }
}

/// Takes the figures of a row into the list, on one side of it.
fn add(figures: &mut Vec<Compared>, row: &Row, about: &str, side: usize) {
    let word = |name: &str| match row.get(name) {
        Value::Word(word) => word.clone(),
        _ => String::new(),
    };
    let about = format!("{}, {} {}", word("window"), about, word(about));
    for (name, value) in row.cells() {
        let number = match value {
            Value::Whole(number) => *number as f64,
            Value::Number(number) => *number,
            _ => continue,
        };
        if IDENTITY.contains(&name.as_str()) {
            continue;
        }
        match figures.iter_mut().find(|known| known.about == about && known.figure == *name) {
            Some(known) => known.values[side] = Some(number),
            None => {
                let mut values = [None; 2];
                values[side] = Some(number);
                figures.push(Compared { about: about.clone(), figure: name.clone(), values });
            }
        }
    }
}

/// A page with these names and this body that works offline.
fn document(names: &[&str; 2], body: &str) -> String {
    let title = escape::html(&format!("{} and {}", names[0], names[1]));
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <title>{title}</title>\n<style>\n{CSS}\n</style>\n</head>\n<body>\n<main>\n\
         <header>\n<h1>{title}</h1>\n</header>\n{body}</main>\n</body>\n</html>\n"
    )
}

/// The difference as a part of the first.
fn relative([first, second]: [Option<f64>; 2]) -> Option<f64> {
    let first = first.filter(|first| *first != 0.0)?;
    Some((second? - first) / first.abs())
}

/// A part in percent; nothing where there is none.
fn part(relative: Option<f64>) -> String {
    relative.map(|part| format!("{:+.1} %", part * 100.0)).unwrap_or_default()
}

/// A difference with its sign.
fn signed(value: f64) -> String {
    if value > 0.0 {
        format!("+{}", shown(value))
    } else {
        shown(value)
    }
}

/// Four digits, large numbers in full.
fn shown(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        large if large >= 1e4 => format!("{value:.0}"),
        _ => significant(value, 4),
    }
}
