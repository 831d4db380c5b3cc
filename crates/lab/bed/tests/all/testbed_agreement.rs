//! The judgement of `testbed_agreement`: figures of few runs count only if they are within the bounds.

#[path = "../../examples/testbed_agreement/judge.rs"]
#[expect(dead_code, reason = "the example prints more")]
mod judge;
#[path = "../../examples/testbed_agreement/rows.rs"]
#[expect(dead_code, reason = "the scenarios are the example's")]
mod rows;

use judge::{Figures, Measured, Simulated, Verdict};
use rows::Judgement;

const JUDGEMENT: Judgement = Judgement::OF_MEANS;

fn figures(utilisation: f64) -> Figures {
    Figures { utilisation, share: Some(56.8), queue_ms: 3.5 }
}

fn simulated(deviation: f64) -> Simulated {
    Simulated { middle: figures(96.6), deviation }
}

#[test]
fn one_run_within_the_bounds_is_enough_if_one_was_asked_for() {
    let verdict = Measured::of(1).add(figures(95.1), &simulated(0.8), &JUDGEMENT);
    assert!(matches!(verdict, Verdict::Judged(misses) if misses.is_empty()));
}

#[test]
fn one_run_beyond_a_bound_counts_only_with_as_many_runs_as_the_bounds_are_for() {
    let mut row = Measured::of(1);
    let verdict = row.add(figures(93.5), &simulated(0.8), &JUDGEMENT);
    assert!(matches!(verdict, Verdict::RunsAgain(seeds) if seeds == (2..=3)));
    assert!(matches!(row.add(figures(95.1), &simulated(0.8), &JUDGEMENT), Verdict::Waits));
    let verdict = row.add(figures(94.9), &simulated(0.8), &JUDGEMENT);
    assert!(matches!(verdict, Verdict::Judged(misses) if misses.is_empty()));
}

#[test]
fn a_mean_beyond_a_bound_is_a_miss() {
    let mut row = Measured::of(1);
    for _ in 0..2 {
        row.add(figures(93.5), &simulated(0.8), &JUDGEMENT);
    }
    let verdict = row.add(figures(93.4), &simulated(0.8), &JUDGEMENT);
    assert!(matches!(verdict, Verdict::Judged(misses) if misses == ["utilisation"]));
}

#[test]
fn shares_that_differ_much_require_more_runs() {
    let verdict = Measured::of(1).add(figures(93.5), &simulated(7.0), &JUDGEMENT);
    assert!(matches!(verdict, Verdict::RunsAgain(seeds) if seeds == (2..=13)));
}
