//! The controller around a rule that steers to a target delay: [`crate::ledbat`] and [`crate::fledbat`] are such rules.
//!
//! The shell chooses and corrects the delay samples, has the optional slow start, and takes back a reduction whose loss was none.
//! The rule moves the window.

use crate::base_delay::MAX_BINS;
use crate::controller::{Controller, Directive, Snapshot};
use crate::current_delay::MAX_SAMPLES;
use crate::delay_meter::DelayMeter;
use crate::event::{Ack, Idle, Loss, SpuriousLoss, Timeout};
use crate::fixed::Bytes16;
use crate::ledbat_core::ledbat::max_age;
use crate::ledbat_core::{Before, Delay};
use crate::ledbat_slow_start::SlowStart;
use crate::undo::Undo;
use afteryou_base::units::{Span, Time};
use core::fmt::Debug;

/// Base delay and present delay, as long as their parameters allow.
pub type Delays = Delay<MAX_BINS, MAX_SAMPLES, { MAX_SAMPLES - 1 }>;

/// A rule that moves a window by the queuing delay, with its parameters and its state.
pub trait Rule: Debug + Send {
    /// Returns the window.
    fn cwnd(&self) -> Bytes16;

    /// Returns the smallest window.
    fn floor(&self) -> Bytes16;

    /// Returns the delays that were measured.
    fn delays(&self) -> &Delays;

    /// Returns the delays, to take in a sample.
    fn delays_mut(&mut self) -> &mut Delays;

    /// Moves the window by an ack, and `slow_start` as long as it is on. `queuing_us` is the queuing delay, `None` without a fresh
    /// sample. Returns true if a mark has halved the window instead.
    fn on_ack(&mut self, ack: &Ack, slow_start: &mut SlowStart, queuing_us: Option<u32>) -> bool;

    /// Halves the window, once per round trip. Returns true if the loss of a packet sent at `sent_at` counts.
    fn on_loss(&mut self, sent_at: Time, now: Time) -> bool;

    /// Shrinks the window to one packet.
    fn on_timeout(&mut self, now: Time);

    /// Starts again after more than a timeout with nothing in flight.
    fn on_idle(&mut self);

    /// Sets the payload of a packet to `mss` bytes.
    fn on_mtu(&mut self, mss: u64);

    /// Returns the payload of a packet, bytes.
    fn mss(&self) -> u64;

    /// Returns the state that a loss or a timeout is about to change.
    fn before(&self) -> Before;

    /// Takes back a reduction whose loss or timeout was none.
    fn undo(&mut self, before: &Before);

    /// Returns the queuing delay that the rule steers to, µs.
    fn target_us(&self) -> u64;

    /// Returns the growth of a round trip on an empty queue, packets with 16 fractional bits.
    fn gain16(&self) -> u64;
}

/// A rule with all that makes it a controller.
#[derive(Clone, Debug)]
pub struct Shell<R> {
    pub(crate) rule: R,
    pub(crate) meter: DelayMeter,
    slow_start: SlowStart,
    undo: Undo<(Before, SlowStart)>,
}

impl<R: Rule> Shell<R> {
    pub(crate) fn around(rule: R, meter: DelayMeter, slow_start: SlowStart) -> Shell<R> {
        Shell { rule, meter, slow_start, undo: Undo::default() }
    }

    fn before(&self) -> (Before, SlowStart) {
        (self.rule.before(), self.slow_start)
    }
}

impl<R: Rule> Controller for Shell<R> {
    fn on_ack(&mut self, ack: &Ack) {
        self.undo.on_ack(ack);
        let cwnd = self.rule.cwnd();
        let (max_age, at_floor) =
            (max_age(ack.smoothed_rtt.unwrap_or_default().0), cwnd <= self.rule.floor());
        let queuing_us = self.meter.measure(ack, max_age, at_floor, self.rule.delays_mut());
        if self.rule.on_ack(ack, &mut self.slow_start, queuing_us) {
            self.slow_start.end(self.rule.cwnd());
        } else if self.rule.cwnd() < cwnd {
            self.undo.saved().for_each(|(before, _)| before.lower(cwnd.minus(self.rule.cwnd())));
        }
    }

    fn on_loss(&mut self, loss: &Loss) {
        let before = self.before();
        if self.rule.on_loss(loss.sent.now, loss.now) {
            self.undo.keep(loss.now, before);
            self.slow_start.end(self.rule.cwnd());
        }
    }

    fn on_spurious_loss(&mut self, spurious: &SpuriousLoss) {
        if let Some((before, slow_start)) = self.undo.take(spurious) {
            self.rule.undo(&before);
            self.slow_start = slow_start;
        }
    }

    fn on_timeout(&mut self, timeout: &Timeout) {
        if timeout.consecutive == 1 {
            self.undo.keep(timeout.now, self.before());
        }
        let flightsize = timeout.flightsize.min(self.rule.cwnd().to_bytes());
        self.slow_start.begin_again(timeout.consecutive, flightsize, self.rule.mss());
        self.rule.on_timeout(timeout.now);
    }

    fn on_idle(&mut self, idle: &Idle) {
        if idle.idle_for > idle.rto {
            self.rule.on_idle();
            self.meter.forget_present();
            self.undo.forget();
        }
    }

    fn on_mtu(&mut self, mss: u32) {
        self.rule.on_mtu(u64::from(mss));
    }

    fn directive(&self) -> Directive {
        Directive::growing_window(self.rule.cwnd().to_bytes(), self.slow_start.is_on())
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            phase: if self.slow_start.is_on() { "slow start" } else { "congestion avoidance" },
            cwnd: self.rule.cwnd().to_bytes(),
            ssthresh: self.slow_start.ssthresh(),
            base_delay: self.meter.base(self.rule.delays()),
            queuing_delay: self.meter.queuing(),
            target: Some(Span::from_micros(self.rule.target_us())),
            gain: Some(self.rule.gain16() as f64 / 65536.0),
            ..Snapshot::default()
        }
    }
}
