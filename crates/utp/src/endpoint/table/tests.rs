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
