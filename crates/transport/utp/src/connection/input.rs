//! Packets coming in.

use super::scoreboard::PACKET_THRESHOLD;
use super::{Arrival, Connection, Fin, State};
use crate::error::Error;
use crate::numbers::{Micros, SeqNr};
use crate::packet::{Kind, Packet};
use afteryou_base::{Span, Time};
use afteryou_cc::Marks;
use afteryou_sender::board::Before;
use afteryou_sender::congestion::{Found, News};
use afteryou_sender::reordering::Rounds;
use afteryou_sender::AckProgress;

/// libutp's slack for acks that were overtaken, packets.
const ACK_SLACK: u16 = 3;
/// The part of a connection's share of memory that may be kept ready for the next payloads.
const SPARE_FRACTION: u64 = 3;
/// Most doublings of the timeout that continue while the peer answers that it is full.
const FULL_PEER_BACKOFF: u32 = 2;
/// `timestamp_difference` values that mean "no sample".
const NO_SAMPLE: [Micros; 2] = [Micros(0), Micros(0x7FFF_FFFF)];

impl Connection {
    /// Handles a packet for this connection: `arrival` is the time, or the time with a stamp and a mark.
    ///
    /// Of a batch with one stamp the first packet alone is a sample of delay: the others may have left, and arrived, later. Beside a gap
    /// they are timed when they are handled: an answer must not show a time before that at which what it acknowledges left.
    pub fn handle(&mut self, arrival: impl Into<Arrival>, packet: &Packet<'_>) {
        let Arrival { now, stamp, is_marked } = arrival.into();
        let sample_at = match stamp {
            Some(stamp) => self.sample_at(now, stamp, packet),
            None => Some(now),
        };
        self.take_in(now, sample_at, packet);
        if is_marked {
            self.take_mark(now, packet);
        }
    }

    /// Returns the time of arrival that a packet with a stamp is a sample of delay for; `None` if it is none.
    fn sample_at(&mut self, now: Time, stamp: Time, packet: &Packet<'_>) -> Option<Time> {
        if self.stamp.replace(stamp) != Some(stamp) {
            return Some(stamp);
        }
        let is_next = !self.receiver.has_gap() && packet.header.seq_nr == self.receiver.ack_nr().next();
        (!is_next).then_some(now)
    }

    /// Counts the mark of a packet that has been handled. Its sender is to learn of it at once (RFC 9000 §13.2.1).
    fn take_mark(&mut self, now: Time, packet: &Packet<'_>) {
        let has_number = matches!(packet.header.kind, Kind::Data | Kind::Fin);
        let is_ours = self.is_connected() && self.board.accepts(packet.header.ack_nr, ACK_SLACK);
        if has_number && is_ours && self.ecn.receive_mark() {
            self.receiver.acknowledge_now(now);
        }
    }

    fn take_in(&mut self, now: Time, stamp: Option<Time>, packet: &Packet<'_>) {
        #[cfg(feature = "dump")]
        self.log_arriving(now, packet);
        match (self.state, packet.header.kind) {
            (State::Closed(_), _) => {}
            (_, Kind::Reset) => self.handle_reset(packet),
            (State::SynSent { resends }, Kind::State) => {
                self.handle_syn_answer(now, stamp, packet, resends);
            }
            (State::SynSent { .. }, _) => {}
            (_, Kind::Syn) => self.handle_repeated_syn(now),
            (_, kind) => self.handle_established(now, stamp, packet, kind),
        }
        #[cfg(feature = "dump")]
        self.log_handled(now);
    }

    /// Repeats the answer to the SYN, which may be lost, at most once in 500 ms.
    fn handle_repeated_syn(&mut self, now: Time) {
        if !self.timers.answers_syn(now) {
            return;
        }
        if self.state == State::SynReceived {
            self.show_long_sack = self.peer_reads_long_sacks;
        }
        self.receiver.acknowledge_now(now);
    }

    fn handle_reset(&mut self, packet: &Packet<'_>) {
        // A reset copies the sequence number of what it answers into ack_nr; one that does not is a guess.
        let ack_nr = packet.header.ack_nr;
        let answers_us = self.board.accepts(ack_nr, ACK_SLACK) || ack_nr == self.board.next_seq();
        // An initiator that takes its SYN back has seen no number of ours yet, but it has its own.
        let taken_back = self.state == State::SynReceived
            && packet.header.connection_id == self.recv_id
            && (packet.header.seq_nr, ack_nr) == (self.receiver.ack_nr().next(), SeqNr(0));
        if !answers_us && !taken_back {
            return;
        }
        let only_fin_left =
            self.unsent.is_empty() && self.board.board().outstanding() == 0 && self.fin != Fin::NotYet;
        self.state = State::Closed(match self.state {
            State::SynSent { .. } => Some(Error::Refused),
            // libutp forgets a connection as soon as its own FIN is acknowledged and resets ours.
            _ if self.receiver.is_complete() && only_fin_left => None,
            State::Lingering { .. } => None,
            _ => Some(Error::Reset),
        });
    }

    /// Takes in the ST_STATE that answers our SYN: it carries the peer's *next* number.
    fn handle_syn_answer(&mut self, now: Time, stamp: Option<Time>, packet: &Packet<'_>, resends: u32) {
        if packet.header.ack_nr != self.board.next_seq().prev() {
            return;
        }
        let sent_at =
            if resends == 0 { Some(self.timers.started()) } else { self.answered_until(now, packet) };
        if let Some(sent_at) = sent_at {
            self.take_rtt(now.since(sent_at));
        }
        self.receiver = super::receiver_of(self.host, &self.config, packet.header.seq_nr.prev());
        self.note_peer(stamp, packet);
        self.ecn.negotiate(packet.marks.filter(|_| self.peer_reads_long_sacks));
        self.show_long_sack = false;
        self.open(now);
        // Informs the peer that its answer has arrived, so that it may send first.
        self.receiver.acknowledge_now(now);
        self.timers.confirm(now, self.rto.get());
    }

    /// Opens the connection: the handshake is complete.
    fn open(&mut self, now: Time) {
        self.state = State::Connected;
        self.congestion.start(now);
        self.timers.connected(now);
        self.watch_peer(now);
        self.reported.opened = true;
    }

    fn handle_established(&mut self, now: Time, stamp: Option<Time>, packet: &Packet<'_>, kind: Kind) {
        if !self.board.accepts(packet.header.ack_nr, ACK_SLACK) {
            return;
        }
        if self.state == State::SynReceived {
            self.open(now);
        }
        self.timers.heard();
        self.liveness.heard(now);
        self.note_peer(stamp, packet);
        if self.peer_window < u64::from(self.config.payload) {
            self.timers.peer_is_full(now);
            self.rto.limit_backoff(FULL_PEER_BACKOFF);
        }
        self.handle_ack(now, packet);
        if matches!(kind, Kind::Data | Kind::Fin) {
            self.flight_limit.arrived(now, packet.payload.len() as u64, self.round_trip(packet));
            self.note_data(now);
            let (policy, before) = (self.ack_policy(), self.receiver.arrived());
            self.receiver.receive(now, packet.header.seq_nr, packet.payload, kind == Kind::Fin, policy);
            if self.receiver.arrived() > before {
                self.timers.arrived(now);
            }
        }
        self.linger_if_done(now);
    }

    /// Notes that data moves. Without content it takes no memory worth a timer.
    fn note_data(&mut self, now: Time) {
        if self.host.keeps_received {
            self.rest.moved(now);
        }
    }

    /// Returns the two one-way delays together, whose clock offsets cancel.
    fn round_trip(&self, packet: &Packet<'_>) -> Option<Span> {
        let back = packet.header.timestamp_difference;
        let Micros(us) = self.peer_clock.difference.plus(back);
        // A negative delay is due to a clock that was set.
        (!NO_SAMPLE.contains(&back) && us < 1 << 31).then_some(Span::from_micros(us.into()))
    }

    /// Returns when the newest packet left, at the latest, that this one answers (`peer_clock.rs`).
    fn answered_until(&self, now: Time, packet: &Packet<'_>) -> Option<Time> {
        let back = packet.header.timestamp_difference;
        let Micros(age) = self.timestamp(now).minus(packet.header.timestamp.minus(back));
        let left = now.as_micros().checked_sub(u64::from(age)).map(Time::from_micros)?;
        (!NO_SAMPLE.contains(&back) && left >= self.timers.started()).then_some(left)
    }

    /// Lingers once both directions have ended, only to repeat the last acknowledgement, for as long as the peer asks for
    /// it.
    fn linger_if_done(&mut self, now: Time) {
        if self.is_connected() && self.fin == Fin::Acknowledged && self.receiver.is_complete() {
            self.state = State::Lingering { until: now + self.config.linger };
        }
    }

    fn handle_ack(&mut self, now: Time, packet: &Packet<'_>) {
        let header = &packet.header;
        self.ecn.reported(packet.marks);
        let (before, answered_until) = (self.board.board().before(), self.answered_until(now, packet));
        // Our own kind shows all that is out of order in every ST_STATE; a libutp's silence has no meaning.
        let covers = match packet.sack {
            Some(sack) => Some(sack.covers()),
            None if self.peer_reads_long_sacks && header.kind == Kind::State => Some(usize::MAX),
            None => None,
        };
        let min_rtt = self.congestion.rtt().min();
        let mut taken = self.board.begin_ack(now, min_rtt, answered_until);
        self.board.acknowledge(header.ack_nr, packet.sack, covers, &mut taken);
        let spare = self.share / SPARE_FRACTION;
        self.board.take_arrived().for_each(|payload| self.unsent.reuse(payload, spare));
        let progress = &taken.progress;
        if progress.packets == 0 {
            if header.kind == Kind::State && self.board.is_newest_ack(header.ack_nr) {
                self.board.acknowledged_again();
            }
            if self.config.recovery.judges_repetitions() {
                self.find_losses(now, &before);
            }
            return;
        }
        self.note_data(now);
        let board = self.board.board();
        if let Some(payload) = self.path_mtu.acknowledged(now, board.una(), |index| board.is_sacked(index)) {
            self.set_payload(payload);
        }
        self.take_progress(now, packet, progress, (&before, answered_until));
        if self.congestion.advance(self.board.board().una()) {
            self.reordering.on_recovery_end();
        }
        if self.fin == Fin::Sent && self.board.is_empty() {
            self.fin = Fin::Acknowledged;
        }
        let any = self.find_losses(now, &before);
        let (delivered, in_flight) =
            (progress.newly_acked + progress.newly_sacked, self.board.board().in_flight());
        self.congestion.reduce(delivered, in_flight, progress.advanced && !any);
        self.timers.progress(now);
        self.restart_timers(now, self.restarts(progress));
        self.congestion.hasten(now);
    }

    /// Returns whether this ack restarts the retransmission timer. RFC 6298 §5.3: when the cumulative ack moves. Not for SACKs, or a lost
    /// retransmission would hold everything up for as long as packets beyond it arrive. libutp restarts it for those, too.
    fn restarts(&self, progress: &AckProgress) -> bool {
        progress.advanced || self.config.recovery.restarts_for_sacks()
    }

    fn restart_timers(&mut self, now: Time, restarts: bool) {
        if self.board.is_empty() {
            self.timers.loss.stop();
            return;
        }
        if restarts {
            self.timers.loss.retransmit = now + self.rto.get();
        }
        self.arm_probe(now);
    }

    /// Reports the news of an ack to the estimators and the controller.
    fn take_progress(
        &mut self,
        now: Time,
        packet: &Packet<'_>,
        progress: &AckProgress,
        (before, answered_until): (&Before, Option<Time>),
    ) {
        // A packet that was sent again is timed by the time stamps (RFC 7323 §4.1), or not at all (Karn).
        if let Some(rtt) = progress.rtt.or_else(|| answered_until.map(|at| now.since(at))) {
            self.take_rtt(rtt);
        }
        self.reordering.seen |= progress.reordered;
        let after_timeout = self.congestion.is_after_timeout();
        if progress.advanced && self.congestion.judge_timeout(now, answered_until.unwrap_or(now)) {
            self.board.time_out_was_needless();
        }
        if progress.spurious > 0 {
            self.counters.spurious_losses += progress.spurious;
            match after_timeout {
                true => self.board.time_out_was_needless(),
                false => self.note_reordering(progress),
            }
            self.congestion.repaired(self.board.board().repaired());
            self.congestion.arrived_late(now, self.board.board().late());
        }
        let board = self.board.board();
        let difference = packet.header.timestamp_difference;
        let marks = match self.ecn.take_unseen() {
            0 => Marks::None,
            packets => Marks::Count(packets),
        };
        self.congestion.acknowledged(&News {
            now,
            progress,
            delivered: board.delivered_now(),
            echoed: None,
            newly_acked: progress.newly_acked,
            flightsize: before.flightsize,
            in_flight: before.in_flight,
            next_number: board.next_number(),
            one_way_delay: (!NO_SAMPLE.contains(&difference)).then_some(difference.0),
            reverse_delay: Some(self.peer_clock.difference.0),
            marks,
        });
    }

    fn take_rtt(&mut self, rtt: Span) {
        self.congestion.take_rtt(rtt);
        self.timers.measured();
        self.rto.update(self.congestion.rtt().latest());
    }

    /// Widens the window for reordering, once in a round trip: packets that were taken for lost have arrived late.
    fn note_reordering(&mut self, progress: &AckProgress) {
        self.reordering.seen = true;
        let next = self.board.board().next_number();
        self.reordering.on_spurious(Rounds { newest: progress.newest.0, next });
    }

    /// Returns how long after its sending a packet may still be acknowledged. Once packets were seen to overtake one
    /// another, RACK's window (RFC 8985 §6.2); until then nine eighths of the larger of smoothed and latest round-trip time
    /// (RFC 9002 §6.1.2).
    pub(super) fn patience(&self) -> Span {
        let rtt = self.congestion.rtt();
        if self.reordering.seen {
            return self.board.board().newest_rtt().unwrap_or_default()
                + self.reordering.window(false, 0, rtt);
        }
        let rtt = rtt.smoothed().unwrap_or(self.rto.get()).max(rtt.latest());
        rtt + rtt / 8
    }

    /// Finds losses and reports them to the controller; true if there are any.
    pub(super) fn find_losses(&mut self, now: Time, before: &Before) -> bool {
        let packets = if self.reordering.seen { u64::MAX } else { PACKET_THRESHOLD };
        let (mut lost, look_again) = self.board.detect_losses(now, packets, self.patience());
        lost.retain(|packet| !self.path_mtu.lost(now, packet.flight.number));
        self.timers.loss.reordering = look_again.unwrap_or(Time::NEVER);
        self.counters.losses += lost.len() as u64;
        if !lost.is_empty() {
            let board = self.board.board();
            let found = Found {
                now,
                flightsize: board.outstanding(),
                before: *before,
                point: board.next_seq(),
                // PRR counts what is delivered. A libutp's bitmap ends 31 packets beyond a gap, so nothing seems to be delivered
                // until it is closed: there the bytes in flight rule, as in RFC 6675.
                in_proportion: self.config.recovery.reduces_in_proportion() && self.peer_reads_long_sacks,
            };
            self.congestion.lost(&found, lost.iter().map(|packet| (&packet.flight, packet.is_signal)));
        }
        self.congestion.refresh();
        !lost.is_empty()
    }
}
