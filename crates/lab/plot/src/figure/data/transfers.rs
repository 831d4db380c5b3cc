//! Completion times of transfers as rows: a transfer, or as many as have about the same time, in each.

use crate::names::{shown_as, sizes};
use afteryou_scenario::outcome::{Outcome, Quantiles, Run, SizeClass, Totals, SIZE_CLASSES};
use afteryou_scenario::{Flow, Traffic};

/// The name of the quantity.
pub const QUANTITY: &str = "completion";
/// The unit of the quantity.
pub const UNIT: &str = "s";

/// A row.
#[derive(Clone, Debug, PartialEq)]
pub struct Transfers {
    /// The flow, or the name that several flows have in common.
    pub of: String,
    /// Their sizes in words.
    pub size: String,
    /// How long they took, s.
    pub took_s: f64,
    /// How many transfers there are.
    pub number: f64,
}

/// Returns the completed transfers of a run: of flows with a size, and of applications that make several.
pub fn completed(outcome: &Outcome, run: &Run) -> Vec<Transfers> {
    let flow_of = |name: &str| outcome.scenario.flow.iter().find(|flow| flow.name == name);
    let known = run.totals.iter().filter_map(|totals| Some((flow_of(&totals.flow)?, totals)));
    known.flat_map(|(flow, totals)| of_flow(flow, totals)).collect()
}

fn of_flow(flow: &Flow, totals: &Totals) -> Vec<Transfers> {
    let of = shown_as(flow, true);
    if let (Traffic::Size(size), Some(took_s)) = (&flow.traffic, totals.completed_in_s) {
        let size = size_class(size.bytes());
        return vec![Transfers { of: of.to_owned(), size, took_s, number: 1.0 }];
    }
    let classes = totals.completions.iter().flat_map(|completions| &completions.classes);
    classes.flat_map(|class| of_class(of, class)).collect()
}

fn of_class<'a>(of: &'a str, class: &'a SizeClass) -> impl Iterator<Item = Transfers> + 'a {
    let number = class.time.samples as f64 / class.times_ms.len().max(1) as f64;
    let row = move |took_ms: &f64| Transfers {
        of: of.to_owned(),
        size: sizes(class),
        took_s: took_ms / 1e3,
        number,
    };
    class.times_ms.iter().map(row)
}

/// Returns the class of a transfer of this size, in words.
fn size_class(bytes: u64) -> String {
    let class = SIZE_CLASSES.partition_point(|to| *to <= bytes);
    sizes(&SizeClass {
        from_bytes: class.checked_sub(1).map_or(0, |before| SIZE_CLASSES[before]),
        to_bytes: SIZE_CLASSES.get(class).copied(),
        time: Quantiles::default(),
        times_ms: Vec::new(),
    })
}
