//! A controller that is wrong falls in the table, and the goal that shows it is the one that it should be.

use crate::support::{cells, goals_of, played};
use afteryou_league::{Scores, GOALS};
use std::time::Duration;

/// Each fault, the same controller without it, and goals of which one at least has to show it.
const FAULTS: &[(&str, &str, &[&str])] = &[
    ("gain", "ledbat++", &["kept", "completion", "delay"]),
    ("ledbat,target=400ms", "ledbat", &["kept", "completion", "delay"]),
    ("deaf", "ledbat++", &["kept", "completion"]),
    ("unpaced", "ledbat++", &["start", "alone", "recovery"]),
    ("silent", "ledbat++", &["harvest", "recovery", "start", "alone"]),
];
/// A goal shows a fault if it falls by so much.
const SHOWS: f64 = 0.02;

#[test]
fn every_fault_costs_score_and_the_goal_that_shows_it_has_a_name() {
    let mut names = vec!["ledbat++", "ledbat"];
    names.extend(FAULTS.iter().map(|(name, ..)| *name));
    let season = played(&names, cells(2), Duration::from_secs(60));
    let scores = Scores::of(&season, &[1.0; GOALS.len()]);
    let place = |name: &str| names.iter().position(|other| *other == name).unwrap();
    let total = |name: &str| {
        scores.standings.iter().find(|standing| standing.entrant == place(name)).unwrap().total.mean
    };
    let goals = goals_of(&season);
    for (name, sound, expected) in FAULTS {
        let falls = |goal: usize| goals[place(sound)][goal] - goals[place(name)][goal];
        let shown: Vec<&str> =
            (0..GOALS.len()).filter(|goal| falls(*goal) > SHOWS).map(|goal| GOALS[goal].name).collect();
        println!("{name}: {:.3}, {sound}: {:.3}, shown by {shown:?}", total(name), total(sound));
        assert!(total(name) < total(sound), "{name} has {} and {sound} has {}", total(name), total(sound));
        assert!(
            shown.iter().any(|goal| expected.contains(goal)),
            "{name} is shown by {shown:?}, not by any of {expected:?}"
        );
    }
}

#[test]
fn a_rule_that_never_sends_wins_kept_and_nothing_else() {
    let season = played(&["silent", "ledbat++"], cells(4), Duration::from_secs(60));
    let goals = goals_of(&season);
    let kept = GOALS.iter().position(|goal| goal.name == "kept").unwrap();
    assert!(goals[0][kept] > 0.99 && goals[0][kept] > goals[1][kept]);
    assert_eq!(Scores::of(&season, &[1.0; GOALS.len()]).standings[0].entrant, 1, "ledbat++ is first");
}
