//! Connections with a log: what happens to them becomes records of qlog.

use super::scoreboard::Body;
use super::{Connection, State};
use crate::config::Config;

use crate::dump::{Dump, Opening};
use crate::error::Error;
use crate::numbers::{ConnectionId, SeqNr};
use crate::packet::{Header, Kind, Packet, HEADER_LEN};
use afteryou_base::Time;
use afteryou_cc::Controller;
use afteryou_trace::qlog::{self, Closed, Shown, Utp};
use std::net::SocketAddr;

/// The log of a connection.
#[derive(Debug)]
pub(super) struct Log {
    qlog: qlog::Connection,
    latest: Time,
    is_connected: bool,
    /// Both directions have ended.
    has_ended: bool,
    is_closed: bool,
}

impl Dump {
    /// Opens a connection to `peer`, as [`Connection::connect`], with a log if there are any.
    pub fn connect(
        &self,
        peer: SocketAddr,
        config: Config,
        controller: Box<dyn Controller>,
        now: Time,
        recv_id: ConnectionId,
        seq_nr: SeqNr,
    ) -> Connection {
        let opening = Opening { peer, ids: (recv_id.0, recv_id.next().0), opens: true };
        let log = self.log(now, &opening);
        let mut connection = Connection::connect(config, watched(&log, controller), now, recv_id, seq_nr);
        connection.log = log.map(Log::new);
        connection
    }

    /// Answers a SYN of `peer`, as [`Connection::accept`], with a log if there are any.
    pub fn accept(
        &self,
        peer: SocketAddr,
        config: Config,
        controller: Box<dyn Controller>,
        now: Time,
        syn: &Packet<'_>,
        seq_nr: SeqNr,
    ) -> Connection {
        let id = syn.header.connection_id;
        let log = self.log(now, &Opening { peer, ids: (id.next().0, id.0), opens: false });
        let mut connection = Connection::accept(config, watched(&log, controller), now, syn, seq_nr);
        connection.log = log.map(Log::new);
        connection.log_arriving(now, syn);
        connection.log_handled(now);
        connection
    }
}

fn watched(log: &Option<qlog::Connection>, controller: Box<dyn Controller>) -> Box<dyn Controller> {
    match log {
        Some(log) => log.watch(controller),
        None => controller,
    }
}

impl Connection {
    /// Logs a packet that is about to be handled.
    pub(super) fn log_arriving(&mut self, now: Time, packet: &Packet<'_>) {
        let Some(log) = &mut self.log else { return };
        log.latest = log.latest.max(now);
        let bitmap = packet.sack.map_or(0, |sack| 2 + sack.mask().len());
        let payload = packet.payload.len();
        let length = (HEADER_LEN + bitmap + payload) as u64;
        log.qlog.arriving(Shown { header: utp(&packet.header), length, payload: payload as u64 });
    }

    /// Logs that the packet has been handled.
    pub(super) fn log_handled(&mut self, now: Time) {
        if let Some(log) = &mut self.log {
            log.qlog.handled(now);
            log.note_state(now, self.state);
        }
    }

    /// Logs a datagram of `length` bytes that leaves.
    pub(super) fn log_leaving(&mut self, now: Time, header: &Header, length: usize) {
        if self.log.is_none() {
            return;
        }
        let payload = self.body_of(header).map_or(0, Body::payload_len);
        let Some(log) = &mut self.log else { return };
        let shown = Shown { header: utp(header), length: length as u64, payload };
        log.qlog.leaving(now, &shown, self.congestion.controller());
        log.note_state(now, self.state);
    }

    /// Logs the state, which may have changed when there is nothing to send.
    pub(super) fn log_state(&mut self, now: Time) {
        if let Some(log) = &mut self.log {
            log.note_state(now, self.state);
        }
    }
}

impl Log {
    fn new(qlog: qlog::Connection) -> Log {
        let (is_connected, has_ended, is_closed) = (false, false, false);
        Log { qlog, latest: Time::ZERO, is_connected, has_ended, is_closed }
    }

    fn note_state(&mut self, now: Time, state: State) {
        self.latest = self.latest.max(now);
        match state {
            State::SynSent { .. } | State::SynReceived => {}
            State::Connected => self.note_connected(),
            State::Lingering { .. } => {
                self.note_connected();
                self.has_ended = true;
            }
            State::Closed(error) => self.note_closed(error),
        }
    }

    fn note_connected(&mut self) {
        if !std::mem::replace(&mut self.is_connected, true) {
            self.qlog.connected(self.latest);
        }
    }

    fn note_closed(&mut self, error: Option<Error>) {
        if !std::mem::replace(&mut self.is_closed, true) {
            self.qlog.closed(self.latest, &closed(error));
        }
    }
}

impl Drop for Log {
    /// Logs the end of a connection that was dropped: what lingers has ended well.
    fn drop(&mut self) {
        self.note_closed((!self.has_ended).then_some(Error::Aborted));
    }
}

fn closed(error: Option<Error>) -> Closed {
    let (owner, trigger) = match error {
        None => (None, "clean"),
        Some(Error::Unreachable) => (Some("local"), "handshake_timeout"),
        Some(Error::TimedOut) => (Some("local"), "idle_timeout"),
        Some(Error::Refused | Error::Reset) => (Some("remote"), "stateless_reset"),
        Some(Error::Aborted) => (Some("local"), "application"),
        Some(_) => (Some("local"), "error"),
    };
    Closed { owner, reason: error.map(|error| error.to_string()), trigger }
}

fn utp(header: &Header) -> Utp {
    let kind = match header.kind {
        Kind::Data => "ST_DATA",
        Kind::Fin => "ST_FIN",
        Kind::State => "ST_STATE",
        Kind::Reset => "ST_RESET",
        Kind::Syn => "ST_SYN",
    };
    Utp {
        kind,
        connection_id: header.connection_id.0,
        seq_nr: header.seq_nr.0,
        ack_nr: header.ack_nr.0,
        wnd_size: header.wnd_size,
        timestamp_us: header.timestamp.0,
        timestamp_difference_us: header.timestamp_difference.0,
    }
}
