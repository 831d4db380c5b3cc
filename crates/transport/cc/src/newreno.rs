//! NewReno, RFC 5681: the reference for all other window rules.
//!
//! # Model
//! Grow by a packet per round trip; when a packet is lost, halve:
//!
//! ```text
//!   cwnd < ssthresh:  cwnd += acked                          slow start
//!   otherwise:        cwnd += SMSS · acked / cwnd            congestion avoidance
//!   loss or mark:     cwnd = ssthresh = max(FlightSize / 2, 2 · SMSS)      once per round trip
//!   timeout:          ssthresh likewise, cwnd = SMSS
//! ```
//!
//! The transport decides which packet is lost, what to send again, and how to spread the reduction over a round trip
//! (SACK, RACK, PRR). This file has only the window.
//!
//! # States
//! ```text
//!   slow start ──cwnd ≥ ssthresh, loss, mark, or HyStart++──▶ congestion avoidance ◀──loss, mark: halve
//!        ▲                                                       │
//!        └──────────────timeout; idle, if cwnd > IW──────────────┘
//! ```
//! After a reduction the window is frozen until an ack for a packet sent after it arrives (recovery).
//!
//! # Constants
//! | name | default | why |
//! |---|---|---|
//! | initial window | 10 packets | RFC 6928 §2; what deployed stacks use |
//! | floor | 2 packets | §3.1, eq. 4 |
//! | window after a timeout | 1 packet | §3.1, LW |
//! | HyStart++ | off | RFC 9406; the plain rule is the reference |
//!
//! # Source
//! RFC 5681 (September 2009), sections at each rule. Where it states nothing: FlightSize counts at most as the window,
//! since lost bytes stay in it for a while after a reduction. A timeout inside recovery does not change ssthresh, since
//! it belongs to the same congestion. After several timeouts in a row the window is the floor (RFC 9002 §7.6.2). A loss or
//! timeout that proves to be none is undone by RFC 4015 §3.2.
//!
//! # Not implemented
//! Window inflation by duplicate acks (§3.2): the transport counts what is in the network instead. Window validation
//! beyond "no growth while application-limited" (RFC 7661).
//!
//! # Known bad cases
//! Long fast paths: a loss at 10 Gbit/s and 100 ms takes over an hour to regrow. Deep buffers are kept full. Random
//! loss counts as congestion.

use crate::controller::{Controller, Directive, Snapshot};
#[cfg(feature = "alloc")]
use crate::entry::{Class, Entry};
use crate::event::{Ack, Idle, Loss, SpuriousLoss, Timeout};
use crate::loss_gate::LossGate;
use crate::slow_start::{EarlyExit, Window, FLOOR_PACKETS, HYSTART, INITIAL_WINDOW};
use crate::undo::Undo;
use afteryou_base::param::Settings;
use afteryou_base::params;
use afteryou_base::units::Time;
#[cfg(feature = "alloc")]
use afteryou_base::About;

params! {
    /// Parameters.
    pub table PARAMS;

    use INITIAL_WINDOW, HYSTART;
}

/// The list's line.
#[cfg(feature = "alloc")]
pub const ENTRY: Entry = Entry {
    about: About {
        name: "newreno",
        summary: "one packet more per round trip, half at a loss: the classic yardstick",
        source: "RFC 5681",
        params: PARAMS,
        presets: &[],
    },
    class: Class::Foreground,
    make: |settings, setup| alloc::boxed::Box::new(NewReno::new(settings, setup.mss)),
};

/// The state that a loss changes.
#[derive(Clone, Copy, Debug)]
struct Before {
    window: Window,
    gate: LossGate,
    recovering: bool,
}

/// A NewReno controller.
#[derive(Clone, Debug)]
pub struct NewReno {
    mss: u32,
    pub(crate) window: Window,
    gate: LossGate,
    /// No packet sent after the latest reduction has been acknowledged yet.
    recovering: bool,
    undo: Undo<Before>,
}

impl NewReno {
    /// Creates a controller for packets of `mss` bytes of payload.
    pub fn new(settings: &Settings<'_>, mss: u32) -> NewReno {
        NewReno {
            mss,
            window: Window::new(settings, mss, settings.get(&HYSTART).then(EarlyExit::rfc9406)),
            gate: LossGate::default(),
            recovering: false,
            undo: Undo::default(),
        }
    }

    fn before(&self) -> Before {
        Before { window: self.window, gate: self.gate, recovering: self.recovering }
    }

    fn floor(&self) -> f64 {
        FLOOR_PACKETS * f64::from(self.mss)
    }

    /// Returns half of what is in flight: §3.1, eq. 4, without its lower bound.
    fn halved(&self, flightsize: u64) -> f64 {
        (flightsize as f64).min(self.window.cwnd) / 2.0
    }

    /// Reacts to the loss or mark of a packet sent at `sent_at`; counts once per round trip.
    fn congestion(&mut self, sent_at: Time, now: Time, flightsize: u64) -> bool {
        if !self.gate.admit(sent_at, now) {
            return false;
        }
        self.recovering = true;
        self.window.reduce(self.halved(flightsize), self.floor(), self.mss);
        true
    }

    /// Takes in an ack's marks and its news about recovery; returns `false` while the window must be frozen.
    pub(crate) fn may_grow(&mut self, ack: &Ack) -> bool {
        self.undo.on_ack(ack);
        // RFC 3168 §6.1.2: a mark is a loss.
        if ack.marks.any() && self.congestion(ack.sent_at, ack.now, ack.flightsize) {
            return false;
        }
        if self.recovering {
            self.recovering = self.is_recovering(ack);
        }
        !self.recovering
    }

    /// Returns whether a recovery continues that this ack does not end.
    pub(crate) fn is_recovering(&self, ack: &Ack) -> bool {
        self.recovering && self.gate.is_before_reduction(ack.sent_at)
    }

    /// Grows the window on an ack in slow start or congestion avoidance.
    pub(crate) fn grow(&mut self, ack: &Ack) {
        let mut acked = ack.delivered() as f64;
        if self.window.in_slow_start() {
            acked = self.window.grow_exponentially(ack, self.mss);
        }
        if !ack.app_limited && !self.window.in_slow_start() {
            self.avoid(acked);
        }
    }

    /// Shrinks the window to `cwnd` bytes, without slow start beyond, for a delay-based rule on top.
    pub(crate) fn shrink_to(&mut self, cwnd: f64) {
        self.window.cwnd = cwnd;
        self.window.ssthresh = self.window.ssthresh.min(cwnd);
        self.undo.forget(); // the window of before is no longer wanted
    }

    /// Adds a packet for a window's worth of acknowledged bytes; one ack adds at most one (§3.1).
    fn avoid(&mut self, acked: f64) {
        let share = (acked / self.window.cwnd).min(1.0);
        self.window.grow_to(self.window.cwnd + f64::from(self.mss) * share);
    }
}

impl Controller for NewReno {
    fn on_ack(&mut self, ack: &Ack) {
        if self.may_grow(ack) {
            self.grow(ack);
        }
    }

    fn on_loss(&mut self, loss: &Loss) {
        let before = self.before();
        if self.congestion(loss.sent.now, loss.now, loss.flightsize) {
            self.undo.keep(loss.now, before);
        }
        if loss.persistent {
            self.window.cwnd = self.window.cwnd.min(self.floor());
            self.recovering = false;
            self.undo.forget();
        }
    }

    fn on_spurious_loss(&mut self, spurious: &SpuriousLoss) {
        let Some(Before { window, gate, recovering }) = self.undo.take(spurious) else {
            return;
        };
        self.recovering = recovering;
        if self.window.cwnd < window.cwnd {
            self.window = window;
            // Other losses of that flight, if they are real, were not answered either.
            self.gate = gate;
        }
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        // §3.1: only the first expiry sets ssthresh, or an outage would erase it.
        let before = self.before();
        let is_news = timeout.consecutive == 1 && !self.recovering;
        self.window.collapse(is_news.then(|| self.halved(timeout.flightsize)), self.mss);
        self.gate.close(timeout.now);
        self.recovering = false;
        if timeout.consecutive == 1 {
            self.undo.keep(timeout.now, before); // RFC 4015 §3.2: the timeout may turn out to be needless
        }
    }

    fn on_idle(&mut self, idle: &Idle) {
        self.recovering = false; // nothing is in flight that could still belong to it
        if idle.idle_for > idle.rto {
            self.window.restart(self.mss);
            self.undo.forget();
        }
    }

    fn on_mtu(&mut self, mss: u32) {
        self.mss = mss;
        self.window.grow_to(f64::from(mss));
    }

    fn directive(&self) -> Directive {
        Directive::growing_window(self.window.cwnd as u64, self.window.in_slow_start())
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            phase: self.window.phase(),
            cwnd: self.window.cwnd as u64,
            ssthresh: self.window.known_ssthresh(),
            ..Snapshot::default()
        }
    }
}

#[cfg(test)]
mod tests;
