//! The headline of many runs: what one point has over its repetitions, or between which points a figure lies.
//!
//! The figure is how many times as long transfers of the foreground took, where it has any: goodput hides how long a user waits.
//! Otherwise it is the part of their goodput that foreground flows kept, where the runs have a baseline, or the mean time in the
//! queue. All are those of the first window, as in the pictures.

use super::pictures::{completion_ratio, kept, queue_ms};
use super::statistics::Estimate;
use super::{Brief, Points};
use crate::format::{ms, number, percent};

/// Returns a sentence, or nothing where no run measured either figure.
pub(crate) fn headline(briefs: &[Brief]) -> Option<String> {
    let points = Points::of(briefs);
    let estimates = |measure: fn(&Brief) -> Option<f64>| {
        let estimate = |runs: &Vec<&Brief>| {
            let values: Vec<f64> = runs.iter().filter_map(|brief| measure(brief)).collect();
            Some((Estimate::of(&values)?, runs[0].setting()))
        };
        let all: Vec<(Estimate, String)> = points.runs.iter().filter_map(estimate).collect();
        extremes(all)
    };
    if let Some((least, most)) = estimates(completion_ratio) {
        return Some(match most {
            None => {
                format!("Transfers of the foreground took {} times as long.", least.0.written(number))
            }
            Some(most) => format!(
                "Transfers of the foreground took longest, {} times as long as alone, with {}, and shortest, {} times, with {}.",
                most.0.written(number),
                most.1,
                least.0.written(number),
                least.1
            ),
        });
    }
    if let Some((least, most)) = estimates(kept) {
        return Some(match most {
            None => format!("The foreground kept {} of its goodput.", least.0.written(percent)),
            Some(most) => format!(
                "The foreground kept least of its goodput, {}, with {}, and most, {}, with {}.",
                least.0.written(percent),
                least.1,
                most.0.written(percent),
                most.1
            ),
        });
    }
    let (least, most) = estimates(queue_ms)?;
    Some(match most {
        None => format!("Packets waited {} on average.", least.0.written(ms)),
        Some(most) => format!(
            "Packets waited shortest on average, {}, with {}, and longest, {}, with {}.",
            least.0.written(ms),
            least.1,
            most.0.written(ms),
            most.1
        ),
    })
}

type Named = (Estimate, String);

/// The least and, where there is another, the most.
fn extremes(mut all: Vec<Named>) -> Option<(Named, Option<Named>)> {
    all.sort_by(|(a, _), (b, _)| a.mean.total_cmp(&b.mean));
    let most = (all.len() > 1).then(|| all.pop()).flatten();
    Some((all.into_iter().next()?, most))
}
