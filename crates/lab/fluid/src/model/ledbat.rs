//! LEDBAT: towards the target, in proportion to the distance.
//!
//! # Model
//! Of each acknowledged packet (RFC 6817 §2.4.2): `W += gain·(1 − q/τ)/W`, with another gain above the target if asked for;
//! a loss event halves. With a rate of acknowledgements `r`:
//!
//! ```text
//!   dW/dt = gain·(1 − q/τ)·r/W − W/2 · loss events
//! ```
//! Carofiglio 2013, eq. 3-4, is this with `r = W/R`; its eq. 3 drops the gain and takes the queue for a delay where eq. 4
//! takes it for packets. All windows drift alike, so that they never forget what they began with.
//!
//! # Not modelled
//! The bound by what is in flight (flows always have something to send), the expiry of the base history.

use super::{Signal, SlowStart};

/// The behaviour above the target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Decrease {
    /// The law below the target, with this gain.
    Proportional(f64),
    /// An eighth of the window in a round trip, as Apple's first LEDBAT.
    Eighth,
}

/// LEDBAT.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ledbat {
    /// TARGET, s.
    pub target_s: f64,
    /// GAIN, packets per round trip.
    pub gain: f64,
    /// Above the target.
    pub decrease: Decrease,
    /// Smallest window, packets.
    pub floor: f64,
    /// Window at the start, packets.
    pub initial_window: f64,
    /// The flow's slow start.
    pub slow_start: SlowStart,
}

impl Ledbat {
    /// Creates RFC 6817's rule.
    pub const fn new(target_s: f64, gain: f64) -> Ledbat {
        let decrease = Decrease::Proportional(gain);
        Ledbat { target_s, gain, decrease, floor: 2.0, initial_window: 2.0, slow_start: SlowStart::None }
    }

    /// Returns dW/dt.
    pub fn drift(&self, signal: &Signal) -> f64 {
        let off_target = 1.0 - signal.queuing_s / self.target_s;
        let rounds = signal.ack_rate / signal.counted_window();
        let steered = match self.decrease {
            _ if off_target >= 0.0 => self.gain * off_target * rounds,
            Decrease::Proportional(gain) => gain * off_target * rounds,
            Decrease::Eighth => -signal.window / 8.0 * rounds,
        };
        steered + signal.halving()
    }

    /// Returns the frequency with constant round trips on a path that holds a packet of each flow, rad/s.
    pub(super) fn fastest(&self, rtt_s: f64) -> f64 {
        let gain = match self.decrease {
            Decrease::Proportional(gain) => gain.max(self.gain),
            Decrease::Eighth => self.gain,
        };
        libm::sqrt(gain / self.target_s / rtt_s)
    }
}
