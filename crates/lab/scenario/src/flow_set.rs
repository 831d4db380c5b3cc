//! Sets of flows that a window measures together.

use afteryou_base::Span;
use afteryou_notation::{Duration, Error, Probability};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Shortest step: rates over less are single packets.
const SHORTEST_STEP: Span = Span::from_millis(1);
/// Most steps of a window.
const MOST_STEPS: u64 = 1_000_000;

/// Flows that are measured together in a window. In files these are keys of `[[measure]]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FlowSet {
    /// Name of the window.
    pub window: String,
    /// Names of the flows, in the order of the scenario.
    pub flows: Vec<String>,
    /// Rates over time are means over steps of this length.
    pub step: Duration,
    /// A longer time without progress of the cumulative acknowledgement is a stall.
    pub stall: Duration,
    /// A flow below this part of its fair share starves.
    pub starved: Probability,
    /// The start-up is over when the flows together reach this part of the capacity.
    pub reach: Probability,
    /// The rates that an index of fairness over time is made of.
    #[serde(skip_serializing_if = "Among::is_connections", default)]
    pub among: Among,
}

/// The rates that one index of fairness is made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Among {
    /// All active connections of the set.
    #[default]
    Connections,
    /// The upload slots of a host; the index of a step is the mean over the hosts. A connection takes the slot of the
    /// one that the host closed before. So a host that continues with another peer has one rate and not two.
    HostSlots,
}

impl Among {
    /// The words of files.
    pub const WORDS: &'static [&'static str] = &["connections", "host-slots"];

    fn is_connections(&self) -> bool {
        *self == Among::Connections
    }
}

impl FlowSet {
    /// Creates a set with steps of 1 s, stalls from the least RTO of Linux on, starvation below 10 % of the fair share,
    /// start-up until 90 %.
    pub fn new(window: impl Into<String>, flows: Vec<String>) -> FlowSet {
        let part = |ratio: f64| Probability::from_ratio(ratio).unwrap_or_default();
        FlowSet {
            window: window.into(),
            flows,
            step: Duration::from_millis(1000),
            stall: Duration::from_millis(200),
            starved: part(0.1),
            reach: part(0.9),
            among: Among::default(),
        }
    }

    /// Returns whether its step suits a window of this length.
    ///
    /// # Errors
    /// A step longer than the window, or so short that the curve would have too many points.
    pub fn check_step(&self, length: Duration) -> Result<(), Error> {
        let least = Duration((length.0 / MOST_STEPS).max(SHORTEST_STEP));
        match (least..=length).contains(&self.step) {
            true => Ok(()),
            false => Err(Error::Contradiction(format!(
                "step = {} is no step for a window of {length}: use {least} to {length}",
                self.step
            ))),
        }
    }
}
