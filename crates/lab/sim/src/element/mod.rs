//! Network elements of a link beside its queue, by the place at which they act.
//!
//! ```text
//!   packet ──▶ entrance ──▶ [queue] ▶ transmitter ──▶ wire ──▶ delay line
//! ```
//!
//! | file | has |
//! |---|---|
//! | `entrance` | losses (`loss`, `gilbert_elliott`), duplication |
//! | `transmitter` | rates that change (`varying_rate`), repeat requests (`arq`), the token bucket (`bucket`) |
//! | `wire` | propagation that changes, jitter |
//! | `aggregate` | acknowledgements that wait for others, before all of these |
//!
//! The book's page "How to add an element" adds one to `wire`, and `xtask/recipes` executes it.
//!
//! A link without elements has none of this and pays one test of an `Option` for each packet. Every element draws from a
//! random stream of its own, so that another element changes nobody's luck.

mod aggregate;
mod arq;
mod bucket;
mod entrance;
mod gilbert_elliott;
mod loss;
mod transmitter;
mod varying_rate;
mod wire;

use afteryou_base::Time;
use afteryou_scenario::network::OneWay;
use afteryou_scenario::{random, Flow, Probability};
pub use aggregate::{Aggregate, Batch};
pub use bucket::Bucket;
use entrance::Entrance;
use transmitter::Transmitter;
pub use varying_rate::VaryingRate;
use wire::Wire;

/// The outcome for a packet that arrives at a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// The packet goes into the queue.
    Once,
    /// The packet and a copy of it go into the queue.
    Twice,
    /// The packet is lost.
    Lost,
    /// The packet is an acknowledgement that waits for others.
    Waits,
}

/// The outcome for a packet that has been sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// The packet goes onto the wire at this time, behind those before it.
    InOrder(Time),
    /// The packet goes onto the wire at this time, whatever comes before and after it.
    Alone(Time),
    /// The packet is lost.
    Lost,
}

/// The elements of a link, or of a flow.
pub struct Elements {
    entrance: Entrance,
    /// A rate that changes, or a bucket.
    pub transmitter: Transmitter,
    wire: Option<Wire>,
    /// Acknowledgements that wait for others.
    pub aggregate: Option<Aggregate>,
}

impl Elements {
    /// Makes the elements of a link; none if it has none.
    pub fn new(spec: &OneWay, seed: u64) -> Option<Box<Elements>> {
        let (of, independent) = (&spec.link.elements, spec.link.loss);
        if of.is_plain() && independent.ratio() == 0.0 {
            return None;
        }
        let stream = |element: &str| match element {
            "loss" => spec.losses(seed),
            _ => spec.stream_of(element, seed),
        };
        let transmitter = Transmitter::new(of, spec.link.rate, stream);
        let in_order = || transmitter.holds_up().then(Wire::in_order);
        Some(Box::new(Elements {
            entrance: Entrance::new(of, independent, stream),
            wire: Wire::new(of, stream).or_else(in_order),
            aggregate: of.aggregate.as_ref().map(Aggregate::new),
            transmitter,
        }))
    }

    /// Makes the elements that a flow's data meet before its first link; none if it has none.
    pub fn of_flow(flow: &Flow, seed: u64) -> Option<Box<Elements>> {
        let of = &flow.elements;
        if of.is_plain() {
            return None;
        }
        let stream = |element: &str| random::stream(seed, &format!("{element} of flow {}", flow.name));
        Some(Box::new(Elements {
            entrance: Entrance::new(of, Probability::default(), stream),
            transmitter: Transmitter::default(),
            wire: Wire::new(of, stream),
            aggregate: None,
        }))
    }

    /// Sends a packet where the rate changes or there is a bucket. Returns when the next one may be sent, and when this one
    /// goes onto the wire.
    pub fn send(&mut self, now: Time, size: u32) -> Option<(Time, Exit)> {
        let (next, sent) = self.transmitter.send(now, size)?;
        Some((next, sent.map_or(Exit::Lost, |done| self.exit(done))))
    }

    /// Decides when a packet that has been sent at `done` goes onto the wire.
    pub fn exit(&mut self, done: Time) -> Exit {
        self.wire.as_mut().map_or(Exit::InOrder(done), |wire| wire.exit(done))
    }

    /// Decides what becomes of the next packet.
    pub fn entry(&mut self, is_reply: bool) -> Entry {
        match is_reply && self.aggregate.is_some() {
            true => Entry::Waits,
            false => self.entrance.enter(),
        }
    }
}
