//! Makes the congestion controllers of a flow's senders, under observation where somebody observes them.

use crate::error::Error;
use afteryou_cc::{Controller, NewSender, Observers, Setup, Time};
use afteryou_scenario::Flow;
use std::sync::{Arc, OnceLock};

/// Makes a controller.
pub(crate) type Make = Arc<dyn Fn(Setup) -> Box<dyn Controller> + Send + Sync>;

/// The scenario's time zero on a sender's clock, once it begins.
pub(crate) type Zero = Arc<OnceLock<Time>>;

/// Makes the controllers of a flow.
pub(crate) struct Controllers {
    make: Make,
    observers: Option<(usize, Observers)>,
}

impl Controllers {
    /// Reads a flow's controller. `observers` see its senders, with the index of the flow.
    pub(crate) fn new(flow: &Flow, observers: Option<(usize, &Observers)>) -> Result<Controllers, Error> {
        let failed = |reason: String| Error::Flow { flow: flow.name.clone(), reason };
        let controller = flow.controller.as_ref().ok_or_else(|| failed("no controller".to_owned()))?;
        let (entry, overrides) = controller.controller()?;
        let tuned = entry.tuned(overrides).map_err(|error| failed(error.to_string()))?;
        Ok(Controllers {
            make: Arc::new(move |setup| tuned.build(setup)),
            observers: observers.map(|(flow, observers)| (flow, observers.clone())),
        })
    }

    /// Returns what makes the controllers of receivers.
    pub(crate) fn unobserved(&self) -> Make {
        Arc::clone(&self.make)
    }

    /// Returns what makes the controller of a sender, whose observers look at `Zero`.
    pub(crate) fn of_sender(&self) -> (Make, Zero) {
        let zero = Zero::default();
        let Some((flow, observers)) = self.observers.clone() else { return (self.unobserved(), zero) };
        let (make, known) = (Arc::clone(&self.make), Arc::clone(&zero));
        let observed = move |setup| {
            let zero = known.get().copied().unwrap_or_default();
            observers.watch(NewSender { flow, zero }, make(setup))
        };
        (Arc::new(observed), zero)
    }
}
