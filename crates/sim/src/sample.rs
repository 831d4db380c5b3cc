//! Looks at controllers at fixed times, which do not disturb what they look at: between two events nothing changes, so
//! what holds before the first event after an instant holds at that instant.

use crate::flow::Flow;
use afteryou_base::{Span, Time};
use afteryou_cc::Snapshot;

/// What a flow's controller says of itself at one instant.
#[derive(Clone, Copy, Debug)]
pub struct Sample<'a> {
    /// When, after everything that happens at this instant.
    pub at: Time,
    /// Whose.
    pub flow: &'a str,
    /// Its state.
    pub snapshot: Snapshot,
}

/// Takes samples of every flow that runs, from the beginning on.
pub(crate) struct Sampler<'a> {
    every: Span,
    next: Time,
    take: &'a mut dyn FnMut(Sample<'_>),
}

impl<'a> Sampler<'a> {
    /// One that takes a sample of each flow `every` so often.
    pub(crate) fn new(every: Span, take: &'a mut dyn FnMut(Sample<'_>)) -> Sampler<'a> {
        let next = if every == Span::ZERO { Time::NEVER } else { Time::ZERO };
        Sampler { every, next, take }
    }

    /// The next event is at `now`: takes all samples that are due before it.
    #[inline]
    pub(crate) fn before(&mut self, now: Time, flows: &[Flow]) {
        if self.next < now {
            self.take_until(now, flows);
        }
    }

    /// Apart from the check, which stands in the simulator's inner loop.
    #[cold]
    #[inline(never)]
    fn take_until(&mut self, now: Time, flows: &[Flow]) {
        while self.next < now {
            for flow in flows {
                if let Some(snapshot) = flow.snapshot() {
                    (self.take)(Sample { at: self.next, flow: flow.name(), snapshot });
                }
            }
            self.next += self.every;
        }
    }
}
