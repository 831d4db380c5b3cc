//! RACK's reordering window and the tail loss probe (RFC 8985 §6.2 and §7).

use super::sender::Sender;
use afteryou_cc::{Span, Time};
use afteryou_scenario::transport::Recovery;

/// Recoveries without a D-SACK after which the reordering window shrinks again (§6.2, step 4).
const PERSISTENCE: u32 = 16;
/// SACKed segments at which, without reordering seen, a loss counts at once (§6.2, step 4).
const ENOUGH_SACKED: u64 = 3;
/// Largest multiple of min RTT / 4.
const MAX_MULTIPLE: u64 = 64;

/// How much reordering is allowed for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reordering {
    /// Segments were seen to overtake one another.
    pub(super) seen: bool,
    multiple: u64,
    /// Recoveries that the multiple still lasts.
    persists: u32,
    /// A D-SACK counts once a round: it counts from this transmission on.
    round: u64,
}

impl Default for Reordering {
    fn default() -> Reordering {
        Reordering { seen: false, multiple: 1, persists: PERSISTENCE, round: 0 }
    }
}

impl Reordering {
    /// A D-SACK in an ack whose newest transmission is `newest`; `next` is the next transmission's number.
    pub(super) fn on_dsack(&mut self, newest: u64, next: u64) {
        if newest >= self.round {
            self.round = next;
            self.multiple = (self.multiple + 1).min(MAX_MULTIPLE);
        }
        self.persists = PERSISTENCE;
    }

    /// A recovery has ended.
    pub(super) fn on_recovery_end(&mut self) {
        self.persists = self.persists.saturating_sub(1);
        if self.persists == 0 {
            self.multiple = 1;
        }
    }

    fn window(&self, min_rtt: Span, smoothed: Span) -> Span {
        (min_rtt * self.multiple / 4).min(smoothed)
    }
}

/// The tail loss probe: one in flight at a time (§7.3).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tail {
    /// TLP.end_seq: acks of everything below this, and beyond, show how the probe fared.
    end: Option<u64>,
    is_retransmission: bool,
    /// No round-trip time was measured since the last probe: no other one is sent.
    waits_for_rtt: bool,
}

impl Tail {
    pub(super) fn sent(&mut self, end: u64, is_retransmission: bool) {
        *self = Tail { end: Some(end), is_retransmission, waits_for_rtt: true };
    }

    pub(super) fn cancel(&mut self) {
        self.end = None;
    }

    pub(super) fn measured(&mut self) {
        self.waits_for_rtt = false;
    }

    /// RFC 8985 §7.4.2: what an ack shows of the probe.
    pub(super) fn on_ack(&mut self, ack: TailAck) -> Answer {
        let Some(end) = self.end.filter(|end| ack.cumulative >= *end) else { return Answer::None };
        let answer = match ack.cumulative > end {
            _ if !self.is_retransmission => Answer::None,
            _ if ack.dsack => Answer::Twice,
            true => Answer::Repaired,
            // A receiver without D-SACK has got it twice.
            false if ack.is_bare_duplicate => Answer::Twice,
            // The ack of the segment or that of its probe: later ones show which.
            false => return Answer::None,
        };
        self.end = None;
        answer
    }
}

/// Inputs of the decision on a probe.
#[derive(Clone, Copy, Debug)]
pub(super) struct TailAck {
    pub(super) cumulative: u64,
    /// The receiver got something twice.
    pub(super) dsack: bool,
    /// The ack has no news and no SACK blocks.
    pub(super) is_bare_duplicate: bool,
}

/// Outcome of a probe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// Nothing, or that there was nothing to repair.
    None,
    /// The segment and its probe have both arrived.
    Twice,
    /// The probe repaired a loss that nobody else will report.
    Repaired,
}

impl Sender {
    /// RFC 8985 §6.2, step 4: how long a segment may be late before it counts as lost.
    pub(super) fn reordering_window(&self) -> Span {
        let in_recovery = self.episode.is_some();
        if !self.reordering.seen && (in_recovery || self.board.sacked_segments() >= ENOUGH_SACKED) {
            return Span::ZERO;
        }
        let (min, smoothed) = (self.rtt.min().unwrap_or_default(), self.rtt.smoothed().unwrap_or_default());
        self.reordering.window(min, smoothed)
    }

    /// RFC 8985 §7.2: when to probe for a lost tail.
    pub(super) fn arm_probe(&mut self, now: Time) {
        let wanted = self.options.recovery == Recovery::Rack
            && self.episode.is_none()
            && self.board.sacked_segments() == 0
            && self.tail.end.is_none()
            && !self.tail.waits_for_rtt
            && !self.board.is_empty();
        let Some(smoothed) = self.rtt.smoothed().filter(|_| wanted) else {
            self.timers.probe = Time::NEVER;
            return;
        };
        let alone = self.board.in_flight() <= u64::from(self.mss);
        let delay = if alone { self.options.ack.delay } else { Span::ZERO };
        let at = now + smoothed * 2 + delay;
        // Never later than the timeout, whose place it takes then.
        self.timers.probe = at.min(self.timers.retransmit);
    }
}
