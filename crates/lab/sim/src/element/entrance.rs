//! Before the queue: a packet is lost, or comes twice.

use super::loss::Loss;
use super::Entry;
use afteryou_scenario::{random, Elements, Probability};
use rand_pcg::Pcg64;

/// The elements before the queue.
pub struct Entrance {
    loss: Loss,
    duplicate: f64,
    duplicates: Pcg64,
}

impl Entrance {
    /// Returns those of `spec`, or `independent` losses where it has no law.
    pub fn new(spec: &Elements, independent: Probability, stream: impl Fn(&str) -> Pcg64) -> Entrance {
        Entrance {
            loss: Loss::new(spec.loss.as_ref(), independent, stream("loss")),
            duplicate: spec.duplicate.ratio(),
            duplicates: stream("duplicates"),
        }
    }

    /// Decides what becomes of the next packet. A lost packet is not duplicated, a copy is not lost.
    pub fn enter(&mut self) -> Entry {
        if self.loss.loses() {
            return Entry::Lost;
        }
        match self.duplicate > 0.0 && random::happens(&mut self.duplicates, self.duplicate) {
            true => Entry::Twice,
            false => Entry::Once,
        }
    }
}
