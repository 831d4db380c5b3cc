//! Curves and marks, from which figures are drawn.

use super::quantiles::round;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A curve sampled at equal steps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Series {
    /// Whose it is: a flow, "link" for the short form's link, or a link by its name.
    pub of: String,
    /// The quantity: "goodput", "queuing_delay", "cwnd", "base_delay" … Where the scenario records senders also
    /// "flightsize", "rtt", "losses" and "marks".
    pub quantity: String,
    /// Unit of the values: "Mbit/s", "ms", "kB".
    pub unit: String,
    /// Time of the first value, s.
    pub start_s: f64,
    /// Time between values, s.
    pub step_s: f64,
    /// The values; none where there was nothing to measure.
    pub values: Vec<Option<f64>>,
}

impl Series {
    /// Creates a curve from the beginning of a run on, its values to three decimals.
    pub fn from_start(of: &str, quantity: &str, unit: &str, step_s: f64, values: Vec<Option<f64>>) -> Series {
        Series {
            of: of.to_owned(),
            quantity: quantity.to_owned(),
            unit: unit.to_owned(),
            start_s: 0.0,
            step_s,
            values: values.into_iter().map(|value| value.map(|value| round(value, 3))).collect(),
        }
    }
}

/// An event of a sender at its very time, where the scenario records events.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Exact {
    /// When, s, to the microsecond.
    pub at_s: f64,
    /// Whose.
    pub flow: String,
    /// "drop" by a queue, "loss" found, "spurious loss", "cut" of the window, "timeout", "handshake timeout", "stall",
    /// "base delay", or the name of the phase that begins.
    pub what: String,
    /// The window after it, bytes; for drops and losses the window as they happened.
    pub cwnd_bytes: u64,
    /// How long a stall lasted, or the new base delay, s.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub seconds: Option<f64>,
}

/// A phase of a flow's controller, where the scenario records senders.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PhaseSpan {
    /// Whose.
    pub flow: String,
    /// The phase, as the controller calls it.
    pub phase: String,
    /// From, s, to the microsecond.
    pub from_s: f64,
    /// Until, s.
    pub to_s: f64,
}

/// A moment worth a mark.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Mark {
    /// When, s.
    pub at_s: f64,
    /// Whose.
    pub of: String,
    /// The event: "slowdown", "start", "stop", "timeout".
    pub what: String,
}
