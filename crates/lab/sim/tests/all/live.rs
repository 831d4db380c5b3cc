//! The network without applications: the same packets at the same times give what the simulator measures.

use afteryou_base::{Span, Time};
use afteryou_scenario::outcome::{LinkFigures, Run, Series};
use afteryou_scenario::passage::Content;
use afteryou_scenario::{Checked, Passage};
use afteryou_scenario_file::Experiment;
use afteryou_sim::live::{Live, Measured, Real};
use afteryou_sim::{watched, Sample, Watchers, NEVER};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

/// A call of 100 bytes every 4 ms over two links, beside a flow that is not there when packets are ours.
const CALLS: &str = r#"
duration = "20 s"
seed = 3

[[link]]
name = "first"
rate = { steps = [["0 s", "1 Mbit/s"], ["5 s", "150 kbit/s"], ["8 s", "1 Mbit/s"]] }
buffer = "10 packets"
loss = "2 %"
jitter = { uniform = "3 ms" }

[[link]]
name = "second"
rate = "500 kbit/s"
buffer = "10 packets"
queue = "codel"

[[link]]
name = "back"
rate = "1 Mbit/s"
buffer = "10 packets"

[[measure]]
name = "all"
from = "1 s"
to = "19 s"

[[measure]]
name = "slow"
from = "5 s"
to = "8 s"

[[flow]]
name = "call"
role = "foreground"
rtt = "30 ms"
traffic = { cbr = "199 kbit/s", payload = "100 B" }
path = { forward = ["first", "second"], reverse = ["back"] }

[[drop]]
flow = "call"
packet = 700
count = 5

[[route_change]]
at = "12 s"
rtt = "60 ms"
"#;

fn scenario(text: &str) -> Checked {
    let experiment = Experiment::parse(text, "calls.toml", &[]).unwrap_or_else(|error| panic!("{error}"));
    experiment.runs(None, None).unwrap().remove(0).scenario
}

/// Returns the simulator's measures, and when its packets left their sender.
fn simulated(scenario: &Checked) -> (Run, BTreeSet<Time>) {
    let mut sent = BTreeSet::new();
    let mut tap = |passage: &Passage<'_>| {
        let Content::Datagram { sent: at } = passage.content else { panic!("{passage:?}") };
        sent.insert(at);
    };
    let mut take = |_: Sample<'_>| {};
    let watchers = Watchers { every: NEVER, take: &mut take, tap: Some(&mut tap), observers: None };
    let outcome = watched(scenario, &mut |_| ControlFlow::Continue(()), watchers).unwrap();
    (outcome.run, sent)
}

/// Returns the measures of the same packets when they are ours, if somebody looks every `pause`.
fn live(scenario: &Checked, sent: &BTreeSet<Time>, pause: Span) -> Measured {
    let mut live = Live::new(scenario, scenario.network(), None).unwrap();
    let connection = live.open(0, None);
    let payload: Vec<u8> = (0..100).collect();
    let mut looked = Time::ZERO;
    for (number, at) in (1..).zip(sent) {
        while looked + pause < *at {
            looked += pause;
            live.advance(looked, &mut |due, real| {
                assert!(due <= looked);
                assert_eq!((real.bytes, real.size, real.is_reply), (&payload[..], 128, false));
            });
        }
        live.advance(*at, &mut |_, _| {});
        let real = Real { connection, is_reply: false, number, tos: 0, size: 128, bytes: &payload };
        live.offer(*at, real);
    }
    live.advance(Time(scenario.duration.0 .0), &mut |_, _| {});
    live.finish().unwrap()
}

#[test]
fn packets_of_others_meet_what_those_of_the_simulator_meet_whenever_somebody_looks() {
    let scenario = scenario(CALLS);
    let (run, sent) = simulated(&scenario);
    assert!(sent.len() > 4900, "{}", sent.len());
    for pause in [Span::from_micros(50), Span::from_millis(7), Span::from_secs(30)] {
        let measured = live(&scenario, &sent, pause);
        assert_eq!(measured.totals, run.links, "looking every {pause:?}");
        for (window, links) in run.windows.iter().zip(&measured.windows) {
            // A share follows from all flows' goodput, which applications know.
            let by_links = |link: &LinkFigures| LinkFigures { foreground_share: None, ..link.clone() };
            assert_eq!(links, &window.links.iter().map(by_links).collect::<Vec<_>>());
        }
        // The window after the change of routes is in the first one, too.
        let delays: Vec<_> = measured.flows.iter().map(|flows| flows[0].queuing_delay).collect();
        let expected: Vec<_> = run.windows.iter().map(|window| window.flows[0].queuing_delay).collect();
        assert_eq!(delays, expected);
        let queues = |series: &[Series]| -> Vec<Series> {
            series.iter().filter(|series| series.of != "call").cloned().collect()
        };
        assert_eq!(queues(&measured.series), queues(&run.series));
    }
}

#[test]
fn a_mark_shows_in_the_byte_behind_the_network_and_not_in_the_packet() {
    let text = CALLS.replace(r#"queue = "codel""#, r#"queue = { kind = "codel", ecn = true }"#);
    let text = text.replace("500 kbit/s", "120 kbit/s");
    let scenario = &scenario(&text);
    let mut live = Live::new(scenario, scenario.network(), None).unwrap();
    let connection = live.open(0, None);
    let mut bytes = BTreeMap::new();
    for number in 1..1000 {
        let at = Time::from_millis(u64::from(number) * 5);
        live.advance(at, &mut |_, real| *bytes.entry(real.tos).or_insert(0) += 1);
        // ECT(0) and DSCP 8.
        live.offer(at, Real { connection, is_reply: false, number, tos: 0x22, size: 1200, bytes: &[0x22] });
    }
    assert_eq!(bytes.keys().copied().collect::<Vec<u8>>(), [0x22, 0x23], "{bytes:?}");
}
