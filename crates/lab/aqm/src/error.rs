//! Why a queue was refused.

use afteryou_base::param::{ParamError, Value};
use thiserror::Error;

/// Why a queue was refused. The message names the parameter and the valid values.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum Error {
    /// A value that the parameter table refuses.
    #[error(transparent)]
    Param(#[from] ParamError),
    /// A value that is fine alone but not with another.
    #[error("{name} = {value} does not go with {other}: use {valid}")]
    Together {
        /// The parameter.
        name: &'static str,
        /// The parameter's value.
        value: Value,
        /// The other one and its value, as "max_th = 15 packets".
        other: String,
        /// The valid range in words.
        valid: String,
    },
    /// A buffer that holds no packet.
    #[error("buffer: it holds nothing: use at least 1 packet")]
    NoRoom,
}
