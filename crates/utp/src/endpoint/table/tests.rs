//! The table in virtual time: the test is the clock, the network, the peers and the application.

use super::*;
use afteryou_cc::Span;
use std::net::Ipv4Addr;

/// A table with its clock and an application that accepts everything, reads everything and drops what has failed.
struct Host {
    table: Table,
    config: EndpointConfig,
    now: Time,
    streams: Vec<Handle>,
}

/// Datagrams and where they go.
type Datagrams = Vec<(SocketAddr, Vec<u8>)>;

/// The `i`-th of many hosts.
fn host(i: u32) -> SocketAddr {
    SocketAddr::from((Ipv4Addr::from(0x0A00_0000 + i), 4000))
}

/// A packet of a peer that knows what it may say.
fn packet(kind: Kind, connection_id: u16, seq_nr: u16, ack_nr: u16) -> Vec<u8> {
    let wnd_size = 1 << 20;
    let (timestamp_us, timestamp_difference_us) = (1, 1);
    let header =
        Header { kind, connection_id, timestamp_us, timestamp_difference_us, wnd_size, seq_nr, ack_nr };
    let mut datagram = Vec::new();
    Packet { header, sack: None, payload: &[] }.encode(&mut datagram);
    datagram
}

fn header(datagram: &[u8]) -> Header {
    Packet::decode(datagram).expect("what is sent is well-formed").header
}

impl Host {
    fn new() -> Host {
        Host::with(EndpointConfig::foreground())
    }

    fn with(config: EndpointConfig) -> Host {
        Host { table: Table::default(), config, now: Time::ZERO, streams: Vec::new() }
    }

    /// Everything that the table has to send, after the application has had its turn.
    fn transmit(&mut self) -> Datagrams {
        let mut all = Vec::new();
        loop {
            let mut out = Vec::new();
            self.table.transmit(&self.config, self.now, &mut out);
            self.run_application();
            if out.is_empty() && !self.table.has_work() {
                return all;
            }
            all.append(&mut out);
        }
    }

    fn run_application(&mut self) {
        self.streams.extend(std::iter::from_fn(|| self.table.take_accepted()));
        for handle in std::mem::take(&mut self.streams) {
            let Some(entry) = self.table.entry(handle) else { continue };
            if !entry.connection.is_readable() && !entry.connection.is_closed() {
                self.streams.push(handle);
                continue;
            }
            let read = entry.connection.read(self.now, &mut [0; 10_000]);
            match read {
                Ok(0) => {}
                Ok(_) => self.table.touch(handle.key),
                Err(_) => {
                    self.table.detach(self.now, handle);
                    continue;
                }
            }
            self.streams.push(handle);
        }
    }

    /// A datagram comes in; what is sent to its sender.
    fn answers(&mut self, peer: SocketAddr, datagram: &[u8]) -> Vec<Vec<u8>> {
        self.table.receive(&self.config, self.now, peer, datagram, || 1000);
        let sent = self.transmit();
        sent.into_iter().filter(|(to, _)| *to == peer).map(|(_, datagram)| datagram).collect()
    }

    /// A peer opens a connection with `id`; was it answered?
    fn syn(&mut self, peer: SocketAddr, id: u16) -> bool {
        let answers = self.answers(peer, &packet(Kind::Syn, id, 1, 0));
        answers.iter().any(|datagram| header(datagram).kind == Kind::State)
    }

    /// A peer completes the handshake; did it get in?
    fn connect(&mut self, peer: SocketAddr, id: u16) -> bool {
        let answered = self.syn(peer, id);
        self.answers(peer, &packet(Kind::State, id.wrapping_add(1), 2, 999));
        answered
    }

    /// Time passes, and the peers are silent.
    fn pass(&mut self, span: Span) {
        let end = self.now + span;
        while let Some(at) = self.table.next_deadline().filter(|at| *at <= end) {
            self.now = at;
            self.table.run_deadlines(at);
            self.transmit();
        }
        self.now = end;
    }
}

#[test]
fn a_handle_kept_after_its_connection_does_not_reach_the_next_one_under_the_same_key() {
    let config = EndpointConfig::foreground();
    let (mut table, mut out) = (Table::default(), Vec::new());
    let peer = SocketAddr::from(([127, 0, 0, 1], 1));
    let old = table.open(&config, Time::ZERO, peer, || 7).unwrap();
    table.entry(old).unwrap().connection.abort();
    table.detach(Time::ZERO, old);
    table.transmit(&config, Time::ZERO, &mut out);
    assert!(table.entries.is_empty());
    let new = table.open(&config, Time::ZERO, peer, || 7).unwrap();
    assert_eq!(old.key, new.key);
    assert!(table.entry(old).is_none() && table.entry(new).is_some());
    table.detach(Time::ZERO, old);
    assert!(table.entry(new).unwrap().detached.is_none());
}

#[test]
fn ninety_seconds_after_three_thousand_peers_have_vanished_a_new_one_is_served_and_their_memory_is_free() {
    let mut table = Host::new();
    table.config.max_connections = 3000;
    assert!((0..3000).all(|i| table.connect(host(i), 1)));
    assert!(!table.syn(host(5000), 1), "there is room for more than the limit");
    table.pass(Span::from_secs(90));
    assert!(table.connect(host(5000), 1));
    assert_eq!((table.streams.len(), table.table.entries.len()), (1, 1));
    assert!(table.table.entries.capacity() <= MIN_CAPACITY);
}

/// SYNs of 48 bytes on the wire at 55 kbit/s, for a minute, each from the host that `from` names, while once a second a peer with a
/// round trip of 200 ms connects. How many of those get in.
fn connected_beside_a_flood(from: impl Fn(u32) -> SocketAddr) -> usize {
    let mut table = Host::new();
    let apart = Span::from_secs(1) * (48 * 8) / 55_000;
    let mut connected = 0;
    let mut sent = 0;
    for second in 0..60 {
        let peer = host(0x10_0000 + second);
        let begin = Time::from_millis(u64::from(second) * 1000);
        let (confirms_at, end) = (begin + Span::from_millis(200), begin + Span::from_secs(1));
        let answered = table.syn(peer, 7);
        let mut confirmed = None;
        while table.now < end {
            table.syn(from(sent), (sent * 2) as u16 & 0x7FFF);
            sent += 1;
            table.pass(apart);
            if confirmed.is_none() && table.now >= confirms_at {
                table.answers(peer, &packet(Kind::State, 8, 2, 999));
                confirmed = Some(table.table.entries.get(&(peer, 8)).is_some_and(|entry| !entry.half_open));
            }
        }
        connected += usize::from(answered && confirmed == Some(true));
    }
    connected
}

#[test]
fn syns_of_one_prefix_or_of_forged_addresses_keep_nobody_out() {
    assert_eq!(connected_beside_a_flood(|_| host(1)), 60, "one address");
    assert_eq!(
        connected_beside_a_flood(|i| SocketAddr::new(host(1).ip(), i as u16 | 1)),
        60,
        "one address, many ports"
    );
    assert_eq!(connected_beside_a_flood(|i| SocketAddr::new(v6(1, i), 1)), 60, "one IPv6 network");
    assert_eq!(
        connected_beside_a_flood(|i| host(i.wrapping_mul(2_654_435_761) >> 12)),
        60,
        "forged addresses"
    );
}

/// Host `i` of network `n`.
fn v6(n: u16, i: u32) -> std::net::IpAddr {
    std::net::Ipv6Addr::new(0x2001, 0xdb8, 0, n, (i >> 16) as u16, 7, 0, i as u16).into()
}

#[test]
fn two_hundred_peers_behind_one_address_connect_at_once_while_another_address_takes_what_it_can() {
    let mut table = Host::new();
    (0..3000).for_each(|id| assert_eq!(table.connect(host(1), 2 * id), id <= 1500));
    let peer = |i: u16| SocketAddr::new(host(2).ip(), 1000 + i);
    assert!((0..200).all(|i| table.syn(peer(i), 5)));
    (0..200).for_each(|i| drop(table.answers(peer(i), &packet(Kind::State, 6, 2, 999))));
    assert_eq!(table.streams.iter().filter(|handle| handle.key.0.ip() == host(2).ip()).count(), 200);
}

#[test]
fn one_address_or_network_gets_half_of_the_places_and_the_next_ones_get_what_they_ask_for() {
    let mut table = Host::new();
    let addresses: [fn(u16) -> SocketAddr; 2] =
        [|id| SocketAddr::new(host(1).ip(), 1 + id % 7), |id| SocketAddr::new(v6(1, id.into()), 1)];
    let places = addresses.map(|of| (0..4000).filter(|id| table.connect(of(*id), 2 * id)).count());
    assert_eq!(places, [1501, 750]);
    assert!(table.connect(SocketAddr::new(v6(2, 0), 1), 1) && table.connect(host(2), 1));
}

#[test]
fn a_small_limit_is_for_one_peer_too() {
    for max_connections in [1, 2] {
        let mut table = Host::with(EndpointConfig { max_connections, ..EndpointConfig::foreground() });
        let taken = (0..3).filter(|i| table.connect(host(1), 2 * i)).count();
        assert_eq!(taken, max_connections);
    }
}
