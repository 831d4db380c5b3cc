//! Slow links with queues of seconds: a round trip may be longer than the timeout.

use crate::support::{Path, Plan, World};
use afteryou_aqm::Limit;
use afteryou_base::Span;
use afteryou_utp::{Config, Recovery};

const CONTROLLERS: [&str; 5] = ["ledbat++", "ledbat", "libutp-mod", "cubic", "newreno"];
const RECOVERIES: [Recovery; 2] = [Recovery::Modern, Recovery::LibutpMod];

/// Returns a path of `kbit` kbit/s with a DropTail buffer of `buffer_s`, two packets at least.
fn slow(kbit: u64, buffer_s: u64) -> Path {
    let bits_per_second = kbit * 1000;
    let two_packets = Span::of_bytes(2 * 1400, bits_per_second / 8);
    let time = Span::from_secs(buffer_s).max(two_packets);
    let buffer = Limit::Time { time, bytes_per_second: bits_per_second / 8 };
    Path { bits_per_second, buffer, ..Path::new(1, 1) }
}

fn bulk(controller: &'static str, recovery: Recovery) -> Plan {
    Plan { config: Config::recovering(recovery), ..Plan::bulk(controller, 100) }.without_content()
}

/// Returns the packets that the first flow has sent, and those that came more than once.
fn packets(world: &World) -> (u64, u64) {
    let flow = &world.flows[0];
    let repeated = flow.server.as_ref().map_or(0, |server| server.statistics().duplicates_received);
    (flow.client().statistics().data_packets_sent, repeated)
}

/// Runs for the time of `count` packets. Returns the packets, and those that came more than once, after the first ten.
fn run(world: &mut World, kbit: u64, count: u64) -> (u64, u64) {
    let end = count * 1400 * 8 / kbit;
    let mut first = None;
    for at in (0..end).step_by(500) {
        world.run_until(at);
        if first.is_none() && packets(world).0 > 10 {
            first = Some(packets(world));
        }
    }
    let ((sent, repeated), (sent_first, repeated_first)) = (packets(world), first.expect("something leaves"));
    (sent - sent_first, repeated - repeated_first)
}

fn for_each(check: impl Fn(u64, u64, &'static str, Recovery)) {
    for kbit in [10, 30, 100] {
        for buffer_s in [1, 2, 4, 8] {
            for controller in CONTROLLERS {
                RECOVERIES.iter().for_each(|recovery| check(kbit, buffer_s, controller, *recovery));
            }
        }
    }
}

#[test]
fn alone_under_a_queue_of_seconds_one_packet_in_a_hundred_is_resent_needlessly_at_most() {
    for_each(|kbit, buffer_s, controller, recovery| {
        let mut world = World::new(slow(kbit, buffer_s), vec![bulk(controller, recovery)]);
        let (sent, repeated) = run(&mut world, kbit, 700);
        let case = format!("{kbit} kbit/s, {buffer_s} s, {controller}, {recovery:?}: {repeated} of {sent}");
        assert!(sent >= 500 && repeated * 100 <= sent, "{case}");
        assert_eq!(world.flows[0].client().error(), None, "{case}");
    });
}

#[test]
fn beside_a_flow_that_fills_the_queue_one_packet_in_a_hundred_is_resent_needlessly_at_most() {
    for_each(|kbit, buffer_s, controller, recovery| {
        let other = Plan { start_ms: 20_000, ..Plan::bulk("cubic", 60).without_content() };
        let mut world = World::new(slow(kbit, buffer_s), vec![bulk(controller, recovery), other]);
        let (sent, repeated) = run(&mut world, kbit, 2000);
        // Of fewer than 500 packets the queue's jumps at the start weigh more.
        let case = format!("{kbit} kbit/s, {buffer_s} s, {controller}, {recovery:?}: {repeated} of {sent}");
        assert!(repeated <= if sent < 500 { 10 } else { (sent / 100).max(5) }, "{case}");
    });
}
