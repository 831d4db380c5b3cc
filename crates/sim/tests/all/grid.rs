//! Every controller over both transports on every path: 5, 50, 135 and 250 ms, without and with loss. Nobody gets stuck.

use crate::support::*;
use afteryou_cc::list::CONTROLLERS;
use afteryou_scenario::{Flow, Probability, Size, Traffic, Transport};

const BYTES: f64 = 4e6;
const LINK_BIT_S: f64 = 20e6;

/// Seconds that the transfer may take: four times what the link, the loss (two fifths of Mathis' rate, since some controllers
/// grow by less than a packet a round trip) and the start (thirty round trips) ask for, and two timeouts.
fn patience_s(rtt_s: f64, loss: f64) -> f64 {
    let by_loss = if loss > 0.0 { 0.4 * 1.22 * 1352.0 * 8.0 / (rtt_s * loss.sqrt()) } else { f64::INFINITY };
    4.0 * (BYTES * 8.0 / LINK_BIT_S.min(by_loss) + 30.0 * rtt_s) + 2.0
}

fn transports() -> [Transport; 6] {
    let libutp = |recovery| Transport::utp().with("recovery", recovery);
    let classic = Transport::tcp().with("preset", "classic");
    let (tcp, utp) = (Transport::tcp(), Transport::utp());
    [tcp, classic, utp, libutp("libutp"), libutp("libutp-200ms"), libutp("libutp-mod")]
}

#[test]
fn every_controller_finishes_on_every_path() {
    for entry in CONTROLLERS {
        for transport in transports() {
            for rtt_ms in [5, 50, 135, 250] {
                for loss in [0.0, 0.001, 0.01, 0.05] {
                    let flow = Flow {
                        transport: transport.clone(),
                        traffic: Traffic::Size(Size::from_bytes(BYTES as u64)),
                        ..flow("one", entry.name, rtt_ms)
                    };
                    let mut link = link("20 Mbit/s", "500 ms");
                    link.loss = Probability::from_ratio(loss).unwrap();
                    let outcome = run(&scenario(link, 600.0, 0.0, vec![flow]));
                    let totals = outcome.totals("one");
                    let what = format!("{} over {transport}, {rtt_ms} ms, {} %", entry.name, loss * 100.0);
                    // The ns-2 era waits at least a second for what it cannot see: lost retransmissions, small windows.
                    let waits =
                        if transport.0.params.is_empty() { 0.0 } else { 1.5 * totals.timeouts as f64 };
                    let patience = patience_s(rtt_ms as f64 / 1e3, loss) + waits;
                    let seconds = totals.completed_in_s.unwrap_or(f64::INFINITY);
                    println!("{what}: {seconds:.1} of {patience:.1} s, {} timeouts", totals.timeouts);
                    assert!(seconds <= patience, "{what}: {seconds:.1} s, not {patience:.1}");
                    assert_eq!(totals.received_bytes, BYTES as u64, "{what}");
                }
            }
        }
    }
}
