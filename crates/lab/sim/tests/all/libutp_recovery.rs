//! What libutp's and libutp-mod's ways of recovery do about lost retransmissions (Al-Saadi et al. 2017, §IV-A).

use crate::support::*;
use afteryou_scenario::scenario::Drop;
use afteryou_scenario::{Flow, Outcome, Scenario, Transport};

/// The dropped packet.
const PACKET: u64 = 600;
/// Payload and headers of a packet, bit.
const PACKET_BIT: f64 = 1400.0 * 8.0;
/// Round-trip time of the path, ms.
const RTT_MS: u64 = 40;
/// Resolution of what is seen, ms.
const STEP_MS: u64 = 5;

fn utp(recovery: &str) -> Flow {
    let controller = Some("ledbat,target=20ms".parse().unwrap());
    let transport = Transport::utp().with("recovery", recovery);
    Flow { controller, transport, ..flow("one", "ledbat", RTT_MS) }
}

/// Runs a path that holds ten packets, and a window that adds five in the queue; the first `dropped` transmissions of a
/// packet are lost.
fn run_dropping(recovery: &str, dropped: u32) -> Outcome {
    let drop = |transmission| Drop {
        flow: Some("one".to_owned()),
        packet: Some(PACKET),
        transmission: Some(transmission),
        ..Drop::default()
    };
    let rate = format!("{} bit/s", 10.0 * PACKET_BIT / (RTT_MS as f64 / 1e3));
    let step_s = STEP_MS as f64 / 1e3;
    let steps = (0..1200).map(|i| f64::from(i) * step_s);
    run(&Scenario {
        drop: (1..=dropped).map(drop).collect(),
        measure: steps.map(|from| window(&format!("{from}"), from, from + step_s)).collect(),
        ..scenario(link(&rate, "1 s"), 6.0, 0.0, vec![utp(recovery)])
    })
}

/// Returns the longest time after the start in which nothing arrived, ms.
fn longest_silence_ms(outcome: &Outcome) -> u64 {
    let arrived: Vec<bool> =
        outcome.run.windows.iter().map(|window| of(window, "one").goodput_bit_s > 0.0).collect();
    let after_start = arrived.split(|arrived| *arrived).skip(1);
    after_start.map(<[bool]>::len).max().unwrap_or(0) as u64 * STEP_MS
}

/// Asserts that a silence has this length. It was seen in whole steps, so up to a step is missing at either end.
fn assert_silent(outcome: &Outcome, from_ms: u64, to_ms: u64, what: &str) {
    let silence_ms = longest_silence_ms(outcome);
    println!("{what}: {silence_ms} ms, {:?}", outcome.totals("one"));
    assert!(silence_ms + 2 * STEP_MS >= from_ms && silence_ms <= to_ms, "{what}: {silence_ms} ms");
}

#[test]
fn one_loss_is_repaired_without_silence_in_every_way() {
    for recovery in ["modern", "libutp", "libutp-200ms", "libutp-mod"] {
        let outcome = run_dropping(recovery, 1);
        let totals = outcome.totals("one");
        assert_eq!((totals.losses, totals.retransmissions, totals.timeouts), (1, 1, 0), "{recovery}");
        assert_silent(&outcome, 0, 50, recovery);
    }
}

#[test]
fn libutp_waits_for_its_timer_when_a_retransmission_is_lost() {
    for (recovery, shortest_ms, longest_ms) in [("libutp", 1000, 1200), ("libutp-200ms", 200, 400)] {
        let outcome = run_dropping(recovery, 2);
        let totals = outcome.totals("one");
        assert_eq!((totals.timeouts, totals.spurious), (1, 0), "{recovery}: nothing is to be undone");
        assert_silent(&outcome, shortest_ms, longest_ms, recovery);
        // The timer backs off: twice as long again.
        let outcome = run_dropping(recovery, 3);
        assert_eq!(outcome.totals("one").timeouts, 2, "{recovery}");
        assert_silent(&outcome, 3 * shortest_ms, 3 * longest_ms, recovery);
    }
}

#[test]
fn libutp_mod_and_our_own_way_find_each_lost_retransmission() {
    for recovery in ["modern", "libutp-mod"] {
        for dropped in [2, 3] {
            let outcome = run_dropping(recovery, dropped);
            let totals = outcome.totals("one");
            let expected = (u64::from(dropped), u64::from(dropped), 0);
            assert_eq!((totals.losses, totals.retransmissions, totals.timeouts), expected, "{recovery}");
            assert_silent(&outcome, 0, 50, recovery);
        }
    }
}

#[test]
fn a_fourth_loss_of_a_packet_lies_beyond_libutps_bitmap() {
    // Ten packets to the round trip: what is sent after the third retransmission is the thirtieth after the gap.
    assert_eq!(run_dropping("libutp-mod", 4).totals("one").timeouts, 1);
    assert_eq!(run_dropping("modern", 4).totals("one").timeouts, 0);
}
