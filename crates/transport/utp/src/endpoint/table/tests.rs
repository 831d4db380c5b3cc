//! The table in virtual time: the test is the clock, the network, the peers and the application.

mod places;
mod trains;

use super::*;
use crate::config::Config;
use afteryou_base::Span;
use std::net::Ipv4Addr;

/// A table with its clock and an application that accepts everything, reads everything and drops what has failed.
struct Host {
    table: Table,
    config: EndpointConfig,
    now: Time,
    streams: Vec<Handle>,
    /// Whose bytes the application reads.
    reads: fn(SocketAddr) -> bool,
    /// Bytes that it has read.
    read: u64,
    /// The first sequence number of each answer to a SYN.
    answered: HashMap<Key, u16>,
}

/// Datagrams and where they go.
type Datagrams = Vec<(SocketAddr, Vec<u8>)>;

/// Returns the `i`-th of many hosts.
fn host(i: u32) -> SocketAddr {
    SocketAddr::from((Ipv4Addr::from(0x0A00_0000 + i), 4000))
}

/// Returns a well-formed packet of a peer.
fn packet(kind: Kind, connection_id: u16, seq_nr: u16, ack_nr: u16) -> Vec<u8> {
    let wnd_size = 1 << 20;
    let header = Header {
        kind,
        connection_id: ConnectionId(connection_id),
        timestamp: Micros(1),
        timestamp_difference: Micros(1),
        wnd_size,
        seq_nr: SeqNr(seq_nr),
        ack_nr: SeqNr(ack_nr),
    };
    let mut datagram = Vec::new();
    Packet { header, sack: None, marks: None, payload: &[] }.encode(&mut datagram);
    datagram
}

fn header(datagram: &[u8]) -> Header {
    Packet::decode(datagram).expect("what is sent is well-formed").header
}

/// Returns the arrival of a datagram that is handled as soon as it arrives.
fn at(now: Time) -> Arrival {
    Arrival { now, stamp: Some(now), is_marked: false }
}

impl Host {
    fn new() -> Host {
        Host::with(EndpointConfig::foreground())
    }

    fn with(config: EndpointConfig) -> Host {
        Host {
            table: Table::new(config.memory),
            config,
            now: Time::ZERO,
            streams: Vec::new(),
            reads: |_| true,
            read: 0,
            answered: HashMap::new(),
        }
    }

    fn statistics(&self) -> EndpointStatistics {
        self.table.statistics(&self.config)
    }

    /// Returns everything that the table has to send, after the application has had its turn.
    fn transmit(&mut self) -> Datagrams {
        let mut all = Vec::new();
        loop {
            let mut out = Batch::default();
            self.table.transmit(&self.config, self.now, &mut out);
            self.run_application();
            if out.is_empty() && !self.table.has_work() {
                return all;
            }
            all.extend(out.datagrams().map(|(peer, datagram)| (peer, datagram.to_vec())));
        }
    }

    fn run_application(&mut self) {
        self.streams.extend(std::iter::from_fn(|| self.table.take_accepted()));
        for handle in std::mem::take(&mut self.streams) {
            let Some(entry) = self.table.entry(handle) else { continue }; // displaced
            let readable = entry.connection.is_readable() && (self.reads)(handle.key.peer);
            if !readable && !entry.connection.is_closed() {
                self.streams.push(handle);
                continue;
            }
            let read = entry.connection.read(self.now, &mut [0; 10_000]);
            match read {
                Ok(0) if entry.connection.is_at_end() => {
                    self.table.detach(self.now, handle);
                    continue;
                }
                Ok(n) => {
                    self.read += n as u64;
                    self.table.touch(handle.key);
                }
                Err(_) => {
                    self.table.detach(self.now, handle);
                    continue;
                }
            }
            self.streams.push(handle);
        }
    }

    /// Handles a datagram that comes in; returns what is sent to its sender.
    fn answers(&mut self, peer: SocketAddr, datagram: &[u8]) -> Vec<Vec<u8>> {
        self.table.receive(&self.config, at(self.now), peer, datagram, || 1000);
        let sent = self.transmit();
        sent.into_iter().filter(|(to, _)| *to == peer).map(|(_, datagram)| datagram).collect()
    }

    /// Opens a peer's connection with `id`; returns the number of the answer, if there is one.
    fn syn(&mut self, peer: SocketAddr, id: u16) -> Option<u16> {
        let answers = self.answers(peer, &packet(Kind::Syn, id, 1, 0));
        let mut headers = answers.iter().map(|datagram| header(datagram));
        let seq_nr = headers.find(|header| header.kind == Kind::State)?.seq_nr.0;
        self.answered.insert(Key::new(peer, ConnectionId(id.wrapping_add(1))), seq_nr);
        Some(seq_nr)
    }

    /// Returns the number that a peer acknowledges until data come back.
    fn first_ack(&self, peer: SocketAddr, id: u16) -> u16 {
        self.answered[&Key::new(peer, ConnectionId(id))].wrapping_sub(1)
    }

    /// Completes the handshake of a peer whose SYN was answered with `seq_nr`. Returns whether it got in.
    fn confirm(&mut self, peer: SocketAddr, id: u16, seq_nr: u16) -> bool {
        let id = id.wrapping_add(1);
        self.answers(peer, &packet(Kind::State, id, 2, seq_nr.wrapping_sub(1)));
        self.table.entries.get(&Key::new(peer, ConnectionId(id))).is_some_and(|entry| !entry.half_open)
    }

    /// Opens a peer's connection with `id` and completes the handshake. Returns whether it got in.
    fn connect(&mut self, peer: SocketAddr, id: u16) -> bool {
        self.syn(peer, id).is_some_and(|seq_nr| self.confirm(peer, id, seq_nr))
    }

    /// Lets time pass while the peers are silent.
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
    let (mut table, mut out) = (Table::default(), Batch::default());
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
fn a_connection_that_is_only_acknowledged_takes_no_part_of_the_sockets_buffer() {
    let mut table = Host::new();
    table.table.socket_buffer = SocketBuffer::new(Some(212_992));
    assert!((0..50).all(|i| table.connect(host(i), 1)));
    let part = |table: &Host| table.table.socket_buffer.newcomers_share().map(|share| share.memory);
    let whole = part(&table).expect("the size is known");
    // Acknowledgements and repeated SYNs.
    for i in 0..50 {
        let ack_nr = table.first_ack(host(i), 2);
        table.answers(host(i), &packet(Kind::State, 2, 2, ack_nr));
        table.syn(host(i), 1);
    }
    assert_eq!(part(&table), Some(whole));
    send_data(&mut table, 7, 1, 100, |_| 0);
    assert_eq!(part(&table), Some(whole / 2));
}

/// Sends `packets` packets of `len` bytes of stranger `i`, who has connected with id 1; `ahead` is how far ahead the n-th
/// is.
fn send_data(table: &mut Host, i: u32, packets: u16, len: usize, ahead: fn(u16) -> u16) {
    let payload = vec![7; len];
    let ack_nr = table.first_ack(host(i), 2);
    let mut datagram = Vec::new();
    for n in 0..packets {
        datagram.clear();
        let header = header(&packet(Kind::Data, 2, 2 + ahead(n), ack_nr));
        Packet { header, sack: None, marks: None, payload: &payload }.encode(&mut datagram);
        table.table.receive(&table.config, at(table.now), host(i), &datagram, || 1000);
    }
    table.transmit();
    let EndpointStatistics { memory, memory_limit, .. } = table.statistics();
    assert!(memory <= memory_limit, "{memory} of {memory_limit} bytes after stranger {i}");
}

/// Sends `bytes` of an honest peer over 40 ms that lose every 100th packet; returns how long that takes, s.
fn transfer(table: &mut Host, bytes: u64) -> f64 {
    const ONE_WAY: Span = Span::from_millis(20);
    let (from, began, before) = (host(99_999), table.now, table.read);
    let controller = (table.config.controller)(Setup::of(table.config.connection.payload));
    let mut peer =
        Connection::connect(table.config.connection.clone(), controller, began, ConnectionId(7), SeqNr(1));
    let (mut up, mut down, mut written, mut sent) = (VecDeque::new(), VecDeque::new(), 0, 0);
    while table.read - before < bytes {
        written += peer.write_zeros(bytes - written).unwrap_or(0);
        let mut datagram = Vec::new();
        while peer.poll_transmit(table.now, &mut datagram) {
            sent += 1;
            if sent % 100 != 0 {
                up.push_back((table.now + ONE_WAY, std::mem::take(&mut datagram)));
            }
            datagram.clear();
        }
        let answers = table.transmit().into_iter().filter(|(to, _)| *to == from);
        down.extend(answers.map(|(_, datagram)| (table.now + ONE_WAY, datagram)));
        let arrivals = [up.front(), down.front()].into_iter().flatten().map(|(at, _)| *at);
        let deadlines = [peer.deadline(), table.table.next_deadline()].into_iter().flatten();
        table.now = arrivals.chain(deadlines).min().expect("nothing will ever happen").max(table.now);
        assert!(table.now.since(began) < Span::from_secs(600), "{} of {bytes} bytes", table.read - before);
        peer.handle_deadline(table.now);
        assert_eq!(peer.error(), None);
        table.table.run_deadlines(table.now);
        while up.front().is_some_and(|(at, _)| *at <= table.now) {
            let (_, datagram) = up.pop_front().unwrap();
            table.table.receive(&table.config, at(table.now), from, &datagram, || 5000);
        }
        while down.front().is_some_and(|(at, _)| *at <= table.now) {
            let (_, datagram) = down.pop_front().unwrap();
            peer.handle(table.now, &Packet::decode(&datagram).unwrap());
        }
    }
    table.now.since(began).as_secs_f64()
}

#[test]
fn three_hundred_strangers_stay_within_the_budget_and_an_honest_stream_completes_beside_them() {
    type Attack = (u16, usize, fn(u16) -> u16);
    let out_of_order: [Attack; 4] = [
        (2000, 1352, |n| n + 1),
        (2000, 1, |n| n + 1),
        (200, 1, |n| 16_000 - 80 * n),
        (40, 60_000, |n| n + 1),
    ];
    println!("alone: {:.1} s", transfer(&mut Host::new(), 3_000_000));
    for (packets, len, ahead) in out_of_order {
        let mut table = Host::new();
        for i in 0..300 {
            assert!(table.connect(host(i), 1), "stranger {i}, {packets} of {len}: {:?}", table.statistics());
            send_data(&mut table, i, packets, len, ahead);
        }
        assert!(table.statistics().memory > 30 << 20, "the budget is not used");
        let took = transfer(&mut table, 3_000_000);
        println!("{packets} packets of {len} bytes out of order: {took:.1} s");
        assert!(took < 20.0, "{took} s beside {packets} packets of {len} bytes");
    }
}

#[test]
fn an_application_that_stops_reading_three_hundred_streams_stays_within_the_budget_and_reads_another() {
    for (packets, len) in [(2000, 1352), (2000, 10), (40, 60_000)] {
        let mut table = Host::new();
        table.reads = |peer| peer == host(99_999);
        for i in 0..300 {
            assert!(table.connect(host(i), 1), "stranger {i}, {packets} of {len}: {:?}", table.statistics());
            send_data(&mut table, i, packets, len, |n| n);
        }
        let took = transfer(&mut table, 3_000_000);
        println!("{packets} packets of {len} bytes unread: {took:.1} s");
        assert!(took < 60.0, "{took} s beside {packets} packets of {len} bytes");
    }
}

#[test]
fn a_budget_too_small_for_anything_lets_one_stream_through_and_shows_it() {
    let mut table = Host::with(EndpointConfig { memory: 40_000, ..EndpointConfig::foreground() });
    assert!(table.connect(host(1), 1));
    send_data(&mut table, 1, 100, 1352, |n| n + 1);
    let took = transfer(&mut table, 300_000);
    println!("{took:.1} s");
    (0..10).for_each(|i| _ = table.connect(host(10 + i), 1));
    assert!(table.statistics().connections < 6, "it takes more than fit");
}

#[test]
fn when_the_budget_is_used_up_gaps_that_stay_open_give_way_and_reset_their_peers() {
    let mut table = Host::new();
    for i in 0..300 {
        assert!(table.connect(host(i), 1));
        send_data(&mut table, i, 2000, 1352, |n| n + 1);
    }
    let before = table.statistics();
    assert!(before.memory > 48 << 20, "{before:?}");
    table.pass(Span::from_secs(9));
    let state = |table: &Host, i| packet(Kind::State, 2, 2, table.first_ack(host(i), 2));
    let again = state(&table, 0);
    assert!(table.answers(host(0), &again).is_empty());
    assert_eq!(table.statistics(), before, "ten seconds are not over");
    table.pass(Span::from_secs(2));
    let again = state(&table, 299);
    table.table.receive(&table.config, at(table.now), host(299), &again, || 0);
    let resets = table.transmit().iter().filter(|(_, datagram)| header(datagram).kind == Kind::Reset).count();
    let after = table.statistics();
    assert!(after.memory < before.memory - (2 << 20), "{after:?}");
    assert_eq!(300 - after.connections, resets);
    assert!((1..20).contains(&resets), "{resets} resets for what a few hold");
}

#[test]
fn a_hundred_thousand_mutated_packets_stay_within_the_budget_and_an_honest_stream_completes_after_them() {
    use rand_core::Rng;
    let mut random = rand_pcg::Pcg64Mcg::new(1);
    let mut below = |n: u32| random.next_u32() % n;
    let kinds = [Kind::Data, Kind::State, Kind::Fin, Kind::Syn, Kind::Reset];
    let mut table = Host::new();
    (0..100).for_each(|i| assert!(table.connect(host(i), 1)));
    for i in 0..100_000 {
        let peer = host(below(100));
        let ack_nr = table.first_ack(peer, 2);
        let mut datagram = packet(kinds[below(5) as usize], 2, 2 + below(40) as u16, ack_nr);
        datagram.resize(20 + below(1400) as usize, 7);
        for _ in 0..below(4) {
            datagram[below(20) as usize] = below(256) as u8;
        }
        if below(10) == 0 {
            datagram.truncate(below(20) as usize);
        }
        table.table.receive(&table.config, at(table.now), peer, &datagram, || 1000);
        if i % 50 == 0 {
            table.transmit();
            table.pass(Span::from_millis(1));
        }
    }
    let EndpointStatistics { memory, memory_limit, connections, .. } = table.statistics();
    assert!(memory <= memory_limit && connections <= 3000, "{:?}", table.statistics());
    let took = transfer(&mut table, 300_000);
    assert!(took < 5.0, "{took} s");
}

/// Opens a peer's connection `id`, which both sides end, and the last acknowledgement has come. Returns whether the peer got
/// all it waited for.
fn short_connection(table: &mut Host, peer: SocketAddr, id: u16) -> bool {
    if !table.connect(peer, id) {
        return false;
    }
    let ack_nr = table.first_ack(peer, id.wrapping_add(1));
    let answers = table.answers(peer, &packet(Kind::Fin, id.wrapping_add(1), 2, ack_nr));
    let fin = answers.iter().map(|datagram| header(datagram)).find(|header| header.kind == Kind::Fin);
    let fin_nr = ack_nr.wrapping_add(1);
    table.answers(peer, &packet(Kind::State, id.wrapping_add(1), 3, fin_nr));
    fin.is_some_and(|fin| (fin.ack_nr, fin.seq_nr) == (SeqNr(2), SeqNr(fin_nr)))
}

#[test]
fn five_thousand_short_connections_a_second_from_one_address_all_succeed() {
    let mut table = Host::new();
    for i in 0..30_000 {
        assert!(short_connection(&mut table, host(1), 2 * i), "connection {i}: {:?}", table.statistics());
        table.pass(Span::from_micros(200));
    }
    let statistics = table.statistics();
    assert!(statistics.connections < 200, "{statistics:?}");
    assert!(statistics.memory < 8 << 20, "{statistics:?}");
    table.pass(Span::from_secs(4));
    assert_eq!((table.statistics().memory, table.table.is_empty()), (0, true));
}

#[test]
fn a_connection_that_is_over_repeats_its_last_acknowledgement_for_as_long_as_it_lingers() {
    let mut table = Host::new();
    assert!(short_connection(&mut table, host(1), 1));
    assert!(!table.table.is_empty(), "it does not linger");
    table.pass(Span::from_millis(2900));
    let fin_nr = table.first_ack(host(1), 2).wrapping_add(1);
    for kind in [Kind::Fin, Kind::Data] {
        let answers = table.answers(host(1), &packet(kind, 2, 2, fin_nr));
        let answer = header(&answers[0]);
        assert_eq!((answer.kind, answer.connection_id), (Kind::State, ConnectionId(1)));
        assert_eq!((answer.ack_nr, answer.seq_nr), (SeqNr(2), SeqNr(fin_nr.wrapping_add(1))));
        assert_eq!(answer.timestamp, Micros(2_900_000));
    }
    assert!(
        table.answers(host(1), &packet(Kind::State, 2, 2, fin_nr)).is_empty(),
        "acknowledges an acknowledgement"
    );
    table.pass(Span::from_millis(300));
    let answers = table.answers(host(1), &packet(Kind::Fin, 2, 2, fin_nr));
    assert_eq!(header(&answers[0]).kind, Kind::Reset);
}

#[test]
fn a_peer_may_use_an_id_again_while_its_last_connection_lingers() {
    let mut table = Host::new();
    assert!((0..3).all(|_| short_connection(&mut table, host(1), 1)));
    table.pass(Span::from_secs(4));
    assert!(table.table.is_empty());
}

#[test]
fn an_id_of_ours_stays_taken_while_its_connection_lingers() {
    let mut table = Host::new();
    let handle = table.table.open(&table.config, table.now, host(1), || 7).unwrap();
    table.transmit();
    table.answers(host(1), &packet(Kind::State, 7, 500, 7));
    assert!(table.table.entry(handle).unwrap().connection.is_connected());
    table.table.detach(table.now, handle);
    table.transmit();
    table.answers(host(1), &packet(Kind::Fin, 7, 500, 8));
    assert_eq!(table.statistics().connections, 0);
    assert_eq!(table.table.open(&table.config, table.now, host(1), || 7).err(), Some(Error::TooMany));
    table.pass(Span::from_secs(4));
    assert!(table.table.open(&table.config, table.now, host(1), || 7).is_ok());
}

/// Opens a connection under `recv_id` whose SYN has number `seq_nr`, and completes the handshake.
fn open(table: &mut Host, peer: SocketAddr, recv_id: u16, seq_nr: u16) -> Handle {
    // The controller's seed is drawn after them.
    let mut numbers = [recv_id, seq_nr].into_iter().chain(std::iter::repeat(7));
    let handle = table.table.open(&table.config, table.now, peer, || numbers.next().unwrap()).unwrap();
    table.transmit();
    table.answers(peer, &packet(Kind::State, recv_id, 500, seq_nr));
    assert!(table.table.entry(handle).unwrap().connection.is_connected());
    handle
}

#[test]
fn a_reset_under_either_id_ends_its_connection_and_no_neighbour() {
    // The connection uses 20 and 21. Neighbours of ours and of the peer's have those ids, too.
    for reset_id in [20, 21] {
        let mut table = Host::new();
        let peer = host(1);
        let neighbours =
            [(19, 7000), (21, 8000), (22, 9000)].map(|(id, seq_nr)| open(&mut table, peer, id, seq_nr));
        let connection = open(&mut table, peer, 20, 100);
        table.answers(peer, &packet(Kind::Reset, reset_id, 0, 100));
        let closed = table.table.entry(connection).is_none_or(|entry| entry.connection.is_closed());
        assert!(closed, "the reset under {reset_id} is lost");
        neighbours.iter().for_each(|handle| {
            assert!(table.table.entry(*handle).is_some_and(|entry| !entry.connection.is_closed()));
        });
    }
}

#[test]
fn a_reset_under_the_id_of_an_acceptor_reaches_it_beside_a_connection_that_we_have_opened() {
    // The acceptor receives under 21 and sends under 20, which is where the other one receives.
    let mut table = Host::new();
    assert!(table.connect(host(1), 20));
    let accepted = table.streams[0];
    let opened = open(&mut table, host(1), 20, 100);
    let ack_nr = table.first_ack(host(1), 21);
    table.answers(host(1), &packet(Kind::Reset, 20, 0, ack_nr));
    assert!(table.table.entry(accepted).is_none(), "the reset is lost");
    assert!(!table.table.entry(opened).unwrap().connection.is_closed());
}

#[test]
fn the_statistics_show_the_limits_as_they_hold_now() {
    let mut table = Host::new();
    let (before, limit) = (table.statistics(), table.config.max_connections);
    assert_eq!((before.max_connections, before.places_per_address, before.waiting), (limit, limit, 0));
    assert_eq!((before.max_half_open, before.backlog), (1000, 128));
    assert_eq!(before.share, before.memory_limit / 8, "a sixth of the three quarters for data");
    for id in 0..1000 {
        assert!(table.connect(host(1), 2 * id));
    }
    let after = table.statistics();
    assert_eq!((after.connections, after.places_per_address), (1000, limit - 1000));
    assert!(after.share < before.share - 1000 * CONNECTION / 7, "{after:?}");
    let granted = (0..4000).filter(|id| table.connect(host(2), 2 * id)).count();
    assert_eq!(granted, 1001, "one address gets no more than stay free");
}
