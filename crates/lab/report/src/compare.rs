//! Results beside each other: every figure that they have, with the differences, and the curves of all on one page.
//!
//! Figures are those of the tidy rows ([`rows`](crate::rows)), so a new figure of an outcome is compared without a change here.

mod names;
mod sweeps;

pub use names::short_names;
pub use sweeps::{ComparedMeans, ComparedSweeps};

use crate::document::{figures, markup, Document};
use crate::error::Error;
use crate::rows::{Identity, Row, Rows, Value};
use crate::table::{Cell, Column, Table, Tone};
use crate::text::table_text;
use afteryou_notation::format::significant;
use afteryou_plot::escape;
use afteryou_plot::plan::Plan;
use afteryou_plot::{stacked_svg, Scale};
use afteryou_scenario::outcome::Outcome;
use maud::{html, Markup};

/// Columns that identify the row, and none of what was measured.
const IDENTITY: &[&str] = &["run", "repetition", "seed", "from_s", "to_s", "capacity_bit_s", "duration_s"];
/// Less than this part of the larger value is no difference worth a tone.
const WORTH_A_TONE: f64 = 0.05;

/// Two results or more, each with a name.
#[derive(Clone, Debug)]
pub struct Comparison<'a> {
    /// Names of the results.
    pub names: Vec<&'a str>,
    /// The results.
    pub outcomes: Vec<&'a Outcome>,
    /// The figures to compare; all of them if there is none.
    pub chosen: Vec<String>,
}

/// A figure of all.
#[derive(Clone, Debug, PartialEq)]
pub struct Compared {
    /// Window and flow or link.
    pub about: String,
    /// The figure's name, which ends with its unit.
    pub figure: String,
    /// The values, one of each result; a result may lack it.
    pub values: Vec<Option<f64>>,
}

impl Compared {
    /// Returns the last minus the first of two; of more, the largest minus the smallest. `None` if one of two lacks it.
    pub fn difference(&self) -> Option<f64> {
        if let [first, second] = self.values[..] {
            return Some(second? - first?);
        }
        let (least, most) = self.range()?;
        Some(most - least)
    }

    /// Returns the difference as a part of the first of two, or of the largest of more.
    pub fn relative(&self) -> Option<f64> {
        if let [first, second] = self.values[..] {
            return relative([first, second]);
        }
        let (least, most) = self.range()?;
        let largest = least.abs().max(most.abs());
        (largest > 0.0).then(|| (most - least) / largest)
    }

    /// Returns the smallest and the largest value, if two results have one.
    fn range(&self) -> Option<(f64, f64)> {
        let values = || self.values.iter().flatten().copied();
        (values().count() > 1)
            .then(|| (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max)))
    }
}

impl Comparison<'_> {
    /// Returns every chosen figure of any result: of each flow in each window, then of each link.
    pub fn figures(&self) -> Vec<Compared> {
        let identity = |outcome: &Outcome| Identity { run: 1, key: outcome.content_hash };
        let rows: Vec<Rows> =
            self.outcomes.iter().map(|outcome| Rows::of(outcome, identity(outcome))).collect();
        let mut figures = Vec::new();
        for (side, rows) in rows.iter().enumerate() {
            rows.flows.iter().for_each(|row| self.add(&mut figures, row, "flow", side));
        }
        for (side, rows) in rows.iter().enumerate() {
            rows.links.iter().for_each(|row| self.add(&mut figures, row, "link", side));
        }
        figures
    }

    /// Returns the names of all figures.
    pub fn names_of_figures(&self) -> Vec<String> {
        let all = Comparison { chosen: Vec::new(), ..self.clone() };
        let mut names: Vec<String> = all.figures().into_iter().map(|figure| figure.figure).collect();
        names.sort();
        names.dedup();
        names
    }

    /// Formats the figures for a terminal of `width` columns.
    pub fn text(&self, width: usize, colour: bool) -> String {
        table_text(&self.table(), width, colour)
    }

    /// Returns the figures, and all curves with one time axis for each quantity, as a page that works offline.
    ///
    /// # Errors
    /// An outcome that cannot be drawn.
    pub fn html(&self) -> Result<String, Error> {
        let plans: Vec<Plan> = self.outcomes.iter().map(|outcome| Plan::of(outcome)).collect();
        let runs: Vec<(&str, &Outcome)> =
            self.names.iter().copied().zip(self.outcomes.iter().copied()).collect();
        let mut pictures = Vec::new();
        // Quantities of one result alone are not compared.
        let quantities = plans.last().into_iter().flat_map(|plan| &plan.charts);
        for chart in quantities.filter(|chart| plans.iter().all(|plan| plan.chart(&chart.quantity).is_some()))
        {
            let title = match chart.unit.as_str() {
                "" => chart.title.clone(),
                unit => format!("{} ({unit})", chart.title),
            };
            pictures.push(stacked_svg(&title, &chart.quantity, &runs, Scale::Common)?);
        }
        Ok(page(&self.title(), &html! { (figures(pictures)) (markup(&self.table())) }))
    }

    fn title(&self) -> String {
        listed(&self.names)
    }

    fn table(&self) -> Table {
        let rows = self.figures().into_iter().map(|figure| {
            let is_near = figure.relative().is_some_and(|part| part.abs() < WORTH_A_TONE);
            let is_same = figure.difference() == Some(0.0);
            let tone = if is_near || is_same { Tone::Faint } else { Tone::Plain };
            let cell = |text: String| Cell { text, tone, ..Cell::default() };
            let values = figure.values.iter().map(|value| value.map_or_else(|| "–".to_owned(), shown));
            let difference = figure.difference().map(|value| match self.is_pair() {
                true => signed(value),
                false => shown(value),
            });
            let part = match self.is_pair() {
                true => part(figure.relative()),
                false => figure.relative().map(|part| format!("{:.1} %", part * 100.0)).unwrap_or_default(),
            };
            let about = Cell { text: escape::plain(&figure.about).into_owned(), ..Cell::default() };
            let head = [about, cell(figure.figure.clone())];
            head.into_iter()
                .chain(values.map(cell))
                .chain([cell(difference.unwrap_or_default()), cell(part)])
                .collect()
        });
        let (note, difference, of) = match self.is_pair() {
            true => (
                "The difference is the second minus the first, also as a part of the first.",
                "difference",
                "of the first",
            ),
            false => (
                "The spread is the largest minus the smallest, also as a part of the largest.",
                "spread",
                "of the largest",
            ),
        };
        let named = |name: &&str| Column { number: true, ..Column::setting(name) };
        let mut columns = vec![Column::setting("about"), Column::setting("figure")];
        columns.extend(self.names.iter().map(named));
        columns.extend([Column::numbers(difference), Column::numbers(of)]);
        Table { title: self.title(), note, grouped: 1, columns, rows: rows.collect() }
    }

    fn is_pair(&self) -> bool {
        self.outcomes.len() == 2
    }

    /// Takes the figures of a row into the list, at the place of its result.
    fn add(&self, figures: &mut Vec<Compared>, row: &Row, about: &str, side: usize) {
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
            let is_chosen = self.chosen.is_empty() || self.chosen.contains(name);
            if !is_chosen || IDENTITY.contains(&name.as_str()) {
                continue;
            }
            match figures.iter_mut().find(|known| known.about == about && known.figure == *name) {
                Some(known) => known.values[side] = Some(number),
                None => {
                    let mut values = vec![None; self.outcomes.len()];
                    values[side] = Some(number);
                    // Beside what the others have of the same flow or link.
                    let last = figures.iter().rposition(|known| known.about == about);
                    let place = last.map_or(figures.len(), |last| last + 1);
                    figures.insert(place, Compared { about: about.clone(), figure: name.clone(), values });
                }
            }
        }
    }
}

/// Joins names: "a and b", "a, b and c".
fn listed<S: AsRef<str>>(names: &[S]) -> String {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    match &names[..] {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [rest @ .., last] => format!("{} and {last}", rest.join(", ")),
    }
}

/// Returns a page with this title and these contents.
fn page(title: &str, contents: &Markup) -> String {
    let body = html! { header { h1 { (title) } } (contents) };
    Document { title, body, ..Document::default() }.html()
}

/// Returns the difference as a part of the first.
fn relative([first, second]: [Option<f64>; 2]) -> Option<f64> {
    let first = first.filter(|first| *first != 0.0)?;
    Some((second? - first) / first.abs())
}

/// Formats a part in per cent; nothing where there is none.
fn part(relative: Option<f64>) -> String {
    relative.map(|part| format!("{:+.1} %", part * 100.0)).unwrap_or_default()
}

/// Formats a difference with its sign.
fn signed(value: f64) -> String {
    if value > 0.0 {
        format!("+{}", shown(value))
    } else {
        shown(value)
    }
}

/// Formats a value with four digits, large numbers in full.
fn shown(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        large if large >= 1e4 => format!("{value:.0}"),
        _ => significant(value, 4),
    }
}
