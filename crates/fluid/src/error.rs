//! What can go wrong with a fluid run.

use thiserror::Error;

/// Why there is no result. The message says what to do next.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// The scenario is wrong.
    #[error(transparent)]
    Scenario(#[from] afteryou_scenario::Error),
    /// Somebody asked to stop.
    #[error("interrupted")]
    Interrupted,
    /// A controller without equations.
    #[error(
        "flow {flow:?}: there is no fluid model of {name}: use one of {known}, or run it in the simulator"
    )]
    Controller {
        /// The flow.
        flow: String,
        /// Its controller.
        name: String,
        /// Controllers that have a model.
        known: String,
    },
    /// A queue without equations.
    #[error("there is no fluid model of the queue {name}: use {known}, or run it in the simulator")]
    Queue {
        /// The queue.
        name: String,
        /// Queues that have a model.
        known: String,
    },
    /// A parameter that the model does not heed.
    #[error(
        "the fluid model of {of} knows nothing of {name} = {value}: leave it out, or run it in the simulator"
    )]
    Parameter {
        /// The controller.
        of: String,
        /// The parameter.
        name: String,
        /// What it was set to.
        value: String,
    },
    /// Something else that has no equations.
    #[error("{what}: {instead}")]
    Unsupported {
        /// What it is.
        what: String,
        /// What to do instead.
        instead: String,
    },
    /// A run that would take too long.
    #[error(
        "the run would take {steps} steps of {step_ms} ms: make it shorter, its round-trip times or [fluid] step longer, or its flows fewer"
    )]
    TooLong {
        /// Steps.
        steps: u64,
        /// Length of one, ms.
        step_ms: f64,
    },
    /// The numbers left the range of numbers.
    #[error("the equations diverge at {at_s} s: use a smaller step ([fluid] step)")]
    Diverged {
        /// When, s.
        at_s: f64,
    },
}
