//! In place of the link's own transmitter: a rate that changes, repeat requests, or a token bucket.

use super::arq::{Arq, Sent};
use super::bucket::Bucket;
use super::varying_rate::VaryingRate;
use afteryou_base::{Span, Time};
use afteryou_scenario::element::{RateLaw, Steps};
use afteryou_scenario::{Elements, Rate};
use rand_pcg::Pcg64;

/// The elements in place of a transmitter.
#[derive(Default)]
pub struct Transmitter {
    /// A rate that changes.
    pub rate: Option<VaryingRate>,
    /// A token bucket.
    pub bucket: Option<Bucket>,
    arq: Option<Arq>,
}

impl Transmitter {
    /// Returns those of a link with this rate.
    pub fn new(spec: &Elements, rate: Rate, stream: impl Fn(&str) -> Pcg64) -> Transmitter {
        let arq = spec.arq.as_ref().map(|arq| Arq::new(arq, stream("repeat requests")));
        let constant = || RateLaw::Steps { steps: Steps::constant(rate), period: None };
        let law = spec.rate.clone().or_else(|| arq.is_some().then(constant));
        Transmitter {
            rate: law.as_ref().map(VaryingRate::new),
            bucket: spec.burst.map(|burst| Bucket::new(burst.bytes(), rate.bits_per_second())),
            arq,
        }
    }

    /// Returns whether some packets come later than they were sent: those behind wait.
    pub fn holds_up(&self) -> bool {
        self.arq.is_some()
    }

    /// Begins to send a packet, if the rate changes or there is a bucket. Returns when the next one may be sent, and when this one has
    /// been; none if it is lost.
    pub fn send(&mut self, now: Time, size: u32) -> Option<(Time, Option<Time>)> {
        if let Some(bucket) = &mut self.bucket {
            let next = bucket.send(now, size);
            return Some((next, Some(now + Span(1))));
        }
        let rate = self.rate.as_mut()?;
        let Some(arq) = &mut self.arq else {
            let done = rate.send(now, size);
            return Some((done, Some(done)));
        };
        let Sent { done, delay } = arq.send(now, size, rate);
        Some((done, delay.map(|delay| done + delay)))
    }
}
