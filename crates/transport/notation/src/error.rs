//! Errors of what people write.

use thiserror::Error;

/// Why a word, a quantity or a set of settings was refused. The message names the thing, the value and what would be valid.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// A quantity that is not a number with one of the units.
    #[error("{text:?} is not a {what}: write {example}")]
    Quantity {
        /// The expected kind: "rate", "time" …
        what: &'static str,
        /// The given text.
        text: String,
        /// How to write it.
        example: &'static str,
    },
    /// A quantity with one of the units and a number that is not taken.
    #[error("{text:?} is outside its range: use a {what} of {valid}")]
    Range {
        /// The expected kind: "rate", "time" …
        what: &'static str,
        /// The given text.
        text: String,
        /// The valid range.
        valid: &'static str,
    },
    /// A unit with a bit where a byte is meant, or the other way round.
    #[error("{text:?} may mean bits or bytes: write {unit} for this {what}")]
    BitsOrBytes {
        /// The given text.
        text: String,
        /// The expected kind: "rate", "size".
        what: &'static str,
        /// The unit that is read.
        unit: &'static str,
    },
    /// A name that is not in a list.
    #[error("there is no {what} {name:?}: {advice}")]
    Unknown {
        /// The kind of name that was looked up: "controller", "queue", "parameter of cubic" …
        what: String,
        /// The name given.
        name: String,
        /// The nearest word and the valid choices.
        advice: String,
    },
    /// A parameter's value that its table refuses.
    #[error("{of}: {reason}")]
    Parameter {
        /// The algorithm.
        of: String,
        /// The table's statement.
        reason: String,
    },
    /// A controller that cannot be registered.
    #[error("controller {name:?} cannot be registered: {reason}")]
    Controller {
        /// The controller's name.
        name: String,
        /// The error in its entry.
        reason: String,
    },
    /// Settings of which each is valid alone and that contradict each other, or a setting that contradicts what it is for.
    #[error("{0}")]
    Contradiction(String),
}
