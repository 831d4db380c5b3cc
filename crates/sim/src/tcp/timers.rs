//! A sender's deadlines.

use super::sender::{Sender, State};
use afteryou_cc::rtt::RttEstimator;
use afteryou_cc::{Span, Time, Timeout};
use afteryou_scenario::transport::{Recovery, TcpOptions};

/// Backoff ends here (RFC 6298 §2.5 asks for 60 s or more).
const MAX_RTO: Span = Span::from_secs(60);
/// Clock granularity G of RFC 6298: the simulator's clock is exact, one that ticks in ms is not.
const GRANULARITY: Span = Span::from_millis(1);
/// A SYN that timed out leaves this timeout for the data (RFC 6298 §5.7).
const RTO_AFTER_SYN_LOSS: Span = Span::from_secs(3);
/// Timeouts in a row that still double the timer.
const MAX_BACKOFF: u32 = 16;

/// All deadlines but the controller's own; [`Time::NEVER`]: not set.
#[derive(Debug)]
pub(super) struct Timers {
    pub(super) retransmit: Time,
    pub(super) probe: Time,
    pub(super) reordering: Time,
    pub(super) pacing: Time,
    pub(super) probe_due: bool,
    pub(super) syn_due: bool,
    pub(super) backoff: u32,
    /// The SYN was lost: the first timeout of data is longer.
    pub(super) after_syn_loss: bool,
}

impl Default for Timers {
    fn default() -> Timers {
        Timers {
            retransmit: Time::NEVER,
            probe: Time::NEVER,
            reordering: Time::NEVER,
            pacing: Time::NEVER,
            probe_due: false,
            syn_due: false,
            backoff: 0,
            after_syn_loss: false,
        }
    }
}

impl Timers {
    /// The retransmission timeout now (RFC 6298 §2), backoff included. With RACK the lower bound holds for the part that
    /// comes on top of the smoothed round-trip time, as in Linux: RACK needs two round trips to see that a retransmission
    /// was lost, and a timeout must not come first.
    pub(super) fn rto(&self, rtt: &RttEstimator, options: &TcpOptions) -> Span {
        let rto = match (self.after_syn_loss, options.recovery) {
            (true, _) => RTO_AFTER_SYN_LOSS,
            (false, Recovery::Rack) => rtt.rto(options.min_rto, options.min_rto),
            (false, Recovery::Sack) => rtt.rto(GRANULARITY, options.min_rto),
        };
        if self.backoff == 0 {
            return rto.min(MAX_RTO);
        }
        (rto * (1 << self.backoff.min(MAX_BACKOFF))).min(MAX_RTO)
    }

    /// The earliest, pacing excepted.
    pub(super) fn next(&self) -> Time {
        self.retransmit.min(self.probe).min(self.reordering)
    }
}

/// Takes a deadline that has passed.
fn expired(deadline: &mut Time, now: Time) -> bool {
    let passed = *deadline <= now;
    if passed {
        *deadline = Time::NEVER;
    }
    passed
}

impl Sender {
    /// Time has passed: does whatever is due. Early calls do no harm.
    pub fn on_timer(&mut self, now: Time) {
        if expired(&mut self.timers.reordering, now) {
            let recover_fs = self.board.outstanding() - self.board.sacked_bytes();
            self.find_losses(now, recover_fs);
        }
        if expired(&mut self.timers.probe, now) {
            self.timers.probe_due = !self.board.is_empty();
            self.timers.retransmit = now + self.timers.rto(&self.rtt, &self.options);
        }
        if expired(&mut self.timers.retransmit, now) {
            self.on_retransmission_timeout(now);
        }
        self.hear();
        if self.controller.wake_at().is_some_and(|at| at <= now) && self.smoothed().is_some() {
            self.controller.on_wake(now);
            self.hear();
            self.hasten(now);
        }
    }

    fn on_retransmission_timeout(&mut self, now: Time) {
        if self.state == State::SynSent {
            self.timers.backoff += 1;
            self.timers.syn_due = true;
            return;
        }
        if self.board.is_empty() {
            return;
        }
        self.timers.backoff += 1;
        self.counters.timeouts += 1;
        self.controller.on_timeout(&Timeout {
            now,
            flightsize: self.board.outstanding(),
            consecutive: self.timers.backoff,
        });
        match self.options.recovery {
            Recovery::Rack => self.board.lose_first_and_old(now, self.reordering_window()),
            Recovery::Sack => self.board.lose_everything(),
        }
        self.begin_episode(None, None);
        self.reset_pacer(now);
        self.timers.reordering = Time::NEVER;
        self.timers.probe = Time::NEVER;
        self.timers.probe_due = false;
        self.timers.retransmit = now + self.timers.rto(&self.rtt, &self.options);
    }
}
