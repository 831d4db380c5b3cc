//! The fault of a scenario, and its place.

use afteryou_notation::Error;

/// The first fault of a scenario.
#[derive(Clone, Debug, thiserror::Error, PartialEq)]
#[error("{error}")]
pub struct Fault {
    /// The error of the whole.
    pub error: Error,
    /// The part that is wrong by itself, and its error; none if no part alone is to blame.
    pub part: Option<Box<(Part, Error)>>,
}

/// A part of a scenario, by its index in the list of its kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// A setting of a flow.
    Setting {
        /// Index of the flow.
        flow: usize,
        /// Name of the flow.
        name: String,
        /// The setting's key in files.
        key: &'static str,
    },
    /// The path of this flow.
    Path(usize),
    /// The buffer of this link.
    Buffer(usize),
    /// A packet to drop.
    Drop(usize),
    /// A packet to hold back.
    Delay(usize),
    /// A change of routes.
    RouteChange(usize),
}

impl From<Fault> for Error {
    fn from(fault: Fault) -> Error {
        fault.error
    }
}
