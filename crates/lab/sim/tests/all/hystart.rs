//! Slow start that ends before a loss: held against the kernel's own, and against slow start without it.

use crate::support::*;
use afteryou_base::Span;
use afteryou_scenario::{Checked, Flow, Transport};
use std::ops::ControlFlow;

/// Where Linux 6.18 ended slow start, packets of 1448 B: round-trip time in ms, rate in Mbit/s, window.
///
/// Taken once: CUBIC between two network namespaces, a program at two TUN devices as the link (packets of 1500 B, half of the
/// round trip each way, buffers of 250 ms and more), no offloads, initial window 10. `nstat` has the window as TCPHystartTrainCwnd:
/// each of these was found by its train of acks. Repetitions differ by one packet at most.
const LINUX: [(u64, u64, u64); 10] = [
    (5, 20, 26),
    (20, 20, 39),
    (50, 20, 124),
    (135, 20, 274),
    (250, 20, 530),
    (5, 100, 65),
    (20, 100, 250),
    (50, 100, 532),
    (135, 100, 1210),
    (250, 100, 2328),
];

const PAYLOAD: f64 = 1448.0;

/// Returns the threshold that the first slow start leaves, packets.
fn first_threshold(scenario: &Checked) -> Option<f64> {
    let mut threshold = None;
    let take = &mut |sample: afteryou_sim::Sample<'_>| threshold = threshold.or(sample.snapshot.ssthresh);
    afteryou_sim::sampled(scenario, &mut |_| ControlFlow::Continue(()), Span::from_millis(1), take)
        .expect("a run");
    threshold.map(|bytes| bytes as f64 / PAYLOAD)
}

#[test]
fn linuxs_hystart_ends_slow_start_at_the_window_at_which_linux_does() {
    for (rtt_ms, mbit, linux) in LINUX {
        // Linux acknowledges each packet at the start of a connection.
        let transport = Transport::tcp().with("pacing", "false").with("ack", "every packet");
        let flow = Flow { transport, ..flow("one", "cubic,hystart=linux", rtt_ms) };
        let link = link(&format!("{mbit} Mbit/s"), "500 ms");
        let ours = first_threshold(&scenario(link, 4.0, 0.0, vec![flow]).checked().unwrap())
            .expect("slow start ends");
        println!("{rtt_ms} ms, {mbit} Mbit/s: {ours:.0} packets, Linux {linux}");
        assert!(
            (ours - linux as f64).abs() <= 1.0_f64.max(0.01 * linux as f64),
            "{rtt_ms} ms, {mbit} Mbit/s: {ours}"
        );
    }
}

#[test]
fn an_early_end_of_slow_start_loses_fewer_packets_in_a_buffer_of_one_product() {
    for rtt_ms in [5, 50, 135, 250] {
        for pacing in ["true", "false"] {
            let losses = |hystart: &str| {
                let transport = Transport::tcp().with("pacing", pacing);
                let flow = Flow { transport, ..flow("one", &format!("cubic,hystart={hystart}"), rtt_ms) };
                let link = link("20 Mbit/s", &format!("{rtt_ms} ms"));
                run(&scenario(link, 10.0, 0.0, vec![flow])).totals("one").losses
            };
            let (off, linux, rfc9406) = (losses("off"), losses("linux"), losses("hystart++"));
            println!("{rtt_ms} ms, pacing {pacing}: {off} lost without, {linux} linux, {rfc9406} hystart++");
            // At 5 ms the product is 8 packets: the first loss comes before a window that is looked at.
            assert!(
                linux < off || rtt_ms == 5 && linux <= off,
                "{rtt_ms} ms, pacing {pacing}: {off}, {linux}"
            );
            assert!(rfc9406 <= off, "{rtt_ms} ms, pacing {pacing}: {off}, {rfc9406}");
        }
    }
}
