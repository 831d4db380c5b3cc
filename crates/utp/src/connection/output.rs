//! Packets going out.

use super::pacer::{SLOW_START_GAIN, STEADY_GAIN};
use super::scoreboard::{Body, NextLost, Release, Transmission};
use super::{Connection, Fin, State, LONG_SACK_SHOWN};
use crate::config::SYN_RESENDS;
use crate::packet::{Header, Kind, Packet};
use crate::sack::{Sack, MAX_LEN, SHORT_BITS};
use afteryou_cc::{Idle, Sent, Span, Time};

/// A datagram that leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// Its header.
    pub header: Header,
    /// Payload that follows header and extensions, bytes.
    pub payload: u32,
}

impl Connection {
    /// Appends the next datagram to `out` and returns true, or returns false if there is none now.
    pub fn poll_transmit(&mut self, now: Time, out: &mut Vec<u8>) -> bool {
        let Some((_, body)) = self.poll(now, out) else { return false };
        match body {
            Some(Body::Data(payload)) => out.extend_from_slice(&payload),
            Some(Body::Zeros(len)) => out.resize(out.len() + len as usize, 0),
            Some(Body::Fin) | None => {}
        }
        true
    }

    /// Like [`poll_transmit`](Connection::poll_transmit), but appends only header and extensions and says how long the
    /// payload is: for simulations, whose packets have no content.
    pub fn poll_transmit_head(&mut self, now: Time, out: &mut Vec<u8>) -> Option<Outgoing> {
        let (header, body) = self.poll(now, out)?;
        Some(Outgoing { header, payload: body.map_or(0, |body| body.payload_len() as u32) })
    }

    /// Appends the head of the next datagram to `out`; returns its header and what it carries.
    fn poll(&mut self, now: Time, out: &mut Vec<u8>) -> Option<(Header, Option<Body>)> {
        if self.reset_due {
            self.reset_due = false;
            let seq_nr = self.board.next_seq();
            return Some((self.emit(now, out, Kind::Reset, seq_nr, None), None));
        }
        let header = match self.state {
            State::Closed(_) => None,
            State::SynSent { resends } => self.poll_syn(now, out, resends),
            State::SynReceived | State::Lingering { .. } => self.poll_ack(now, out),
            State::Connected => return self.poll_connected(now, out),
        };
        header.map(|header| (header, None))
    }

    fn poll_syn(&mut self, now: Time, out: &mut Vec<u8>, resends: u32) -> Option<Header> {
        if !self.timers.take_syn() {
            return None;
        }
        // The last try goes without the bitmap, in case something on the way dislikes it.
        let sack = (self.show_long_sack && resends < SYN_RESENDS).then_some(LONG_SACK_SHOWN);
        let seq_nr = self.board.next_seq().wrapping_sub(1);
        Some(self.emit(now, out, Kind::Syn, seq_nr, sack))
    }

    fn poll_connected(&mut self, now: Time, out: &mut Vec<u8>) -> Option<(Header, Option<Body>)> {
        // Data carries the ack, too, but not the bitmap: gaps are told first.
        if self.receiver.has_gap() {
            if let Some(header) = self.poll_ack(now, out) {
                return Some((header, None));
            }
        }
        if self.liveness.take_question() {
            return Some((self.emit(now, out, Kind::Data, self.acknowledged_seq(), None), None));
        }
        let Some(transmission) = self.next_transmission(now) else {
            return self.poll_ack(now, out).map(|header| (header, None));
        };
        let kind = match transmission.body {
            Body::Data(_) | Body::Zeros(_) => Kind::Data,
            Body::Fin => Kind::Fin,
        };
        self.statistics.data_packets_sent += u64::from(kind == Kind::Data);
        let header = self.emit(now, out, kind, transmission.seq_nr, None);
        Some((header, Some(transmission.body)))
    }

    fn poll_ack(&mut self, now: Time, out: &mut Vec<u8>) -> Option<Header> {
        if self.receiver.ack_at().is_none_or(|at| at > now) {
            return None;
        }
        let seq_nr = self.board.next_seq();
        if self.receiver.has_gap() {
            self.show_long_sack = false;
            let mut mask = [0; MAX_LEN];
            let len = self.receiver.sack(&mut mask, self.peer_reads_long_sacks).unwrap_or(0);
            return Some(self.emit(now, out, Kind::State, seq_nr, Some(Sack::new(&mask[..len]))));
        }
        let sack = std::mem::take(&mut self.show_long_sack).then_some(LONG_SACK_SHOWN);
        Some(self.emit(now, out, Kind::State, seq_nr, sack))
    }

    /// Appends the packet up to its payload.
    fn emit(
        &mut self,
        now: Time,
        out: &mut Vec<u8>,
        kind: Kind,
        seq_nr: u16,
        sack: Option<Sack<'_>>,
    ) -> Header {
        let header = self.header(now, kind, seq_nr);
        Packet { header, sack, payload: &[] }.encode(out);
        self.receiver.acknowledged();
        self.statistics.packets_sent += 1;
        self.timers.sent(now, self.config.keepalive);
        header
    }

    /// The next packet that carries something, if window, peer and pacing allow one.
    fn next_transmission(&mut self, now: Time) -> Option<Transmission> {
        self.timers.pacing_until(None);
        if self.timers.take_probe() {
            return self.send_probe(now);
        }
        if let Some(NextLost { bytes, release }) = self.board.next_lost() {
            let may_go = match release {
                Release::Window => self.window_has_room(bytes) && self.pacing_allows(now),
                Release::Pacing => self.pacing_allows(now),
                Release::Now => true,
            };
            if !may_go {
                return None;
            }
            let transmission = self.board.send_lost(now)?;
            self.statistics.retransmissions += 1;
            self.after_sending(now, bytes);
            return Some(transmission);
        }
        self.next_new(now)
    }

    fn next_new(&mut self, now: Time) -> Option<Transmission> {
        let Some(len) = self.next_new_len() else {
            self.note_unused_window();
            return None;
        };
        let peer_has_room =
            self.board.outstanding() + len <= self.peer_window || self.timers.take_window_probe();
        if !peer_has_room || self.board.packets() >= self.packet_limit() {
            self.note_unused_window();
            if !peer_has_room && self.board.is_empty() {
                self.timers.probe_window(now, self.rto.get());
            }
            return None;
        }
        if !self.window_has_room(len) || !self.pacing_allows(now) {
            return None;
        }
        Some(self.send_new(now, len))
    }

    /// Payload of the next new packet: 0 for a FIN, none if there is nothing to send yet.
    fn next_new_len(&self) -> Option<u64> {
        let Some(len) = self.unsent.next_len() else {
            return (self.fin == Fin::Wanted).then_some(0);
        };
        let may_be_partial =
            !self.config.nagle || self.push || self.fin != Fin::NotYet || self.board.is_empty();
        (len == u64::from(self.config.payload) || may_be_partial).then_some(len)
    }

    fn send_new(&mut self, now: Time, len: u64) -> Transmission {
        self.note_idle(now);
        let body = match self.unsent.take() {
            Some(body) => body,
            None => {
                self.fin = Fin::Sent;
                Body::Fin
            }
        };
        self.push &= !self.unsent.is_empty();
        let app_limited = self.app_limited_until > self.board.delivered();
        let transmission = self.board.send_new(now, body, app_limited);
        let outstanding = self.board.packets() as u64;
        self.statistics.max_packets_outstanding = self.statistics.max_packets_outstanding.max(outstanding);
        self.after_sending(now, len);
        transmission
    }

    /// RFC 8985 §7.3: new data if there is some, else the newest packet again. A short bitmap may not reach that far and
    /// would show nothing new: then the oldest packet, which always tells something.
    fn send_probe(&mut self, now: Time) -> Option<Transmission> {
        self.statistics.probes += 1;
        self.timers.sent_probe(now, self.rto.get());
        let is_shown = self.peer_reads_long_sacks || self.board.packets() <= SHORT_BITS;
        let room = is_shown && self.board.packets() < self.packet_limit();
        match self.next_new_len() {
            Some(len) if room && self.board.outstanding() + len <= self.peer_window => {
                Some(self.send_new(now, len))
            }
            _ => {
                let transmission = self.board.send_probe(now, is_shown)?;
                self.statistics.retransmissions += 1;
                self.after_sending(now, transmission.body.payload_len());
                Some(transmission)
            }
        }
    }

    fn window_has_room(&self, len: u64) -> bool {
        self.board.in_flight() + len <= self.controller.cwnd() || !self.board.anything_in_flight()
    }

    fn pacing_allows(&mut self, now: Time) -> bool {
        if self.rtt.smoothed().is_some() && self.pacer.next() > now {
            self.timers.pacing_until(Some(self.pacer.next()));
            return false;
        }
        true
    }

    fn after_sending(&mut self, now: Time, len: u64) {
        self.controller.on_sent(&Sent {
            now,
            bytes: len,
            packet_number: self.board.next_packet_number() - 1,
            in_flight: self.board.in_flight(),
            app_limited: self.app_limited_until > self.board.delivered(),
        });
        self.pace(now, len);
        self.timers.sent_something(now, self.rto.get(), self.probe_after());
    }

    /// After how long without an ack a tail is probed.
    fn probe_after(&self) -> Option<Span> {
        let rtt = self.rtt.smoothed().filter(|_| self.config.recovery.probes_tails())?;
        // RFC 9002 §6.2.1: by then the ack must have come, were the packet not lost.
        Some(rtt + (self.rtt.variation() * 4).max(Span::from_millis(1)) + self.config.ack_delay)
    }

    fn pace(&mut self, now: Time, len: u64) {
        let Some(rate) = self.pacing_rate() else { return };
        let (cwnd, packet) = (self.controller.cwnd(), u64::from(self.config.payload));
        let burst_packet = if cwnd < packet { 0 } else { packet };
        self.pacer.sent(now, len, rate, burst_packet);
    }

    /// Bytes per second, once there is a round-trip time.
    fn pacing_rate(&self) -> Option<u64> {
        // The latest sample counts if it is the smaller: when a long queue has just gone, the smoothed round-trip time
        // would hold the rate down for many round trips, and the window is there to stop what is too fast.
        let rtt = self.rtt.smoothed()?.min(self.rtt.latest());
        let (cwnd, packet) = (self.controller.cwnd(), u64::from(self.config.payload));
        let gain = match self.controller.in_slow_start() {
            _ if cwnd < packet => 1.0, // a window below one packet is its spacing
            true => SLOW_START_GAIN,
            false => STEADY_GAIN,
        };
        let by_window = || (gain * cwnd as f64 / rtt.as_secs_f64().max(1e-6)) as u64;
        Some(self.controller.pacing_rate().unwrap_or_else(by_window).max(1))
    }

    /// A packet that waits for more than a round trip was spaced by a window below one packet. The window may have grown
    /// since: it waits by what the window is now.
    pub(super) fn hasten(&mut self, now: Time) {
        if self.rtt.smoothed().is_none_or(|rtt| self.pacer.next() <= now + rtt) {
            return;
        }
        let rate = self.pacing_rate().unwrap_or(1);
        self.pacer.no_later_than(now + Span::of_bytes(u64::from(self.config.payload), rate));
    }

    /// The window has room that is not used: acks of what is in flight now must not widen it.
    fn note_unused_window(&mut self) {
        let in_flight = self.board.in_flight();
        if in_flight + u64::from(self.config.payload) <= self.controller.cwnd() {
            self.app_limited_until = (self.board.delivered() + in_flight).max(1);
        }
    }

    /// Sending starts again after silence: RFC 5681 §4.1.
    fn note_idle(&mut self, now: Time) {
        if !self.board.is_empty() || self.board.next_packet_number() == 0 {
            return;
        }
        // What the pacer held back was not idle.
        let quiet_since = self.timers.last_activity().max(self.pacer.next());
        let (idle_for, rto) = (now.since(quiet_since), self.rto.get());
        if idle_for > rto {
            self.controller.on_idle(&Idle { now, idle_for, rto });
            self.pacer.reset(now);
        }
    }
}
