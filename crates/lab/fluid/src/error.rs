//! Errors of a fluid run.

use afteryou_scenario::support::Unsupported;
use thiserror::Error;

/// Why there is no result. The message has the remedy.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// The scenario is wrong.
    #[error(transparent)]
    Scenario(#[from] afteryou_scenario::Error),
    /// Somebody asked to stop.
    #[error("interrupted")]
    Interrupted,
    /// Something that has no equations.
    #[error("{}", .0.reason)]
    Unsupported(#[from] Unsupported),
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
