//! Network elements of a link beside its queue, one file each.
//!
//! ```text
//!   packet ──▶ loss, duplication ──▶ [queue] ▶ transmitter ──▶ wire
//! ```
//!
//! A link without elements has none of this and pays one test of an `Option` for each packet. Every element draws from a
//! random stream of its own, so that another element changes nobody's luck.

mod gilbert_elliott;
mod loss;

use afteryou_scenario::network::OneWay;
use afteryou_scenario::{random, Elements as Spec};
use loss::Loss;
use rand_pcg::Pcg64;

/// What becomes of a packet that arrives at a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// The packet goes into the queue.
    Once,
    /// The packet and a copy of it go into the queue.
    Twice,
    /// The packet is lost.
    Lost,
}

/// The elements of a link.
pub struct Elements {
    loss: Loss,
    duplicate: f64,
    duplicates: Pcg64,
}

impl Elements {
    /// Makes the elements of a link; none if it has none.
    pub fn new(spec: &OneWay, seed: u64) -> Option<Box<Elements>> {
        let Spec { loss, duplicate } = &spec.link.elements;
        if spec.link.elements.is_plain() && spec.link.loss.ratio() == 0.0 {
            return None;
        }
        Some(Box::new(Elements {
            loss: Loss::new(loss.as_ref(), spec.link.loss, spec.losses(seed)),
            duplicate: duplicate.ratio(),
            duplicates: spec.stream_of("duplicates", seed),
        }))
    }

    /// Decides what becomes of the next packet. A lost packet is not duplicated, a copy is not lost.
    pub fn entry(&mut self) -> Entry {
        if self.loss.loses() {
            return Entry::Lost;
        }
        match self.duplicate > 0.0 && random::happens(&mut self.duplicates, self.duplicate) {
            true => Entry::Twice,
            false => Entry::Once,
        }
    }
}
