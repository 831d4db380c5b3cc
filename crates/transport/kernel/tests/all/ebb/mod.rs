//! Ebb in C beside that in Rust: recorded vectors, and millions of events of random paths in closed loop.

mod event;
mod path;
mod rule;

use crate::compiled::Compiled;
use crate::event::NUMBERS;
use crate::recorded::{first_other, recorded};
use afteryou_cc::ebb_core::Params;
use event::Event;
use path::{Path, Random};
use rule::{defaults, numbers, Ebb, PHASE};

const NAME: &str = "ebb";
/// Paths, and events of each.
const PATHS: u64 = 400;
const EVENTS: usize = 5_000;

type Replay<'a> = dyn FnMut(&[u64], &[[u64; NUMBERS]]) -> Vec<Vec<u64>> + 'a;

fn all_numbers(events: &[Event]) -> Vec<[u64; NUMBERS]> {
    events.iter().map(Event::numbers).collect()
}

/// Returns the first event after which the C has another answer than the one recorded. The parameters are the defaults of the C.
fn difference(replay: &mut Replay) -> Option<String> {
    let lines = recorded(NAME, NUMBERS).lines;
    let events: Vec<Event> = lines.iter().map(Event::of).collect();
    first_other(&lines, &replay(&[1448, 10], &all_numbers(&events)))
}

/// How often random paths have been in each phase, with a train, and the events of all.
#[derive(Debug, Default)]
struct Seen {
    events: usize,
    phases: [usize; 3],
    trains: usize,
}

/// A random path's parameters and events.
struct Case {
    params: Params,
    initial_packets: u64,
    events: Vec<Event>,
}

impl Case {
    fn new(seed: u64) -> Case {
        let mut random = Random::new(seed);
        let params = defaults(random.within(500, 1_500));
        let initial_packets = random.within(0, 20);
        let is_wild = seed % 4 == 3;
        let events = Path::new(random, is_wild).events(EVENTS, &mut Ebb::new(params, initial_packets));
        Case { params, initial_packets, events }
    }

    /// Returns the first event after which both differ.
    fn difference(&self, replay: &mut Replay, seen: &mut Seen) -> Option<String> {
        let in_c = replay(&numbers(&self.params, self.initial_packets), &all_numbers(&self.events));
        let mut rule = Ebb::new(self.params, self.initial_packets);
        for (i, (event, in_c)) in self.events.iter().zip(&in_c).enumerate() {
            rule.apply(event);
            let in_rust = rule.columns();
            if in_rust != *in_c {
                return Some(format!("event {i}: {in_c:?} after {event:?}, not {in_rust:?}"));
            }
            seen.events += 1;
            seen.phases[in_rust[PHASE] as usize] += 1;
            seen.trains += usize::from(rule.has_train());
        }
        None
    }
}

/// Compares both after each event of random paths.
fn compare(paths: u64, replay: &mut Replay) -> Seen {
    let mut seen = Seen::default();
    for seed in 0..paths {
        let difference = Case::new(seed).difference(replay, &mut seen);
        assert_eq!(difference, None, "path {seed}");
    }
    seen
}

#[test]
fn ebb_has_the_recorded_answers() {
    let Some(compiled) = Compiled::new("ebb-vectors") else { return };
    assert_eq!(difference(&mut |params, events| compiled.replay(NAME, params, events)), None);
}

#[test]
fn ebb_has_the_same_answers_on_any_path() {
    let Some(compiled) = Compiled::new("ebb-paths") else { return };
    let seen = compare(PATHS, &mut |params, events| compiled.replay(NAME, params, events));
    println!("{seen:?}");
    assert!(seen.events >= 2_000_000, "{seen:?}");
    assert!(seen.phases.iter().all(|times| *times >= 50_000) && seen.trains >= 5_000, "{seen:?}");
}

#[cfg(all(feature = "kernel", target_os = "linux", target_endian = "little"))]
#[test]
fn ebb_has_the_same_answers_as_ebpf() {
    // A call of the kernel for each event: a fiftieth of the others' paths.
    const FEW: u64 = PATHS / 50;
    let Some(mut ebpf) = crate::in_ebpf::InEbpf::new() else { return };
    let mut replay = |params: &[u64], events: &[[u64; NUMBERS]]| ebpf.replay(NAME, params, events);
    assert_eq!(difference(&mut replay), None);
    assert!(compare(FEW, &mut replay).events >= 40_000);
}

/// A constant or a line of the headers, and another in its place.
const CHANGES: &[(&str, &str)] = &[
    ("#define PROMPT_ROUNDS 4", "#define PROMPT_ROUNDS 400"),
    ("#define NOISE_WEIGHT 6", "#define NOISE_WEIGHT 5"),
    ("#define TOGETHER_DIVISOR 4", "#define TOGETHER_DIVISOR 3"),
    ("#define ROUND_LEAST_SAMPLES 4", "#define ROUND_LEAST_SAMPLES 5"),
    ("#define CAP_GROWS_BY 50", "#define CAP_GROWS_BY 49"),
    ("#define APART_ROUNDS 20", "#define APART_ROUNDS 200"),
    ("#define LOW_ROUND_TRIPS 6", "#define LOW_ROUND_TRIPS 7"),
    ("#define UNDECIDED_US 1000000", "#define UNDECIDED_US 1100000"),
    ("#define SHARE_ROUNDS 8", "#define SHARE_ROUNDS 7"),
    ("#define CALM_SAMPLES 2", "#define CALM_SAMPLES 3"),
    ("#define STEADY_ROUNDS 10", "#define STEADY_ROUNDS 60"),
    ("#define NOBODY RATIO(35, 100)", "#define NOBODY RATIO(5, 1000)"),
];

#[test]
fn random_paths_find_a_changed_constant() {
    let cases: Vec<Case> = (0..100).map(Case::new).collect();
    for (old, new) in CHANGES {
        let Some(compiled) = Compiled::changed("ebb-changed", old, new) else { return };
        let mut replay = |params: &[u64], events: &[[u64; NUMBERS]]| compiled.replay(NAME, params, events);
        let differs = |case: &Case| case.difference(&mut replay, &mut Seen::default()).is_some();
        assert!(cases.iter().any(differs), "no path differs with {new:?}");
    }
}
