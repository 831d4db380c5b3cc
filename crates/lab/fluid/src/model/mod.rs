//! Controllers as equations, one file each.
//!
//! A model gives the drift of the window in congestion avoidance, given what the sender sees. The common parts are
//! elsewhere: the network makes the [`Signal`], `phase.rs` has slow start and slowdowns. Windows are packets, times seconds.

pub mod cubic;
pub mod fledbat;
pub mod ledbat;
pub mod ledbatpp;
pub mod newreno;
mod read;

pub use cubic::Cubic;
pub use fledbat::Fledbat;
pub use ledbat::{Decrease, Ledbat};
pub use ledbatpp::{LedbatPp, Slowdowns};
pub use newreno::NewReno;
pub(crate) use read::unsupported;

/// State of a flow: the window; for CUBIC the last maximum and the time since the last loss event.
pub type ModelState = [f64; 2];

/// A sender's inputs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Signal {
    /// Its window, packets.
    pub window: f64,
    /// A round trip now, s.
    pub rtt_s: f64,
    /// Packets acknowledged per second.
    pub ack_rate: f64,
    /// Queuing delay that it measures, s.
    pub queuing_s: f64,
    /// The part of the queue that the sender takes for the path, s: already taken off the queuing delay.
    pub base_s: f64,
    /// The sender's base round-trip time, s.
    pub base_rtt_s: f64,
    /// Packets lost per second, as far as the sender has learned of them.
    pub losses: f64,
    /// Loss events per second, at most one in a round trip.
    pub loss_events: f64,
    /// Packets of its train that the buffer had no room for.
    pub burst_lost: f64,
}

impl Signal {
    /// Returns the window by which growth is counted. Below one packet an acknowledgement ends a round trip at least, so it
    /// counts for one at most, however many are still to come of a larger window before.
    fn counted_window(&self) -> f64 {
        match self.window < 1.0 {
            true => self.window.max((self.ack_rate * self.rtt_s).min(1.0)),
            false => self.window,
        }
    }

    /// Returns the drift of a window that a loss event halves.
    fn halving(&self) -> f64 {
        -self.window / 2.0 * self.loss_events
    }
}

/// When the delay ends slow start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SlowStart {
    /// There is none.
    None,
    /// Only a loss ends it.
    UntilLoss,
    /// A loss or this queuing delay, s.
    UntilDelay(f64),
}

/// A flow's rule.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Model {
    /// LEDBAT.
    Ledbat(Ledbat),
    /// fLEDBAT.
    Fledbat(Fledbat),
    /// LEDBAT++.
    LedbatPp(LedbatPp),
    /// NewReno.
    NewReno(NewReno),
    /// CUBIC.
    Cubic(Cubic),
    /// A constant rate, packets per second.
    Constant(f64),
}

impl Model {
    /// Returns the window with round trips of `rtt_s`, packets.
    pub fn window(&self, state: ModelState, rtt_s: f64) -> f64 {
        match self {
            Model::Cubic(cubic) => cubic.window(state, rtt_s),
            _ => state[0],
        }
    }

    /// Returns the state that has this window and no history.
    pub fn with_window(&self, window: f64) -> ModelState {
        match self {
            Model::Cubic(cubic) => cubic.with_window(window),
            _ => [window, 0.0],
        }
    }

    /// Returns d(state)/dt in congestion avoidance.
    pub fn drift(&self, state: ModelState, signal: &Signal) -> ModelState {
        match self {
            Model::Ledbat(ledbat) => [ledbat.drift(signal), 0.0],
            Model::Fledbat(fledbat) => [fledbat.drift(signal), 0.0],
            Model::LedbatPp(ledbatpp) => [ledbatpp.drift(signal), 0.0],
            Model::NewReno(newreno) => [newreno.drift(signal), 0.0],
            Model::Cubic(cubic) => cubic.drift(state, signal),
            Model::Constant(_) => [0.0, 0.0],
        }
    }

    /// Returns the state after a loss event at this window, with the smallest window `least`.
    pub fn cut(&self, window: f64, least: f64) -> ModelState {
        match self {
            Model::Cubic(_) => [window, 0.0],
            _ => [(window / 2.0).max(least), 0.0],
        }
    }

    /// Returns the model's smallest window, packets.
    pub fn floor(&self) -> f64 {
        match self {
            Model::Ledbat(ledbat) => ledbat.floor,
            Model::Fledbat(fledbat) => fledbat.floor,
            Model::LedbatPp(_) => ledbatpp::FLOOR,
            Model::NewReno(_) | Model::Cubic(_) => newreno::FLOOR,
            Model::Constant(_) => 0.0,
        }
    }

    /// Returns the window at the start.
    pub fn initial_window(&self) -> f64 {
        match self {
            Model::Ledbat(ledbat) => ledbat.initial_window,
            Model::Fledbat(fledbat) => fledbat.initial_window,
            Model::LedbatPp(_) => ledbatpp::FLOOR,
            Model::NewReno(newreno) => newreno.initial_window,
            Model::Cubic(cubic) => cubic.initial_window,
            Model::Constant(_) => 0.0,
        }
    }

    /// Returns how it starts.
    pub fn slow_start(&self) -> SlowStart {
        match self {
            Model::Ledbat(ledbat) => ledbat.slow_start,
            Model::Fledbat(fledbat) => fledbat.slow_start,
            Model::LedbatPp(ledbatpp) => SlowStart::UntilDelay(ledbatpp.exit * ledbatpp.target_s),
            Model::NewReno(_) | Model::Cubic(_) => SlowStart::UntilLoss,
            Model::Constant(_) => SlowStart::None,
        }
    }

    /// Returns the window's growth factor in a round trip of slow start, less one.
    pub fn slow_start_gain(&self, base_rtt_s: f64) -> f64 {
        match self {
            Model::LedbatPp(ledbatpp) => ledbatpp.gain(base_rtt_s),
            _ => 1.0,
        }
    }

    /// Returns the fastest frequency of this rule on a path of this round trip, rad/s: for the choice of a step.
    pub fn fastest(&self, rtt_s: f64) -> f64 {
        match self {
            Model::Ledbat(ledbat) => ledbat.fastest(rtt_s),
            Model::Fledbat(fledbat) => libm::sqrt(fledbat.zeta / (rtt_s * fledbat.target_s)),
            Model::LedbatPp(ledbatpp) => libm::sqrt(ledbatpp.constant / (rtt_s * ledbatpp.target_s)),
            Model::NewReno(_) | Model::Cubic(_) | Model::Constant(_) => 0.0,
        }
    }
}
