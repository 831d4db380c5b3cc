//! What libutp's and libutp-mod's ways of recovery do about lost retransmissions (Al-Saadi et al. 2017, §IV-A).

mod support;

use afteryou_scenario::scenario::Drop;
use afteryou_scenario::{Flow, Outcome, Scenario, Transport};
use support::*;

/// The dropped packet.
const PACKET: u64 = 600;
/// Payload and headers of a packet, bit.
const PACKET_BIT: f64 = 1400.0 * 8.0;
/// Round-trip time of the path, ms.
const RTT_MS: f64 = 40.0;
/// Resolution of what is seen, ms.
const STEP_MS: f64 = 5.0;

fn utp(recovery: &str) -> Flow {
    let controller = Some("ledbat,target=20ms".parse().unwrap());
    let transport = Transport::utp().with("recovery", recovery);
    Flow { controller, transport, ..flow("one", "ledbat", RTT_MS as u64) }
}

/// A path that holds ten packets, and a window that adds five in the queue; the first `dropped` transmissions of a packet are lost.
fn run_dropping(recovery: &str, dropped: u32) -> Outcome {
    let drop = |transmission| Drop {
        flow: Some("one".to_owned()),
        packet: Some(PACKET),
        transmission: Some(transmission),
        ..Drop::default()
    };
    let rate = format!("{} bit/s", 10.0 * PACKET_BIT / (RTT_MS / 1e3));
    let steps = (0..1200).map(|i| f64::from(i) * STEP_MS / 1e3);
    run(&Scenario {
        drop: (1..=dropped).map(drop).collect(),
        measure: steps.map(|from| window(&format!("{from}"), from, from + STEP_MS / 1e3)).collect(),
        ..scenario(link(&rate, "1 s"), 6.0, 0.0, vec![utp(recovery)])
    })
}

/// Longest time after the start in which nothing arrived, s.
fn longest_silence_s(outcome: &Outcome) -> f64 {
    let arrived: Vec<bool> =
        outcome.run.windows.iter().map(|window| of(window, "one").goodput_bit_s > 0.0).collect();
    let after_start = arrived.split(|arrived| *arrived).skip(1);
    after_start.map(<[bool]>::len).max().unwrap_or(0) as f64 * STEP_MS / 1e3
}

#[test]
fn x() {
    for recovery in ["modern", "libutp", "libutp-200ms", "libutp-mod"] {
        for dropped in 0..5 {
            let outcome = run_dropping(recovery, dropped);
            println!("{recovery} {dropped}: {} {:?}", longest_silence_s(&outcome), outcome.totals("one"));
        }
    }
}
