//! Packets going out.

use super::path_mtu::New;
use super::scoreboard::{Body, NextLost, Release};
use super::{Connection, Fin, State, LONG_SACK_SHOWN};
use crate::config::SYN_RESENDS;
use crate::numbers::SeqNr;
use crate::packet::{self, Header, Kind, Packet};
use crate::sack::{Sack, MAX_LEN, SHORT_BITS};
use afteryou_base::Time;
use afteryou_sender::tail::{Tail, TailFlight};

/// A datagram that leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// The packet's header.
    pub header: Header,
    /// Payload that follows header and extensions, bytes.
    pub payload: u32,
}

impl Connection {
    /// Appends the next datagram to `out` and returns true, or returns false if there is none now.
    #[must_use = "a datagram that is not sent is lost"]
    pub fn poll_transmit(&mut self, now: Time, out: &mut Vec<u8>) -> bool {
        #[cfg(feature = "dump")]
        let start = out.len();
        let Some(header) = self.poll(now, out) else {
            #[cfg(feature = "dump")]
            self.log_state(now);
            return false;
        };
        match self.body_of(&header) {
            Some(Body::Data(payload)) => out.extend_from_slice(payload),
            Some(Body::Zeros(len)) => out.resize(out.len() + *len as usize, 0),
            Some(Body::Fin) | None => {}
        }
        #[cfg(feature = "dump")]
        self.log_leaving(now, &header, out.len() - start);
        true
    }

    /// Polls like [`poll_transmit`](Connection::poll_transmit), but appends only header and extensions and returns how long
    /// the payload is: for simulations, whose packets have no content.
    pub fn poll_transmit_head(&mut self, now: Time, out: &mut Vec<u8>) -> Option<Outgoing> {
        #[cfg(feature = "dump")]
        let start = out.len();
        let header = self.poll(now, out)?;
        let payload = self.body_of(&header).map_or(0, |body| body.payload_len() as u32);
        #[cfg(feature = "dump")]
        self.log_leaving(now, &header, out.len() - start + payload as usize);
        Some(Outgoing { header, payload })
    }

    /// Returns the content of a packet that leaves, which stays on the scoreboard. A question to a silent peer has a number
    /// that is no longer there, and no content.
    pub(super) fn body_of(&self, header: &Header) -> Option<&Body> {
        match header.kind {
            Kind::Data | Kind::Fin => self.board.body(header.seq_nr),
            Kind::State | Kind::Reset | Kind::Syn => None,
        }
    }

    /// Appends the head of the next datagram to `out` and returns its header.
    fn poll(&mut self, now: Time, out: &mut Vec<u8>) -> Option<Header> {
        if self.reset_due {
            self.reset_due = false;
            let seq_nr = self.board.next_seq();
            return Some(self.emit(now, out, Kind::Reset, seq_nr));
        }
        match self.state {
            State::Closed(_) => None,
            State::SynSent { resends } => self.poll_syn(now, out, resends),
            State::SynReceived | State::Lingering { .. } => self.poll_ack(now, out),
            State::Connected => self.poll_connected(now, out),
        }
    }

    fn poll_syn(&mut self, now: Time, out: &mut Vec<u8>, resends: u32) -> Option<Header> {
        if !self.timers.take_syn() {
            return None;
        }
        // The last try goes without the bitmap, in case something on the way dislikes it.
        let sack = (self.show_long_sack && resends < SYN_RESENDS).then_some(LONG_SACK_SHOWN);
        let marks = self.ecn.in_syn().filter(|_| sack.is_some());
        let seq_nr = self.board.next_seq().prev();
        let header = self.header(now, Kind::Syn, seq_nr);
        Some(self.emit_packet(now, out, &Packet { header, sack, marks, payload: &[] }))
    }

    fn poll_connected(&mut self, now: Time, out: &mut Vec<u8>) -> Option<Header> {
        // Data carries the ack, too, but neither the bitmap nor the count of marks: these come first.
        if self.receiver.has_gap() || self.ecn.report_is_due() {
            if let Some(header) = self.poll_ack(now, out) {
                return Some(header);
            }
        }
        if self.liveness.take_question() {
            self.ecn.sent();
            return Some(self.emit(now, out, Kind::Data, self.acknowledged_seq()));
        }
        let Some(seq_nr) = self.next_transmission(now) else {
            return self.poll_ack(now, out);
        };
        let kind = match self.board.body(seq_nr) {
            Some(Body::Fin) => Kind::Fin,
            _ => Kind::Data,
        };
        self.counters.data_packets_sent += u64::from(kind == Kind::Data);
        let start = out.len();
        self.ecn.sent();
        let header = self.emit(now, out, kind, seq_nr);
        packet::pad(out, start, self.path_mtu.take_padding() as usize);
        Some(header)
    }

    #[inline]
    fn poll_ack(&mut self, now: Time, out: &mut Vec<u8>) -> Option<Header> {
        let is_due = self.receiver.ack_at().is_some_and(|at| at <= now);
        is_due.then(|| self.emit_ack(now, out))
    }

    fn emit_ack(&mut self, now: Time, out: &mut Vec<u8>) -> Header {
        let header = self.header(now, Kind::State, self.board.next_seq());
        let marks = self.ecn.in_state(self.show_long_sack);
        if self.receiver.has_gap() {
            self.show_long_sack = false;
            let mut mask = [0; MAX_LEN];
            let len = self.receiver.sack(&mut mask, self.peer_reads_long_sacks).unwrap_or(0);
            let sack = Some(Sack::new(&mask[..len]));
            return self.emit_packet(now, out, &Packet { header, sack, marks, payload: &[] });
        }
        let sack = std::mem::take(&mut self.show_long_sack).then_some(LONG_SACK_SHOWN);
        self.emit_packet(now, out, &Packet { header, sack, marks, payload: &[] })
    }

    /// Appends the head of a packet without extensions.
    fn emit(&mut self, now: Time, out: &mut Vec<u8>, kind: Kind, seq_nr: SeqNr) -> Header {
        let header = self.header(now, kind, seq_nr);
        self.emit_packet(now, out, &Packet { header, sack: None, marks: None, payload: &[] })
    }

    /// Appends a packet up to its payload.
    fn emit_packet(&mut self, now: Time, out: &mut Vec<u8>, packet: &Packet<'_>) -> Header {
        packet.encode(out);
        self.receiver.acknowledged();
        self.counters.packets_sent += 1;
        self.timers.sent(now, self.config.keepalive);
        packet.header
    }

    /// Sends the next packet that carries something, if window, peer and pacing allow one, and returns its sequence number.
    fn next_transmission(&mut self, now: Time) -> Option<SeqNr> {
        self.congestion.clear_pacing_deadline(now);
        if self.timers.take_probe() {
            return self.send_probe(now);
        }
        if let Some(NextLost { bytes, release }) = self.board.next_lost() {
            let may_go = match release {
                Release::Window => {
                    let forced = self.config.recovery.forces_first_retransmission()
                        && self.congestion.forces_retransmission();
                    (forced || self.window_has_room(bytes)) && self.congestion.pacing_allows(now)
                }
                Release::Pacing => self.congestion.pacing_allows(now),
                Release::Now => true,
            };
            if !may_go {
                return None;
            }
            let seq_nr = self.board.send_lost(now)?;
            self.note_resent(seq_nr);
            self.after_sending(now, bytes);
            return Some(seq_nr);
        }
        self.next_new(now)
    }

    fn next_new(&mut self, now: Time) -> Option<SeqNr> {
        let Some(len) = self.next_new_len() else {
            self.board.note_unused_window(&self.congestion);
            return None;
        };
        if self.board.is_empty() {
            // The window of a group's member also changes by events of the others; acks of our own show it otherwise.
            self.congestion.refresh();
        }
        let train = std::mem::take(&mut self.train);
        let peer_has_room = self.peer_has_room(train, len) || self.timers.take_window_probe();
        if !peer_has_room || self.board.packets() >= self.packet_limit() {
            self.board.note_unused_window(&self.congestion);
            if !peer_has_room && self.board.is_empty() {
                self.timers.probe_window(now, self.rto.get());
            }
            return None;
        }
        if !self.window_has_room(len) || !self.congestion.pacing_allows(now) {
            return None;
        }
        Some(self.send_new(now, len))
    }

    /// Returns whether the peer's window has room for a packet of `len` bytes, with which a train of up to `train` packets begins;
    /// `train` is 0 within a train.
    ///
    /// RFC 9293 §3.8.6.2.1, in trains instead of packets: unless nothing is outstanding, a train begins only if it can be complete
    /// or fills half of the peer's window. Short trains cost as many system calls as long ones.
    fn peer_has_room(&self, train: u16, len: u64) -> bool {
        let outstanding = self.board.board().outstanding();
        let train = (u64::from(train) * len).min(self.unsent.len()).min(self.peer_window / 2);
        let wanted = if outstanding == 0 { len } else { train.max(len) };
        outstanding + wanted <= self.peer_window
    }

    /// Returns the payload of the next new packet: 0 for a FIN, `None` if there is nothing to send yet.
    ///
    /// RFC 9293 §3.7.4 with the modification by Minshall, as in Linux: a packet that is not full waits for another such packet, and not
    /// for full ones. So the rest of a write leaves with its full packets instead of a round trip later. Where there was no room for
    /// all of the write, more will fill the packet soon.
    fn next_new_len(&self) -> Option<u64> {
        let Some(len) = self.unsent.next_len() else {
            return (self.fin == Fin::Wanted).then_some(0);
        };
        let is_awaited = self.more_comes || self.after_partial > self.board.board().una();
        let may_wait = self.config.nagle && !self.push && self.fin == Fin::NotYet && !self.board.is_empty();
        (self.unsent.next_is_complete() || !(may_wait && is_awaited)).then_some(len)
    }

    fn note_resent(&mut self, seq_nr: SeqNr) {
        self.path_mtu.resent(self.board.index_of(seq_nr));
        self.counters.retransmissions += 1;
        if self.board.is_newest_ack(seq_nr.prev()) && !self.config.recovery.restarts_for_sacks() {
            // What everything waits for gets the whole timeout (as in Linux; RFC 6298 leaves it open).
            self.timers.loss.retransmit = Time::NEVER;
        }
        if let Some(episode) = self.congestion.episode_mut() {
            episode.resend();
        }
    }

    fn send_new(&mut self, now: Time, len: u64) -> SeqNr {
        if self.board.is_empty() {
            let since = self.board.board().delivered_at();
            self.congestion.resume(now, since, self.rto.get());
        }
        let is_partial = !self.unsent.is_empty() && !self.unsent.next_is_complete();
        let body = match self.unsent.take() {
            Some(body) => body,
            None => {
                self.fin = Fin::Sent;
                Body::Fin
            }
        };
        self.push &= !self.unsent.is_empty();
        let board = self.board.board();
        let new = New { index: board.next_seq(), number: board.next_number(), payload: len };
        if is_partial {
            self.after_partial = new.index + 1;
        }
        self.path_mtu.note_new(now, new);
        let seq_nr = self.board.send_new(now, body);
        let outstanding = self.board.packets() as u64;
        self.counters.max_packets_outstanding = self.counters.max_packets_outstanding.max(outstanding);
        self.after_sending(now, len);
        seq_nr
    }

    /// Sends a probe (RFC 8985 §7.3): new data if there is some, else the newest packet again. A short bitmap may not reach
    /// that far and would show nothing new. Then it is the oldest packet, which always gives information.
    fn send_probe(&mut self, now: Time) -> Option<SeqNr> {
        self.counters.probes += 1;
        self.timers.sent_probe(now, self.rto.get());
        let is_shown = self.peer_reads_long_sacks || self.board.packets() <= SHORT_BITS;
        let room = is_shown && self.board.packets() < self.packet_limit();
        match self.next_new_len() {
            Some(len) if room && self.board.board().outstanding() + len <= self.peer_window => {
                Some(self.send_new(now, len))
            }
            _ => {
                let seq_nr = self.board.send_probe(now, is_shown)?;
                self.note_resent(seq_nr);
                self.after_sending(now, self.board.body(seq_nr).map_or(0, Body::payload_len));
                Some(seq_nr)
            }
        }
    }

    fn window_has_room(&self, len: u64) -> bool {
        let board = self.board.board();
        let in_flight = board.in_flight();
        self.congestion.has_room(len, in_flight, in_flight > 0 || board.anything_in_flight())
    }

    fn after_sending(&mut self, now: Time, len: u64) {
        self.congestion.sent(self.board.board(), now, len);
        self.timers.sent_something(now, self.rto.get());
        self.arm_probe(now);
    }

    /// Arms the probe's timer (RFC 8985 §7.2). In a recovery, too, which the RFC leaves to the timeout: uTP's is half a
    /// second at least.
    pub(super) fn arm_probe(&mut self, now: Time) {
        let wanted = self.config.recovery.probes_tails() && !self.board.is_empty();
        let flight = TailFlight {
            rtt: self.congestion.rtt(),
            is_one_packet: self.board.board().packets_in_flight() <= 1,
            max_ack_delay: self.config.ack_delay,
        };
        let at = Tail::probe_at(now, self.timers.loss.retransmit, &flight).filter(|_| wanted);
        self.timers.probe_at(at);
    }
}
