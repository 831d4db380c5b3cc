//! Delays of a link beside its queue: propagation that changes, and jitter.

use super::steps::Steps;
use crate::draw::Distribution;
use afteryou_notation::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Propagation delay of a link, which comes to that of the path. A step is a change of the route.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Propagation {
    /// The delay from each time on; a packet has that of the instant at which it was sent.
    pub steps: Steps<Duration>,
    /// Packets overtake those that were sent over a longer route; otherwise they wait for them.
    #[serde(skip_serializing_if = "is_false", default)]
    pub reorder: bool,
}

/// Delay that differs from packet to packet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Jitter {
    /// The distribution of the delays.
    pub law: Distribution,
    /// Packets overtake one another; otherwise a packet waits for those before it.
    #[serde(skip_serializing_if = "is_false", default)]
    pub reorder: bool,
}

/// Acknowledgements that leave together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Aggregate {
    /// The number that leaves together,
    pub acks: u32,
    /// or those that came in this time.
    pub time: Duration,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

impl Propagation {
    /// Returns a delay that is always the same.
    pub fn constant(delay: Duration) -> Propagation {
        Propagation { steps: Steps::constant(delay), reorder: false }
    }

    /// Returns the shortest delay.
    pub fn least(&self) -> Duration {
        self.steps.points().iter().map(|(_, delay)| *delay).min().unwrap_or_default()
    }
}
