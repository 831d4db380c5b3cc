//! Pictures of a sweep's page: the figures that most sweeps are made for, over a varied setting.

use super::{Brief, Points};
use crate::completions::Completion;
use afteryou_plot::{Data, Figure, Kind};
use afteryou_scenario::outcome::LinkFigures;
use afteryou_scenario::Role;

/// More curves than this cannot be distinguished.
const MOST_CURVES: usize = 12;

/// A figure of a run, in its first window; none where it was not measured.
type Measure = fn(&Brief) -> Option<f64>;

/// Columns and their values. The ends of their names are units.
const MEASURES: [(&str, Measure); 7] = [
    ("completion_mean_ratio", completion_ratio),
    ("completion_mean_s", |brief| completion(brief)?.cost().completion_mean_s),
    ("completion_p95_s", |brief| completion(brief)?.cost().completion_p95_s),
    ("kept_by_the_foreground_ratio", kept),
    ("foreground_goodput_bit_s", |brief| goodput(brief, Role::Foreground)),
    ("background_goodput_bit_s", |brief| goodput(brief, Role::Background)),
    ("queuing_delay_mean_ms", queue_ms),
];

/// Draws a picture of each figure that was measured, if the sweep varies a setting and few curves show the others.
pub fn pictures(briefs: &[Brief]) -> Vec<String> {
    let points = Points::of(briefs);
    let settings: Vec<String> = points.axes.iter().map(|name| (*name).to_owned()).collect();
    let data = data(briefs, &settings);
    let is_number = |name: &&String| data.column(name).is_ok_and(|place| data.numbers(place).is_some());
    let values = |name: &String| {
        let mut values: Vec<&String> = briefs.iter().filter_map(|brief| brief.point.get(name)).collect();
        values.sort();
        values.dedup();
        values.len()
    };
    // The longest axis of numbers, or else the first one of words.
    let numbers = settings.iter().filter(is_number).max_by_key(|name| values(name));
    let Some(x) = numbers.or(settings.first()) else { return Vec::new() };
    let by: Vec<String> = settings.iter().filter(|name| *name != x).cloned().collect();
    if by.iter().map(values).product::<usize>() > MOST_CURVES {
        return Vec::new();
    }
    let kind = if is_number(&x) { Kind::Line } else { Kind::Bar };
    let draw = |(name, _): &(&str, Measure)| {
        let (x, y, by) = (Some(x.clone()), (*name).to_owned(), by.clone());
        // A figure that no run has is left out.
        Figure { kind: Some(kind), x, y, by, ..Figure::default() }.draw_of(data.clone()).ok()
    };
    MEASURES.iter().filter_map(draw).collect()
}

/// Returns a row for each run.
fn data(briefs: &[Brief], settings: &[String]) -> Data {
    let measures = MEASURES.iter().map(|(name, _)| (*name).to_owned());
    let columns = settings.iter().cloned().chain(measures).collect();
    let row = |brief: &Brief| {
        let values = settings.iter().map(|name| brief.point.get(name).cloned().unwrap_or_default());
        let measured = MEASURES.iter().map(|(_, measure)| measure(brief).map(|value| value.to_string()));
        values.chain(measured.map(Option::unwrap_or_default)).collect()
    };
    Data { columns, rows: briefs.iter().map(row).collect(), ..Data::default() }
}

/// Returns the transfers of the foreground that suffered most in the first window, or of flows that end.
fn completion(brief: &Brief) -> Option<&Completion> {
    let first = brief.windows.first().map(|window| window.window.as_str());
    let counts = |one: &&Completion| one.window.is_none() || one.window.as_deref() == first;
    let harm = |one: &Completion| {
        let cost = one.cost();
        cost.completion_mean_ratio.or(cost.completion_mean_s).unwrap_or(f64::INFINITY)
    };
    // Of several that suffered as much the first.
    let all: Vec<&Completion> = brief.of_foreground().filter(counts).collect();
    all.into_iter().rev().max_by(|a, b| harm(a).total_cmp(&harm(b)))
}

/// Returns the ratio of their mean times with the background and without.
pub(super) fn completion_ratio(brief: &Brief) -> Option<f64> {
    completion(brief)?.cost().completion_mean_ratio
}

/// Returns the mean of the kept parts over the foreground flows, as a part of 1.
pub(super) fn kept(brief: &Brief) -> Option<f64> {
    let window = &brief.windows.first()?.window;
    let flows = brief.flows.iter().filter(|flow| flow.window == *window);
    let kept: Vec<f64> = flows.filter_map(|flow| flow.kept).collect();
    (!kept.is_empty()).then(|| kept.iter().sum::<f64>() / kept.len() as f64)
}

/// Returns the mean time in the first link's queue.
pub(super) fn queue_ms(brief: &Brief) -> Option<f64> {
    Some(first_link(brief)?.queuing_delay?.mean_ms)
}

fn goodput(brief: &Brief, role: Role) -> Option<f64> {
    let mut flows = brief.windows.first()?.flows.iter().filter(|flow| flow.role == role).peekable();
    flows.peek()?;
    Some(flows.fold(0.0, |sum, flow| sum + flow.goodput_bit_s))
}

fn first_link(brief: &Brief) -> Option<&LinkFigures> {
    brief.links.first()?.figures(brief.windows.first()?)
}
