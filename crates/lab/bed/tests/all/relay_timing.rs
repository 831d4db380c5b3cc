//! The relay against the clock.

use crate::common::*;
use afteryou_aqm::DropReason;
use afteryou_base::{Span, Time};
use afteryou_bed::relay::{Config, Fate, FlowId, Record, Relay, Way};
use afteryou_bed::Clock;
use std::net::UdpSocket;
use std::thread;

const SECOND: Span = Span::from_secs(1);

/// Starts a relay to `server` over an uplink of 20 Mbit/s.
fn relay_to(server: &UdpSocket, clock: Clock, buffer: &str, rtt_ms: u64) -> (Relay, FlowId) {
    let mut config = Config::new(1);
    let uplink = config.add_link(link("uplink", "20 Mbit/s", buffer, "0 %"));
    let flow = config.add_flow(uplink, server.local_addr().unwrap(), Span::from_millis(rtt_ms));
    (Relay::start(config, clock).unwrap(), flow)
}

/// Returns the Mbit/s of IP packets that arrived from `from` until `to`.
fn rate_mbit(arrivals: &[Time], from: Time, to: Time) -> f64 {
    let bytes = arrivals.iter().filter(|at| **at >= from && **at < to).count() as u64 * PACKET_BYTES;
    bytes as f64 * 8e-6 / to.since(from).as_secs_f64()
}

#[test]
fn an_overdriven_link_delivers_its_rate_within_one_per_cent() {
    let measure = || {
        let (client, server, clock) = (socket(), socket(), Clock::start());
        let (relay, flow) = relay_to(&server, clock, "100 ms", 40);
        let (gap, arrived) = thread::scope(|scope| {
            let arrived = scope.spawn(|| arrivals(&server, clock));
            let gap = overdrive(&client, relay.front(flow), 40, SECOND * 2);
            (gap, arrived.join().unwrap())
        });
        let rate = rate_mbit(&arrived, Time::from_millis(250), Time::from_millis(2000));
        let statistics = relay.stop().unwrap();
        let delivered = statistics.links[0].forward.packets.delivered;
        (rate, late(&statistics).or(starved(gap)).or(overrun(arrived.len(), delivered)))
    };
    judged(measure, |rate| within("delivered, Mbit/s", *rate, 20.0, 0.2));
}

#[test]
fn a_probe_on_an_empty_link_sees_propagation_and_its_own_serialisation_one_way() {
    let measure = || {
        let (client, server, clock) = (socket(), socket(), Clock::start());
        let (relay, flow) = relay_to(&server, clock, "100 ms", 40);
        let (ages, without) = thread::scope(|scope| {
            let ages = scope.spawn(|| probe_ages_ms(&server, clock));
            let without = scope.spawn(|| ages_without_link_ms(clock, false));
            probe(&client, relay.front(flow), clock, 60);
            (ages.join().unwrap(), without.join().unwrap())
        });
        let trouble = late(&relay.stop().unwrap()).or(drowsy(&without));
        ((ages, without), trouble)
    };
    judged(measure, |(ages, without)| {
        let earliest = ages.iter().copied().fold(f64::INFINITY, f64::min);
        assert!(earliest >= 20.035, "{earliest} ms is faster than the link");
        within("one way, ms", median(ages) - median(without), 20.035, PROBE_TOLERANCE_MS)
    });
}

#[test]
fn a_probe_on_an_empty_link_sees_its_round_trip_time_both_ways() {
    let measure = || {
        let (client, server, clock) = (socket(), socket(), Clock::start());
        let (relay, flow) = relay_to(&server, clock, "100 ms", 40);
        let (ages, without) = thread::scope(|scope| {
            scope.spawn(|| echo(&server));
            let ages = scope.spawn(|| probe_ages_ms(&client, clock));
            let without = scope.spawn(|| ages_without_link_ms(clock, true));
            probe(&client, relay.front(flow), clock, 60);
            (ages.join().unwrap(), without.join().unwrap())
        });
        let trouble = late(&relay.stop().unwrap()).or(drowsy(&without));
        ((ages, without), trouble)
    };
    judged(measure, |(ages, without)| {
        within("both ways, ms", median(ages) - median(without), 40.070, PROBE_TOLERANCE_MS)
    });
}

/// Returns the ages of probes between two sockets with nothing between them, there or there and back. That is how long
/// threads of this machine take to wake up, which on one with other work is most of a millisecond. It is no part of the
/// link.
fn ages_without_link_ms(clock: Clock, and_back: bool) -> Vec<f64> {
    let (client, server) = (socket(), socket());
    let to = server.local_addr().unwrap();
    thread::scope(|scope| {
        let ages = match and_back {
            true => {
                scope.spawn(|| echo(&server));
                scope.spawn(|| probe_ages_ms(&client, clock))
            }
            false => scope.spawn(|| probe_ages_ms(&server, clock)),
        };
        // Between the probes of the link, which are 20 ms apart.
        thread::sleep(std::time::Duration::from_millis(10));
        probe(&client, to, clock, 60);
        ages.join().unwrap()
    })
}

/// Returns whether threads wake up so late that what they add to a probe is no evidence of what they add to another, in
/// words.
fn drowsy(without_link_ms: &[f64]) -> Option<String> {
    let usual = median(without_link_ms);
    (usual > PROBE_TOLERANCE_MS / 2.0).then(|| format!("threads woke up after {usual:.3} ms"))
}

/// Returns the sojourn times in ms of what left the queue after `from`.
fn sojourns_ms(records: &[Record], from: Time) -> Vec<f64> {
    let sojourn = |record: &Record| match record.fate {
        Fate::Sent { dequeued_at, sojourn, .. } if dequeued_at >= from => Some(sojourn.as_millis_f64()),
        _ => None,
    };
    records.iter().filter_map(sojourn).collect()
}

#[test]
fn a_droptail_buffer_of_500_ms_holds_500_ms_and_drops_the_rest() {
    let measure = || {
        let (client, server, clock) = (socket(), socket(), Clock::start());
        let (relay, flow) = relay_to(&server, clock, "500 ms", 20);
        let gap = overdrive(&client, relay.front(flow), 60, Span::from_millis(1400));
        let (statistics, records) = relay.stop_with_records().unwrap();
        let full = |record: &&Record| matches!(record.fate, Fate::Dropped { reason: DropReason::Full, .. });
        let dropped = records.iter().filter(full).count() as u64;
        assert_eq!(statistics.links[0].forward.packets.dropped, dropped);
        assert!(dropped > 1000, "{dropped}");
        (sojourns_ms(&records, Time::from_millis(1000)), late(&statistics).or(starved(gap)))
    };
    judged(measure, |sojourns| within("standing queue, ms", median(sojourns), 499.5, 1.5));
}

#[test]
fn two_links_in_one_relay_do_not_disturb_each_other() {
    let measure = || {
        let (bulk, sink, client, server) = (socket(), socket(), socket(), socket());
        let clock = Clock::start();
        let mut config = Config::new(1);
        let busy = config.add_link(link("busy", "10 Mbit/s", "100 ms", "0 %"));
        let quiet = config.add_link(link("quiet", "20 Mbit/s", "100 ms", "0 %"));
        let through_busy = config.add_flow(busy, sink.local_addr().unwrap(), Span::from_millis(20));
        let through_quiet = config.add_flow(quiet, server.local_addr().unwrap(), Span::from_millis(40));
        let relay = Relay::start(config, clock).unwrap();
        let (gap, arrived, ages, without) = thread::scope(|scope| {
            let arrived = scope.spawn(|| arrivals(&sink, clock));
            let without = scope.spawn(|| ages_without_link_ms(clock, false));
            let ages = scope.spawn(|| probe_ages_ms(&server, clock));
            let gap =
                scope.spawn(|| overdrive(&bulk, relay.front(through_busy), 20, Span::from_millis(1250)));
            probe(&client, relay.front(through_quiet), clock, 60);
            (gap.join().unwrap(), arrived.join().unwrap(), ages.join().unwrap(), without.join().unwrap())
        });
        let rate = rate_mbit(&arrived, Time::from_millis(250), Time::from_millis(1250));
        let statistics = relay.stop().unwrap();
        let delivered = statistics.links[0].forward.packets.delivered;
        let age = median(&ages) - median(&without);
        let trouble = late(&statistics).or(drowsy(&without)).or(starved(gap));
        ((rate, age), trouble.or(overrun(arrived.len(), delivered)))
    };
    judged(measure, |(rate, age)| {
        within("the busy link, Mbit/s", *rate, 10.0, 0.1)?;
        within("the quiet link, ms", *age, 20.035, PROBE_TOLERANCE_MS)
    });
}

#[test]
fn flows_through_one_link_share_its_queue_and_have_their_own_round_trip_times() {
    let measure = || {
        let (client, near, far) = (socket(), socket(), socket());
        let clock = Clock::start();
        let mut config = Config::new(1);
        let uplink = config.add_link(link("uplink", "20 Mbit/s", "100 ms", "0 %"));
        let [to_near, to_far] = [(&near, 10), (&far, 100)].map(|(server, rtt)| {
            config.add_flow(uplink, server.local_addr().unwrap(), Span::from_millis(rtt))
        });
        let relay = Relay::start(config, clock).unwrap();
        for _ in 0..20 {
            client.send_to(&[0; PAYLOAD_BYTES], relay.front(to_near)).unwrap();
            client.send_to(&[0; PAYLOAD_BYTES], relay.front(to_far)).unwrap();
            thread::sleep(std::time::Duration::from_millis(10));
        }
        let (statistics, records) = relay.stop_with_records().unwrap();
        let path_ms = |flow: FlowId| {
            let time = |record: &Record| match record.fate {
                Fate::Sent { dequeued_at, due_at, .. } => due_at.since(dequeued_at).as_millis_f64(),
                _ => panic!("lost on an empty link: {record:?}"),
            };
            let of_flow: Vec<_> = records.iter().filter(|record| record.flow == flow).map(time).collect();
            median(&of_flow)
        };
        assert!(records.iter().all(|record| record.way == Way::Forward));
        ((path_ms(to_near), path_ms(to_far)), late(&statistics))
    };
    // The schedule is exact: 1250 bytes take 0.5 ms, behind them half a round-trip time passes.
    judged(measure, |(near, far)| {
        within("near, ms", *near, 5.5, 1e-6).and(within("far, ms", *far, 50.5, 1e-6))
    });
}
