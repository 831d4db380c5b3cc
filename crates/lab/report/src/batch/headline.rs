//! The headline of many runs: what one point has over its repetitions, or between which points a figure lies.
//!
//! The figure is how many times as long transfers of the foreground took, where it has any: goodput hides how long a user waits.
//! Otherwise it is the part of their goodput that foreground flows kept, where the runs have a baseline, or the mean time in the
//! queue. All are those of the first window, as in the pictures.

use super::pictures::{completion_ratio, kept, queue_ms};
use super::{Brief, Points};
use afteryou_notation::format::{ms, number, percent};
use afteryou_plot::estimate::Estimate;

/// A figure in words.
struct Words {
    measure: fn(&Brief) -> Option<f64>,
    unit: fn(f64) -> String,
    /// Of a single point.
    one: fn(String) -> String,
    /// Of several points: the least and the most, each with its setting.
    several: fn(Named, Named) -> String,
}

/// A figure and the setting of its point.
type Named = (String, String);

/// In the order in which they are preferred.
const FIGURES: [Words; 3] = [
    Words {
        measure: completion_ratio,
        unit: number,
        one: |times| format!("Transfers of the foreground took {times} times as long."),
        several: |(least, at_least), (most, at_most)| {
            format!(
                "Transfers of the foreground took longest, {most} times as long as alone, with {at_most}, and shortest, {least} times, with {at_least}."
            )
        },
    },
    Words {
        measure: kept,
        unit: percent,
        one: |part| format!("The foreground kept {part} of its goodput."),
        several: |(least, at_least), (most, at_most)| {
            format!("The foreground kept least of its goodput, {least}, with {at_least}, and most, {most}, with {at_most}.")
        },
    },
    Words {
        measure: queue_ms,
        unit: ms,
        one: |time| format!("Packets waited {time} on average."),
        several: |(least, at_least), (most, at_most)| {
            format!("Packets waited shortest on average, {least}, with {at_least}, and longest, {most}, with {at_most}.")
        },
    },
];

/// Returns a sentence, or nothing where no run measured any of these figures.
pub(crate) fn headline(briefs: &[Brief]) -> Option<String> {
    let points = Points::of(briefs);
    FIGURES.iter().find_map(|words| words.of(&points))
}

impl Words {
    fn of(&self, points: &Points<'_>) -> Option<String> {
        let estimate = |runs: &Vec<&Brief>| {
            let values: Vec<f64> = runs.iter().filter_map(|brief| (self.measure)(brief)).collect();
            Some((Estimate::of(&values)?, runs[0].setting()))
        };
        let mut all: Vec<(Estimate, String)> = points.runs.iter().filter_map(estimate).collect();
        all.sort_by(|(a, _), (b, _)| a.mean.total_cmp(&b.mean));
        let most = if all.len() > 1 { all.pop() } else { None };
        let named = |(estimate, setting): (Estimate, String)| (estimate.written(self.unit), setting);
        let least = named(all.into_iter().next()?);
        Some(match most {
            None => (self.one)(least.0),
            Some(most) => (self.several)(least, named(most)),
        })
    }
}
