//! Acknowledgements coming in.

use super::sender::{Sender, State};
use crate::packet::{Sack, ECE, NO_WINDOW, SACK_BLOCKS};
use afteryou_cc::Marks;
use afteryou_cc::{Span, Time};
use afteryou_scenario::transport::Recovery;
use afteryou_sender::board::{Before, Taken, Timing};
use afteryou_sender::congestion::{Found, News};
use afteryou_sender::reordering::Rounds;
use afteryou_sender::tail::{Answer, TailAck};
use afteryou_sender::{expand, AckProgress};

/// An acknowledgement as it arrives; numbers are the low 32 bits of the real ones.
#[derive(Clone, Copy, Debug)]
pub struct Incoming<'a> {
    /// Every segment below this has arrived.
    pub cumulative: u32,
    /// Echoed clock, µs.
    pub tsecr: u32,
    /// Receiver's clock minus the echoed one, µs.
    pub one_way_delay: u32,
    /// SACK blocks and the announced window.
    pub sack: Option<&'a Sack>,
    /// [`ECE`] or nothing.
    pub flags: u8,
}

impl Sender {
    /// Takes in the answer to the SYN.
    pub fn on_syn_ack(&mut self, now: Time, window: u32) {
        if self.state != State::SynSent {
            return;
        }
        self.take_window(window);
        self.state = State::Established;
        self.timers.loss.retransmit = Time::NEVER;
        self.timers.loss.backoff.reset();
        self.timers.after_syn_loss = self.syns > 1;
        if self.syns == 1 {
            self.take_rtt(now.since(self.syn_at)); // RFC 6298 §3: not of what was sent twice
        }
        self.congestion.start(now);
    }

    /// Takes in an acknowledgement.
    pub fn on_ack(&mut self, now: Time, incoming: &Incoming<'_>) {
        if self.state != State::Established {
            return;
        }
        let (before, echoed) = (self.board.before(), self.echoed_time(now, incoming.tsecr));
        let cumulative = expand(self.board.una(), incoming.cumulative);
        // RFC 9293 §3.10.7.4: an ack that is older than another one does not change the window.
        if let Some(sack) = incoming.sack.filter(|_| cumulative >= self.board.una()) {
            self.take_window(sack.window);
        }
        let sack = incoming.sack.filter(|sack| sack.count > 0);
        let blocks = sack.map(|sack| self.blocks(cumulative, sack));
        let timing =
            Timing { now, echoed: Some(echoed), min_rtt: self.congestion.rtt().min(), ..Timing::default() };
        let plain = match blocks {
            None => self.board.acknowledge_plain(cumulative, &timing),
            Some(_) => None,
        };
        let taken;
        let progress = match &plain {
            Some(progress) => progress,
            None => {
                taken = self.take_in(timing, cumulative, blocks.as_ref());
                self.congestion.repaired(self.board.repaired());
                &taken.progress
            }
        };
        let says_nothing_new = progress.packets == 0 && !progress.advanced;
        let is_bare_duplicate = says_nothing_new && sack.is_none();
        let twice = blocks.as_ref().and_then(|blocks| blocks.twice);
        let tail = match self.tail.is_under_way() {
            false => Answer::None,
            true => {
                let repaired = self.board.repaired();
                self.tail.on_ack(TailAck { cumulative, dsack: twice, is_bare_duplicate, repaired })
            }
        };
        // A probe is sent by a timer: its second arrival is no sign of reordering or loss (as in Linux).
        if let Some(twice) = twice.filter(|_| tail != Answer::Twice) {
            self.take_dsack(now, twice);
        }
        if says_nothing_new {
            return;
        }
        self.take_progress(now, incoming, progress, (&before, echoed));
        if self.congestion.advance(cumulative) {
            self.reordering.on_recovery_end();
        }
        if let Answer::Repaired(lost) = tail {
            // RFC 8985 §7.4.2: a probe repaired a loss that nothing else will report.
            self.counters.losses += 1;
            self.board.count_repaired(&lost);
            self.congestion.report_loss(now, &lost, before.flightsize);
        }
        let any = self.find_losses(now, &before);
        self.congestion.refresh();
        let delivered = progress.newly_acked + progress.newly_sacked;
        self.congestion.reduce(delivered, self.board.in_flight(), progress.advanced && !any);
        self.restart_timers(now, progress);
        self.congestion.hasten(now);
    }

    /// Takes in the announced window.
    fn take_window(&mut self, window: u32) {
        if window != NO_WINDOW {
            self.rwnd = window.into();
        }
    }

    /// Takes in what an ack reports that echoes the time `echoed`.
    fn take_in(&mut self, timing: Timing, cumulative: u64, blocks: Option<&Blocks>) -> Taken {
        let mut taken = self.board.begin_ack(timing);
        self.board.advance(cumulative, &mut taken);
        for (start, end) in blocks.into_iter().flat_map(Blocks::news) {
            self.board.sack(*start, *end, &mut taken);
        }
        self.board.finish_ack(&mut taken);
        taken
    }

    /// Returns the blocks of an ack whose cumulative number is `cumulative`.
    fn blocks(&self, cumulative: u64, sack: &Sack) -> Blocks {
        let mut blocks = Blocks::default();
        let una = self.board.una();
        let mut given =
            sack.blocks().iter().map(|(start, end)| (expand(una, *start), expand(una, *end))).peekable();
        let first = given.peek().copied();
        blocks.twice = first.filter(|(start, end)| {
            // RFC 2883 §4: below the cumulative acknowledgement, or within the second block.
            let is_within = |(from, to): (u64, u64)| from <= *start && *end <= to;
            *start < cumulative || given.clone().nth(1).is_some_and(is_within)
        });
        for block in given.skip(usize::from(blocks.twice.is_some())) {
            blocks.blocks[blocks.count] = block;
            blocks.count += 1;
        }
        blocks.blocks[..blocks.count].sort_unstable();
        blocks
    }

    /// Returns the time, by our clock, that an ack echoes in µs modulo 2^32.
    fn echoed_time(&self, now: Time, tsecr: u32) -> Time {
        let age = (now.as_micros() as u32).wrapping_sub(tsecr);
        Time::from_micros(now.as_micros() - u64::from(age).min(now.as_micros()))
    }

    fn take_rtt(&mut self, rtt: Span) {
        self.congestion.take_rtt(rtt);
        self.tail.measured();
    }

    fn take_dsack(&mut self, now: Time, twice: (u64, u64)) {
        self.reordering.on_dsack(self.rounds(), self.counters.retransmissions);
        let spurious = self.congestion.arrived_twice(now, twice);
        self.count_spurious(spurious);
    }

    /// Counts `losses` that turned out to be none.
    fn count_spurious(&mut self, losses: u64) {
        self.counters.spurious += losses;
        if losses > 0 {
            self.reordering.on_spurious(self.rounds());
        }
    }

    fn rounds(&self) -> Rounds {
        Rounds { newest: self.board.newest_delivered().unwrap_or(0), next: self.board.next_number() }
    }

    /// Reports the news of an ack to the estimators and the controller.
    fn take_progress(
        &mut self,
        now: Time,
        incoming: &Incoming<'_>,
        progress: &AckProgress,
        (before, echoed): (&Before, Time),
    ) {
        // A segment that was sent twice can still be timed by its timestamp (RFC 7323 §4.1).
        let rtt = progress.rtt.or_else(|| progress.advanced.then(|| now.since(echoed)));
        if let Some(rtt) = rtt {
            self.take_rtt(rtt);
        }
        self.timers.after_syn_loss = false;
        self.reordering.seen |= progress.reordered;
        if progress.advanced {
            self.timers.loss.backoff.reset();
        }
        if progress.advanced && self.congestion.judge_timeout(now, echoed) {
            self.board.take_back_timeout();
        }
        if progress.spurious > 0 {
            let by_duplicates = self.congestion.arrived_late(now, self.board.late());
            self.count_spurious(progress.spurious + by_duplicates);
        }
        let marks = match self.options.ecn {
            true => self.echo.on_ack(incoming.flags & ECE != 0, self.board.una(), self.board.next_seq()),
            false => Marks::None,
        };
        self.congestion.acknowledged(&News {
            now,
            progress,
            delivered: self.board.delivered_now(),
            echoed: Some(echoed),
            newly_acked: match self.options.count_acks {
                true => progress.newly_acked.min(u64::from(self.mss)),
                false => progress.newly_acked,
            },
            flightsize: before.flightsize,
            in_flight: before.in_flight,
            next_number: self.board.next_number(),
            one_way_delay: Some(incoming.one_way_delay),
            // The peer's clock, when it sent the ack, was the echoed time and the delay that it measured.
            reverse_delay: Some(
                (now.as_micros() as u32).wrapping_sub(incoming.tsecr.wrapping_add(incoming.one_way_delay)),
            ),
            marks,
        });
    }

    /// Finds what is lost by now, reports it, and begins a recovery if none is on; true if anything is lost.
    pub(super) fn find_losses(&mut self, now: Time, before: &Before) -> bool {
        if !self.board.is_any_overtaken() {
            self.timers.loss.reordering = Time::NEVER;
            return false;
        }
        let mut lost = std::mem::take(&mut self.lost_now);
        match self.options.recovery {
            Recovery::Rack => {
                let window = self.reordering_window();
                let look_again = self.board.detect_by_time(now, window, &mut lost);
                self.timers.loss.reordering = look_again.unwrap_or(Time::NEVER);
            }
            Recovery::Sack => self.board.detect_by_count(&mut lost),
        }
        let any = !lost.is_empty();
        if any {
            if self.congestion.episode().is_none() {
                self.tail.cancel(); // one answer to what the probe repairs and what it shows (as in Linux)
            }
            let found = Found {
                now,
                flightsize: self.board.outstanding(),
                before: *before,
                point: self.board.next_seq(),
                in_proportion: self.options.recovery == Recovery::Rack,
            };
            self.congestion.lost(&found, lost.iter().map(|flight| (flight, true)));
        }
        self.counters.losses += lost.len() as u64;
        lost.clear();
        self.lost_now = lost;
        any
    }

    fn restart_timers(&mut self, now: Time, progress: &AckProgress) {
        if self.board.is_empty() {
            self.timers.loss.stop();
            return;
        }
        if progress.advanced {
            // RFC 6298 §5.3. Not for SACKs: a lost retransmission would hold everything up for ever.
            self.timers.loss.retransmit = now + self.rto();
        }
        self.timers.has_news = true;
    }
}

/// The SACK blocks of an ack.
#[derive(Default)]
struct Blocks {
    /// The segments that came twice, if the first block reports some.
    twice: Option<(u64, u64)>,
    /// The others, ascending. On the wire the newest comes first (RFC 2018 §4): in that order, older news after an ack that was
    /// lost would look like reordering.
    blocks: [(u64, u64); SACK_BLOCKS],
    count: usize,
}

impl Blocks {
    /// Returns those that report what has arrived.
    fn news(&self) -> &[(u64, u64)] {
        &self.blocks[..self.count]
    }
}
