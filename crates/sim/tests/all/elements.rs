//! Network elements in whole runs: their ledgers, and that transports live with them.

use crate::support::*;
use afteryou_scenario::element::{GilbertElliott, LossLaw};
use afteryou_scenario::outcome::Ledger;
use afteryou_scenario::{Elements, Flow, Link, Outcome, Probability, Scenario, Size, Traffic};

fn ratio(ratio: f64) -> Probability {
    Probability::from_ratio(ratio).unwrap()
}

fn ledger(outcome: &Outcome, link: usize) -> &Ledger {
    outcome.run.links[link].ledger.as_ref().expect("a ledger")
}

fn over(elements: Elements, flows: Vec<Flow>) -> Scenario {
    scenario(Link { elements, ..link("10 Mbit/s", "100 ms") }, 20.0, 2.0, flows)
}

/// A transfer of each transport.
fn transfers() -> Vec<Flow> {
    let sized = |flow| Flow { traffic: Traffic::Size(Size::from_bytes(1_000_000)), ..flow };
    vec![
        sized(flow("tcp", "cubic", 30)),
        sized(utp("utp", "cubic", 30)),
        sized(classic("old", "newreno", 30)),
    ]
}

#[test]
fn a_bursty_link_loses_its_mean_and_every_transfer_arrives_whole() {
    let chain = GilbertElliott::of_mean(ratio(0.02), 4.0).unwrap();
    let elements = Elements { loss: Some(LossLaw::GilbertElliott(chain)), ..Elements::default() };
    let outcome = run(&Scenario { duration: seconds(120.0), ..over(elements, transfers()) });
    for totals in &outcome.run.totals {
        assert_eq!(totals.received_bytes, 1_000_000, "{}", totals.flow);
    }
    let packets = outcome.run.links[0].packets.unwrap();
    let rate = packets.lost as f64 / packets.arrived as f64;
    // Bursts of four among some 2500 packets: a standard error of √(0.02·0.98·7/2500) = 0.7 %.
    assert!((rate - 0.02).abs() < 4.0 * 0.007, "{rate} of {packets:?}");
}

#[test]
fn every_tenth_packet_of_a_link_is_lost() {
    let elements = Elements { loss: Some(LossLaw::Every(10)), ..Elements::default() };
    let outcome = run(&over(elements, vec![flow("one", "cubic", 30)]));
    let packets = outcome.run.links[0].packets.unwrap();
    assert_eq!(packets.lost, packets.arrived / 10);
}

#[test]
fn duplicates_are_in_the_ledger_and_change_no_byte_of_what_arrives() {
    let elements = Elements { duplicate: ratio(0.1), ..Elements::default() };
    let outcome = run(&over(elements, transfers()));
    for totals in &outcome.run.totals {
        assert_eq!(totals.received_bytes, 1_000_000, "{}", totals.flow);
    }
    for link in 0..2 {
        let (packets, ledger) = (outcome.run.links[link].packets.unwrap(), ledger(&outcome, link));
        let (copies, arrived) = (packets.duplicated as f64, packets.arrived as f64);
        let error = (0.1 * 0.9 / arrived).sqrt();
        assert!((copies / arrived - 0.1).abs() < 4.0 * error, "{copies} of {arrived}");
        assert!(ledger.balances() && ledger.duplicated > 0, "{ledger:?}");
        assert_eq!(
            packets.arrived + packets.duplicated,
            packets.delivered + packets.dropped + packets.unfinished
        );
    }
}

#[test]
fn a_plain_link_says_nothing_of_elements() {
    let outcome = run(&over(Elements::default(), vec![flow("one", "cubic", 30)]));
    let json = serde_json::to_string(&outcome).unwrap();
    assert!(!json.contains("elements") && !json.contains("duplicated"), "{json}");
}
