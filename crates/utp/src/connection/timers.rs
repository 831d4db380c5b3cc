//! When something must happen although no packet arrives.

use super::{Connection, State};
use crate::config::SYN_RESENDS;
use crate::error::Error;
use afteryou_cc::{Span, Time, Timeout};

/// How often a fresh connection repeats its first acknowledgement while the peer stays silent.
const CONFIRMATIONS: u32 = 3;
/// Expiries in a row before patience may end (libutp gives up at the fifth).
const MIN_TIMEOUTS: u32 = 5;

/// All deadlines of a connection.
#[derive(Debug, Default)]
pub(super) struct Timers {
    started: Time,
    syn_due: bool,
    handshake: Option<Time>,
    retransmit: Option<Time>,
    probe: Option<Time>,
    probe_due: bool,
    /// One probe for each time of silence: RFC 8985 §7.2.
    probed: bool,
    losses: Option<Time>,
    pacing: Option<Time>,
    window_probe: Option<Time>,
    window_probe_due: bool,
    confirm: Option<Time>,
    confirmations: u32,
    keepalive: Option<Time>,
    last_activity: Time,
    last_progress: Time,
    /// An ack brought something new, whatever else the peer says.
    last_acknowledged: Time,
    timeouts: u32,
}

impl Timers {
    pub(super) fn start(&mut self, now: Time, rto: Span) {
        self.started = now;
        self.syn_due = true;
        self.handshake = Some(now + rto);
        self.last_activity = now;
        self.last_progress = now;
    }

    pub(super) fn started(&self) -> Time {
        self.started
    }

    pub(super) fn connected(&mut self, now: Time) {
        self.handshake = None;
        self.last_progress = now;
        self.last_activity = now;
    }

    pub(super) fn confirm(&mut self, now: Time, rto: Span) {
        self.confirm = Some(now + rto);
    }

    /// Any packet: the peer knows that we are connected.
    pub(super) fn heard(&mut self) {
        self.confirm = None;
    }

    /// The peer has answered that it takes nothing now: it may pause for as long as it likes.
    pub(super) fn peer_is_full(&mut self, now: Time) {
        self.last_progress = now;
        self.timeouts = 0;
    }

    pub(super) fn take_syn(&mut self) -> bool {
        std::mem::take(&mut self.syn_due)
    }

    pub(super) fn take_probe(&mut self) -> bool {
        std::mem::take(&mut self.probe_due)
    }

    pub(super) fn take_window_probe(&mut self) -> bool {
        std::mem::take(&mut self.window_probe_due)
    }

    pub(super) fn last_activity(&self) -> Time {
        self.last_activity
    }

    pub(super) fn last_acknowledged(&self) -> Time {
        self.last_acknowledged
    }

    pub(super) fn pacing_until(&mut self, at: Option<Time>) {
        self.pacing = at;
    }

    pub(super) fn look_for_losses_at(&mut self, at: Option<Time>) {
        self.losses = at;
    }

    pub(super) fn probe_window(&mut self, now: Time, rto: Span) {
        if self.window_probe.is_none() {
            self.window_probe = Some(now + rto);
        }
    }

    /// A packet of any kind left.
    pub(super) fn sent(&mut self, now: Time, keepalive: Span) {
        self.keepalive = Some(now + keepalive);
    }

    /// A packet that wants an acknowledgement left.
    pub(super) fn sent_something(&mut self, now: Time, rto: Span, probe_after: Option<Span>) {
        self.last_activity = now;
        self.retransmit = Some(self.retransmit.unwrap_or(now + rto));
        self.probe = if self.probed { None } else { probe_after.map(|after| now + after) };
        self.window_probe = None;
    }

    /// A probe left, and its answer must be waited for: RFC 8985 §7.3.
    pub(super) fn sent_probe(&mut self, now: Time, rto: Span) {
        self.retransmit = Some(now + rto);
    }

    /// An ack brought something new: RFC 6298 §5.3.
    pub(super) fn progress(&mut self, now: Time, rto: Span, nothing_left: bool) {
        self.last_progress = now;
        self.last_acknowledged = now;
        self.last_activity = now;
        self.timeouts = 0;
        self.probed = false;
        self.retransmit = (!nothing_left).then(|| now + rto);
        if nothing_left {
            self.probe = None;
            self.losses = None;
        }
    }

    fn next(&self) -> Time {
        earliest([
            self.handshake,
            self.retransmit,
            self.probe,
            self.losses,
            self.pacing,
            self.window_probe,
            self.confirm,
            self.keepalive,
        ])
    }
}

/// The earliest of some deadlines, or never. It is asked for after each packet, and most deadlines are there or not
/// by chance: this way there are no branches to be guessed wrong.
fn earliest<const N: usize>(deadlines: [Option<Time>; N]) -> Time {
    deadlines.into_iter().fold(Time::NEVER, |earliest, at| earliest.min(at.unwrap_or(Time::NEVER)))
}

/// Takes a deadline that has passed.
fn expired(deadline: &mut Option<Time>, now: Time) -> bool {
    let passed = deadline.is_some_and(|at| at <= now);
    if passed {
        *deadline = None;
    }
    passed
}

impl Connection {
    /// When [`handle_deadline`](Connection::handle_deadline) is to be called at the latest.
    pub fn deadline(&self) -> Option<Time> {
        match self.state {
            State::Closed(_) => None,
            State::Lingering { until } => Some(self.receiver.ack_at().map_or(until, |at| at.min(until))),
            _ => {
                let wants_to_send = !self.board.is_empty() || self.timers.pacing.is_some();
                let wake = self.controller_wake().filter(|_| wants_to_send);
                let others = earliest([self.receiver.ack_at(), wake, self.liveness.look_at()]);
                let earliest = self.timers.next().min(others);
                (earliest < Time::NEVER).then_some(earliest)
            }
        }
    }

    /// Time has passed; does whatever is due. Early and spurious calls do no harm.
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
        if expired(&mut self.timers.losses, now) {
            self.find_losses(now);
        }
        if expired(&mut self.timers.retransmit, now) {
            self.handle_retransmission_timeout(now);
        }
        if expired(&mut self.timers.probe, now) {
            self.timers.probed = true;
            self.timers.probe_due = !self.board.is_empty();
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
        expired(&mut self.timers.pacing, now);
        if self.controller_wake().is_some_and(|at| at <= now) {
            self.controller.on_wake(now);
            self.hasten(now);
        }
    }

    /// When the controller wants to be called. It counts in round trips: before one has been measured they are empty,
    /// and it would want to be called at once, again and again, without any time passing.
    fn controller_wake(&self) -> Option<Time> {
        self.controller.wake_at().filter(|_| self.rtt.smoothed().is_some())
    }

    fn handle_handshake_timeout(&mut self, now: Time) {
        let State::SynSent { resends } = self.state else {
            // The SYN's sender never spoke again: it is gone, or never was where the SYN said.
            self.state = State::Closed(Some(Error::Unreachable));
            return;
        };
        if resends == SYN_RESENDS {
            self.state = State::Closed(Some(Error::Unreachable));
            return;
        }
        self.state = State::SynSent { resends: resends + 1 };
        self.rto.back_off();
        self.timers.syn_due = true;
        self.timers.handshake = Some(now + self.rto.get());
    }

    fn repeat_confirmation(&mut self, now: Time) {
        self.receiver.acknowledge_now(now);
        self.timers.confirmations += 1;
        if self.timers.confirmations < CONFIRMATIONS {
            self.timers.confirm = Some(now + self.rto.get() * (1 << self.timers.confirmations));
        }
    }

    fn handle_retransmission_timeout(&mut self, now: Time) {
        self.timers.timeouts += 1;
        self.statistics.timeouts += 1;
        // One answer that got lost is no silence, however far the timer has backed off.
        let patience = self.config.patience.max(self.rto.get() * 2);
        let impatient = now.since(self.timers.last_progress) > patience;
        if impatient && self.timers.timeouts >= MIN_TIMEOUTS {
            self.state = State::Closed(Some(Error::TimedOut));
            return;
        }
        self.controller.on_timeout(&Timeout {
            now,
            flightsize: self.board.outstanding(),
            consecutive: self.timers.timeouts,
        });
        self.board.declare_all_lost();
        self.doubts.forget();
        self.rto.back_off();
        self.pacer.reset(now);
        self.timers.losses = None;
        self.timers.probe = None;
        self.timers.probe_due = false;
        self.timers.probed = true;
        self.timers.retransmit = Some(now + self.rto.get());
    }
}
