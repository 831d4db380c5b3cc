//! A rule that panics, never returns or lets its window run away loses its own cells and nobody else's.

use crate::support::{cells, goals_of, played};
use std::time::Duration;

#[test]
fn a_rule_that_panics_or_hangs_fails_alone_and_says_why() {
    let both = played(&["panics", "hangs", "ledbat++"], cells(20), Duration::from_secs(3));
    let alone = played(&["ledbat++"], cells(20), Duration::from_secs(60));
    assert_eq!(both.runs[2], alone.runs[0]);
    let reasons = |entrant: usize| -> Vec<&String> {
        both.runs[entrant].iter().filter_map(|run| run.as_ref().err()).collect()
    };
    assert!(
        reasons(0).len() >= 8 && reasons(0).iter().all(|why| why.contains("panicked: broken on purpose"))
    );
    // After three cells the others are not waited for.
    let (silent, untried): (Vec<&String>, Vec<&String>) =
        reasons(1).into_iter().partition(|why| why.contains("did not return for 3 s"));
    assert!((3..=4).contains(&silent.len()), "{silent:?}");
    assert!(untried.iter().all(|why| why.contains("not tried")) && untried.len() >= 5);
    let goals = goals_of(&both);
    assert!(goals[0][0] < goals[2][0], "failed cells have the score 0");
}

#[test]
fn a_window_that_runs_away_ends_and_costs() {
    let season = played(&["runs-away", "ledbat++"], cells(20), Duration::from_secs(60));
    let goals = goals_of(&season);
    assert!(goals[0][0] < goals[1][0], "{} and {}", goals[0][0], goals[1][0]);
}
