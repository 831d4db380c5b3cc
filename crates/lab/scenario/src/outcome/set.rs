//! Figures of a set of flows in a window.

use super::sender::Stalls;
use super::window::{jain, FlowFigures, WindowFigures};
use super::{round, Levels, Quantiles, SizeClass};
use crate::flow_set::FlowSet;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// Flows that were measured together in a window.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SetFigures {
    /// The window's name.
    pub window: String,
    /// From, s.
    pub from_s: f64,
    /// Until, s.
    pub to_s: f64,
    /// The flows.
    pub flows: Vec<String>,
    /// Payload that arrived for the first time, of all flows together, bit/s.
    pub goodput_bit_s: f64,
    /// Sum of the flows' shares of payload capacity.
    pub share_of_payload_capacity: f64,
    /// Jain's index of the flows' goodputs in the window, where there are two or more. A flow on hosts counts as its hosts.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub fairness: Option<f64>,
    /// The same index in each step of the window, over the flows that were active in it.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub short_term: Option<ShortTerm>,
    /// The longest time that a flow was below a part of its fair share.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub starved: Option<Starved>,
    /// From the first start in the set, or the window's beginning if that is later, until the end of the first step in which the
    /// flows together reached `reach` of the payload capacity, s. None if they never did.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub start_up_s: Option<f64>,
    /// The set's part of each link, where the scenario records queues.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub links: Vec<SetAtLink>,
    /// Stalls of all senders together, where the scenario records senders.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub stalls: Option<Stalls>,
    /// Transfers that ended in the window, where a flow of the set has any.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub transfers: Option<SetTransfers>,
    /// The events after a lost packet, where the scenario records losses.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub after_loss: Option<AfterLoss>,
}

/// Jain's index over short steps. The members are flows; of a flow with many connections at once, its connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ShortTerm {
    /// Length of a step, s.
    pub step_s: f64,
    /// Steps with an index.
    pub steps: u64,
    /// Steps without one: fewer than two active members, or nothing arrived.
    pub skipped: u64,
    /// Mean of the index.
    pub mean: f64,
    /// 5th percentile, by nearest rank.
    pub p5: f64,
}

/// The longest time below a part of the fair share, to a step.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Starved {
    /// The part of the fair share. That share is the flow's payload capacity over the number of connections that were active on
    /// its slowest link in the step, times the number of its own among them.
    pub below: f64,
    /// The longest time, s: consecutive steps in which the flow was active and below.
    pub longest_s: f64,
    /// The flow; none if no flow starved for a step.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub flow: Option<String>,
}

/// A set's part of a link.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SetAtLink {
    /// The link.
    pub link: String,
    /// Bytes of the set that left the queue onto the link, headers and retransmissions included.
    pub bytes: u64,
    /// These bytes over those of all flows.
    pub share: f64,
    /// Mean number of the set's packets in the queue over time: its own part of E\[Q\].
    pub queue_packets: f64,
}

/// Transfers of a set that ended in the window.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SetTransfers {
    /// The number of transfers.
    pub completed: u64,
    /// From the beginning, the handshake included, until the last byte arrived.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub time: Option<Quantiles>,
    /// Goodput of single transfers, kbit/s: the bytes of each over the time that it took.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub goodput_kbit_s: Option<Levels>,
    /// The times by size; only classes in which a transfer was completed.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub classes: Vec<SizeClass>,
}

/// The consequences of a lost data packet, in the order in which its connection sent packets.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AfterLoss {
    /// Data packets lost in the window: dropped by a queue, or lost on a link.
    pub lost: u64,
    /// D_p(N) for N = 1, 2, …: the part of the lost packets whose N-th follower was lost, too. Lost packets without an N-th
    /// follower do not count.
    pub dropped: Vec<f64>,
    /// R_p(N) for N = 1, 2, …: the part of the lost packets whose N-th follower was their own retransmission.
    pub retransmitted: Vec<f64>,
}

impl SetFigures {
    /// Returns the figures that follow from those of the window's flows and links.
    pub fn of(set: &FlowSet, window: &WindowFigures) -> SetFigures {
        let names: HashSet<&str> = set.flows.iter().map(String::as_str).collect();
        let flows: Vec<&FlowFigures> =
            window.flows.iter().filter(|flow| names.contains(flow.flow.as_str())).collect();
        let sum = |of: fn(&FlowFigures) -> f64| flows.iter().fold(0.0, |sum, flow| sum + of(flow));
        let rates: Vec<f64> = flows.iter().flat_map(|flow| rates(flow, window)).collect();
        let mut stalls = None;
        for sender in flows.iter().filter_map(|flow| flow.sender.as_ref()) {
            stalls.get_or_insert_with(Stalls::default).add(&sender.stalls);
        }
        SetFigures {
            window: window.window.clone(),
            from_s: window.from_s,
            to_s: window.to_s,
            flows: set.flows.clone(),
            goodput_bit_s: round(sum(|flow| flow.goodput_bit_s), 0),
            share_of_payload_capacity: round(sum(|flow| flow.share_of_payload_capacity), 4),
            fairness: (rates.len() > 1).then(|| round(jain(&rates), 6)),
            links: at_links(window, &names),
            stalls,
            ..SetFigures::default()
        }
    }
}

/// Returns a flow's goodput, or that of each of its hosts.
fn rates(flow: &FlowFigures, window: &WindowFigures) -> Vec<f64> {
    let hosts = window.hosts.iter().filter(|host| host.flow == flow.flow);
    let of_hosts: Vec<f64> = hosts.map(|host| host.received_bit_s).collect();
    match of_hosts.is_empty() {
        true => vec![flow.goodput_bit_s],
        false => of_hosts,
    }
}

/// Sums over the flows of `names` at each link where flows are recorded.
fn at_links(window: &WindowFigures, names: &HashSet<&str>) -> Vec<SetAtLink> {
    let recorded = window.links.iter().filter(|link| !link.flows.is_empty());
    let part = |link: &super::LinkFigures| {
        let own = || link.flows.iter().filter(|flow| names.contains(flow.flow.as_str()));
        let all: u64 = link.flows.iter().map(|flow| flow.bytes).sum();
        let bytes: u64 = own().map(|flow| flow.bytes).sum();
        SetAtLink {
            link: link.link.clone(),
            bytes,
            share: round(bytes as f64 / all.max(1) as f64, 6),
            queue_packets: round(own().fold(0.0, |sum, flow| sum + flow.queue_packets), 4),
        }
    };
    recorded.map(part).collect()
}
