//! Senders under observation: each event that a sender's congestion controller receives, and its state after it.
//!
//! An engine whose flows have controllers asks [`Observers`] for an observer of each sender. Formats for other programs are made
//! from these events alone, so they work with any such engine, with TCP and with uTP.

pub use afteryou_base::{Span, Time};
pub use afteryou_cc::script::Event;
pub use afteryou_cc::{Ack, Controller, Loss, Observed, Observer, Pacing, Sent, Snapshot};

use std::fmt;
use std::sync::Arc;

/// A sender that begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Begun {
    /// Index of the flow in the scenario. A flow may have many senders, one for each of its connections.
    pub flow: usize,
    /// The scenario's time zero on the clock of the events.
    pub zero: Time,
}

type Make = dyn Fn(Begun) -> Option<Box<dyn Observer>> + Send + Sync;

/// Makes the observers of a run's senders.
#[derive(Clone)]
pub struct Observers(Arc<Make>);

impl Observers {
    /// Calls `make` for each sender that begins; none leaves the sender unobserved.
    pub fn new(make: impl Fn(Begun) -> Option<Box<dyn Observer>> + Send + Sync + 'static) -> Observers {
        Observers(Arc::new(make))
    }

    /// Returns the observer of a sender that begins, if it has one.
    pub fn observer(&self, begun: Begun) -> Option<Box<dyn Observer>> {
        (self.0)(begun)
    }

    /// Returns the controller of a sender that begins, under observation if its observer is there.
    pub fn watch(&self, begun: Begun, controller: Box<dyn Controller>) -> Box<dyn Controller> {
        match self.observer(begun) {
            Some(observer) => Box::new(Observed::new(controller, observer)),
            None => controller,
        }
    }
}

impl fmt::Debug for Observers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Observers").finish_non_exhaustive()
    }
}
