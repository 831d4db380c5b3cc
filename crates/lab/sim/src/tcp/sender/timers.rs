//! A sender's deadlines.

use super::{Sender, State};
use afteryou_cc::{Span, Time, Timeout};
use afteryou_scenario::transport::Recovery;
use afteryou_sender::tail::{Tail, TailFlight};
use afteryou_sender::timers::expired;

/// Clock granularity G of RFC 6298: the simulator's clock is exact, one that ticks in ms is not.
const GRANULARITY: Span = Span::from_millis(1);
/// A SYN that timed out leaves this timeout for the data (RFC 6298 §5.7).
const RTO_AFTER_SYN_LOSS: Span = Span::from_secs(3);

/// All deadlines but the controller's and the pacer's.
#[derive(Debug)]
pub(in crate::tcp) struct Timers {
    pub(in crate::tcp) loss: afteryou_sender::timers::Timers,
    pub(in crate::tcp) syn_due: bool,
    /// Something has left or was acknowledged: the probe's timer is to be set once everything that may leave has left.
    pub(in crate::tcp) has_news: bool,
    /// The SYN was lost: the first timeout of data is longer.
    pub(in crate::tcp) after_syn_loss: bool,
    /// A receive window below one packet is used then.
    pub(in crate::tcp) persist: Time,
}

impl Default for Timers {
    fn default() -> Timers {
        Timers {
            loss: Default::default(),
            syn_due: false,
            has_news: false,
            after_syn_loss: false,
            persist: Time::NEVER,
        }
    }
}

impl Sender {
    /// Returns the retransmission timeout now (RFC 6298 §2), backoff included. With RACK the lower bound holds for the part
    /// that comes on top of the smoothed round-trip time, as in Linux. RACK needs two round trips to see that a
    /// retransmission was lost, and a timeout must not come first.
    pub(in crate::tcp) fn rto(&self) -> Span {
        let (rtt, min_rto) = (self.congestion.rtt(), self.options.min_rto);
        let rto = match (self.timers.after_syn_loss, self.options.recovery) {
            (true, _) => RTO_AFTER_SYN_LOSS,
            (false, Recovery::Rack) => rtt.rto(min_rto, min_rto),
            (false, Recovery::Sack) => rtt.rto(GRANULARITY, min_rto),
        };
        self.timers.loss.backoff.apply(rto)
    }

    /// Returns when [`on_timer`](Sender::on_timer) is to be called at the latest, after [`poll`](Sender::poll) has returned none.
    pub fn deadline(&self) -> Time {
        let waits_to_send = !self.board.is_empty() || self.pacing_deadline() != Time::NEVER;
        let wake = if waits_to_send { self.congestion.wake_at() } else { Time::NEVER };
        self.timers.loss.next().min(wake).min(self.timers.persist)
    }

    /// Returns whether there may be something to do at `now`: a deadline has passed, the controller's included while nothing
    /// waits to be sent, or there is nothing to wait for.
    pub fn is_due(&self, now: Time) -> bool {
        let next = self.timers.loss.next().min(self.congestion.wake_at());
        let next = next.min(self.pacing_deadline()).min(self.timers.persist);
        next <= now || self.state != State::Established || self.is_flushed()
    }

    /// Returns when the pacer lets the next packet go, if one waits for it.
    pub fn pacing_deadline(&self) -> Time {
        self.congestion.pacing_deadline()
    }

    /// Handles whatever is due at `now`. Early calls do no harm.
    pub fn on_timer(&mut self, now: Time) {
        if expired(&mut self.timers.loss.reordering, now) {
            let before = self.board.before();
            self.find_losses(now, &before);
        }
        if expired(&mut self.timers.loss.probe, now) {
            self.timers.loss.probe_due = !self.board.is_empty();
            self.timers.loss.retransmit = now + self.rto();
        }
        if expired(&mut self.timers.loss.retransmit, now) {
            self.on_retransmission_timeout(now);
        }
        self.congestion.refresh();
        self.congestion.wake(now);
    }

    fn on_retransmission_timeout(&mut self, now: Time) {
        if self.state == State::SynSent {
            self.timers.loss.backoff.back_off();
            self.timers.syn_due = true;
            self.counters.handshake_timeouts += 1;
            self.congestion.handshake_timed_out(now);
            return;
        }
        if self.board.is_empty() {
            return;
        }
        self.timers.loss.backoff.back_off();
        self.counters.timeouts += 1;
        let window = self.reordering_window();
        let consecutive = self.timers.loss.backoff.timeouts();
        let timeout = Timeout { now, flightsize: self.board.outstanding(), consecutive };
        let first = match self.options.recovery {
            Recovery::Rack => self.board.flight(self.board.una()),
            Recovery::Sack => None,
        };
        self.congestion.timed_out(&timeout, self.board.next_seq(), first);
        self.tail.cancel();
        match self.options.recovery {
            Recovery::Rack => {
                self.board.lose_first_and_old(now, self.board.newest_rtt().unwrap_or_default() + window)
            }
            Recovery::Sack => self.board.lose_everything(),
        };
        let at = now + self.rto();
        self.timers.loss.time_out(at);
    }

    /// Returns how long a segment may be late before it counts as lost (RFC 8985 §6.2, step 4).
    pub(in crate::tcp) fn reordering_window(&self) -> Span {
        let in_recovery = self.congestion.episode().is_some();
        self.reordering.window(in_recovery, self.board.sacked_segments(), self.congestion.rtt())
    }

    /// Arms the probe for a lost tail (RFC 8985 §7.2).
    pub(in crate::tcp) fn arm_probe(&mut self, now: Time) {
        let wanted = self.options.recovery == Recovery::Rack
            && self.congestion.episode().is_none()
            && self.board.sacked_segments() == 0
            && self.tail.may_probe()
            && !self.board.is_empty();
        if !wanted {
            self.timers.loss.probe = Time::NEVER;
            return;
        }
        let flight = TailFlight {
            rtt: self.congestion.rtt(),
            is_one_packet: self.board.in_flight() <= u64::from(self.mss),
            max_ack_delay: self.options.ack.delay,
        };
        let at = Tail::probe_at(now, self.timers.loss.retransmit, &flight);
        self.timers.loss.probe = at.unwrap_or(Time::NEVER);
    }
}
