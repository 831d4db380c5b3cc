//! Repeat requests of a link layer: a transmission that failed is repeated, up to a number of times.
//!
//! Each transmission takes the link's rate. It fails with the error rate of the instant at which it ends; the next one follows. A packet
//! whose k-th transmission succeeds is delivered k − 1 rounds after that, in order: those behind wait for it. After the last
//! transmission that is allowed a packet is lost (RFC 3366 §2.1: low persistence).
//!
//! Closed form for a constant error rate e and n transmissions: k transmissions with probability eᵏ⁻¹(1 − e), lost with eⁿ.
//!
//! Simpler than a real link layer: retransmissions follow at once instead of a round later between other packets. The
//! capacity that they take is the same, and so is the order of delivery.

use super::varying_rate::VaryingRate;
use afteryou_base::{Span, Time};
use afteryou_scenario::element::Arq as Spec;
use afteryou_scenario::random;
use rand_pcg::Pcg64;

/// The link layer.
pub struct Arq {
    /// Error rates from each time on.
    errors: Vec<(Time, f64)>,
    /// Which of them holds now.
    step: usize,
    transmissions: u32,
    round: Span,
    random: Pcg64,
}

/// The packet's outcome.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// When its last transmission was over.
    pub done: Time,
    /// How long its repeat requests took; none if it is lost.
    pub delay: Option<Span>,
}

impl Arq {
    /// Creates the link layer of `spec`.
    pub fn new(spec: &Spec, random: Pcg64) -> Arq {
        let errors = spec.error.points().iter().map(|(at, error)| (Time(at.0 .0), error.ratio()));
        Arq {
            errors: errors.collect(),
            step: 0,
            transmissions: spec.transmissions,
            round: spec.round.0,
            random,
        }
    }

    /// Sends a packet as often as it takes.
    pub fn send(&mut self, now: Time, size: u32, rate: &mut VaryingRate) -> Sent {
        let mut done = now;
        for repeats in 0..self.transmissions {
            done = rate.send(done, size);
            if !self.fails(done) {
                return Sent { done, delay: Some(self.round * u64::from(repeats)) };
            }
        }
        Sent { done, delay: None }
    }

    fn fails(&mut self, at: Time) -> bool {
        while self.errors.get(self.step + 1).is_some_and(|(from, _)| *from <= at) {
            self.step += 1;
        }
        let error = self.errors.get(self.step).map_or(0.0, |(_, error)| *error);
        random::happens(&mut self.random, error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use afteryou_scenario::element::{RateLaw, Steps};
    use afteryou_scenario::{Duration, Probability, Rate};

    #[test]
    fn delays_have_the_law_of_the_closed_form() {
        let (error, transmissions, packets) = (0.3, 3, 200_000);
        let round = Duration::from_millis(40);
        let error_rate = Steps::constant(Probability::from_ratio(error).unwrap());
        let spec = Spec { error: error_rate, transmissions, round };
        let mut arq = Arq::new(&spec, random::stream(6, "test"));
        let constant = RateLaw::Steps { steps: Steps::constant(Rate::from_mbit(12)), period: None };
        let mut rate = VaryingRate::new(&constant);
        // By the number of transmissions, those that are lost last.
        let mut counts = [0u32; 4];
        let mut now = Time::ZERO;
        for _ in 0..packets {
            let sent = arq.send(now, 1500, &mut rate);
            let took = sent.done.since(now).as_micros() / 1000;
            match sent.delay {
                Some(delay) => {
                    assert_eq!(delay, Span::from_millis(40 * (took - 1)), "each transmission takes 1 ms");
                    counts[took as usize - 1] += 1;
                }
                None => counts[3] += 1,
            }
            now = sent.done;
        }
        let expected = [0.7, 0.21, 0.063, 0.027];
        for (count, expected) in counts.into_iter().zip(expected) {
            let share = f64::from(count) / f64::from(packets);
            let deviation = (expected * (1.0 - expected) / f64::from(packets)).sqrt();
            assert!((share - expected).abs() < 4.0 * deviation, "{share} of {expected} ± {deviation}");
        }
    }
}
