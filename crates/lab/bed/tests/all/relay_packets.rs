//! What becomes of packets, whatever the timing.

use crate::common::*;
use afteryou_base::Span;
use afteryou_bed::relay::{Config, DirectionStatistics, Fate, FlowId, Relay, Statistics, Way};
use afteryou_bed::Clock;
use afteryou_scenario::outcome::Packets;
use std::net::UdpSocket;
use std::thread;
use std::time::Duration;

fn assert_conserved(statistics: &Statistics) {
    for link in &statistics.links {
        for DirectionStatistics { packets, .. } in [&link.forward, &link.reverse] {
            let accounted = packets.delivered + packets.dropped + packets.lost + packets.unfinished;
            assert_eq!(packets.arrived, accounted, "{}: {packets:?}", link.name);
        }
    }
}

/// Starts a relay with one link and one flow to `server`.
fn relay(rate: &str, buffer: &str, loss: &str, seed: u64, server: &UdpSocket) -> (Relay, FlowId) {
    let mut config = Config::new(seed);
    let link = config.add_link(link("uplink", rate, buffer, loss));
    let flow = config.add_flow(link, server.local_addr().unwrap(), Span::from_millis(20));
    (Relay::start(config, Clock::start()).unwrap(), flow)
}

/// Returns whether the n-th packet was lost, for some 4000 packets, a burst every millisecond. For some 4000 packets, a
/// burst every millisecond.
fn losses(seed: u64) -> Vec<bool> {
    let (client, server) = (socket(), socket());
    let (relay, flow) = relay("1 Gbit/s", "10000 packets", "5 %", seed, &server);
    for _ in 0..80 {
        (0..50).for_each(|_| drop(client.send_to(&[0; 10], relay.front(flow))));
        thread::sleep(Duration::from_millis(1));
    }
    let (statistics, mut records) = relay.stop_with_records().unwrap();
    assert_conserved(&statistics);
    // A loss is recorded on arrival, anything else when the packet leaves the queue.
    records.sort_by_key(|record| record.number);
    let losses: Vec<bool> = records.iter().map(|record| record.fate == Fate::Lost).collect();
    assert_eq!(losses.iter().filter(|lost| **lost).count() as u64, statistics.links[0].forward.packets.lost);
    losses
}

#[test]
fn five_per_cent_are_lost_and_the_same_ones_with_the_same_seed() {
    let _beside_others = beside_others();
    let (one, again, other) = (losses(1), losses(1), losses(2));
    let common = one.len().min(again.len()).min(other.len());
    assert!(common > 2000, "only {common} packets were relayed");
    assert_eq!(one[..common], again[..common]);
    assert_ne!(one[..common], other[..common]);
    // Five standard deviations of a binomial distribution: wrong once in a million.
    let (lost, n) = (one[..common].iter().filter(|lost| **lost).count() as f64, common as f64);
    assert!((lost / n - 0.05).abs() < 5.0 * (0.05 * 0.95 / n).sqrt(), "{lost} of {n}");
}

#[test]
fn every_packet_that_arrived_is_delivered_dropped_lost_or_unfinished() {
    let _beside_others = beside_others();
    let (client, server) = (socket(), socket());
    let (relay, flow) = relay("20 Mbit/s", "50 ms", "2 %", 1, &server);
    thread::scope(|scope| {
        scope.spawn(|| echo(&server));
        overdrive(&client, relay.front(flow), 60, Span::from_millis(400));
        // Stopped in full flow: the echo is still under way.
        let (statistics, records) = relay.stop_with_records().unwrap();
        assert_conserved(&statistics);
        let link = &statistics.links[0];
        let [forward, reverse] = [link.forward.packets, link.reverse.packets];
        let each = [forward.delivered, forward.dropped, forward.lost, forward.unfinished];
        assert!(each.iter().all(|count| *count > 0), "{forward:?}");
        assert!(reverse.arrived > 0 && reverse.unfinished > 0, "{reverse:?}");
        let of_way = |way| records.iter().filter(|record| record.way == way).count() as u64;
        // Of the unfinished, those that travel have a record and those that wait have none yet.
        let decided = |packets: Packets| packets.arrived - packets.unfinished..=packets.arrived;
        assert!(decided(forward).contains(&of_way(Way::Forward)), "{forward:?}");
        assert!(decided(reverse).contains(&of_way(Way::Reverse)), "{reverse:?}");
    });
}

#[test]
fn a_peer_that_vanishes_does_not_stop_the_others() {
    let _beside_others = beside_others();
    let (gone_client, gone_server) = (socket(), socket());
    let (client, server, orphan) = (socket(), socket(), socket());
    let mut config = Config::new(1);
    let uplink = config.add_link(link("uplink", "100 Mbit/s", "100 ms", "0 %"));
    let mut flow =
        |server: &UdpSocket| config.add_flow(uplink, server.local_addr().unwrap(), Span::from_millis(2));
    let (bereft, deserted, healthy) = (flow(&orphan), flow(&gone_server), flow(&server));
    let relay = Relay::start(config, Clock::start()).unwrap();

    // One client speaks once and goes, one server goes before it was spoken to.
    gone_client.send_to(b"hello", relay.front(bereft)).unwrap();
    orphan.recv_from(&mut [0; 10]).unwrap();
    drop((gone_client, gone_server));
    let abandoned = socket();
    for _ in 0..100 {
        let _ = orphan.send_to(&[0; 100], relay.back(bereft));
        let _ = abandoned.send_to(&[0; 100], relay.front(deserted));
        thread::sleep(Duration::from_micros(500));
    }

    client.send_to(b"still there?", relay.front(healthy)).unwrap();
    let mut buffer = [0; 100];
    let (bytes, from) = server.recv_from(&mut buffer).unwrap();
    assert_eq!((&buffer[..bytes], from), (&b"still there?"[..], relay.back(healthy)));
    server.send_to(b"yes", from).unwrap();
    let (bytes, from) = client.recv_from(&mut buffer).unwrap();
    assert_eq!((&buffer[..bytes], from), (&b"yes"[..], relay.front(healthy)));

    let statistics = relay.stop().unwrap();
    assert_conserved(&statistics);
    let link = &statistics.links[0];
    assert_eq!((link.forward.packets.arrived, link.reverse.packets.arrived), (102, 101));
}

#[test]
fn strangers_are_ignored_and_counted() {
    let (client, server, stranger) = (socket(), socket(), socket());
    let (relay, flow) = relay("100 Mbit/s", "100 ms", "0 %", 1, &server);
    let mut buffer = [0; 100];
    // Nobody is there yet to bring this to.
    server.send_to(b"too early", relay.back(flow)).unwrap();
    thread::sleep(Duration::from_millis(50));
    client.send_to(b"first", relay.front(flow)).unwrap();
    server.recv_from(&mut buffer).unwrap();
    for port in [relay.front(flow), relay.back(flow)] {
        stranger.send_to(b"let me in", port).unwrap();
    }
    client.send_to(b"second", relay.front(flow)).unwrap();
    let (bytes, _) = server.recv_from(&mut buffer).unwrap();
    assert_eq!(&buffer[..bytes], b"second");
    assert!(client.recv_from(&mut buffer).is_err(), "nothing came for the client");
    assert_eq!(relay.stop().unwrap().strangers, 3);
}

#[test]
fn a_packet_of_1500_bytes_passes_whole_an_empty_datagram_too_and_a_longer_packet_is_gone() {
    let (client, server) = (socket(), socket());
    let largest = 1500 - 28;
    let (relay, flow) = relay("1 Gbit/s", "100 ms", "0 %", 1, &server);
    let payload: Vec<u8> = (0..largest).map(|i| i as u8).collect();
    let mut buffer = vec![0; 70000];
    for longer in [largest + 1, 9000] {
        client.send_to(&vec![0; longer as usize], relay.front(flow)).unwrap();
    }
    for sent in [&payload[..], &[]] {
        client.send_to(sent, relay.front(flow)).unwrap();
        let (bytes, _) = server.recv_from(&mut buffer).unwrap();
        assert!(buffer[..bytes] == *sent, "{bytes} bytes arrived");
    }
    let records = relay.drain_records();
    assert_eq!(records.iter().map(|record| record.size_bytes).collect::<Vec<_>>(), [largest + 28, 28]);
    assert!(relay.drain_records().is_empty());
}

#[test]
fn lateness_is_taken_by_interval_and_counted_in_all() {
    let (client, server) = (socket(), socket());
    let (relay, flow) = relay("100 Mbit/s", "100 ms", "0 %", 1, &server);
    let send = |count: u64| {
        for _ in 0..count {
            client.send_to(&[0; 10], relay.front(flow)).unwrap();
            server.recv_from(&mut [0; 10]).unwrap();
        }
        // The relay reports right after it has sent.
        thread::sleep(Duration::from_millis(50));
    };
    assert!(relay.take_lateness().is_none());
    send(3);
    assert_eq!(relay.take_lateness().unwrap().departures.samples, 3);
    send(2);
    assert_eq!(relay.take_lateness().unwrap().departures.samples, 2);
    assert_eq!(relay.stop().unwrap().lateness.unwrap().departures.samples, 5);
}
