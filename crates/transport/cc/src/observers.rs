//! Senders under observation: each event that a sender's congestion controller receives, and its state after it.
//!
//! A run whose flows have controllers asks [`Observers`] for an observer of each sender. Formats for other programs are made
//! from these events alone, so they work with TCP, uTP and QUIC, simulated and real.

use crate::controller::Controller;
use crate::observed::{Observed, Observer};
use afteryou_base::Time;
use alloc::boxed::Box;
use alloc::sync::Arc;
use core::fmt;

/// A sender that begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewSender {
    /// Index of its flow in the run. A flow may have many senders, one for each of its connections.
    pub flow: usize,
    /// The run's time zero on the clock of the events.
    pub zero: Time,
}

type Make = dyn Fn(NewSender) -> Option<Box<dyn Observer>> + Send + Sync;

/// Makes the observers of a run's senders.
#[derive(Clone)]
pub struct Observers(Arc<Make>);

impl Observers {
    /// Calls `make` for each sender that begins; none leaves the sender unobserved.
    pub fn new(make: impl Fn(NewSender) -> Option<Box<dyn Observer>> + Send + Sync + 'static) -> Observers {
        Observers(Arc::new(make))
    }

    /// Returns the observer of a sender that begins, if it has one.
    pub fn observer(&self, sender: NewSender) -> Option<Box<dyn Observer>> {
        (self.0)(sender)
    }

    /// Returns the controller of a sender that begins, under observation if its observer is there.
    pub fn watch(&self, sender: NewSender, controller: Box<dyn Controller>) -> Box<dyn Controller> {
        match self.observer(sender) {
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
