//! Utility: one number for how good it was to send at a rate.

/// Exponent of the rate: below 1, so that a share is worth more to the one who has less.
const EXPONENT: f64 = 0.9;

/// Weights of the penalties.
#[derive(Clone, Copy, Debug)]
pub struct Weights {
    /// Of the growth of the round-trip time, seconds per second.
    pub gradient: f64,
    /// Of the part that is lost.
    pub loss: f64,
    /// Of the standard deviation of the round-trip time, 1/s.
    pub deviation: f64,
}

/// The effect of a rate, without the noise.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Outcome {
    /// Rate at which packets left, Mbit/s.
    pub mbit_s: f64,
    /// Part of the bytes that was lost.
    pub loss: f64,
    /// Growth of the round-trip time, seconds per second.
    pub gradient: f64,
    /// Standard deviation of the round-trip time, s.
    pub deviation: f64,
}

impl Weights {
    /// Returns the utility of an outcome.
    pub fn utility(&self, outcome: &Outcome) -> f64 {
        let Outcome { mbit_s, loss, gradient, deviation } = *outcome;
        let penalty = self.gradient * gradient.max(0.0) + self.loss * loss + self.deviation * deviation;
        libm::pow(mbit_s, EXPONENT) - penalty * mbit_s
    }
}
