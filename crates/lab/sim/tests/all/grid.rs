//! Every controller over both transports on every path: 5, 50, 135 and 250 ms, without and with loss. Nobody gets stuck.

use crate::support::*;
use afteryou_cc::list::CONTROLLERS;
use afteryou_scenario::{Flow, Probability, Size, Traffic, Transport};

const BYTES: f64 = 4e6;
const LINK_BIT_S: f64 = 20e6;

/// Returns the seconds that the transfer may take. That is four times what link, loss and start ask for, and two timeouts.
/// The loss counts two fifths of Mathis' rate, since some controllers grow by less than a packet a round trip; the start
/// counts thirty round trips.
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

const RTTS_MS: [u64; 4] = [5, 50, 135, 250];
const LOSSES: [f64; 4] = [0.0, 0.001, 0.01, 0.05];

/// Asserts that a controller finishes a transfer on each path within what its path allows.
fn assert_finishes(controller: &str, transport: &Transport) {
    for (rtt_ms, loss) in RTTS_MS.iter().flat_map(|rtt_ms| LOSSES.map(|loss| (*rtt_ms, loss))) {
        let flow = Flow {
            transport: transport.clone(),
            traffic: Traffic::Size(Size::from_bytes(BYTES as u64)),
            ..flow("one", controller, rtt_ms)
        };
        let mut link = link("20 Mbit/s", "500 ms");
        link.loss = Probability::from_ratio(loss).unwrap();
        let outcome = run(&scenario(link, 600.0, 0.0, vec![flow]));
        let totals = outcome.totals("one");
        let what = format!("{controller} over {transport}, {rtt_ms} ms, {} %", loss * 100.0);
        // The ns-2 era waits at least a second for what it cannot see: lost retransmissions, small windows.
        let waits = if transport.params.is_empty() { 0.0 } else { 1.5 * totals.timeouts as f64 };
        let patience = patience_s(rtt_ms as f64 / 1e3, loss) + waits;
        let seconds = totals.completed_in_s.unwrap_or(f64::INFINITY);
        println!("{what}: {seconds:.1} of {patience:.1} s, {} timeouts", totals.timeouts);
        assert!(seconds <= patience, "{what}: {seconds:.1} s, not {patience:.1}");
        assert_eq!(totals.received_bytes, BYTES as u64, "{what}");
    }
}

#[test]
fn every_controller_finishes_on_every_path() {
    for entry in CONTROLLERS {
        transports().iter().for_each(|transport| assert_finishes(entry.name, transport));
    }
}

#[test]
fn a_slow_start_that_ends_early_finishes_on_every_path() {
    let unpaced = Transport::tcp().with("pacing", "false");
    for controller in ["cubic,hystart=hystart++", "cubic,hystart=linux"] {
        for transport in [&Transport::tcp(), &unpaced, &Transport::utp()] {
            assert_finishes(controller, transport);
        }
    }
}

#[test]
fn every_way_to_restore_ledbatpps_window_finishes_on_every_path() {
    let restored = "ledbat++,instant_restore=true";
    let (paced, apart) = (format!("{restored},restore_pacing=true"), format!("{restored},slowdown_gap=10s"));
    for controller in [restored, &paced, &apart, "ledbat++,slowdown_gap=10s"] {
        assert_finishes(controller, &Transport::tcp().with("pacing", "false"));
    }
}
