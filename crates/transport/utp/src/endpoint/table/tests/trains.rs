//! How much a sender hands to the system at once.

use super::*;
use crate::connection;
use afteryou_base::Dscp;

/// A window that never limits, and a rate.
#[derive(Debug)]
struct AtRate(u64);

impl afteryou_cc::Controller for AtRate {
    fn on_ack(&mut self, _: &afteryou_cc::Ack) {}
    fn on_loss(&mut self, _: &afteryou_cc::Loss) {}
    fn on_timeout(&mut self, _: &afteryou_cc::Timeout) {}
    fn on_mtu(&mut self, _: u32) {}
    fn directive(&self) -> afteryou_cc::Directive {
        let pacing = afteryou_cc::Pacing::Rate(self.0);
        afteryou_cc::Directive { pacing, ..afteryou_cc::Directive::window(8 << 20) }
    }
    fn snapshot(&self) -> afteryou_cc::Snapshot {
        afteryou_cc::Snapshot::default()
    }
}

/// Returns the largest piece that a sender of `rate` bytes a second hands to the system in its first 20 round trips, bytes.
fn largest_train(rate: u64, rtt: Span) -> usize {
    let controller: crate::endpoint::MakeController = std::sync::Arc::new(move |_| Box::new(AtRate(rate)));
    let connection = Config::default();
    let mut table =
        Host::with(EndpointConfig { connection, ..EndpointConfig::new(controller, Dscp::DEFAULT) });
    let config = &table.config;
    let (mut ours, mut acks) = (VecDeque::new(), VecDeque::new());
    let handle = table.table.open(config, table.now, host(1), || 6).expect("there is room");
    let mut far: Option<Connection> = None;
    let mut largest = 0;
    while table.now < Time::ZERO + rtt * 20 {
        if let Some(entry) = table.table.entry(handle) {
            if entry.connection.is_connected() {
                entry.connection.write_zeros(8 << 20).expect("open");
                table.table.touch(handle.key);
            }
        }
        while table.table.has_work() {
            let mut out = Batch::default();
            table.table.transmit(&table.config, table.now, &mut out);
            for (train, bytes) in out.trains() {
                largest = largest.max(bytes.len());
                ours.extend(bytes.chunks(train.segment).map(|one| (table.now + rtt / 2, one.to_vec())));
            }
        }
        let arrivals = [ours.front(), acks.front()].into_iter().flatten().map(|(at, _)| *at);
        let deadlines = [far.as_ref().and_then(Connection::deadline), table.table.next_deadline()];
        let next = arrivals.chain(deadlines.into_iter().flatten()).min().expect("nothing will ever happen");
        // A busy host is late, and owes several milliseconds' worth then.
        table.now = Time(next.max(table.now).0.next_multiple_of(Span::from_millis(4).0));
        while ours.front().is_some_and(|(at, _)| *at <= table.now) {
            let Some((_, datagram)) = ours.pop_front() else { break };
            let packet = Packet::decode(&datagram).expect("what is sent is well-formed");
            match &mut far {
                Some(far) => far.handle(table.now, &packet),
                None => {
                    let host = connection::Host { keeps_received: false, ..connection::Host::REAL };
                    far = Some(host.accept(
                        Config::default(),
                        Box::new(AtRate(rate)),
                        table.now,
                        &packet,
                        SeqNr(5000),
                    ));
                }
            }
        }
        if let Some(far) = &mut far {
            far.handle_deadline(table.now);
            let mut datagram = Vec::new();
            while far.poll_transmit(table.now, &mut datagram) {
                acks.push_back((table.now + rtt / 2, std::mem::take(&mut datagram)));
            }
        }
        while acks.front().is_some_and(|(at, _)| *at <= table.now) {
            let Some((_, datagram)) = acks.pop_front() else { break };
            table.table.receive(&table.config, at(table.now), host(1), &datagram, || 5000);
        }
        table.table.run_deadlines(table.now);
    }
    largest
}

/// A full packet, bytes.
const DATAGRAM: usize = 1352 + 20;

#[test]
fn no_train_is_longer_than_a_millisecond_at_the_current_rate_but_for_a_single_datagram() {
    for rtt_ms in [5, 50, 135, 250] {
        for rate in [100_000, 2_500_000, 10_000_000, 125_000_000] {
            // The kernel takes a train of 65 507 bytes at most.
            let most = (rate as usize / 1000).min(65_507);
            let whole = (most / DATAGRAM).max(1) * DATAGRAM;
            let what = format!("{rate} bytes/s, {rtt_ms} ms");
            assert_eq!(largest_train(rate, Span::from_millis(rtt_ms)), whole, "{what}");
        }
    }
}

/// Returns the packets of the trains that leave within two milliseconds.
fn trains_that_leave(table: &mut Host) -> Vec<usize> {
    let mut all = Vec::new();
    for _ in 0..2 {
        table.now += Span::from_millis(1);
        table.table.run_deadlines(table.now);
        let mut out = Batch::default();
        table.table.transmit(&table.config, table.now, &mut out);
        all.extend(out.trains().map(|(train, bytes)| bytes.len().div_ceil(train.segment)));
    }
    all
}

#[test]
fn a_sender_whose_peer_has_room_for_a_part_of_a_train_waits_for_the_rest() {
    // The round trip of this handshake is nothing, and a tail loss probe would follow at once.
    let recovery = crate::Recovery::Libutp;
    const PAYLOAD: u32 = 1352;
    const IN_WINDOW: u32 = 110;
    let controller: crate::endpoint::MakeController = std::sync::Arc::new(|_| Box::new(AtRate(1 << 40)));
    let mut table = Host::with(EndpointConfig {
        connection: Config { payload: PAYLOAD, recovery, ..Config::default() },
        ..EndpointConfig::new(controller, Dscp::DEFAULT)
    });
    let handle = open(&mut table, host(1), 20, 100);
    // The peer acknowledges this number of packets after the SYN.
    let acknowledge = |table: &mut Host, packets: u16, in_window: u32| {
        let mut datagram = packet(Kind::State, 20, 500, 100 + packets);
        let mut header = header(&datagram);
        header.wnd_size = in_window * PAYLOAD;
        datagram.clear();
        Packet { header, sack: None, marks: None, payload: &[] }.encode(&mut datagram);
        table.table.receive(&table.config, at(table.now), host(1), &datagram, || 1000);
    };
    acknowledge(&mut table, 0, IN_WINDOW);
    table.table.entry(handle).unwrap().connection.write_zeros(120 * u64::from(PAYLOAD)).unwrap();
    table.table.touch(handle.key);
    assert_eq!(trains_that_leave(&mut table), [47, 47], "16 more have room");
    table.now += Span::from_millis(1);
    acknowledge(&mut table, 30, IN_WINDOW);
    assert_eq!(trains_that_leave(&mut table), [26], "that is all that is left");
    // Half of a small window is enough.
    table.table.entry(handle).unwrap().connection.write_zeros(200 * u64::from(PAYLOAD)).unwrap();
    acknowledge(&mut table, 110, 30);
    assert_eq!(trains_that_leave(&mut table), [20]);
    acknowledge(&mut table, 124, 30);
    assert!(trains_that_leave(&mut table).is_empty());
    acknowledge(&mut table, 125, 30);
    assert_eq!(trains_that_leave(&mut table), [15]);
}
