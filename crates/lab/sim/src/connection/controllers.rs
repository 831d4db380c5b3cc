//! The controllers of an application's connections: their settings are read and checked once.

use crate::instruments::Onlookers;
use afteryou_base::param::{ParamError, Value};
use afteryou_cc::list::Tuned;
use afteryou_cc::{Controller, Setup};
use afteryou_scenario::{Error, Flow as Spec};

/// The parameter of controllers that the transport's `iw` sets, where a controller has it and nobody else has set it.
const INITIAL_WINDOW: &str = "initial_window";

/// Makes the controllers of an application's connections.
pub(super) struct Controllers {
    tuned: Tuned,
    // Boxed, since they are asked when a connection is opened alone, and the inner loop goes over what is beside them.
    onlookers: Box<Onlookers>,
}

impl Controllers {
    /// Creates the controllers of a flow; `iw` is the transport's initial window in packets, `onlookers` see the senders.
    pub(super) fn new(spec: &Spec, iw: Option<u32>, onlookers: Onlookers) -> Result<Controllers, Error> {
        let missing = || Error::Contradiction(format!("flow {:?} needs a controller", spec.name));
        let (entry, mut overrides) = spec.controller.as_ref().ok_or_else(missing)?.controller()?;
        let has_it = entry.params.iter().any(|param| param.name == INITIAL_WINDOW);
        if let (true, Some(iw)) = (has_it, iw) {
            overrides.insert(0, (INITIAL_WINDOW, Value::Count(iw.into()))); // the last one counts
        }
        let refused =
            |error: ParamError| Error::Parameter { of: entry.name.to_owned(), reason: error.to_string() };
        let tuned = entry.tuned(overrides).map_err(refused)?;
        Ok(Controllers { tuned, onlookers: Box::new(onlookers) })
    }

    /// Returns the controller of the sender of the connection with this number.
    pub(super) fn build(&self, setup: Setup, connection: u32) -> Box<dyn Controller> {
        self.onlookers.watch(self.idle(setup), connection as usize)
    }

    /// Returns the controller of an end that sends no data.
    pub(super) fn idle(&self, setup: Setup) -> Box<dyn Controller> {
        self.tuned.build(setup)
    }
}
