//! Detection of a peer that has vanished.
//!
//! A side that only reads has nothing unacknowledged, so no retransmission timer runs. Peers of our kind and libutp
//! send something every 29 s, but not every implementation does, and libutp stops after its FIN. A silent peer is
//! therefore probed with an empty data packet whose number the peer has acknowledged long ago. Every implementation
//! answers it with an acknowledgement (the keep-alive of RFC 9293 §3.8.4; libutp 2b364cb, `utp_process_incoming`).
//!
//! ```text
//!   last packet ── keepalive + patience/6 ──▶ question 1 ── patience/6 ──▶ … question 5 ── patience/6 ──▶ given up
//! ```
//! With the defaults the questions come after 39, 49, 59, 69 and 79 s of silence, and the end after 89 s. Two ends that
//! keep the interval of 29 s never ask.

use super::{Connection, State};
use crate::error::Error;
use crate::numbers::SeqNr;
use afteryou_base::{Span, Time};

/// Unanswered questions before the peer counts as gone: four in a row may get lost.
const QUESTIONS: u32 = 5;
/// Between two questions, with no patience at all.
const SHORTEST_INTERVAL: Span = Span::from_millis(1);

/// The time of the peer's last packet, and the measures against its silence.
#[derive(Debug, Default)]
pub(super) struct Liveness {
    heard_at: Time,
    /// When to look again. A packet that arrives does not move it, which would cost a timer for each.
    look_at: Option<Time>,
    unanswered: u32,
    question_due: bool,
}

impl Liveness {
    /// Notes that the peer is there, whatever it sent.
    pub(super) fn heard(&mut self, now: Time) {
        self.heard_at = now;
        self.unanswered = 0;
    }

    pub(super) fn look_at(&self) -> Option<Time> {
        self.look_at
    }

    pub(super) fn take_question(&mut self) -> bool {
        std::mem::take(&mut self.question_due)
    }
}

impl Connection {
    /// Watches the peer from here on: the handshake is complete, and the peer's silence counts.
    pub(super) fn watch_peer(&mut self, now: Time) {
        self.liveness.heard(now);
        self.liveness.look_at = Some(now + self.quiet_time());
    }

    /// Returns the silence before the first question.
    fn quiet_time(&self) -> Span {
        self.config.keepalive + self.question_interval()
    }

    /// Returns the time for an answer: at least two round trips, however short the patience.
    fn question_interval(&self) -> Span {
        let round_trips = self.congestion.rtt().smoothed().unwrap_or(Span::ZERO) * 2;
        (self.config.patience / u64::from(QUESTIONS + 1)).max(round_trips).max(SHORTEST_INTERVAL)
    }

    /// Asks a silent peer whether it is there, when the time to look has come.
    pub(super) fn look_for_peer(&mut self, now: Time) {
        self.liveness.look_at = None;
        if self.state != State::Connected {
            return; // it ends by itself
        }
        let quiet_until = self.liveness.heard_at + self.quiet_time();
        if self.liveness.unanswered == 0 && quiet_until > now {
            self.liveness.look_at = Some(quiet_until);
        } else if self.liveness.unanswered == QUESTIONS {
            self.state = State::Closed(Some(Error::TimedOut));
        } else {
            self.liveness.unanswered += 1;
            self.liveness.question_due = true;
            self.liveness.look_at = Some(now + self.question_interval());
        }
    }

    /// Returns a sequence number that the peer has acknowledged: it answers whatever comes under it.
    pub(super) fn acknowledged_seq(&self) -> SeqNr {
        self.board.next_seq().minus(self.board.packets() as u16).prev()
    }
}
