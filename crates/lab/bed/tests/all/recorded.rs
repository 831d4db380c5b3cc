//! Senders and their events on real packets (`record = ["senders", "events"]`), where the user may make namespaces.

use crate::testbed::{run, scenario, CUBIC, LEDBAT};
use afteryou_scenario::outcome::{Outcome, SenderFigures};
use afteryou_scenario::{Record, Scenario};
use std::ops::ControlFlow;

fn recorded(flows: &str) -> Scenario {
    let mut scenario = scenario(flows);
    scenario.record = vec![Record::Senders, Record::Events];
    scenario.link.buffer = "40 packets".parse().unwrap();
    scenario
}

fn sender(outcome: &Outcome, flow: usize) -> SenderFigures {
    let figures = outcome.run.windows[0].flows[flow].sender;
    println!("{:?}", figures);
    figures.unwrap()
}

fn number_of(outcome: &Outcome, flow: &str, what: &str) -> usize {
    outcome.run.events.iter().filter(|event| event.flow == flow && event.what == what).count()
}

#[test]
fn samples_of_the_kernels_tcp_show_its_window_its_cuts_and_its_losses() {
    let scenario = recorded(CUBIC);
    let simulated =
        afteryou_sim::run(&scenario.clone().checked().unwrap(), &mut |_| ControlFlow::Continue(())).unwrap();
    let Some(real) = run(&scenario) else { return };
    let (is, should) = (sender(&real, 0), sender(&simulated, 0));
    for (is, should) in [(&is.cwnd_kb, &should.cwnd_kb), (&is.in_flight_kb, &should.in_flight_kb)] {
        let (is, should) = (is.mean, should.mean);
        assert!((is / should - 1.0).abs() < 0.25, "{is} kB beside {should} kB");
    }
    let (is_ms, should_ms) = (is.rtt.unwrap().mean_ms, should.rtt.unwrap().mean_ms);
    assert!((is_ms / should_ms - 1.0).abs() < 0.15, "{is_ms} ms beside {should_ms} ms");
    assert_eq!(is.stalls.count, 0, "{:?}", is.stalls);
    // 40 ms, and the time of sending.
    assert!(is.base_delay_error_ms.is_some_and(|error| error.abs() < 2.0), "{:?}", is.base_delay_error_ms);
    for what in ["drop", "loss", "cut", "congestion avoidance"] {
        assert!(number_of(&real, "cubic", what) > 0, "no {what}: {:?}", real.run.events);
    }
    // Every drop of a segment is found, and hardly anything else is sent again.
    let (drops, losses) = (number_of(&real, "cubic", "drop"), number_of(&real, "cubic", "loss"));
    assert!(losses >= drops && losses <= 2 * drops + 5, "{drops} drops, {losses} losses");
    let has_curve = |quantity: &str| real.run.series.iter().any(|series| series.quantity == quantity);
    assert!(["flightsize", "rtt", "losses"].into_iter().all(has_curve));
    assert!(real.run.phases.iter().any(|span| span.phase == "slow start"), "{:?}", real.run.phases);
}

#[test]
fn senders_of_ours_are_seen_by_their_controllers_as_in_the_simulator() {
    for transport in ["utp", "quic"] {
        let scenario = recorded(&LEDBAT.replace("\"utp\"", &format!("\"{transport}\"")));
        let Some(real) = run(&scenario) else { return };
        let figures = sender(&real, 0);
        assert!(figures.cwnd_kb.mean > 10.0);
        assert!(figures.queuing_delay_ms.as_ref().unwrap().mean > 5.0);
        assert!(figures.delay_error_ms.is_some_and(|error| error.abs() < 10.0), "{figures:?}");
        assert!(figures.rtt.unwrap().mean_ms > 40.0);
        let phases: Vec<_> = real.run.phases.iter().map(|span| span.phase.as_str()).collect();
        assert!(phases.contains(&"slow start") && phases.contains(&"congestion avoidance"), "{phases:?}");
        let within = real.run.events.iter().all(|event| (0.0..=8.1).contains(&event.at_s));
        assert!(!real.run.events.is_empty() && within, "{:?}", real.run.events);
    }
}
