//! CUBIC, averaged over its epochs.
//!
//! # Model
//! An epoch is the time between loss events. The state is the window at the last one, `M`, and the time since then,
//! `s`. The window follows from both (RFC 9438 §4.2), and loss events, a rate, renew both in the mean (Vardoyan, Hollot
//! and Towsley, "Towards stability analysis of data transport mechanisms: a fluid model and an application", INFOCOM
//! 2018):
//!
//! ```text
//!   W     = max(C·(s − K)³ + M, β·M + α·s/T)       K = ∛((1 − β)·M/C)
//!   dM/dt = (W − M) · loss events
//!   ds/dt = 1 − s · loss events
//! ```
//! The second window is that of a Reno flow of the same mean (§4.3). It takes the present round trip, queue included,
//! for all of the epoch.
//!
//! In slow start `s` stays at zero, where `W = β·M`, and M grows; a loss event there makes M the window.
//!
//! # Not modelled
//! Fast convergence and HyStart. α = 1 once the Reno window has passed M, so the friendly region is that of
//! `friendly = linux`. The bound on growth of §4.2.

use super::{ModelState, Signal};

/// CUBIC.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cubic {
    /// C, packets/s³.
    pub c: f64,
    /// β.
    pub beta: f64,
    /// Window at the start, packets.
    pub initial_window: f64,
}

impl Cubic {
    /// Returns K, s, for a last maximum of `maximum` packets.
    pub fn k_s(&self, maximum: f64) -> f64 {
        libm::cbrt((1.0 - self.beta) * maximum / self.c)
    }

    /// Returns α: the growth of the Reno window, packets per round trip.
    pub fn alpha(&self) -> f64 {
        3.0 * (1.0 - self.beta) / (1.0 + self.beta)
    }

    /// Returns the window with round trips of `rtt_s`, packets.
    pub fn window(&self, [maximum, since_s]: ModelState, rtt_s: f64) -> f64 {
        let reno = self.beta * maximum + self.alpha() * since_s / rtt_s;
        if maximum <= 0.0 {
            return reno;
        }
        let x = since_s - self.k_s(maximum);
        (self.c * x * x * x + maximum).max(reno)
    }

    /// Returns the window that it has in the mean at this probability of loss, where its Reno window is smaller, packets.
    pub fn window_at(&self, loss: f64, rtt_s: f64) -> f64 {
        libm::pow(self.c / (1.0 - self.beta), 0.25) * libm::pow(rtt_s / loss, 0.75)
    }

    pub(super) fn with_window(&self, window: f64) -> ModelState {
        [window / self.beta, 0.0]
    }

    pub(super) fn drift(&self, [maximum, since_s]: ModelState, signal: &Signal) -> ModelState {
        [(signal.window - maximum) * signal.loss_events, 1.0 - since_s * signal.loss_events]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_is_that_of_the_check_vectors() {
        let cubic = Cubic { c: 0.4, beta: 0.7, initial_window: 10.0 };
        assert!((cubic.k_s(100.0) - 4.217163).abs() < 1e-6);
        assert!((cubic.alpha() - 0.529412).abs() < 1e-6);
        let vectors = [(0.0, 70.0), (1.0, 86.6808), (2.0, 95.6403), (5.0, 100.1919), (6.0, 102.2667)];
        for (s, window) in vectors {
            assert!((cubic.window([100.0, s], 1.0) - window).abs() < 5e-5, "{s} s");
        }
    }

    #[test]
    fn on_a_short_path_the_reno_window_is_the_larger_one() {
        let cubic = Cubic { c: 0.4, beta: 0.7, initial_window: 10.0 };
        assert!((cubic.window([20.0, 0.1], 0.005) - (14.0 + 0.529412 * 20.0)).abs() < 1e-5);
    }
}
