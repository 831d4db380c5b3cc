//! CoDel as a bottleneck's queue.

use crate::support::*;
use afteryou_scenario::Transport;

/// Returns the mean queue, ms, the share of the flow and the packets marked or dropped, with CUBIC over CoDel on 10 Mbit/s
/// and 60 ms.
fn cubic_over_codel(queue: &str, ecn: &str) -> (f64, f64, u64) {
    over_codel(queue, Transport::tcp().with("ecn", ecn))
}

fn over_codel(queue: &str, transport: Transport) -> (f64, f64, u64) {
    let mut link = link("10 Mbit/s", "1000 packets");
    link.queue = queue.parse().unwrap();
    let flow = afteryou_scenario::Flow { transport, ..flow("one", "cubic", 60) };
    let outcome = run(&scenario(link, 120.0, 20.0, vec![flow]));
    let queue = outcome.curve("link", "queuing_delay");
    let settled: Vec<f64> = queue.iter().filter(|(at, _)| *at > 20.0).map(|(_, ms)| *ms).collect();
    let mean = settled.iter().sum::<f64>() / settled.len() as f64;
    (mean, of(outcome.window("all"), "one").share_of_payload_capacity, outcome.totals("one").losses)
}

#[test]
fn it_keeps_the_queue_of_a_loss_based_flow_around_its_target() {
    let (queue_ms, share, losses) = cubic_over_codel("codel", "false");
    println!("{queue_ms:.1} ms, {share:.3}, {losses} losses");
    assert!((2.0..12.0).contains(&queue_ms), "{queue_ms} ms");
    assert!(share > 0.85, "{share}");
    let (droptail_ms, ..) = cubic_over_codel("droptail", "false");
    assert!(droptail_ms > 10.0 * queue_ms, "{droptail_ms} ms with droptail");
}

#[test]
fn with_marks_it_needs_no_losses() {
    let (queue_ms, share, losses) = cubic_over_codel("codel,ecn=true", "true");
    println!("{queue_ms:.1} ms, {share:.3}, {losses} losses");
    assert!((2.0..12.0).contains(&queue_ms) && share > 0.85, "{queue_ms} ms, {share}");
    assert_eq!(losses, 0);
}

#[test]
fn utp_that_counts_marks_answers_them_as_tcp_does() {
    let (queue_ms, share, losses) = over_codel("codel,ecn=true", Transport::utp().with("ecn", "true"));
    let (tcp_ms, tcp_share, _) = cubic_over_codel("codel,ecn=true", "true");
    println!("{queue_ms:.1} ms, {share:.3}, {losses} losses; tcp {tcp_ms:.1} ms, {tcp_share:.3}");
    assert_eq!(losses, 0);
    assert!((queue_ms - tcp_ms).abs() < 1.0 && (share - tcp_share).abs() < 0.05);
    // Without ECN at the flow the same queue drops.
    assert!(over_codel("codel,ecn=true", Transport::utp()).2 > 0);
}
