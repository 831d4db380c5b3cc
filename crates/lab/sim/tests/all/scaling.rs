//! A network of s times the rate and 1/s of all times carries the same packets.

use crate::support::*;
use afteryou_scenario::outcome::Totals;
use afteryou_scenario::{Flow, Role, Scenario, Transport};

/// The networks: Mbit/s, round-trip time in ms, packets that the queue holds. A packet takes a whole number of ns at each scale.
const NETWORKS: [(u64, u64, u64); 3] = [(10, 40, 100), (2, 100, 20), (50, 80, 200)];

/// Returns the totals of `flows` NewReno flows for a minute, at `quarters`/4 times the rate.
fn scaled(
    network: (u64, u64, u64),
    (transport, slack_ms): (&Transport, u64),
    flows: u64,
    quarters: u64,
) -> Vec<Totals> {
    let (mbit, rtt_ms, packets) = network;
    let time = |at_ms: u64| seconds(at_ms as f64 / 250.0 / quarters as f64);
    let millis = |at_ms: u64| format!("{} ms", at_ms * 4 / quarters);
    let transport = transport
        .clone()
        .with("min_rto", &millis(200))
        .with("ack_delay", &millis(40))
        .with("timer_slack", &millis(slack_ms));
    let one = |i: u64| Flow {
        transport: transport.clone(),
        start: time(1_000 * i),
        ..Flow::new(i.to_string(), Role::Foreground, "newreno", time(rtt_ms))
    };
    let link = link(&format!("{} kbit/s", mbit * 250 * quarters), &format!("{packets} packets"));
    let scenario = Scenario {
        duration: time(60_000),
        measure: vec![],
        ..scenario(link, 60.0, 0.0, (0..flows).map(one).collect())
    };
    run(&scenario).run.totals
}

#[test]
fn a_network_of_another_rate_and_times_to_match_carries_the_same_packets() {
    for network in NETWORKS {
        for (ack, pacing) in [("delayed", true), ("every packet", true), ("delayed", false)] {
            let transport =
                Transport::tcp().with("ack", ack).with("pacing", if pacing { "true" } else { "false" });
            for (flows, slack_ms) in [(1, 0), (2, 4)] {
                let transport = (&transport, slack_ms);
                let unscaled = scaled(network, transport, flows, 4);
                for quarters in [1, 2, 8, 16] {
                    let totals = scaled(network, transport, flows, quarters);
                    assert_eq!(
                        totals, unscaled,
                        "{network:?} times {quarters}/4, {}, {flows} flows",
                        transport.0
                    );
                }
            }
        }
    }
}
