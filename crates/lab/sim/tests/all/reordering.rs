//! Packets that overtake one another: uTP learns from it as TCP does.

use crate::support::*;
use afteryou_scenario::draw::Distribution;
use afteryou_scenario::element::Jitter;
use afteryou_scenario::scenario::{Delay, Drop};
use afteryou_scenario::{Elements, Flow, Link, Scenario, Transport};

/// Returns the goodput over 20 Mbit/s and 40 ms with jitter of up to `jitter_ms` in each direction that reorders, bit/s.
fn goodput_with_jitter(transport: Transport, controller: &str, jitter_ms: u64) -> f64 {
    let jitter = Jitter { law: Distribution::Uniform(ms(0), ms(jitter_ms)), reorder: true };
    let elements = Elements { jitter: Some(jitter), ..Elements::default() };
    let link = Link { elements, ..link("20 Mbit/s", "300 ms") };
    let flow = Flow { transport, ..flow("one", controller, 40) };
    let outcome = run(&scenario(link, 40.0, 10.0, vec![flow]));
    let goodput = of(outcome.window("all"), "one").goodput_bit_s;
    println!("{controller}, {jitter_ms} ms: {goodput:.0} bit/s, {:?}", outcome.totals("one"));
    goodput
}

#[test]
fn utp_has_95_percent_of_the_goodput_of_tcp_where_packets_overtake_one_another() {
    for jitter_ms in [5, 20, 60] {
        for controller in ["ledbat++", "ledbat", "cubic", "newreno"] {
            let tcp = goodput_with_jitter(Transport::tcp(), controller, jitter_ms);
            let utp = goodput_with_jitter(Transport::utp(), controller, jitter_ms);
            assert!(utp >= 0.95 * tcp, "{controller}, {jitter_ms} ms: {utp} of {tcp}");
        }
    }
}

/// Returns the losses of a CUBIC over uTP with a standing queue, one of whose packets comes late by `late_ms`.
fn losses_with_one_late(late_ms: u64) -> u64 {
    let drop = vec![Drop { flow: Some("one".to_owned()), packet: Some(2_000), ..Drop::default() }];
    let late = Delay {
        flow: "one".to_owned(),
        packet: Some(20_000),
        transmission: None,
        at: None,
        until: None,
        every: None,
        count: None,
        by: ms(late_ms),
    };
    let delay = if late_ms > 0 { vec![late] } else { vec![] };
    let flow = Flow { transport: Transport::utp(), ..flow("one", "cubic", 40) };
    let scenario = scenario(link("50 Mbit/s", "500 packets"), 12.0, 0.0, vec![flow]);
    let outcome = run(&Scenario { drop, delay, ..scenario });
    println!("{late_ms} ms late: {:?}", outcome.totals("one"));
    outcome.totals("one").losses
}

#[test]
fn one_packet_that_comes_after_its_retransmission_has_left_costs_no_other() {
    let plain = losses_with_one_late(0);
    for late_ms in [50, 80, 100, 120, 150, 200] {
        let late = losses_with_one_late(late_ms);
        assert!(late <= plain + 20, "{late_ms} ms: {late} losses, {plain} without");
    }
}
