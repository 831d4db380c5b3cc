//! The LEDBAT family's arithmetic over plain integers, which a kernel or another language can run line by line.
//!
//! ```text
//!   Ledbat, Fledbat, LedbatPp     parameters by name, choice of the signal, corrections of clocks, options, snapshots
//!        │ AckEvent, loss, timeout, idle: integers only
//!        ▼
//!   ledbat::State, fledbat::State, ledbatpp::State          this module
//! ```
//! A state has `u64`, `u32` and `u16` in the layout of C, no pointer and no `Option`; parameters are apart. With ten
//! minutes of base delay and four samples of present delay, the states of RFC 6817 and fLEDBAT have at most 104 bytes.
//! Linux keeps as much for the congestion control of a socket. LEDBAT++ has 144 bytes. Nothing divides signed numbers,
//! and nothing needs more than 64 bits.
//!
//! Times are ns, delays µs modulo 2^32, windows bytes with 16 fractional bits ([`crate::fixed`]).
//!
//! `crates/transport/cc/vectors` has recorded events with the states after them; see the README there for replaying them elsewhere.
//! `crates/transport/kernel/c` has the same arithmetic in C. Its tests compare the two after each event.

pub mod delay;
pub mod fledbat;
pub mod ledbat;
pub mod ledbatpp;

pub use delay::{Delay, Kept};

use crate::event::Ack;
use crate::fixed::Bytes16;
use crate::loss_gate::LossGate;
use afteryou_base::Time;

/// [`AckEvent::flags`]: [`AckEvent::delay_us`] is a sample.
pub const HAS_DELAY: u32 = 1;
/// [`AckEvent::flags`]: the ack is the first one of a round trip.
pub const ROUND_START: u32 = 2;
/// [`AckEvent::flags`]: the application limits the sender.
pub const APP_LIMITED: u32 = 4;
/// [`AckEvent::flags`]: a packet was marked Congestion Experienced.
pub const MARKED: u32 = 8;

/// An acknowledgement in plain integers.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AckEvent {
    /// When it arrived, ns.
    pub now: u64,
    /// When the newest packet that it acknowledges was sent, ns.
    pub sent_at: u64,
    /// Smoothed round-trip time, ns; zero before the first sample.
    pub smoothed_rtt: u64,
    /// Bytes that it reports as delivered for the first time.
    pub delivered: u64,
    /// Bytes sent and not acknowledged in order before it.
    pub flightsize: u64,
    /// Delay sample, µs modulo 2^32.
    pub delay_us: u32,
    /// [`HAS_DELAY`], [`ROUND_START`], [`APP_LIMITED`], [`MARKED`].
    pub flags: u32,
}

impl AckEvent {
    /// Returns the ack's integers, without a delay: which of its delays counts is the owner's choice.
    #[inline]
    pub fn of(ack: &Ack) -> AckEvent {
        AckEvent {
            now: ack.now.0,
            sent_at: ack.sent_at.0,
            smoothed_rtt: ack.smoothed_rtt.unwrap_or_default().0,
            delivered: ack.delivered(),
            flightsize: ack.flightsize,
            delay_us: 0,
            flags: (u32::from(ack.round_start) * ROUND_START)
                | (u32::from(ack.app_limited) * APP_LIMITED)
                | (u32::from(ack.marks.any()) * MARKED),
        }
    }

    /// Returns whether one of these flags is set.
    #[inline]
    pub fn has(&self, flag: u32) -> bool {
        self.flags & flag != 0
    }
}

/// The state of RFC 6817's rule and of fLEDBAT's that a loss changes. The owner keeps it while the loss may turn out to be none, as
/// Linux keeps `prior_cwnd` beside a controller's state.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Before {
    /// Window.
    pub cwnd: Bytes16,
    /// Losses and marks once per round trip.
    pub gate: LossGate,
}

impl Before {
    /// Notes a decrease by delay since the cut, which is not undone.
    pub fn lower(&mut self, by: Bytes16) {
        self.cwnd = self.cwnd.minus(by);
    }

    /// Restores window and gate after a loss that was none (RFC 4015 §3.2). Never takes anything away.
    fn restore(&self, cwnd: &mut Bytes16, gate: &mut LossGate) {
        if *cwnd < self.cwnd {
            // Other losses of that flight, if they are real, were not answered either.
            (*cwnd, *gate) = (self.cwnd, self.gate);
        }
    }
}

/// Halves a window once per round trip, but never lets a small one grow to its floor by it. Returns true if the loss of a packet
/// sent at `sent_at` ns counts.
fn halve_once(gate: &mut LossGate, cwnd: &mut Bytes16, floor: Bytes16, sent_at: u64, now: u64) -> bool {
    let counts = gate.admit(Time(sent_at), Time(now));
    if counts {
        *cwnd = (*cwnd).min(Bytes16(cwnd.0 / 2).max(floor));
    }
    counts
}
