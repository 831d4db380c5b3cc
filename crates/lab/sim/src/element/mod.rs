//! Network elements of a link beside its queue, one file each.
//!
//! ```text
//!   packet ──▶ loss, duplication ──▶ [queue] ▶ transmitter ──▶ propagation, jitter ──▶ wire
//! ```
//!
//! A link without elements has none of this and pays one test of an `Option` for each packet. Every element draws from a
//! random stream of its own, so that another element changes nobody's luck.

mod aggregate;
mod arq;
mod bucket;
mod gilbert_elliott;
mod loss;
mod varying_rate;
mod wire;

use afteryou_base::{Span, Time};
use afteryou_scenario::element::{RateLaw, Steps};
use afteryou_scenario::network::OneWay;
use afteryou_scenario::{random, Elements as Spec, Flow, Probability};
pub use aggregate::{Aggregate, Batch};
use arq::{Arq, Sent};
pub use bucket::Bucket;
use loss::Loss;
use rand_pcg::Pcg64;
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
    loss: Loss,
    duplicate: f64,
    duplicates: Pcg64,
    wire: Option<Wire>,
    /// A rate that changes, in place of the link's.
    pub rate: Option<VaryingRate>,
    /// A token bucket in place of the link's transmitter.
    pub bucket: Option<Bucket>,
    arq: Option<Arq>,
    /// Acknowledgements that wait for others.
    pub aggregate: Option<Aggregate>,
}

impl Elements {
    /// Makes the elements of a link; none if it has none.
    pub fn new(spec: &OneWay, seed: u64) -> Option<Box<Elements>> {
        let is_plain = spec.link.elements.is_plain() && spec.link.loss.ratio() == 0.0;
        let stream = |element: &str| match element {
            "loss" => spec.losses(seed),
            _ => spec.stream_of(element, seed),
        };
        if is_plain {
            return None;
        }
        let mut elements = Elements::of(&spec.link.elements, spec.link.loss, stream);
        let burst = spec.link.elements.burst;
        elements.bucket = burst.map(|burst| Bucket::new(burst.bytes(), spec.link.rate.bits_per_second()));
        if elements.arq.is_some() && elements.rate.is_none() {
            let steps = Steps::constant(spec.link.rate);
            elements.rate = Some(VaryingRate::new(&RateLaw::Steps { steps, period: None }));
        }
        // Repeat requests delay some packets: those behind wait.
        if elements.arq.is_some() && elements.wire.is_none() {
            elements.wire = Some(Wire::in_order(spec.stream_of("jitter", seed)));
        }
        Some(elements)
    }

    /// Makes the elements that a flow's data meet before its first link; none if it has none.
    pub fn of_flow(flow: &Flow, seed: u64) -> Option<Box<Elements>> {
        let stream = |element: &str| random::stream(seed, &format!("{element} of flow {}", flow.name));
        (!flow.elements.is_plain()).then(|| Elements::of(&flow.elements, Probability::default(), stream))
    }

    fn of(spec: &Spec, independent: Probability, stream: impl Fn(&str) -> Pcg64) -> Box<Elements> {
        let Spec { loss, duplicate, delay, jitter, rate, arq, aggregate, burst: _ } = spec;
        Box::new(Elements {
            loss: Loss::new(loss.as_ref(), independent, stream("loss")),
            duplicate: duplicate.ratio(),
            duplicates: stream("duplicates"),
            wire: Wire::new(delay.as_ref(), jitter.as_ref(), stream("jitter")),
            rate: rate.as_ref().map(VaryingRate::new),
            bucket: None,
            arq: arq.as_ref().map(|arq| Arq::new(arq, stream("repeat requests"))),
            aggregate: aggregate.as_ref().map(Aggregate::new),
        })
    }

    /// A packet begins to be sent, where the rate changes or there is a bucket: when the next one may be, and when it goes onto the
    /// wire.
    pub fn send(&mut self, now: Time, size: u32) -> Option<(Time, Exit)> {
        if let Some(bucket) = &mut self.bucket {
            let next = bucket.send(now, size);
            return Some((next, self.exit(now + Span(1))));
        }
        let rate = self.rate.as_mut()?;
        let Some(arq) = &mut self.arq else {
            let done = rate.send(now, size);
            return Some((done, self.exit(done)));
        };
        let Sent { done, delay } = arq.send(now, size, rate);
        Some((done, delay.map_or(Exit::Lost, |delay| self.exit(done + delay))))
    }

    /// Decides when a packet that has been sent at `done` goes onto the wire.
    pub fn exit(&mut self, done: Time) -> Exit {
        self.wire.as_mut().map_or(Exit::InOrder(done), |wire| wire.exit(done))
    }

    /// Decides what becomes of the next packet. A lost packet is not duplicated, a copy is not lost.
    pub fn entry(&mut self, is_reply: bool) -> Entry {
        if is_reply && self.aggregate.is_some() {
            return Entry::Waits;
        }
        if self.loss.loses() {
            return Entry::Lost;
        }
        match self.duplicate > 0.0 && random::happens(&mut self.duplicates, self.duplicate) {
            true => Entry::Twice,
            false => Entry::Once,
        }
    }
}
