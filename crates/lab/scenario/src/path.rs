//! The links that a flow crosses, as a scenario writes them.

use afteryou_notation::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which direction of the short form's link a flow's data cross.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// Data cross `link`, acknowledgements `link.reverse`.
    #[default]
    Up,
    /// Data cross `link.reverse`, acknowledgements `link`.
    Down,
}

impl Direction {
    /// Returns whether it is the default.
    pub(crate) fn is_up(&self) -> bool {
        *self == Direction::Up
    }
}

/// The named links that a flow's packets cross.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Path {
    /// Links that data cross, in order.
    pub forward: Vec<String>,
    /// Links that acknowledgements cross, in order.
    pub reverse: Vec<String>,
    /// Propagation delay of the forward path, part of the flow's round-trip time; half of it if not given.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub delay: Option<Duration>,
}
