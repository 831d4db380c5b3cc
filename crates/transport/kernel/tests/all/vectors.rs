//! The recorded vectors of afteryou-cc, replayed in C.

use crate::compiled::Compiled;
use crate::event::{Event, NUMBERS};
use crate::recorded::{first_other, recorded};
use crate::rules::{Carofiglio, PlusPlus, Rfc6817, Rule};
use std::collections::HashMap;

/// Cells of an event.
const CELLS: usize = 8;

/// Returns a rule's parameters as the C has them.
fn params<R: Rule>(recorded: &str) -> Vec<u64> {
    let values: HashMap<&str, u64> = recorded
        .split(' ')
        .map(|param| param.split_once('=').unwrap())
        .map(|(name, value)| (name, value.parse().unwrap()))
        .collect();
    R::PARAMS.iter().map(|(name, _)| values[name]).collect()
}

/// Returns the first event after which the C has another state than the one recorded.
fn first_difference<R: Rule>(compiled: &Compiled) -> Option<String> {
    difference::<R>(|params, events| compiled.replay(R::NAME, params, events))
}

fn difference<R: Rule>(replay: impl FnOnce(&[u64], &[[u64; NUMBERS]]) -> Vec<Vec<u64>>) -> Option<String> {
    let recorded = recorded(R::NAME, CELLS);
    let numbers: Vec<_> = recorded.lines.iter().map(|line| Event::of(line).numbers()).collect();
    let replayed = replay(&params::<R>(&recorded.params), &numbers);
    first_other(&recorded.lines, &replayed).map(|other| format!("{}, {other}", R::NAME))
}

#[test]
fn each_rule_has_the_recorded_states() {
    let Some(compiled) = Compiled::new("vectors") else { return };
    assert_eq!(first_difference::<Rfc6817>(&compiled), None);
    assert_eq!(first_difference::<Carofiglio>(&compiled), None);
    assert_eq!(first_difference::<PlusPlus>(&compiled), None);
}

#[cfg(all(feature = "kernel", target_os = "linux", target_endian = "little"))]
#[test]
fn each_rule_has_the_recorded_states_as_ebpf() {
    let Some(mut ebpf) = crate::in_ebpf::InEbpf::new() else { return };
    let mut replay = |rule, params: &[u64], events: &[[u64; NUMBERS]]| ebpf.replay(rule, params, events);
    assert_eq!(difference::<Rfc6817>(|params, events| replay(Rfc6817::NAME, params, events)), None);
    assert_eq!(difference::<Carofiglio>(|params, events| replay(Carofiglio::NAME, params, events)), None);
    assert_eq!(difference::<PlusPlus>(|params, events| replay(PlusPlus::NAME, params, events)), None);
}

/// A constant or a line of the headers, another in its place, and how the vectors of a rule find that out.
type Change = (&'static str, &'static str, fn(&Compiled) -> Option<String>);

const CHANGES: &[Change] = &[
    ("#define MINUTE_NS 60000000000ULL", "#define MINUTE_NS 61000000000ULL", first_difference::<Rfc6817>),
    ("#define FULL U32_MAX", "#define FULL (U32_MAX - 1)", first_difference::<Rfc6817>),
    ("#define BYTES16_MAX (1ULL << 56)", "#define BYTES16_MAX (1ULL << 55)", first_difference::<PlusPlus>),
    ("#define FLOOR_PACKETS 2", "#define FLOOR_PACKETS 3", first_difference::<PlusPlus>),
    ("#define FIRST_WAIT_RTTS 2", "#define FIRST_WAIT_RTTS 3", first_difference::<PlusPlus>),
    ("#define FREEZE_RTTS 2", "#define FREEZE_RTTS 3", first_difference::<PlusPlus>),
    ("#define WAIT_FACTOR 9", "#define WAIT_FACTOR 8", first_difference::<PlusPlus>),
];

#[test]
fn the_vectors_find_a_changed_constant() {
    for (old, new, difference) in CHANGES {
        let Some(compiled) = Compiled::changed("changed", old, new) else { return };
        assert!(difference(&compiled).is_some(), "no vector differs with {new:?}");
    }
}
