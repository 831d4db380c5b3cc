//! What can go wrong.

use thiserror::Error;

/// What can go wrong. Messages are lower-case and say what to do next.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// A path of a peer that leads outside.
    #[error("the path \"{path}\" is refused: {reason}")]
    Path {
        /// As received, made printable.
        path: String,
        /// What is wrong with it.
        reason: &'static str,
    },
}
