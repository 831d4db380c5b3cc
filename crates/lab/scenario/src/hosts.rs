//! Hosts with access links of their own: a swarm of peers.
//!
//! Every host has an uplink and a downlink, which are named links of the scenario, and a share in round-trip times: that of two
//! hosts' path is the mean of theirs. A server that is no bottleneck has neither.

use afteryou_notation::Duration;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Hosts that were written together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Hosts {
    /// Their name, by which flows refer to them.
    pub name: String,
    /// Each of them.
    pub host: Vec<Host>,
}

/// A host.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Host {
    /// The link that it sends on.
    pub up: String,
    /// The link that it receives from.
    pub down: String,
    /// Round-trip time of the path to another host with the same one, or to a server.
    pub rtt: Duration,
}
