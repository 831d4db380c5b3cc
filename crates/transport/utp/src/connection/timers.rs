//! When something must happen although no packet arrives.

use super::{Connection, State};
use crate::config::SYN_RESENDS;
use crate::error::Error;
use afteryou_base::{Span, Time};
use afteryou_cc::Timeout;
use afteryou_sender::timers::expired;

/// How often a fresh connection repeats its first acknowledgement while the peer stays silent.
const CONFIRMATIONS: u32 = 3;
/// Expiries in a row before patience may end (libutp gives up at the fifth).
const MIN_TIMEOUTS: u32 = 5;
/// Time between answers to repeated SYNs. libutp and this crate repeat a SYN after 3 s, BEP 29 after 1 s. An answer to each would be half
/// of what a flood of mutated packets costs. Linux answers packets out of place as seldom (`tcp_invalid_ratelimit`; RFC 5961 §7).
const SYN_ANSWERS: Span = Span::from_millis(500);

/// All deadlines of a connection but the pacer's and the controller's; [`Time::NEVER`]: not set.
#[derive(Debug)]
pub(super) struct Timers {
    started: Time,
    syn_due: bool,
    handshake: Time,
    /// A repeated SYN is answered from then on.
    syn_answers: Time,
    pub(super) loss: afteryou_sender::timers::Timers,
    /// A probe left, or a timeout came, and no round trip was measured since: RFC 8985 §7.3.
    probed: bool,
    window_probe: Time,
    window_probe_due: bool,
    confirm: Time,
    confirmations: u32,
    keepalive: Time,
    last_progress: Time,
    /// An ack brought something new, whatever else the peer sends.
    last_acknowledged: Time,
    /// Payload last came that had not come before.
    last_arrived: Time,
    connected_at: Time,
    timeouts: u32,
}

impl Default for Timers {
    fn default() -> Timers {
        Timers {
            started: Time::ZERO,
            syn_due: false,
            handshake: Time::NEVER,
            syn_answers: Time::ZERO,
            loss: afteryou_sender::timers::Timers::default(),
            probed: false,
            window_probe: Time::NEVER,
            window_probe_due: false,
            confirm: Time::NEVER,
            confirmations: 0,
            keepalive: Time::NEVER,
            last_progress: Time::ZERO,
            last_acknowledged: Time::ZERO,
            last_arrived: Time::ZERO,
            connected_at: Time::ZERO,
            timeouts: 0,
        }
    }
}

impl Timers {
    pub(super) fn start(&mut self, now: Time, rto: Span) {
        self.started = now;
        self.syn_due = true;
        self.handshake = now + rto;
        self.last_progress = now;
    }

    pub(super) fn started(&self) -> Time {
        self.started
    }

    pub(super) fn connected(&mut self, now: Time) {
        self.handshake = Time::NEVER;
        self.last_progress = now;
        self.connected_at = now;
    }

    /// Notes payload that had not come before.
    pub(super) fn arrived(&mut self, now: Time) {
        self.last_arrived = now;
    }

    /// Returns when the handshake was complete, and when data last moved since, in either direction.
    #[cfg(feature = "net")]
    pub(super) fn activity(&self) -> (Time, Time) {
        (self.connected_at, self.last_acknowledged.max(self.last_arrived).max(self.connected_at))
    }

    pub(super) fn confirm(&mut self, now: Time, rto: Span) {
        self.confirm = now + rto;
    }

    /// Notes any packet: the peer has noticed that we are connected.
    pub(super) fn heard(&mut self) {
        self.confirm = Time::NEVER;
    }

    /// Notes the peer's answer that it takes nothing now: it may pause for as long as it likes.
    pub(super) fn peer_is_full(&mut self, now: Time) {
        self.last_progress = now;
        self.timeouts = 0;
    }

    pub(super) fn take_syn(&mut self) -> bool {
        std::mem::take(&mut self.syn_due)
    }

    /// Returns whether to answer a repeated SYN now, and starts the pause if so.
    pub(super) fn answers_syn(&mut self, now: Time) -> bool {
        let is_due = now >= self.syn_answers;
        if is_due {
            self.syn_answers = now + SYN_ANSWERS;
        }
        is_due
    }

    pub(super) fn take_probe(&mut self) -> bool {
        std::mem::take(&mut self.loss.probe_due)
    }

    pub(super) fn take_window_probe(&mut self) -> bool {
        std::mem::take(&mut self.window_probe_due)
    }

    pub(super) fn probe_window(&mut self, now: Time, rto: Span) {
        self.window_probe = self.window_probe.min(now + rto);
    }

    /// Notes that a packet of any kind left.
    pub(super) fn sent(&mut self, now: Time, keepalive: Span) {
        self.keepalive = now + keepalive;
    }

    /// Notes that a packet that requires an acknowledgement left.
    pub(super) fn sent_something(&mut self, now: Time, rto: Span) {
        self.loss.ensure_retransmit(now + rto);
        (self.window_probe, self.window_probe_due) = (Time::NEVER, false);
    }

    /// Notes that a round trip was measured: a tail may be probed again.
    pub(super) fn measured(&mut self) {
        self.probed = false;
    }

    /// Sets when a tail is probed, unless one was probed since a round trip was measured.
    pub(super) fn probe_at(&mut self, at: Option<Time>) {
        self.loss.probe = at.filter(|_| !self.probed).unwrap_or(Time::NEVER);
    }

    /// Notes that a probe left, and its answer must be waited for (RFC 8985 §7.3).
    pub(super) fn sent_probe(&mut self, now: Time, rto: Span) {
        self.loss.retransmit = now + rto;
    }

    /// Notes that an ack brought something new.
    pub(super) fn progress(&mut self, now: Time) {
        self.last_progress = now;
        self.last_acknowledged = now;
        self.timeouts = 0;
    }

    fn next(&self) -> Time {
        self.loss.next().min(self.handshake).min(self.window_probe).min(self.confirm).min(self.keepalive)
    }
}

impl Connection {
    /// Returns when [`handle_deadline`](Connection::handle_deadline) is to be called at the latest.
    #[inline]
    pub fn deadline(&self) -> Option<Time> {
        match self.state {
            State::Closed(_) => None,
            State::Lingering { until } => Some(self.receiver.ack_at().map_or(until, |at| at.min(until))),
            _ => {
                let pacing = self.congestion.pacing_deadline();
                let waits_to_send = !self.board.is_empty() || pacing < Time::NEVER;
                let wake = if waits_to_send { self.congestion.wake_at() } else { Time::NEVER };
                let others = [self.receiver.ack_at(), self.liveness.look_at(), self.rest.look_at()];
                let others = others.map(|at| at.unwrap_or(Time::NEVER));
                let earliest = others.into_iter().fold(self.timers.next().min(pacing).min(wake), Time::min);
                (earliest < Time::NEVER).then_some(earliest)
            }
        }
    }

    /// Returns when the peer last acknowledged anything new, at first never ([`Time::ZERO`]). A stream that nobody holds any
    /// more is given up some time after it.
    pub fn last_acknowledged(&self) -> Time {
        self.timers.last_acknowledged
    }

    /// Handles whatever is due at `now`. Early and spurious calls do no harm.
    pub fn handle_deadline(&mut self, now: Time) {
        match self.state {
            State::Closed(_) => return,
            State::Lingering { until } if until <= now => {
                self.state = State::Closed(None);
                return;
            }
            _ => {}
        }
        if expired(&mut self.timers.handshake, now) {
            self.handle_handshake_timeout(now);
        }
        if expired(&mut self.timers.confirm, now) {
            self.repeat_confirmation(now);
        }
        if expired(&mut self.timers.loss.reordering, now) {
            let before = self.board.board().before();
            self.find_losses(now, &before);
        }
        if expired(&mut self.timers.loss.probe, now) {
            self.timers.probed = true;
            self.timers.loss.probe_due = !self.board.is_empty();
            self.timers.loss.retransmit = now + self.rto.get();
        }
        if expired(&mut self.timers.loss.retransmit, now) {
            self.handle_retransmission_timeout(now);
        }
        if expired(&mut self.timers.window_probe, now) {
            self.rto.back_off();
            self.timers.window_probe_due = true;
        }
        if self.liveness.look_at().is_some_and(|at| at <= now) {
            self.look_for_peer(now);
        }
        // While the SYN is unanswered there is nothing to acknowledge, and nothing that would take the ack off again.
        let opening = matches!(self.state, State::SynSent { .. });
        if expired(&mut self.timers.keepalive, now) && !opening {
            self.receiver.acknowledge_now(now);
        }
        if self.rest.look_at().is_some_and(|at| at <= now) {
            self.rest_if_quiet(now);
        }
        if self.congestion.pacing_deadline() <= now {
            self.congestion.clear_pacing_deadline(now);
        }
        self.congestion.refresh();
        self.congestion.wake(now);
    }

    fn handle_handshake_timeout(&mut self, now: Time) {
        let State::SynSent { resends } = self.state else {
            // The SYN's sender never sent again: it is gone, or never was at the SYN's address.
            self.state = State::Closed(Some(Error::Unreachable));
            return;
        };
        if resends == SYN_RESENDS {
            self.state = State::Closed(Some(Error::Unreachable));
            return;
        }
        self.state = State::SynSent { resends: resends + 1 };
        self.counters.handshake_timeouts += 1;
        self.congestion.handshake_timed_out(now);
        self.rto.back_off();
        self.timers.syn_due = true;
        self.timers.handshake = now + self.rto.get();
    }

    fn repeat_confirmation(&mut self, now: Time) {
        self.receiver.acknowledge_now(now);
        self.timers.confirmations += 1;
        if self.timers.confirmations < CONFIRMATIONS {
            self.timers.confirm = now + self.rto.get() * (1 << self.timers.confirmations);
        }
    }

    fn handle_retransmission_timeout(&mut self, now: Time) {
        self.timers.timeouts += 1;
        self.counters.timeouts += 1;
        self.ecn.timeout(self.board.board().delivered() > 0);
        // One answer that got lost is no silence, however far the timer has backed off.
        let patience = self.config.patience.max(self.rto.get() * 2);
        let impatient = now.since(self.timers.last_progress) > patience;
        if impatient && self.timers.timeouts >= MIN_TIMEOUTS {
            self.state = State::Closed(Some(Error::TimedOut));
            return;
        }
        let timeout =
            Timeout { now, flightsize: self.board.board().outstanding(), consecutive: self.timers.timeouts };
        let (board, next) = (self.board.board(), self.board.board().next_seq());
        let first = board.flight(board.una()).filter(|_| self.config.recovery.judges_timeouts());
        self.congestion.timed_out(&timeout, next, first);
        if let Some(payload) = self.path_mtu.timed_out(self.timers.timeouts, next) {
            self.set_payload(payload);
        }
        self.board.time_out(now, self.patience());
        self.rto.back_off();
        self.timers.probed = true;
        self.timers.loss.time_out(now + self.rto.get());
    }
}
