//! A busy host reads many acks before it sends again: the goodput may not depend on that.
//!
//! The closed loop in `crates/transport/cc/tests/all/ack_batches.rs` does the same with every controller of the list. Here are those that
//! background traffic uses and one of the foreground, over the real connection. Vegas and Nice are left out: they count single
//! packets of queue, and to them a host whose clock is coarser than a packet's time is a queue.

use crate::support::{Path, Plan, World};
use afteryou_utp::Config;

const RTT_MS: u64 = 10;
/// Time of the link for one packet of 1400 bytes at 200 Mbit/s.
const PACKET_US: u64 = 56;
/// How far the goodput may fall below that with single acks, as a part of it. What a batch adds to the delays, 3.6 ms at most,
/// is small against every target.
const BAND: f64 = 0.02;

/// Returns the share of the link's payload from 3 to 5 s, with acks that the sender reads in batches of `batch`.
fn share(controller: &'static str, batch: u64) -> f64 {
    let config = Config { ack_every: 1, ..Config::default() };
    let plan = Plan { config, look_us: (batch - 1) * PACKET_US, ..Plan::bulk(controller, RTT_MS) };
    let mut world = World::new(Path::new(200, 200), vec![plan.without_content()]);
    let mut delivered_until = |ms| {
        world.run_until(ms);
        world.flows[0].client().bytes_delivered()
    };
    let delivered = [3_000, 5_000].map(&mut delivered_until);
    (delivered[1] - delivered[0]) as f64 / world.payload_capacity(3_000, 5_000)
}

#[test]
fn batches_of_8_and_64_acks_leave_the_goodput_as_it_is() {
    for controller in ["ledbat", "ledbat++", "fledbat", "cubic"] {
        let [single, by_8, by_64] = [1, 8, 64].map(|batch| share(controller, batch));
        println!("{controller}: {single:.3}, {by_8:.3}, {by_64:.3}");
        assert!(single >= 0.95, "{controller}: {single:.3}");
        for (batch, share) in [(8, by_8), (64, by_64)] {
            assert!(
                share >= (1.0 - BAND) * single,
                "{controller}: {share:.3} with batches of {batch}, {single:.3} with single acks"
            );
        }
    }
}

/// Returns the payload delivered within `ms`, as a part of the link's, by a host that runs once in `look_ms`.
fn delivered(controller: &'static str, rtt_ms: u64, look_ms: u64, ms: u64) -> f64 {
    let plan = Plan { look_us: look_ms * 1000, ..Plan::bulk(controller, rtt_ms) };
    let mut world = World::new(Path::new(10, 200), vec![plan.without_content()]);
    world.run_until(ms);
    world.flows[0].client().bytes_delivered() as f64 / world.payload_capacity(0, ms)
}

/// A packet waits half a look on average until it is sent, and its ack until it is read; it leaves in a burst, too, whose packets
/// wait for each other. The host runs so late that a pacer with a fixed allowance would send half of the window.
#[test]
fn a_host_that_runs_late_delivers_as_much_as_over_a_path_that_is_longer_by_one_and_a_half_looks() {
    const BAND: f64 = 0.1;
    for controller in ["ledbat", "ledbat++", "fledbat", "cubic"] {
        for (rtt_ms, look_ms) in [(20, 5), (50, 12), (135, 33), (250, 62)] {
            let ms = 100 * rtt_ms;
            let late = delivered(controller, rtt_ms, look_ms, ms);
            let longer = delivered(controller, rtt_ms + look_ms * 3 / 2, 0, ms);
            assert!(late >= (1.0 - BAND) * longer, "{controller}, {rtt_ms} ms: {late:.3}, {longer:.3}");
        }
    }
}
