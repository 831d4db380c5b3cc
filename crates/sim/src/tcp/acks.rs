//! Acknowledgements coming in.

use super::board::Progress;
use super::prr::{AckInRecovery, Prr};
use super::rack::{Answer, TailAck};
use super::sender::{Doubts, Sender, State};
use crate::packet::{expand, Sack, DSACK, ECE, SACK_BLOCKS};
use afteryou_cc::{Ack, Loss, Span, Time};
use afteryou_scenario::transport::Recovery;

/// An acknowledgement as it arrives; numbers are the low 32 bits of the real ones.
#[derive(Clone, Copy, Debug)]
pub struct Incoming<'a> {
    /// Every segment below this has arrived.
    pub cumulative: u32,
    /// Echoed clock, µs.
    pub tsecr: u32,
    /// Receiver's clock minus the echoed one, µs.
    pub one_way_delay: u32,
    /// SACK blocks.
    pub sack: Option<&'a Sack>,
    /// [`ECE`] and [`DSACK`].
    pub flags: u8,
}

/// The shortest round-trip time that is believed: spans counted in round trips must not be empty.
const MIN_RTT: Span = Span::from_micros(1);

impl Sender {
    /// The answer to the SYN arrives.
    pub fn on_syn_ack(&mut self, now: Time) {
        if self.state != State::SynSent {
            return;
        }
        self.state = State::Established;
        self.timers.retransmit = Time::NEVER;
        self.timers.backoff = 0;
        self.timers.after_syn_loss = self.syns > 1;
        if self.syns == 1 {
            self.take_rtt(now.since(self.syn_at)); // RFC 6298 §3: not of what was sent twice
        }
        self.reset_pacer(now);
    }

    /// An acknowledgement arrives.
    pub fn on_ack(&mut self, now: Time, incoming: &Incoming<'_>) {
        if self.state != State::Established {
            return;
        }
        let (flightsize, in_flight) = (self.board.outstanding(), self.board.in_flight());
        let sacked_before = self.board.sacked_bytes();
        let (blocks, count) = self.blocks(incoming.sack);
        let cumulative = expand(self.board.una(), incoming.cumulative);
        let echoed = self.echoed_time(now, incoming.tsecr);
        let progress =
            self.board.acknowledge(now, cumulative, &blocks[..count], Some(echoed), self.rtt.min());
        let says_nothing_new = progress.segments == 0 && !progress.advanced;
        let dsack = incoming.flags & DSACK != 0;
        let is_bare_duplicate = says_nothing_new && incoming.sack.is_none();
        let tail = self.tail.on_ack(TailAck { cumulative, dsack, is_bare_duplicate });
        // A probe is sent by a timer: its second arrival is no sign of reordering or loss (as in Linux).
        if dsack && tail != Answer::Twice {
            self.take_dsack(now, &progress);
        }
        if says_nothing_new {
            return;
        }
        self.take_progress(now, incoming, &progress, (flightsize, in_flight, echoed));
        self.end_episode(cumulative);
        if tail == Answer::Repaired {
            self.answer_repaired_tail(now, flightsize);
        }
        let delivered = progress.newly_acked + progress.newly_sacked;
        let before =
            Before { recover_fs: flightsize - sacked_before, delivered, advanced: progress.advanced };
        self.find_and_answer_losses(now, &before);
        self.restart_timers(now, &progress);
        self.hasten(now);
    }

    /// The blocks of an ack, ascending. On the wire the newest comes first (RFC 2018 §4): in that order, older news after an
    /// ack that was lost would look like reordering.
    fn blocks(&self, sack: Option<&Sack>) -> ([(u64, u64); SACK_BLOCKS], usize) {
        let mut blocks = [(0, 0); SACK_BLOCKS];
        let Some(sack) = sack else { return (blocks, 0) };
        let (una, count) = (self.board.una(), usize::from(sack.count));
        for (block, (start, end)) in blocks.iter_mut().zip(sack.blocks) {
            *block = (expand(una, start), expand(una, end));
        }
        blocks[..count].sort_unstable();
        (blocks, count)
    }

    /// The time, by our clock, that an ack echoes in µs modulo 2^32.
    fn echoed_time(&self, now: Time, tsecr: u32) -> Time {
        let age = (now.as_micros() as u32).wrapping_sub(tsecr);
        Time::from_micros(now.as_micros() - u64::from(age).min(now.as_micros()))
    }

    fn take_rtt(&mut self, rtt: Span) {
        self.rtt.update(rtt.max(MIN_RTT));
        self.tail.measured();
    }

    fn take_dsack(&mut self, now: Time, progress: &Progress) {
        let newest = progress.newest.map_or(0, |(number, _)| number);
        self.reordering.on_dsack(newest, self.board.next_number());
        self.note_spurious(now, 0, 1);
    }

    /// Tells estimators and controller what an ack has brought.
    fn take_progress(
        &mut self,
        now: Time,
        incoming: &Incoming<'_>,
        progress: &Progress,
        (flightsize, in_flight, echoed): (u64, u64, Time),
    ) {
        // A segment that was sent twice can still be timed by its timestamp (RFC 7323 §4.1).
        let rtt = progress.rtt.or_else(|| progress.advanced.then(|| now.since(echoed)));
        if let Some(rtt) = rtt {
            self.take_rtt(rtt);
        }
        self.timers.after_syn_loss = false;
        self.reordering.seen |= progress.reordered;
        if progress.advanced {
            self.timers.backoff = 0;
        }
        if progress.spurious > 0 {
            self.note_spurious(now, progress.spurious, 0);
        }
        let marked = self.options.ecn && incoming.flags & ECE != 0;
        if marked && self.board.una() >= self.cwr_point {
            self.cwr_point = self.board.next_seq(); // RFC 3168 §6.1.2: once per window
            self.cwr_due = true;
        }
        // A late packet is delivered, too. Its transmission may be forgotten, so the ack's echo gives its time.
        let forgotten = (self.board.oldest_number().saturating_sub(1), echoed);
        let (packet_number, sent_at) = progress.newest.unwrap_or(forgotten);
        let round_start = packet_number >= self.round_end;
        if round_start {
            self.round_end = self.board.next_number();
        }
        let counted = match self.options.count_acks {
            true => progress.newly_acked.min(u64::from(self.mss)),
            false => progress.newly_acked,
        };
        self.controller.on_ack(&Ack {
            now,
            newly_acked: counted,
            newly_sacked: progress.newly_sacked,
            flightsize,
            in_flight,
            sent_at,
            packet_number,
            rtt: progress.rtt,
            smoothed_rtt: self.rtt.smoothed().unwrap_or_default(),
            one_way_delay: Some(incoming.one_way_delay),
            // The far end's clock, when it sent the ack, was the echoed time and the delay that it measured.
            reverse_delay: Some(
                (now.as_micros() as u32).wrapping_sub(incoming.tsecr.wrapping_add(incoming.one_way_delay)),
            ),
            delivery: progress.delivery,
            ce_marks: u32::from(marked),
            round_start,
            app_limited: progress.app_limited,
        });
    }

    fn end_episode(&mut self, cumulative: u64) {
        if self.episode.is_some_and(|episode| cumulative >= episode.point) {
            self.episode = None;
            self.reordering.on_recovery_end();
        }
    }

    /// RFC 8985 §7.4.2: a probe repaired a loss that nobody else will report.
    fn answer_repaired_tail(&mut self, now: Time, flightsize: u64) {
        self.counters.losses += 1;
        self.controller.on_loss(&Loss {
            now,
            bytes: u64::from(self.mss),
            sent_at: now,
            packet_number: self.board.next_number().saturating_sub(1),
            flightsize,
            persistent: false,
        });
    }

    /// Finds losses and lets PRR take its account of this ack.
    fn find_and_answer_losses(&mut self, now: Time, before: &Before) {
        let any = self.find_losses(now, before.recover_fs);
        self.hear();
        if let Some(prr) = self.episode.as_mut().and_then(|episode| episode.prr.as_mut()) {
            prr.on_ack(AckInRecovery {
                delivered: before.delivered,
                in_flight: self.board.in_flight(),
                ssthresh: self.says.cwnd,
                safe: before.advanced && !any,
                smss: u64::from(self.mss),
            });
        }
    }

    /// Finds what is lost by now, tells the controller, and begins a recovery if none is on; true if anything is lost.
    pub(super) fn find_losses(&mut self, now: Time, recover_fs: u64) -> bool {
        if !self.board.is_any_overtaken() {
            self.timers.reordering = Time::NEVER;
            return false;
        }
        let mut lost = std::mem::take(&mut self.lost_now);
        let flightsize = self.board.outstanding();
        match self.options.recovery {
            Recovery::Rack => {
                let window = self.reordering_window();
                let look_again = self.board.detect_by_time(now, window, &mut lost);
                self.timers.reordering = look_again.unwrap_or(Time::NEVER);
            }
            Recovery::Sack => self.board.detect_by_count(&mut lost),
        }
        let (any, found) = (!lost.is_empty(), lost.len() as u64);
        self.counters.losses += found;
        for segment in lost.drain(..) {
            self.controller.on_loss(&Loss {
                now,
                bytes: u64::from(segment.len),
                sent_at: segment.sent_at,
                packet_number: segment.number,
                flightsize,
                persistent: false,
            });
        }
        self.lost_now = lost;
        if any && self.episode.is_none() {
            let prr = (self.options.recovery == Recovery::Rack).then(|| Prr::start(recover_fs));
            self.begin_episode(prr, Some(Doubts::default()));
        }
        self.note_lost(found);
        any
    }

    fn restart_timers(&mut self, now: Time, progress: &Progress) {
        if self.board.is_empty() {
            self.timers.retransmit = Time::NEVER;
            self.timers.probe = Time::NEVER;
            self.timers.reordering = Time::NEVER;
            return;
        }
        if progress.advanced {
            // RFC 6298 §5.3. Not for SACKs: a lost retransmission would hold everything up for ever.
            self.timers.retransmit = now + self.timers.rto(&self.rtt, &self.options);
        }
        self.arm_probe(now);
    }
}

/// How things stood before an ack.
struct Before {
    /// RFC 9937's RecoverFS: outstanding less what SACK had reported.
    recover_fs: u64,
    delivered: u64,
    advanced: bool,
}
