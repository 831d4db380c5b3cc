//! The points of a plan, and their names.

use crate::dummy::{experiment, Dummy};
use afteryou_engines::{find, Choices, Error, Plan, Point};
use afteryou_scenario_file::Experiment;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::ops::ControlFlow;

const FILE: &str = "
    name = 'two rates'
    duration = '5 s'
    seed = 7
    repeat = 3
    baseline = 'without background'
    [link]
    rate = '5 Mbit/s'
    buffer = '50 packets'
    [[flow]]
    name = 'call'
    traffic = { cbr = '64 kbit/s', payload = '160 B' }
    rtt = '20 ms'
    [[flow]]
    name = 'backup'
    role = 'background'
    controller = 'ledbat++,target=40ms'
    rtt = { uniform = ['20 ms', '50 ms'] }
    [sweep]
    'link.rate' = ['1 Mbit/s', '5 Mbit/s']
    ";

fn plan(file: &str, sets: &[&str], choices: Choices) -> Plan {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    let experiment = Experiment::parse(file, "file.toml", &sets).unwrap_or_else(|error| panic!("{error}"));
    Plan::new(find("sim").unwrap(), &experiment, choices).unwrap()
}

fn hashes(plan: &Plan) -> Vec<String> {
    plan.points.iter().map(|point| point.hash().to_string()).collect()
}

#[test]
fn a_plan_has_every_combination_with_every_repetition_as_a_pair() {
    let plan = plan(FILE, &[], Choices::default());
    let place = |point: &Point| {
        assert!(point.scenario.baseline && point.engine == "sim");
        (point.settings["link.rate"].clone(), point.repetition, point.scenario.seed)
    };
    let places: Vec<_> = plan.points.iter().map(place).collect();
    let rates = ["1 Mbit/s", "5 Mbit/s"];
    let expected = rates.iter().flat_map(|rate| (1..=3).map(|i| ((*rate).to_owned(), i, 6 + u64::from(i))));
    assert_eq!(places, expected.collect::<Vec<_>>());
    assert_eq!(plan.name, "two rates");
}

#[test]
fn the_same_plan_has_the_same_hashes_however_its_file_is_written() {
    let written = plan(FILE, &[], Choices::default());
    // Other quotes, other spaces, other order of keys and other words for the same quantities.
    let other = FILE
        .replace('\'', "\"")
        .replace("\n    ", "\n")
        .replace("seed = 7\nrepeat = 3\n", "repeat = 3\nseed = 7\n")
        .replace("\"5 Mbit/s\"", "\"5000kbit/s\"")
        .replace("\"ledbat++,target=40ms\"", "{ kind = \"ledbat++\", target = \"40ms\" }");
    assert_ne!(other, FILE);
    assert_eq!(hashes(&written), hashes(&plan(&other, &[], Choices::default())));
    assert_eq!(written.hash(), plan(&other, &[], Choices::default()).hash());
    assert_eq!(hashes(&written).iter().collect::<BTreeSet<_>>().len(), 6, "each point has its own");
}

/// If this fails while no field of a scenario has changed, results stored under their hash are lost.
#[test]
fn a_hash_is_the_same_on_every_machine() {
    let plan = plan(FILE, &["sweep=none"], Choices { seed: Some(u64::MAX), repeat: Some(1) });
    let point = Point { version: "1.2.3".to_owned(), ..plan.points[0].clone() };
    let expected = "4e1f7142fa25bbcb2c8874611004140d6fcc7a2d88fbdc4d0f8d06ce3aa0b1c2";
    let canonical = afteryou_scenario::content::canonical(&point.scenario).unwrap();
    assert!(canonical.contains("\"seed\":18446744073709551615"), "{canonical}");
    assert_eq!(point.hash().to_string(), expected, "{canonical}");
}

#[test]
fn a_changed_seed_setting_or_engine_changes_every_hash_and_a_label_none() {
    let before: BTreeSet<_> = hashes(&plan(FILE, &[], Choices::default())).into_iter().collect();
    let seed = Choices { seed: Some(100), repeat: None };
    for (sets, choices) in [
        (&[][..], seed),
        (&["flow.backup.controller.target=41 ms"], Choices::default()),
        (&["flow.call.rtt=21 ms"], Choices::default()),
        (&["duration=6 s"], Choices::default()),
        (&["baseline=none"], Choices::default()),
        (&["link.loss=0.1 %"], Choices::default()),
    ] {
        let after: BTreeSet<_> = hashes(&plan(FILE, sets, choices)).into_iter().collect();
        assert!(before.is_disjoint(&after), "{sets:?}");
    }
    let point = plan(FILE, &[], Choices::default()).points.swap_remove(0);
    let other = Point { engine: "bed".to_owned(), ..point.clone() };
    assert_ne!(point.hash(), other.hash());
    let other = Point { version: "99.0.0".to_owned(), ..point.clone() };
    assert_ne!(point.hash(), other.hash());
    let renamed = Point { settings: Default::default(), repetition: 9, ..point.clone() };
    assert_eq!(point.hash(), renamed.hash(), "where it was found in a sweep does not change what is run");
}

#[test]
fn a_point_carries_all_that_its_run_needs() {
    let plan = plan(FILE, &["duration=1 s"], Choices::default());
    let json = serde_json::to_string(&plan).unwrap();
    let read: Plan = serde_json::from_str(&json).unwrap();
    assert_eq!((&read, read.hash()), (&plan, plan.hash()));
    let there = read.points[4].run(&mut |_| ControlFlow::Continue(())).unwrap();
    let here = plan.points[4].run(&mut |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(there, here);
    assert_eq!(there.content_hash, plan.points[4].hash(), "a stored result is found by its point");
    assert_eq!((there.point, there.repetition), (plan.points[4].settings.clone(), 2));
    assert!(there.baseline.is_some(), "a pair");
}

proptest! {
    #[test]
    fn points_with_different_seeds_have_different_hashes_and_equal_ones_equal(a: u64, b: u64) {
        let hash = |seed| plan(FILE, &[], Choices { seed: Some(seed), repeat: Some(1) }).points[0].hash();
        prop_assert_eq!(hash(a) == hash(b), a == b);
    }
}

#[test]
fn what_an_engine_does_not_support_is_shown_at_its_line() {
    let shown = |engine: &str, sets: &[String]| {
        let experiment = Experiment::parse(FILE, "file.toml", sets).unwrap();
        Plan::new(find(engine).unwrap(), &experiment, Choices::default()).unwrap_err()
    };
    let error = shown("bed", &["flow.backup.transport={ kind = \"utp\", skew = 50 }".to_owned()]);
    assert!(error.is_usage());
    let text = error.to_string();
    assert!(text.contains("(flow \"backup\") is not done with real packets yet"), "{text}");
    assert!(text.contains("--> --set flow.backup"), "at the assignment: {text}");
    let text = shown("fluid", &["flow.backup.controller=nice".to_owned()]).to_string();
    assert!(text.contains("no fluid model of nice") && text.contains("--> --set flow.backup"), "{text}");
    let own = Dummy::default();
    let swept = experiment("sweep.\"link.queue\" = [\"droptail\", \"codel\"]");
    let text = Plan::new(&own, &swept, Choices::default()).unwrap_err().to_string();
    assert!(text.starts_with("codel is too much for a dummy\n --> dummy.toml:4:35"), "at the value: {text}");
}

#[test]
fn trials_of_the_equations_are_repetitions_for_them_alone() {
    let file = FILE.replace("[sweep]", "[fluid]\ntrials = 5\n[sweep]");
    let experiment = Experiment::parse(&file, "file.toml", &[]).unwrap();
    let runs = |engine: &str, repeat| {
        let choices = Choices { seed: None, repeat };
        Plan::new(find(engine).unwrap(), &experiment, choices).unwrap().points.len()
    };
    assert_eq!([runs("sim", None), runs("fluid", None), runs("fluid", Some(1))], [6, 10, 2]);
}

#[test]
fn an_unknown_engine_is_answered_with_the_nearest() {
    let text = find("sum").err().unwrap().to_string();
    assert_eq!(text, "there is no engine \"sum\": did you mean \"sim\"? use one of sim, fluid, bed");
    let point = plan(FILE, &["sweep=none"], Choices::default()).points.swap_remove(0);
    let ended = point.run_with(find("fluid").unwrap(), &mut |_| ControlFlow::Continue(()));
    assert!(matches!(ended, Err(Error::OtherEngine { .. })));
    let newer = Point { version: "99.0.0".to_owned(), ..point.clone() };
    let text = newer.run(&mut |_| ControlFlow::Continue(())).unwrap_err().to_string();
    assert!(text.starts_with("this point is for the engine sim 99.0.0 and was given to sim "), "{text}");
    let lost = Point { engine: "other".to_owned(), ..point };
    assert!(matches!(lost.run(&mut |_| ControlFlow::Continue(())), Err(Error::UnknownEngine(_))));
}
