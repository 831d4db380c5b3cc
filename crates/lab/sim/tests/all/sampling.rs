//! Samples of controllers: at the instants that were asked for, and without a trace in what is measured.

use crate::support::*;
use afteryou_base::{Span, Time};
use afteryou_scenario::passage::{Fate, Passage};
use afteryou_scenario::Checked;
use afteryou_scenario_file::Experiment;
use afteryou_sim::{Watchers, NEVER};
use std::collections::BTreeMap;
use std::ops::ControlFlow;

#[test]
fn a_run_measures_the_same_with_samples_and_without() {
    let flows = vec![flow("one", "ledbat++", 50), flow("two", "cubic", 20)];
    let scenario = scenario(link("10 Mbit/s", "100 ms"), 10.0, 2.0, flows).checked().unwrap();
    let mut samples = 0;
    let every = Span::from_micros(7_001);
    let outcome =
        afteryou_sim::sampled(&scenario, &mut |_| ControlFlow::Continue(()), every, &mut |_| samples += 1)
            .expect("a run");
    assert_eq!(outcome, run(&scenario));
    assert_eq!(samples, 2 * (10_000_000 / 7_001 + 1));
}

#[test]
fn a_sample_holds_what_holds_after_everything_at_its_instant() {
    let flows = vec![flow("one", "newreno", 50)];
    let scenario = scenario(link("10 Mbit/s", "100 ms"), 10.0, 2.0, flows).checked().unwrap();
    let mut windows = Vec::new();
    let take = &mut |sample: afteryou_sim::Sample<'_>| windows.push((sample.at, sample.snapshot.cwnd));
    let outcome =
        afteryou_sim::sampled(&scenario, &mut |_| ControlFlow::Continue(()), Span::from_millis(100), take)
            .expect("a run");
    assert_eq!(windows.first(), Some(&(Time::ZERO, 10 * 1448)), "the initial window");
    // The recorder looks at the same instants, but may do so before the packets of that instant.
    let curve = outcome.curve("one", "cwnd");
    let agree = curve.iter().zip(&windows[1..]).filter(|((_, kb), (_, bytes))| *kb == *bytes as f64 / 1e3);
    assert!(agree.count() * 100 >= curve.len() * 95);
}

/// What a tap may rely on.
#[derive(Default)]
struct Order {
    known: Time,
    /// The last packet of each link that was reported before its time.
    early: BTreeMap<usize, Time>,
}

impl Order {
    fn check(&mut self, passage: &Passage<'_>) {
        assert!(self.known <= passage.known && passage.known <= passage.at, "no report comes late");
        self.known = passage.known;
        if passage.at > passage.known {
            let before = self.early.insert(passage.link, passage.at);
            assert!(before <= Some(passage.at), "early reports of a link are in the order of time");
        }
    }
}

#[test]
fn a_run_measures_the_same_with_a_tap_and_without() {
    let flows = vec![flow("one", "ledbat++", 50), flow("two", "cubic", 20)];
    let scenario = scenario(link("10 Mbit/s", "100 ms"), 10.0, 2.0, flows).checked().unwrap();
    let end = Time(scenario.duration.0 .0);
    let (mut sent, mut dropped, mut order) = (0, 0, Order::default());
    let tap = &mut |passage: &Passage<'_>| {
        order.check(passage);
        match passage.fate {
            // Certain, and not begun at the end.
            Fate::Sent if passage.at > end => {}
            Fate::Sent => sent += u64::from(passage.link == 0),
            _ => dropped += u64::from(passage.link == 0),
        }
    };
    let watchers = Watchers { every: NEVER, take: &mut |_| {}, tap: Some(tap), observers: None };
    let outcome =
        afteryou_sim::watched(&scenario, &mut |_| ControlFlow::Continue(()), watchers).expect("a run");
    assert_eq!(outcome, run(&scenario));
    let packets = outcome.run.links[0].packets.expect("counted");
    assert_eq!(dropped, packets.dropped);
    // A packet that is being sent at the end was seen, and is not delivered.
    assert!((packets.delivered..=packets.delivered + packets.unfinished).contains(&sent));
}

/// A swarm whose access links have one rate, so that packets arrive at the very instants at which others begin to be sent.
const SWARM: &str = r#"
    duration = "8 s"
    [[hosts]]
    name = "peers"
    count = 12
    up = "10 Mbit/s"
    down = "10 Mbit/s"
    queue = "30 packets"
    rtt = "50 ms"
    [[flow]]
    controller = "ledbat"
    hosts = "peers"
    traffic = { swarm = { chunk = "250 kB", persist = 0.5 } }
    [[flow]]
    name = "web"
    controller = "newreno"
    hosts = "peers"
    traffic = { downloads = 8, size = { uniform = ["1 B", "512 kB"] } }
"#;

fn from_text(text: &str) -> Checked {
    let experiment = Experiment::parse(text, "test.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
    experiment.runs(None, None).unwrap().remove(0).scenario
}

#[test]
fn a_swarm_measures_the_same_with_a_tap_and_with_recorded_queues() {
    let scenario = from_text(SWARM);
    let mut order = Order::default();
    let tap = &mut |passage: &Passage<'_>| order.check(passage);
    let watchers = Watchers { every: NEVER, take: &mut |_| {}, tap: Some(tap), observers: None };
    let tapped =
        afteryou_sim::watched(&scenario, &mut |_| ControlFlow::Continue(()), watchers).expect("a run");
    let plain = run(&scenario);
    assert!(
        plain.run.links.iter().filter_map(|link| link.packets).map(|packets| packets.dropped).sum::<u64>()
            > 100
    );
    assert_eq!(tapped, plain);
    let recorded = run(&from_text(&format!("record = [\"queues\"]\n{SWARM}")));
    assert_eq!((recorded.run.totals, recorded.run.links), (plain.run.totals, plain.run.links));
}
