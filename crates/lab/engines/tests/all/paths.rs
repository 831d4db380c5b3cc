//! The hard paths of `bench/paths`, in short forms.

use crate::{day, low_satellite, support};
use afteryou_notation::Algorithm;
use afteryou_scenario_file::Experiment;
use std::fs;

#[test]
fn in_two_hours_of_changing_traffic_bases_come_back_and_no_free_path_stays_unused() {
    // Vegas keeps the least round trip permanently. LEDBAT++ forgets after ten minutes, so that a longer upload's queue becomes its base, at
    // most the buffer's 300 ms.
    let rules = [("vegas", 2.0, 10.0), ("ledbat++", 300.0, 10.0), ("nice", 2.0, 30.0), ("ebb", 3.0, 10.0)];
    for (rule, error_ms, unused_s) in rules {
        let day = day::run(&Algorithm::named(rule), 2, 1).unwrap();
        println!("{rule}: {day:?}");
        assert!(day.error_ms.unwrap() <= error_ms && day.drift_ms.unwrap().abs() <= 2.0, "{day:?}");
        assert!(day.unused_s <= unused_s, "{rule} left a free path unused for {} s", day.unused_s);
        // Nice is slow at first: the measure sees it.
        assert!(rule != "nice" || day.unused_s >= 10.0, "{day:?}");
        assert!(day.used > 0.8 && (0.3..1.0).contains(&day.free), "{day:?}");
    }
}

#[test]
fn another_seed_has_another_day_and_every_day_is_a_scenario() {
    assert_ne!(day::scenario(5, 1), day::scenario(5, 2));
    for seed in 1..4 {
        let text = day::scenario(24, seed);
        let experiment = Experiment::parse(&text, "day.toml", &[]).unwrap();
        let runs = experiment.runs(None, None).unwrap();
        let names: Vec<&str> = runs[0].scenario.flow.iter().map(|flow| flow.name.as_str()).collect();
        assert_eq!(names, ["backup", "upload", "bursts", "call"]);
    }
}

#[test]
fn the_low_satellite_of_the_scenario_file_is_draw_1_and_jumps_by_10_to_40_ms() {
    let csv = fs::read_to_string(support::file("low-satellite.csv")).unwrap();
    assert_eq!(csv, low_satellite::csv(1));
    let text = fs::read_to_string(support::file("low-satellite.toml")).unwrap();
    assert!(text.contains(&low_satellite::delay_steps(1)), "delay = {}", low_satellite::delay_steps(1));
    for draw in 1..20 {
        let delays = low_satellite::delays_ms(draw);
        assert!(delays.windows(2).all(|pair| (10.0..=40.0).contains(&(pair[1] - pair[0]).abs())));
        assert!(low_satellite::rates_mbit(draw).iter().all(|rate| (10.0..1000.0).contains(rate)));
    }
}

/// The capacity falls to a third within seconds, and the base delay jumps: neither is a queue of others, and a train finds out.
#[test]
fn over_a_low_satellite_ebb_takes_two_thirds_alone_and_a_call_waits_for_no_queue() {
    let (share, delay_ms) = low_satellite::measured(&Algorithm::named("ebb"), 1).unwrap();
    assert!(
        share >= 0.62 && delay_ms <= 50.0,
        "{share:.2} alone, 95 % of a call's packets within {delay_ms:.1} ms"
    );
}

#[test]
fn the_paths_are_scenario_files_that_take_any_rule() {
    let rule: Algorithm = "ledbat++,target=25ms".parse().unwrap();
    for (file, flow) in [("long-transfer.toml", "transfer"), ("low-satellite.toml", "backup")] {
        let sets = [support::with_rule(flow, &rule), "repeat=1".to_owned()];
        let experiment = Experiment::read(&support::file(file), &sets).unwrap();
        let scenario = &experiment.runs(None, None).unwrap()[0].scenario;
        let flow = scenario.flow.iter().find(|other| other.name == flow).unwrap();
        assert_eq!(flow.controller.as_ref(), Some(&rule));
    }
    assert_eq!((support::median(vec![3.0, 1.0, 2.0]), support::median(vec![1.0, 2.0])), (2.0, 1.5));
}
