//! One connection without any I/O.
//!
//! Datagrams, ticks and the application's bytes go in; datagrams, the application's bytes and the next deadline come
//! out. The same object runs on real sockets and in virtual time.
//!
//! # Contract
//! After every call that changes the connection ([`handle`](Connection::handle),
//! [`handle_deadline`](Connection::handle_deadline), [`write`](Connection::write), [`read`](Connection::read),
//! [`finish`](Connection::finish), …) call [`poll_transmit`](Connection::poll_transmit) until it returns `false`, then
//! [`deadline`](Connection::deadline), and come back by then. [`poll_event`](Connection::poll_event) returns what the
//! application may do next; the example `event_loop` is a program around it, with threads and with mio.
//!
//! # States
//! ```text
//!   connect: SynSent ──ST_STATE──▶ Connected ──both FINs delivered──▶ Lingering ──▶ Closed
//!   accept:  SynReceived ──any packet──▶ Connected
//!   a reset, an abort, no progress for the configured patience, or a peer that answers nothing leads to Closed from
//!   anywhere
//! ```
//! The two directions end independently (half-close).

mod application;
pub mod bit_ring;
mod ecn;
mod events;
#[cfg(feature = "net")]
pub(crate) mod farewell;
pub(crate) mod flight_limit;
mod host;
mod input;
mod liveness;
#[cfg(feature = "dump")]
mod log;
mod output;
mod path_mtu;
mod peer_clock;
pub mod receiver;
pub mod reorder;
mod rest;
pub mod scoreboard;
pub mod send_buffer;
#[cfg(feature = "net")]
mod shared;
mod timers;

pub use events::Event;
pub use flight_limit::SocketShare;
pub use host::Host;
pub use output::Outgoing;

use crate::config::{Config, SHORT_PACKETS, SYN_RESENDS};
use crate::error::Error;
use crate::numbers::{ConnectionId, Micros, SeqNr};
use crate::packet::{Header, Kind, Packet};
use crate::rto::Rto;
use crate::sack::Sack;
use afteryou_base::{Span, Time};
use afteryou_cc::{Controller, Snapshot};
use afteryou_sender::reordering::Reordering;
use afteryou_sender::Congestion;
use flight_limit::FlightLimit;
use receiver::{AckPolicy, Receiver};
use scoreboard::Scoreboard;
use send_buffer::SendBuffer;

/// How a packet came in. A [`Time`] alone is an arrival at that time, without a stamp and without a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// When it is handled.
    pub now: Time,
    /// When the system received it, if the system noted that. Packets that came as one batch have one stamp, which is the first one's.
    pub stamp: Option<Time>,
    /// It has a mark of Congestion Experienced.
    pub is_marked: bool,
}

impl From<Time> for Arrival {
    fn from(now: Time) -> Arrival {
        Arrival { now, stamp: None, is_marked: false }
    }
}

/// The state of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// A SYN is in flight; how often it was resent.
    SynSent { resends: u32 },
    /// A SYN came and was answered.
    SynReceived,
    /// Data may flow.
    Connected,
    /// Both directions have ended; acknowledges what the peer repeats until then.
    Lingering { until: Time },
    /// Over.
    Closed(Option<Error>),
}

/// A uTP connection.
#[must_use = "a connection that is dropped sends nothing more, not even a reset"]
#[derive(Debug)]
pub struct Connection {
    host: Host,
    config: Config,
    congestion: Congestion,
    state: State,
    recv_id: ConnectionId,
    send_id: ConnectionId,
    board: Scoreboard,
    reordering: Reordering,
    receiver: Receiver,
    unsent: SendBuffer,
    /// Payload that may be held for sending because of other connections, bytes.
    share: u64,
    fin: Fin,
    /// Send what is left even if it does not fill a packet.
    push: bool,
    reset_due: bool,
    /// The next acknowledgement shows the peer a long bitmap.
    show_long_sack: bool,
    peer_reads_long_sacks: bool,
    peer_window: u64,
    /// Most packets of the train that begins with the next new one; 0 within a train.
    train: u16,
    /// The packet after the newest data packet that was not full.
    after_partial: u64,
    /// There was no room for all of the latest write.
    more_comes: bool,
    flight_limit: FlightLimit,
    path_mtu: path_mtu::PathMtu,
    ecn: ecn::Ecn,
    peer_clock: peer_clock::PeerClock,
    /// When the newest packet arrived.
    stamp: Option<Time>,
    rto: Rto,
    timers: timers::Timers,
    liveness: liveness::Liveness,
    rest: rest::Rest,
    reported: events::Reported,
    counters: Counters,
    #[cfg(feature = "dump")]
    log: Option<log::Log>,
}

/// The end of our direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fin {
    NotYet,
    /// After what is unsent.
    Wanted,
    Sent,
    Acknowledged,
}

/// Counters and measurements of a connection.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Statistics {
    /// Packets sent, all kinds.
    pub packets_sent: u64,
    /// Packets with payload sent, retransmissions included.
    pub data_packets_sent: u64,
    /// Retransmissions.
    pub retransmissions: u64,
    /// Packets found lost by acknowledgements.
    pub losses: u64,
    /// Packets declared lost that arrived after all.
    pub spurious_losses: u64,
    /// Probes for a lost tail.
    pub probes: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Timeouts of the handshake: SYNs sent again.
    pub handshake_timeouts: u64,
    /// Packets received.
    pub packets_received: u64,
    /// Data packets that came more than once.
    pub duplicates_received: u64,
    /// Payload acknowledged by the peer, bytes.
    pub bytes_delivered: u64,
    /// Payload received in order, bytes.
    pub bytes_received: u64,
    /// Payload received for the first time, in order or not, bytes.
    pub bytes_arrived: u64,
    /// Payload believed to be in the network, bytes.
    pub in_flight: u64,
    /// Most packets ever beyond the peer's ack.
    pub max_packets_outstanding: u64,
    /// Packets of ours that arrived with a mark of Congestion Experienced, as the peer reports.
    pub marks: u64,
    /// Data packets leave as ECT(0).
    pub sends_ecn: bool,
    /// Payload of a full packet, bytes: what the path is known to take.
    pub payload: u32,
    /// Smoothed round-trip time.
    pub smoothed_rtt: Option<Span>,
    /// Smallest round-trip time.
    pub min_rtt: Option<Span>,
    /// The controller's state.
    pub controller: Snapshot,
}

/// The part of [`Statistics`] that a connection counts itself.
#[derive(Clone, Copy, Debug, Default)]
struct Counters {
    packets_sent: u64,
    data_packets_sent: u64,
    retransmissions: u64,
    losses: u64,
    spurious_losses: u64,
    probes: u64,
    // 32 bits, so that idle connections stay small: timeouts of the shortest length, 1 ms, fill them in 49 days without a pause.
    timeouts: u32,
    handshake_timeouts: u32,
    packets_received: u64,
    max_packets_outstanding: u64,
}

impl Connection {
    /// Opens a connection. `recv_id` and `seq_nr` should be random; `recv_id + 1` must be free towards that peer, too.
    pub fn connect(
        config: Config,
        controller: Box<dyn Controller>,
        now: Time,
        recv_id: ConnectionId,
        seq_nr: SeqNr,
    ) -> Connection {
        Host::REAL.connect(config, controller, now, recv_id, seq_nr)
    }

    fn begin_opening(&mut self, now: Time) {
        self.show_long_sack = self.config.recovery.uses_long_bitmaps();
        self.timers.start(now, self.rto.get());
    }

    /// Answers a SYN. `seq_nr` should be random.
    pub fn accept(
        config: Config,
        controller: Box<dyn Controller>,
        now: Time,
        syn: &Packet<'_>,
        seq_nr: SeqNr,
    ) -> Connection {
        Host::REAL.accept(config, controller, now, syn, seq_nr)
    }

    fn begin_answering(&mut self, now: Time, syn: &Packet<'_>) {
        // As long as the initiator tries: its answer to ours may take longer than its first timeout.
        self.timers.start(now, self.rto.get() * ((2 << SYN_RESENDS) - 1));
        self.note_peer(Some(now), syn);
        self.ecn.negotiate(syn.marks.filter(|_| self.peer_reads_long_sacks));
        self.show_long_sack = self.peer_reads_long_sacks;
        self.receiver.acknowledge_now(now);
    }

    fn new(
        host: Host,
        config: Config,
        controller: Box<dyn Controller>,
        state: State,
        ids: (ConnectionId, ConnectionId),
        first_seq: SeqNr,
        ack_nr: SeqNr,
    ) -> Connection {
        let config = config.within_reason();
        let congestion = Congestion::new(controller, config.payload).with_timer_slack(config.timer_slack);
        Connection {
            host,
            board: Scoreboard::new(first_seq, config.recovery, congestion.needs()),
            reordering: Reordering::default(),
            congestion,
            state,
            recv_id: ids.0,
            send_id: ids.1,
            receiver: receiver_of(host, &config, ack_nr),
            unsent: SendBuffer::new(config.payload),
            share: u64::MAX,
            fin: Fin::NotYet,
            push: false,
            reset_due: false,
            show_long_sack: false,
            peer_reads_long_sacks: false,
            peer_window: u64::from(config.payload),
            train: 0,
            after_partial: 0,
            more_comes: false,
            flight_limit: FlightLimit::new(config.payload),
            path_mtu: path_mtu::PathMtu::new(config.payload, config.max_payload),
            ecn: ecn::Ecn::new(config.ecn && config.recovery.uses_long_bitmaps()),
            peer_clock: peer_clock::PeerClock::default(),
            stamp: None,
            rto: Rto::new(config.min_rto),
            timers: timers::Timers::default(),
            liveness: liveness::Liveness::default(),
            rest: rest::Rest::default(),
            reported: events::Reported::default(),
            counters: Counters::default(),
            #[cfg(feature = "dump")]
            log: None,
            config,
        }
    }

    /// Returns the id in the packets that the peer sends to this connection.
    pub fn recv_id(&self) -> ConnectionId {
        self.recv_id
    }

    /// Returns the length of a full packet without extensions, bytes.
    pub fn max_datagram(&self) -> usize {
        crate::packet::HEADER_LEN + self.config.payload as usize
    }

    /// Returns whether datagrams may be fragmented now. At other times they must not: a search for the path MTU could not work.
    pub fn may_fragment(&self) -> bool {
        self.path_mtu.may_fragment()
    }

    /// Returns whether data packets leave as ECT(0) now. Both ends have shown in the handshake that they count marks, and no packet contradicted it since.
    pub fn sends_ecn(&self) -> bool {
        self.ecn.is_on()
    }

    /// Takes in a router's report that the path takes no datagrams (UDP payload) of more than `bytes`.
    pub fn datagram_too_big(&mut self, now: Time, bytes: usize) {
        let payload = bytes.saturating_sub(crate::packet::HEADER_LEN);
        let payload = u32::try_from(payload).unwrap_or(u32::MAX);
        if let Some(payload) = self.path_mtu.too_big(now, payload) {
            self.set_payload(payload);
        }
    }

    /// Sets the payload of new packets from here on, bytes.
    fn set_payload(&mut self, payload: u32) {
        self.config.payload = payload;
        self.unsent.set_full(payload);
        self.congestion.set_packet(payload);
    }

    /// Returns whether data can be written and read.
    pub fn is_connected(&self) -> bool {
        !matches!(self.state, State::SynSent { .. } | State::SynReceived)
    }

    /// Returns whether the connection is over: its ids can be used again once [`poll_transmit`](Connection::poll_transmit)
    /// is drained.
    pub fn is_closed(&self) -> bool {
        matches!(self.state, State::Closed(_))
    }

    /// Returns why it is over, if something went wrong.
    pub fn error(&self) -> Option<Error> {
        match self.state {
            State::Closed(error) => error,
            _ => None,
        }
    }

    /// Drops the connection and sends the peer a reset.
    pub fn abort(&mut self) {
        if !self.is_closed() {
            self.reset_due = true;
            self.state = State::Closed(Some(Error::Aborted));
        }
    }

    /// Returns [`Statistics::bytes_arrived`] alone, for callers that ask after each packet.
    pub fn bytes_arrived(&self) -> u64 {
        self.receiver.arrived()
    }

    /// Returns [`Statistics::bytes_delivered`] alone.
    pub fn bytes_delivered(&self) -> u64 {
        self.board.board().delivered()
    }

    /// Returns the congestion controller.
    pub fn controller(&self) -> &dyn Controller {
        self.congestion.controller()
    }

    /// Returns counters and measurements.
    pub fn statistics(&self) -> Statistics {
        let Counters {
            packets_sent,
            data_packets_sent,
            retransmissions,
            losses,
            spurious_losses,
            probes,
            timeouts,
            handshake_timeouts,
            packets_received,
            max_packets_outstanding,
        } = self.counters;
        Statistics {
            packets_sent,
            data_packets_sent,
            retransmissions,
            losses,
            spurious_losses,
            probes,
            timeouts: timeouts.into(),
            handshake_timeouts: handshake_timeouts.into(),
            packets_received,
            max_packets_outstanding,
            duplicates_received: self.receiver.duplicates(),
            bytes_delivered: self.board.board().delivered(),
            bytes_received: self.receiver.received(),
            bytes_arrived: self.receiver.arrived(),
            in_flight: self.board.board().in_flight(),
            marks: self.ecn.marks(),
            sends_ecn: self.ecn.is_on(),
            payload: self.config.payload,
            smoothed_rtt: self.congestion.rtt().smoothed(),
            min_rtt: self.congestion.rtt().min(),
            controller: self.congestion.controller().snapshot(),
        }
    }

    fn ack_policy(&self) -> AckPolicy {
        AckPolicy { every: self.config.ack_every, delay: self.config.ack_delay }
    }

    /// Returns the most packets that may be beyond the peer's ack.
    fn packet_limit(&self) -> usize {
        if self.peer_reads_long_sacks {
            return self.config.max_packets.min(receiver::MAX_REORDER);
        }
        self.config.max_packets.min(SHORT_PACKETS)
    }

    fn timestamp(&self, now: Time) -> Micros {
        self.host.timestamp(now)
    }

    /// Takes in the fields of every packet of the peer: its clock, its window, its acknowledgement. `stamp` is the time of
    /// arrival, none if it was another packet's.
    fn note_peer(&mut self, stamp: Option<Time>, packet: &Packet<'_>) {
        if let Some(stamp) = stamp {
            self.peer_clock.note(self.timestamp(stamp), packet.header.timestamp);
        }
        self.peer_window = u64::from(packet.header.wnd_size);
        self.peer_reads_long_sacks |=
            self.config.recovery.uses_long_bitmaps() && packet.sack.is_some_and(|sack| sack.is_long());
        self.counters.packets_received += 1;
    }

    /// Returns the bytes that the peer may send beyond our ack: as much as our buffer and the socket's can take.
    fn window(&self) -> u64 {
        let free = self.receiver.window();
        let Some(in_flight) = self.flight_limit.get() else { return free };
        let out_of_order = self.receiver.arrived().saturating_sub(self.receiver.received());
        free.min(in_flight + out_of_order)
    }

    /// Takes in the state of the socket's receive buffer, before the packets that came through it.
    pub fn set_socket_share(&mut self, share: SocketShare) {
        self.flight_limit.set_share(share);
    }

    #[inline]
    fn header(&self, now: Time, kind: Kind, seq_nr: SeqNr) -> Header {
        Header {
            kind,
            connection_id: if kind == Kind::Syn { self.recv_id } else { self.send_id },
            timestamp: self.timestamp(now),
            timestamp_difference: self.peer_clock.difference,
            wnd_size: u32::try_from(self.window()).unwrap_or(u32::MAX),
            seq_nr,
            ack_nr: self.receiver.ack_nr(),
        }
    }
}

/// Creates a receiver that expects the packet after `ack_nr` next.
fn receiver_of(host: Host, config: &Config, ack_nr: SeqNr) -> Receiver {
    let receiver = Receiver::new(ack_nr, config.recv_buffer, config.payload);
    match host.keeps_received {
        true => receiver,
        false => receiver.only_counting(),
    }
}

/// A bitmap of the length that only peers of our kind send: shown once in each direction at the start, it lets both use
/// long bitmaps and more than 1023 packets.
pub(crate) const LONG_SACK_SHOWN: Sack<'static> = Sack::of_zeros();
