//! Looks at controllers at fixed times, which do not disturb what they look at: between two events nothing changes, so
//! what holds before the first event after an instant holds at that instant.

use crate::application::Application;
use crate::connection::Connections;
use afteryou_base::{Span, Time};
use afteryou_cc::Snapshot;

/// A flow's controller state at one instant.
#[derive(Clone, Copy, Debug)]
pub struct Sample<'a> {
    /// When, after everything that happens at this instant.
    pub at: Time,
    /// Whose.
    pub flow: &'a str,
    /// The controller's state.
    pub snapshot: Snapshot,
}

/// Takes samples of every flow that runs, from the beginning on.
pub(crate) struct Sampler<'a> {
    every: Span,
    next: Time,
    take: &'a mut dyn FnMut(Sample<'_>),
}

impl<'a> Sampler<'a> {
    /// Creates a sampler that takes a sample of each flow each time that `every` has passed.
    pub(crate) fn new(every: Span, take: &'a mut dyn FnMut(Sample<'_>)) -> Sampler<'a> {
        let next = if every == Span::ZERO { Time::NEVER } else { Time::ZERO };
        Sampler { every, next, take }
    }

    /// Takes all samples that are due before the next event, which is at `now`.
    #[inline]
    pub(crate) fn before(&mut self, now: Time, applications: &[Application], connections: &Connections) {
        if self.next < now {
            self.take_until(now, applications, connections);
        }
    }

    /// Takes samples, apart from the check, which is in the simulator's inner loop.
    #[cold]
    #[inline(never)]
    fn take_until(&mut self, now: Time, applications: &[Application], connections: &Connections) {
        while self.next < now {
            for application in applications {
                if let Some(snapshot) = application.snapshot(connections) {
                    (self.take)(Sample { at: self.next, flow: application.name(), snapshot });
                }
            }
            self.next += self.every;
        }
    }
}
