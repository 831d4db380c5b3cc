//! Changes of routes during a run.

use crate::path::Path;
use afteryou_notation::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// From a time on, packets of some flows take another route. Packets in flight stay on the old one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RouteChange {
    /// From this time on.
    pub at: Duration,
    /// The flow, or the name of several that were written together; all flows by default.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub flow: Option<String>,
    /// The new path over named links; as before by default.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub path: Option<Path>,
    /// The new base round-trip time; as before by default.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rtt: Option<Duration>,
}
