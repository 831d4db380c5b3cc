//! Observers of the senders of a flow.

use super::watched::watched;
use super::SenderLog;
use afteryou_base::Time;
use afteryou_cc::{Controller, NewSender, Observers};

/// Observers of the senders of a flow.
#[derive(Clone, Debug)]
pub struct Onlookers {
    /// Index of the flow.
    pub flow: usize,
    /// The scenario's own log.
    pub log: Option<SenderLog>,
    /// The observers of the run's caller.
    pub observers: Option<Observers>,
}

impl Onlookers {
    /// Returns the controller of the sender of the connection with this number, under the eyes of all that are there.
    pub fn watch(&self, controller: Box<dyn Controller>, connection: usize) -> Box<dyn Controller> {
        let controller = match &self.log {
            Some(log) => watched(controller, log.clone(), connection),
            None => controller,
        };
        match &self.observers {
            Some(observers) => observers.watch(NewSender { flow: self.flow, zero: Time::ZERO }, controller),
            None => controller,
        }
    }
}
