//! fLEDBAT's rule. As in [`super::ledbat`] the optional slow start is the owner's.

use super::ledbat::max_age;
use super::{halve_once, AckEvent, Before, Delay, Kept, APP_LIMITED, HAS_DELAY, MARKED};
use crate::fixed::Bytes16;
use crate::loss_gate::LossGate;
use afteryou_base::Time;

/// Parameters; ratios have 16 fractional bits.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Params {
    /// τ, µs.
    pub target_us: u64,
    /// α, packets per round trip.
    pub alpha16: u64,
    /// ζ.
    pub zeta16: u64,
    /// Initial window, packets.
    pub init_cwnd: u64,
    /// Floor, packets.
    pub min_cwnd: u64,
    /// Payload of a packet, bytes.
    pub mss: u64,
    /// BASE_HISTORY and CURRENT_FILTER.
    pub kept: Kept,
}

/// State of an fLEDBAT sender.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State<const MINUTES: usize, const SAMPLES: usize, const OLDER: usize> {
    /// Window.
    pub cwnd: Bytes16,
    /// Losses and marks once per round trip.
    pub gate: LossGate,
    /// Base delay and present delay.
    pub delay: Delay<MINUTES, SAMPLES, OLDER>,
}

/// The state with ten minutes and four samples.
pub type Compact = State<10, 4, 3>;
const _: () = assert!(size_of::<Compact>() == 96);

impl<const MINUTES: usize, const SAMPLES: usize, const OLDER: usize> State<MINUTES, SAMPLES, OLDER> {
    /// Returns the state at the start of a connection.
    pub fn new(p: &Params) -> Self {
        let cwnd = Bytes16::from_bytes(p.init_cwnd.max(p.min_cwnd) * p.mss);
        State { cwnd, gate: LossGate::default(), delay: Delay::NEW }
    }

    /// Returns the window's floor.
    #[inline]
    pub fn floor(&self, p: &Params) -> Bytes16 {
        Bytes16::from_bytes(p.min_cwnd * p.mss)
    }

    /// Applies an ack of the plain rule.
    pub fn on_ack(&mut self, p: &Params, ack: &AckEvent) {
        if ack.has(HAS_DELAY) {
            self.delay.take(&p.kept, ack.now, ack.delay_us);
        }
        let queuing_us = self.delay.queuing_us(&p.kept, ack.now, max_age(ack.smoothed_rtt));
        self.respond(p, ack, |state| {
            if let Some(queuing_us) = queuing_us {
                state.steer(p, ack, queuing_us.into());
            }
        });
    }

    /// Answers an ack whose delay has been taken in; `step` moves the window. Returns true if a mark has halved it instead.
    #[inline]
    pub fn respond(&mut self, p: &Params, ack: &AckEvent, step: impl FnOnce(&mut Self)) -> bool {
        // RFC 6817 §1.3: a mark is a loss.
        if ack.has(MARKED) && self.on_loss(p, ack.sent_at, ack.now) {
            return true;
        }
        step(self);
        self.cwnd = self.cwnd.max(self.floor(p));
        false
    }

    /// Moves the window by eq. 5: `+α·MSS·acked/W`, and above the target `−ζ·acked·Δ/τ`.
    #[inline]
    pub fn steer(&mut self, p: &Params, ack: &AckEvent, queuing_us: u64) {
        let acked = Bytes16::from_bytes(ack.delivered);
        if !ack.has(APP_LIMITED) {
            // One ack for more than a window, as after a needless timeout, counts no more than one for a window.
            let increase = acked.min(self.cwnd).times(p.mss << 16, self.cwnd.0).times(p.alpha16, 1 << 16);
            self.cwnd = self.cwnd.plus(increase);
        }
        let excess_us = queuing_us.saturating_sub(p.target_us);
        let decrease = acked.times(excess_us, p.target_us).times(p.zeta16, 1 << 16);
        self.cwnd = self.cwnd.minus(decrease);
    }

    /// Halves once per round trip. Returns true if the loss of a packet sent at `sent_at` ns counts.
    pub fn on_loss(&mut self, p: &Params, sent_at: u64, now: u64) -> bool {
        let floor = self.floor(p);
        halve_once(&mut self.gate, &mut self.cwnd, floor, sent_at, now)
    }

    /// Shrinks the window to one packet (RFC 6817 §2.4.2).
    pub fn on_timeout(&mut self, p: &Params, now: u64) {
        self.cwnd = Bytes16::from_bytes(p.mss);
        self.gate.close(Time(now));
    }

    /// Returns the state that a loss or a timeout is about to change.
    pub fn before(&self) -> Before {
        Before { cwnd: self.cwnd, gate: self.gate }
    }

    /// Takes back a reduction whose loss or timeout was none.
    pub fn undo(&mut self, before: &Before) {
        before.restore(&mut self.cwnd, &mut self.gate);
    }

    /// Forgets the present delay: sending starts again after more than a timeout with nothing in flight.
    pub fn on_idle(&mut self) {
        self.delay.forget_present();
    }

    /// Adapts the window to a payload of `p.mss`.
    pub fn on_mtu(&mut self, p: &Params) {
        self.cwnd = self.cwnd.max(self.floor(p));
    }
}
