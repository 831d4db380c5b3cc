//! Pauses in what arrives, on FQ-CoDel: the stalls that libutp is known for there.

use crate::support::{Path, Plan, World, OVERHEAD};
use afteryou_aqm::Limit;
use afteryou_base::{Span, Time};
use afteryou_utp::config::DEFAULT_PAYLOAD;

/// Returns the longest pause after the first two seconds of 20, as a part of its bound: two smoothed round trips, the queue
/// included, two packets on the link, and 25 ms for a delayed acknowledgement.
fn longest_pause(controller: &'static str, rtt_ms: u64, kbit: u64) -> (f64, String) {
    let limit = Limit::Packets(1000);
    let path = Path { bits_per_second: kbit * 1000, buffer: limit, loss: 0.0, seed: 1 };
    let plan = Plan::bulk(controller, rtt_ms).without_content();
    let mut world = World::new(path, vec![plan]).queued_by("fq_codel");
    world.run_until(20_000);
    let packet = Span::of_bytes(u64::from(DEFAULT_PAYLOAD + 20 + OVERHEAD), kbit * 1000 / 8);
    let pauses = world.flows[0].pauses.iter().filter(|(end, ..)| *end > Time::from_millis(2_000));
    let parts = pauses.map(|(end, pause, rtt)| {
        let bound = rtt.expect("data has been acknowledged") * 2 + packet * 2 + Span::from_millis(25);
        let what = format!("{:.1} ms at {:.2} s", pause.as_millis_f64(), end.as_secs_f64());
        (pause.as_millis_f64() / bound.as_millis_f64(), what)
    });
    parts.max_by(|(one, _), (other, _)| one.total_cmp(other)).expect("something arrives")
}

#[test]
fn on_fq_codel_nothing_pauses_for_longer_than_two_round_trips_with_the_queue_and_two_packets() {
    let mut missed = Vec::new();
    for controller in ["libutp", "ledbat", "cubic", "newreno"] {
        for rtt_ms in [2, 10, 20, 40] {
            for kbit in [250, 500, 1_000, 2_500, 5_000, 10_000] {
                let (part, what) = longest_pause(controller, rtt_ms, kbit);
                if part > 1.0 {
                    missed.push(format!(
                        "{controller}, {rtt_ms} ms, {kbit} kbit/s: {part:.2} of the bound, {what}"
                    ));
                }
            }
        }
    }
    assert!(missed.is_empty(), "{} of 96:\n{}", missed.len(), missed.join("\n"));
}
