//! The plan of a drawing: which charts, in which order, with which names, colours and bands.
//!
//! The page and the figure both follow this plan, so that they never disagree. The numbers stay in the outcome; a curve has
//! their place.

use crate::escape::plain;
use crate::names;
use crate::palette::{self, Colour, MarkStyle, Shape, Style};
use crate::phases::Phases;
use afteryou_scenario::outcome::{Outcome, Run, Series};
use serde::Serialize;

/// The plan of a drawing.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Plan {
    /// End of the time axis, s. Above zero.
    pub end_s: f64,
    /// One chart for each quantity.
    pub charts: Vec<Chart>,
    /// Measured windows.
    pub bands: Vec<Band>,
    /// Kinds of marks of the run, in order of their first appearance.
    pub marks: Vec<MarkKind>,
    /// Phases of the run's controllers, where they were recorded.
    pub phases: Option<Phases>,
}

/// All curves of one quantity.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Chart {
    /// The quantity's name in the outcome.
    pub quantity: String,
    /// The quantity in words.
    pub title: String,
    /// Unit of the values.
    pub unit: String,
    /// The curves: each one of the run followed by its counterpart of the baseline.
    pub curves: Vec<Curve>,
}

/// One curve.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Curve {
    /// Whose it is.
    pub label: String,
    /// Whether it belongs to the baseline. If not, to the run.
    pub baseline: bool,
    /// Its place among the series of that run.
    pub index: usize,
    /// Colour and shape.
    pub style: Style,
    /// The mark of its style as a character; none for the link, whose mark is a line.
    pub glyph: &'static str,
}

/// A measured window.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Band {
    /// The band's name.
    pub name: String,
    /// From, s.
    pub from_s: f64,
    /// Until, s.
    pub to_s: f64,
    /// Windows that overlap are in different rows.
    pub row: usize,
}

/// A kind of marks.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MarkKind {
    /// The name of the kind.
    pub what: String,
    /// The number of moments.
    pub count: usize,
    /// Colour and shape.
    pub style: MarkStyle,
}

/// Colours of what surrounds the curves.
#[derive(Clone, Debug, Serialize)]
pub struct Surroundings {
    ink: Colour,
    faint: Colour,
    grid: Colour,
    band: Colour,
    band_opacity: f64,
    band_name: Colour,
}

/// The colours of what surrounds the curves.
pub const SURROUNDINGS: Surroundings = Surroundings {
    ink: palette::INK,
    faint: palette::FAINT_INK,
    grid: palette::GRID,
    band: palette::BAND,
    band_opacity: palette::BAND_OPACITY,
    band_name: palette::BAND_NAME,
};

/// Quantities in the order of their charts, and what they are called. Others follow as they come.
const QUANTITIES: &[(&str, &str)] = &[
    ("goodput", "Goodput"),
    ("throughput", "Throughput"),
    ("rate", "Rate"),
    ("pacing_rate", "Pacing rate"),
    ("queuing_delay", "Queuing delay"),
    ("one_way_delay", "One-way delay"),
    ("rtt", "Round-trip time"),
    ("base_delay", "Base delay"),
    ("target", "Delay target"),
    ("cwnd", "Congestion window"),
    ("ssthresh", "Slow-start threshold"),
    ("flightsize", "In flight"),
    ("losses", "Packets found lost"),
    ("marks", "ECN marks echoed"),
    ("gain", "Gain"),
];

/// No chart shows more overlapping windows than this one above the other.
const MOST_ROWS: usize = 4;

/// Values beyond this, on either side, are no measurements, and would make axes useless.
const LARGEST_VALUE: f64 = 1e12;

impl Plan {
    /// Returns the plan of drawing `outcome`.
    pub fn of(outcome: &Outcome) -> Plan {
        Plan {
            end_s: end(outcome),
            charts: charts(outcome),
            bands: bands(outcome),
            marks: mark_kinds(&outcome.run),
            phases: phases(outcome),
        }
    }

    /// Returns the chart of `quantity`, if any.
    pub fn chart(&self, quantity: &str) -> Option<&Chart> {
        self.charts.iter().find(|chart| chart.quantity == quantity)
    }

    /// Returns how many rows the bands take.
    pub fn band_rows(&self) -> usize {
        self.bands.iter().map(|band| band.row + 1).max().unwrap_or(0)
    }
}

impl Curve {
    /// Returns its numbers.
    pub fn series<'a>(&self, outcome: &'a Outcome) -> Option<&'a Series> {
        let run = if self.baseline { outcome.baseline.as_ref()? } else { &outcome.run };
        run.series.get(self.index)
    }
}

/// Returns time and value of every step of `series`; no value where nothing useful was measured.
pub fn points(series: &Series) -> impl Iterator<Item = (f64, Option<f64>)> + '_ {
    let usable = series.start_s.is_finite() && series.step_s.is_finite() && series.step_s > 0.0;
    let values = if usable { series.values.as_slice() } else { &[] };
    values.iter().enumerate().map(|(i, value)| {
        let value = value.filter(|value| value.abs() <= LARGEST_VALUE);
        (series.start_s + i as f64 * series.step_s, value)
    })
}

fn end(outcome: &Outcome) -> f64 {
    let runs = std::iter::once(&outcome.run).chain(&outcome.baseline);
    let ends = runs.flat_map(|run| {
        let last = |series| points(series).last().map_or(0.0, |(at, _)| at);
        run.series.iter().map(last).chain([run.duration_s])
    });
    let end = ends.filter(|end| *end <= LARGEST_VALUE).fold(0.0, f64::max);
    // Nothing ran: any axis will do, but it must have a length.
    if end > 0.0 {
        end
    } else {
        outcome.scenario.duration.as_secs_f64().max(1.0)
    }
}

fn charts(outcome: &Outcome) -> Vec<Chart> {
    let mut charts: Vec<Chart> = Vec::new();
    let runs = [(false, Some(&outcome.run)), (true, outcome.baseline.as_ref())];
    for (baseline, run) in runs {
        for (index, series) in run.into_iter().flat_map(|run| run.series.iter().enumerate()) {
            let curve = curve(outcome, baseline, index, series);
            let chart = charts.iter_mut().find(|c| c.quantity == series.quantity && c.unit == series.unit);
            match chart {
                Some(chart) => chart.curves.push(curve),
                None => charts.push(Chart {
                    quantity: series.quantity.clone(),
                    title: title(&series.quantity),
                    unit: series.unit.clone(),
                    curves: vec![curve],
                }),
            }
        }
    }
    for chart in &mut charts {
        sort_curves(outcome, &mut chart.curves);
    }
    // Stable: unknown quantities stay in the order in which they came.
    charts.sort_by_key(|chart| place(&chart.quantity));
    charts
}

fn curve(outcome: &Outcome, baseline: bool, index: usize, series: &Series) -> Curve {
    let style = palette::style(&outcome.scenario, &series.of);
    let glyph = if style.shape == Shape::Bar { "" } else { style.shape.glyph() };
    let suffix = if baseline { " (without background)" } else { "" };
    let name = names::shown_name(outcome, &series.of);
    Curve { label: format!("{}{suffix}", plain(name)), baseline, index, style, glyph }
}

/// Sorts curves: flows in the order of the scenario, then the rest; a curve of the baseline follows its own of the run.
fn sort_curves(outcome: &Outcome, curves: &mut [Curve]) {
    let flows = &outcome.scenario.flow;
    curves.sort_by_cached_key(|curve| {
        let of = curve.series(outcome).map_or("", |series| series.of.as_str());
        let flow = flows.iter().position(|flow| flow.name == of).unwrap_or(flows.len());
        (flow, of.to_owned(), curve.baseline, curve.index)
    });
}

fn place(quantity: &str) -> usize {
    QUANTITIES.iter().position(|(name, _)| *name == quantity).unwrap_or(QUANTITIES.len())
}

/// Returns a quantity in words.
fn title(quantity: &str) -> String {
    if let Some((_, title)) = QUANTITIES.iter().find(|(name, _)| *name == quantity) {
        return (*title).to_owned();
    }
    let words = plain(quantity).replace('_', " ");
    let mut letters = words.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => "Unnamed quantity".to_owned(),
    }
}

fn bands(outcome: &Outcome) -> Vec<Band> {
    let measured = outcome.run.windows.iter().map(|w| (w.window.as_str(), w.from_s, w.to_s));
    let mut spans: Vec<_> =
        measured.filter(|(_, from, to)| from.is_finite() && to.is_finite() && from < to).collect();
    // The longest of those that start together comes first, and so is on top of the others.
    spans.sort_by(|a, b| a.1.total_cmp(&b.1).then(b.2.total_cmp(&a.2)));
    let mut ends: Vec<f64> = Vec::new();
    let mut bands = Vec::new();
    for (name, from_s, to_s) in spans {
        let row = ends.iter().position(|end| *end <= from_s).unwrap_or(ends.len());
        if row == MOST_ROWS {
            continue;
        }
        match ends.get_mut(row) {
            Some(end) => *end = to_s,
            None => ends.push(to_s),
        }
        bands.push(Band { name: plain(name).into_owned(), from_s, to_s, row });
    }
    bands
}

fn phases(outcome: &Outcome) -> Option<Phases> {
    let names = outcome.scenario.flow.iter().map(|flow| flow.name.as_str());
    Phases::of(&outcome.run.phases, names.map(|name| (name, palette::style(&outcome.scenario, name))))
}

fn mark_kinds(run: &Run) -> Vec<MarkKind> {
    let mut kinds: Vec<MarkKind> = Vec::new();
    for mark in run.marks.iter().filter(|mark| mark.at_s.is_finite()) {
        match kinds.iter_mut().find(|kind| kind.what == mark.what) {
            Some(kind) => kind.count += 1,
            None => {
                kinds.push(MarkKind { what: mark.what.clone(), count: 1, style: palette::mark(&mark.what) });
            }
        }
    }
    kinds
}
