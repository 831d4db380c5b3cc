//! One connection against a peer, a clock and an application that do whatever they like.
//!
//! A [`Machine`] brings a connection into one of its states by an honest prologue and then applies a list of [`Op`]s. After
//! each one it checks what must hold whatever happens. Nothing panics, and `poll_transmit` ends. Every datagram is
//! well-formed and within its bounds, buffers are, too, and the deadline never stays in the past.
//!
//! The bytes of a fuzzer are read from the front, field by field, so that an input can be written by hand.

use afteryou_base::{Span, Time};
use afteryou_cc::list;
use afteryou_utp::packet::{Header, Kind, Packet, HEADER_LEN};
use afteryou_utp::sack::{Sack, MAX_LEN};
use afteryou_utp::{Config, Connection, ConnectionId, Host, Micros, Recovery, SeqNr};
use arbitrary::{Result, Unstructured};

/// Longest payload that the peer sends here, bytes.
pub const MAX_PAYLOAD: u16 = 1500;
/// Deadlines that may be due at one instant, one after another.
const MAX_DUE: usize = 32;
/// Deadlines that are waited for after the last [`Op`].
const LAST_DEADLINES: usize = 64;

/// The state of a connection when the hostilities begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    SynSent,
    SynReceived,
    Accepted,
    Sending,
    Receiving,
    WeFinished,
    TheyFinished,
    Lingering,
    Closed,
}

/// All of them, in the order of their numbers in a fuzzer's input.
pub const STARTS: [Start; 9] = [
    Start::SynSent,
    Start::SynReceived,
    Start::Accepted,
    Start::Sending,
    Start::Receiving,
    Start::WeFinished,
    Start::TheyFinished,
    Start::Lingering,
    Start::Closed,
];

const KINDS: [Kind; 5] = [Kind::Data, Kind::Fin, Kind::State, Kind::Reset, Kind::Syn];

/// A connection to begin with. `options` is a bit each for small buffers and other unusual settings.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    pub controller: u8,
    pub start: Start,
    pub options: u8,
    pub seq_nr: u16,
}

/// A sequence number.
#[derive(Clone, Copy, Debug)]
pub enum Number {
    /// So far beyond the one that an honest peer would write.
    Near(i16),
    Exactly(u16),
}

/// A packet of the peer. Connection ids are left out: whoever finds the connection has read them.
#[derive(Clone, Debug)]
pub struct Forged {
    pub kind: Kind,
    pub seq_nr: Number,
    pub ack_nr: Number,
    pub sack: Option<Vec<u8>>,
    pub marks: Option<u32>,
    pub wnd_size: u32,
    pub payload: u16,
    pub timestamp_us: u32,
    pub timestamp_difference_us: u32,
}

/// Something happens.
#[derive(Clone, Debug)]
pub enum Op {
    Packet(Forged),
    Pass(Span),
    /// The clock goes backwards.
    Back(Span),
    /// Whatever is due is done.
    Tick,
    /// Time passes to the deadline.
    Deadline,
    Write(u16),
    Read(u16),
    Discard,
    Flush,
    Finish,
    Abort,
}

/// Runs the target: reads [`Setup`] and [`Op`]s from `data` and runs them.
pub fn run(data: &[u8]) {
    let mut input = Unstructured::new(data);
    let Ok(setup) = Setup::read(&mut input) else {
        return;
    };
    let mut machine = Machine::new(setup);
    while !input.is_empty() {
        let Ok(op) = Op::read(&mut input) else { break };
        machine.run(&op);
    }
    machine.end();
}

impl Setup {
    fn read(input: &mut Unstructured<'_>) -> Result<Setup> {
        let (controller, start): (u8, u8) = (input.arbitrary()?, input.arbitrary()?);
        Ok(Setup {
            controller,
            start: STARTS[usize::from(start) % STARTS.len()],
            options: input.arbitrary()?,
            seq_nr: input.arbitrary()?,
        })
    }

    /// Returns a host whose clock wraps around soon, where marks are counted.
    fn host(&self) -> Host {
        let clock_offset = Micros(if self.options >> 5 & 1 == 1 { u32::MAX - 1000 } else { 0 });
        Host { clock_offset, ..Host::REAL }
    }

    fn config(&self) -> Config {
        let mut config = Config::default();
        let on = |bit: u8| self.options >> bit & 1 == 1;
        if on(0) {
            config.recv_buffer = 4000;
        }
        if on(1) {
            config.max_packets = 16;
        }
        if on(2) {
            config.keepalive = Span::from_secs(1);
        }
        if on(3) {
            config.payload = 100;
        }
        config.nagle = !on(4);
        if on(5) {
            config.ecn = true;
        }
        config.recovery = match (on(6), on(7)) {
            (false, false) => Recovery::Modern,
            (true, false) => Recovery::Libutp,
            (false, true) => Recovery::LibutpMod,
            (true, true) => Recovery::Libutp200ms,
        };
        config
    }
}

impl Op {
    fn read(input: &mut Unstructured<'_>) -> Result<Op> {
        Ok(match input.arbitrary::<u8>()? % 16 {
            0..=5 => Op::Packet(Forged::read(input)?),
            6 => Op::Pass(Span::from_micros(input.arbitrary::<u16>()?.into())),
            7 => Op::Pass(Span::from_millis(input.arbitrary::<u16>()?.into())),
            8 => match input.arbitrary::<u8>()? % 2 {
                0 => Op::Pass(Span::from_secs(3600)),
                _ => Op::Back(Span::from_millis(input.arbitrary::<u16>()?.into())),
            },
            9 => Op::Tick,
            10 => Op::Deadline,
            11 => Op::Write(input.arbitrary()?),
            12 => Op::Read(input.arbitrary()?),
            13 => Op::Flush,
            14 => Op::Finish,
            _ => match input.arbitrary::<u8>()? % 2 {
                0 => Op::Discard,
                _ => Op::Abort,
            },
        })
    }
}

impl Number {
    fn read(exactly: bool, input: &mut Unstructured<'_>) -> Result<Number> {
        Ok(if exactly {
            Number::Exactly(input.arbitrary()?)
        } else {
            Number::Near(input.arbitrary::<i8>()?.into())
        })
    }

    fn from(self, honest: u16) -> u16 {
        match self {
            Number::Near(offset) => honest.wrapping_add_signed(offset),
            Number::Exactly(number) => number,
        }
    }
}

impl Forged {
    /// Reads one byte of flags, then the fields. The flags are the kind, how the numbers are given, and whether there is a
    /// SACK, a large window, and a count of marks.
    fn read(input: &mut Unstructured<'_>) -> Result<Forged> {
        let flags: u8 = input.arbitrary()?;
        let on = |bit: u8| flags >> bit & 1 == 1;
        let (seq_nr, ack_nr) = (Number::read(on(3), input)?, Number::read(on(4), input)?);
        let sack = match on(5) {
            true => {
                let len: u8 = input.arbitrary()?;
                Some(input.bytes(input.len().min(len.into()))?.to_vec())
            }
            false => None,
        };
        let wnd_size = if on(6) { u32::MAX } else { u32::from(input.arbitrary::<u16>()?) };
        let marks = if on(7) { Some(input.arbitrary()?) } else { None };
        Ok(Forged {
            kind: KINDS[usize::from(flags & 7) % KINDS.len()],
            seq_nr,
            ack_nr,
            sack,
            marks,
            wnd_size,
            payload: input.arbitrary::<u16>()? % (MAX_PAYLOAD + 1),
            timestamp_us: input.arbitrary()?,
            timestamp_difference_us: input.arbitrary()?,
        })
    }
}

/// A connection under test.
pub struct Machine {
    pub connection: Connection,
    pub now: Time,
    config: Config,
    /// Newest sequence number that the connection has used.
    newest: u16,
    /// The one it expects from the peer.
    expected: u16,
    /// Received bytes that were read or thrown away.
    taken: u64,
}

impl Machine {
    /// Opens a connection in the state that `setup` names.
    pub fn new(setup: Setup) -> Machine {
        let (host, config) = (setup.host(), setup.config());
        let controller = list::CONTROLLERS[usize::from(setup.controller) % list::CONTROLLERS.len()]
            .build(&[], afteryou_cc::Setup::of(config.payload))
            .expect("defaults are valid");
        let now = Time::from_millis(10_000);
        let by_accepting = matches!(setup.start, Start::SynReceived | Start::Accepted);
        let connection = match by_accepting {
            true => {
                let syn = forged(Kind::Syn).packet_header(0, 7);
                let syn = Packet { header: syn, sack: None, marks: None, payload: &[] };
                host.accept(config.clone(), controller, now, &syn, SeqNr(setup.seq_nr))
            }
            false => host.connect(config.clone(), controller, now, ConnectionId(7), SeqNr(setup.seq_nr)),
        };
        let newest = setup.seq_nr.wrapping_sub(u16::from(by_accepting));
        let mut machine = Machine { connection, now, config, newest, expected: 8, taken: 0 };
        machine.settle();
        machine.now += Span::from_millis(20);
        machine.prologue(setup.start);
        machine.run(&Op::Pass(Span::from_millis(30))); // delayed acks are sent
        machine.run(&Op::Tick);
        machine
    }

    fn prologue(&mut self, start: Start) {
        match start {
            Start::SynSent | Start::SynReceived => return,
            Start::Accepted => {}
            _ => self.run(&Op::Packet(forged(Kind::State))),
        }
        let payload = |payload| Op::Packet(Forged { payload, ..forged(Kind::Data) });
        let ops = match start {
            Start::Sending => vec![Op::Write(40_000), Op::Pass(Span::from_millis(20))],
            Start::Receiving => vec![payload(1000), payload(100), payload(0)],
            Start::Accepted => vec![payload(10)],
            Start::WeFinished => vec![Op::Write(100), Op::Finish, Op::Packet(forged(Kind::State))],
            Start::TheyFinished => vec![payload(100), Op::Packet(forged(Kind::Fin))],
            Start::Lingering => {
                vec![Op::Finish, Op::Packet(forged(Kind::State)), Op::Packet(forged(Kind::Fin))]
            }
            Start::Closed => vec![Op::Abort],
            Start::SynSent | Start::SynReceived => vec![],
        };
        ops.iter().for_each(|op| self.run(op));
        assert!(self.connection.is_connected());
        assert_eq!(self.connection.is_closed(), start == Start::Closed);
    }

    /// Runs one operation, then checks everything.
    pub fn run(&mut self, op: &Op) {
        let connection = &mut self.connection;
        match op {
            Op::Packet(forged) => {
                let payload = vec![0x5A; usize::from(forged.payload)];
                let header = forged.packet_header(self.newest, self.expected);
                let sack = forged.sack.as_deref().map(Sack::new);
                connection.handle(self.now, &Packet { header, sack, marks: forged.marks, payload: &payload });
            }
            Op::Pass(span) => self.now += *span,
            Op::Back(span) => self.now = Time(self.now.0.saturating_sub(span.0)),
            Op::Tick => self.settle(),
            Op::Deadline => {
                self.now = connection.deadline().unwrap_or(self.now).max(self.now);
                self.settle();
            }
            Op::Write(n) => {
                let writable = connection.writable();
                let taken = connection.write(&vec![0xA5; usize::from(*n)]).unwrap_or(0);
                assert!(taken <= writable);
            }
            Op::Read(n) => {
                let mut buf = vec![0; usize::from(*n)];
                self.taken += connection.read(self.now, &mut buf).unwrap_or(0) as u64;
            }
            Op::Discard => {
                connection.discard_received(self.now);
                self.taken = connection.statistics().bytes_received;
            }
            Op::Flush => connection.flush(),
            Op::Finish => connection.finish(),
            Op::Abort => connection.abort(),
        }
        self.drain();
        self.check();
    }

    /// Ends the run: deadlines only.
    pub fn end(&mut self) {
        for _ in 0..LAST_DEADLINES {
            self.run(&Op::Deadline);
        }
    }

    /// Does whatever is due. However much it is, it must be done after a few steps: an application that comes back at
    /// each deadline would otherwise do nothing else.
    fn settle(&mut self) {
        self.drain();
        for _ in 0..MAX_DUE {
            if self.connection.deadline().is_none_or(|at| at > self.now) {
                return;
            }
            self.connection.handle_deadline(self.now);
            self.drain();
        }
        panic!("the deadline stays in the past: {:?}", self.connection);
    }

    /// Takes everything that the connection has to send.
    fn drain(&mut self) {
        // Each packet at most once again, each probe, an ack, a reset.
        let most = 2 * self.config.max_packets + 16;
        for _ in 0..most {
            let mut datagram = Vec::new();
            if !self.connection.poll_transmit(self.now, &mut datagram) {
                assert!(datagram.is_empty());
                return;
            }
            self.look_at(&datagram);
        }
        panic!("more than {most} datagrams at once: {:?}", self.connection);
    }

    fn look_at(&mut self, datagram: &[u8]) {
        let packet = Packet::decode(datagram).expect("what is sent is well-formed");
        let Header { kind, seq_nr: SeqNr(seq_nr), ack_nr: SeqNr(ack_nr), wnd_size, .. } = packet.header;
        let sack_len = packet.sack.map_or(0, |sack| 2 + sack.mask().len());
        let marks_len = packet.marks.map_or(0, |_| 10);
        assert!(packet.marks.is_none() || self.config.ecn && packet.payload.is_empty());
        assert_eq!(datagram.len(), HEADER_LEN + sack_len + marks_len + packet.payload.len());
        assert!(packet.payload.len() <= self.config.payload as usize);
        assert!(kind == Kind::Data || packet.payload.is_empty());
        assert!(packet
            .sack
            .is_none_or(|sack| sack.mask().len().is_multiple_of(4) && sack.mask().len() <= MAX_LEN));
        assert!(u64::from(wnd_size) <= self.config.recv_buffer);
        let newest = seq_nr.wrapping_sub(u16::from(matches!(kind, Kind::State | Kind::Reset)));
        if newest.wrapping_sub(self.newest) as i16 > 0 {
            self.newest = newest;
        }
        if kind != Kind::Syn {
            self.expected = ack_nr.wrapping_add(1);
        }
    }

    fn check(&self) {
        let (connection, config) = (&self.connection, &self.config);
        let statistics = connection.statistics();
        let unread = statistics.bytes_received - self.taken;
        // The window may be passed by one packet: what fits partly is taken.
        assert!(unread <= config.recv_buffer + u64::from(MAX_PAYLOAD), "{unread} bytes are unread");
        assert!(statistics.max_packets_outstanding <= config.max_packets as u64);
        assert!(statistics.in_flight <= config.max_packets as u64 * u64::from(config.payload));
        assert!(connection.writable() as u64 <= config.send_buffer);
        if connection.is_closed() {
            assert_eq!(connection.deadline(), None);
            assert_eq!(connection.writable(), 0);
        } else {
            assert_eq!(connection.error(), None);
            assert!(connection.deadline().is_some(), "nothing would ever end it: {connection:?}");
        }
    }
}

/// Returns a packet that an honest peer would send without data.
pub fn forged(kind: Kind) -> Forged {
    Forged {
        kind,
        seq_nr: Number::Near(0),
        ack_nr: Number::Near(0),
        sack: None,
        marks: None,
        wnd_size: 1 << 20,
        payload: 0,
        timestamp_us: 1_000_000,
        timestamp_difference_us: 20_000,
    }
}

impl Forged {
    /// Returns the header, given the connection's newest number and the one that it expects.
    pub fn packet_header(&self, newest: u16, expected: u16) -> Header {
        Header {
            kind: self.kind,
            connection_id: ConnectionId(0),
            timestamp: Micros(self.timestamp_us),
            timestamp_difference: Micros(self.timestamp_difference_us),
            wnd_size: self.wnd_size,
            seq_nr: SeqNr(self.seq_nr.from(expected)),
            ack_nr: SeqNr(self.ack_nr.from(newest)),
        }
    }
}
