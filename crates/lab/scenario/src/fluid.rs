//! Settings of the fluid engine alone: the effects that its equations include, and their start values.

use afteryou_notation::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The smallest windows that `floor` takes, packets: from zero no window grows again.
pub const FLOORS: std::ops::RangeInclusive<f64> = 0.001..=1000.0;

/// Section `[fluid]` of a scenario; other engines have no use for it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Fluid {
    /// The components of a round trip.
    pub rtt: RoundTrip,
    /// When a sender learns of the queue.
    pub feedback: Feedback,
    /// The sender's source of the base delay.
    pub base: Base,
    /// The treatment of LEDBAT++'s slowdowns.
    pub slowdowns: Slowdowns,
    /// Which flows spread their windows over the round trip.
    #[serde(skip_serializing_if = "Pacing::is_default", default)]
    pub pacing: Pacing,
    /// The smallest window of every flow, packets; by its controller if there is none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub floor: Option<f64>,
    /// Length of a step at most; the engine's own choice by default.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub step: Option<Duration>,
    /// The window that each flow starts with, packets; by its controller if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub windows: Vec<f64>,
    /// The queue at the beginning, packets.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub queue: Option<f64>,
}

/// The components of a round trip.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum RoundTrip {
    /// The propagation delay, whatever the queue: as in the papers, where the closed forms are exact.
    Constant,
    /// The propagation delay and the queue's delay.
    #[default]
    WithQueue,
}

/// When a sender learns of the queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Feedback {
    /// At once: as in the papers.
    AtOnce,
    /// When the acknowledgement of a packet that met it is back.
    #[default]
    Delayed,
}

/// The sender's source of the base delay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Base {
    /// The propagation delay: as in the papers.
    Known,
    /// The shortest delay that it has seen since it started: a latecomer takes the standing queue for the path.
    #[default]
    Measured,
}

/// The treatment of LEDBAT++'s slowdowns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Slowdowns {
    /// Each one happens: the queue empties, as in reality.
    #[default]
    Events,
    /// Their mean is a factor on the rate: smooth, but a lone flow's queue never empties.
    Mean,
}

/// Which flows spread their windows over the round trip.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Pacing {
    /// All of them: as in the papers.
    All,
    /// Flows whose transport paces. The others send a window as one train of packets, so that growth in slow start queues
    /// even where the path has room.
    #[default]
    ByTransport,
}

impl Pacing {
    fn is_default(&self) -> bool {
        *self == Pacing::default()
    }
}
