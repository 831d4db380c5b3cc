//! Honest ends over a network that does to datagrams whatever it likes, and with strangers who shout in between.

use afteryou_base::{Span, Time};
use afteryou_cc::list;
use afteryou_utp::packet::{Header, Kind, Packet};
use afteryou_utp::sack::Sack;
use afteryou_utp::{Config, Connection, ConnectionId, Micros, SeqNr};
use proptest::prelude::*;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// What happens to a datagram: a copy arrives after each of these times.
type Fate = Vec<Span>;
/// One-way delay of the network once it has run out of ideas.
const DELAY: Span = Span::from_millis(10);
/// Longest delay while the connection is being opened, where a second's silence may mean failure.
const HANDSHAKE_DELAY: Span = Span::from_millis(300);

/// A datagram of somebody who knows the addresses but not the connection's state.
#[derive(Clone, Debug)]
struct Junk {
    at_ms: u64,
    to: usize,
    kind: Kind,
    seq_nr: u16,
    /// Its ack_nr lies this far beyond everything sent.
    beyond: u16,
    sack: Option<Vec<u8>>,
    payload: usize,
}

struct End {
    connection: Option<Connection>,
    /// Data to send, and how much of it is written.
    data: Vec<u8>,
    written: usize,
    received: Vec<u8>,
    /// Newest sequence number used.
    newest: SeqNr,
}

enum Event {
    Arrive(Vec<u8>),
    Junk(Junk),
    Deadline,
}

struct Net {
    now: Time,
    config: Config,
    controller: &'static str,
    ends: [End; 2],
    events: BinaryHeap<Reverse<(Time, u64)>>,
    /// What the events are, by their order.
    what: Vec<Option<(usize, Event)>>,
    fates: VecDeque<Fate>,
}

impl Net {
    fn new(controller: &'static str, config: Config, data: [Vec<u8>; 2], fates: Vec<Fate>) -> Net {
        let end = |data| End { connection: None, data, written: 0, received: Vec::new(), newest: SeqNr(0) };
        let mut net = Net {
            now: Time::from_millis(1),
            config,
            controller,
            ends: data.map(end),
            events: BinaryHeap::new(),
            what: Vec::new(),
            fates: fates.into(),
        };
        let client =
            Connection::connect(net.config.clone(), net.build(), net.now, ConnectionId(7), SeqNr(65_500));
        net.ends[0].connection = Some(client);
        net.service(0);
        net
    }

    fn build(&self) -> Box<dyn afteryou_cc::Controller> {
        list::find(self.controller).unwrap().build(&[], afteryou_cc::Setup::of(self.config.payload)).unwrap()
    }

    fn schedule(&mut self, at: Time, to: usize, event: Event) {
        self.events.push(Reverse((at, self.what.len() as u64)));
        self.what.push(Some((to, event)));
    }

    /// Runs until both ends are closed; false if that takes unreasonably long.
    fn run(&mut self) -> bool {
        for _ in 0..500_000 {
            let closed = |end: &End| end.connection.as_ref().is_some_and(Connection::is_closed);
            if self.ends.iter().all(closed) {
                return true;
            }
            let Some(Reverse((at, order))) = self.events.pop() else { return false };
            let Some((to, event)) = self.what[order as usize].take() else { continue };
            self.now = at;
            match event {
                Event::Arrive(datagram) => self.arrive(to, &datagram),
                Event::Junk(junk) => self.shout(to, &junk),
                Event::Deadline => {
                    let connection = self.ends[to].connection.as_mut();
                    if let Some(connection) = connection.filter(|c| c.deadline().is_some_and(|due| due <= at))
                    {
                        connection.handle_deadline(at);
                        self.service(to);
                    }
                }
            }
        }
        false
    }

    fn arrive(&mut self, to: usize, datagram: &[u8]) {
        let packet = Packet::decode(datagram).expect("well-formed");
        let now = self.now;
        match &mut self.ends[to].connection {
            None => {
                let server =
                    Connection::accept(self.config.clone(), self.build(), now, &packet, SeqNr(30_000));
                self.ends[to].newest = SeqNr(29_999);
                self.ends[to].connection = Some(server);
            }
            // As an endpoint answers what belongs to no connection.
            Some(connection) if connection.is_closed() => {
                if packet.header.kind != Kind::Reset {
                    let header = Header { kind: Kind::Reset, ack_nr: packet.header.seq_nr, ..packet.header };
                    let mut reset = Vec::new();
                    Packet { header, sack: None, marks: None, payload: &[] }.encode(&mut reset);
                    self.send(1 - to, reset);
                }
                return;
            }
            Some(connection) => connection.handle(now, &packet),
        }
        self.service(to);
    }

    fn shout(&mut self, to: usize, junk: &Junk) {
        let end = &mut self.ends[to];
        let Some(connection) = &mut end.connection else { return };
        let header = Header {
            kind: junk.kind,
            connection_id: connection.recv_id(),
            timestamp: Micros(1),
            timestamp_difference: Micros(2),
            wnd_size: 0,
            seq_nr: SeqNr(junk.seq_nr),
            // One beyond the newest is what a reset may answer: it is not outside.
            ack_nr: end.newest.plus(2).plus(junk.beyond),
        };
        let payload = vec![0xEE; junk.payload];
        connection.handle(
            self.now,
            &Packet { header, sack: junk.sack.as_deref().map(Sack::new), marks: None, payload: &payload },
        );
        self.service(to);
    }

    /// Runs the application of one end, then sends whatever that end has to send.
    fn service(&mut self, at: usize) {
        let now = self.now;
        let end = &mut self.ends[at];
        let Some(connection) = &mut end.connection else { return };
        let mut buf = [0; 4096];
        while let Ok(n @ 1..) = connection.read(now, &mut buf) {
            end.received.extend_from_slice(&buf[..n]);
        }
        end.written += connection.write(&end.data[end.written..]).unwrap_or(0);
        if end.written == end.data.len() {
            connection.finish();
        }
        let mut datagrams = Vec::new();
        loop {
            let mut datagram = Vec::new();
            if !connection.poll_transmit(now, &mut datagram) {
                break;
            }
            let header = Packet::decode(&datagram).expect("well-formed").header;
            let newest = header.seq_nr.minus(u16::from(header.kind == Kind::State));
            if newest.since(end.newest) as i16 > 0 || header.kind == Kind::Syn {
                end.newest = newest;
            }
            datagrams.push(datagram);
        }
        if let Some(deadline) = connection.deadline() {
            self.schedule(deadline.max(now), at, Event::Deadline);
        }
        datagrams.into_iter().for_each(|datagram| self.send(1 - at, datagram));
    }

    fn send(&mut self, to: usize, datagram: Vec<u8>) {
        let mut fate = self.fates.pop_front().unwrap_or_else(|| vec![DELAY]);
        let connected = |end: &End| end.connection.as_ref().is_some_and(Connection::is_connected);
        if !self.ends.iter().all(connected) {
            fate.iter_mut().for_each(|delay| *delay = (*delay).min(HANDSHAKE_DELAY));
            if fate.is_empty() {
                fate.push(DELAY);
            }
        }
        for delay in fate {
            self.schedule(self.now + delay, to, Event::Arrive(datagram.clone()));
        }
    }

    /// Checks that everything arrived, both ends have closed, and neither complains.
    fn check(&self) -> Result<(), TestCaseError> {
        for (at, end) in self.ends.iter().enumerate() {
            let connection = end.connection.as_ref().unwrap();
            let sent = &self.ends[1 - at].data;
            prop_assert!(end.received == *sent, "end {at}: {} of {} bytes", end.received.len(), sent.len());
            prop_assert!(
                connection.is_at_end() && connection.is_finish_acknowledged() || connection.is_closed()
            );
            prop_assert_eq!(connection.error(), None, "end {}: {:?}", at, connection.statistics());
        }
        Ok(())
    }
}

/// Returns settings that outlast any network here: what is tested is that nothing is lost, not when it is given up.
fn patient(payload: u32, recv_buffer: u64) -> Config {
    let (patience, linger) = (Span::from_secs(1_000_000), Span::from_secs(3600));
    Config { payload, recv_buffer, patience, linger, ..Config::default() }
}

fn fates() -> impl Strategy<Value = Vec<Fate>> {
    let delay = prop_oneof![
        6 => Just(10_000u64),
        2 => 0u64..50_000,
        1 => 0u64..3_000_000,
    ];
    let fate = prop_oneof![
        12 => prop::collection::vec(delay.clone(), 1),
        2 => Just(Vec::new()),
        1 => prop::collection::vec(delay, 2..4),
    ];
    let fate = fate.prop_map(|delays| delays.into_iter().map(Span::from_micros).collect());
    prop::collection::vec(fate, 0..400)
}

fn data() -> impl Strategy<Value = Vec<u8>> {
    let len = prop_oneof![Just(0usize), 1usize..3_000, 0usize..60_000];
    (len, any::<u8>()).prop_map(|(len, seed)| (0..len).map(|i| ((i * 31) >> 3) as u8 ^ seed).collect())
}

fn junk() -> impl Strategy<Value = Vec<Junk>> {
    let kind = prop::sample::select(vec![Kind::Data, Kind::Fin, Kind::State, Kind::Reset, Kind::Syn]);
    let sack = prop::option::of(prop::collection::vec(any::<u8>(), 0..=255));
    // Near the numbers in use and anywhere.
    let seq_nr = prop_oneof![any::<u16>(), 65_490u16..=65_535, 0u16..100, 29_990u16..30_100];
    let junk = (0u64..3_000, 0usize..2, kind, seq_nr, 0u16..30_000, sack, 0usize..1500).prop_map(
        |(at_ms, to, kind, seq_nr, beyond, sack, payload)| Junk {
            at_ms,
            to,
            kind,
            seq_nr,
            beyond,
            sack,
            payload,
        },
    );
    prop::collection::vec(junk, 1..200)
}

proptest! {
    #[test]
    fn whatever_the_network_does_both_directions_arrive_and_both_ends_close(
        fates in fates(),
        one in data(),
        other in data(),
        payload in prop::sample::select(vec![50u32, 536, 1352]),
        recv_buffer in prop::sample::select(vec![3_000u64, 20_000, 8 << 20]),
    ) {
        for entry in list::CONTROLLERS {
            let config = patient(payload, recv_buffer);
            let mut net = Net::new(entry.name, config, [one.clone(), other.clone()], fates.clone());
            prop_assert!(net.run(), "{}: not closed at {:?}", entry.name, net.now);
            net.check()?;
        }
    }

    #[test]
    fn packets_that_acknowledge_what_was_never_sent_change_nothing(
        fates in fates(),
        one in data(),
        other in data(),
        junk in junk(),
        controller in prop::sample::select(list::CONTROLLERS),
    ) {
        let mut net = Net::new(controller.name, patient(536, 20_000), [one, other], fates);
        for junk in junk {
            net.schedule(Time::from_millis(junk.at_ms), junk.to, Event::Junk(junk));
        }
        prop_assert!(net.run(), "{}: not closed at {:?}", controller.name, net.now);
        net.check()?;
    }
}
