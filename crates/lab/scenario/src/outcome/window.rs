//! Figures of one window: its links and its flows.

use super::crossing::Crossings;
use super::sender::SenderFigures;
use super::{round, Quantiles};
use crate::scenario::{Role, Scenario};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// Figures of one window.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WindowFigures {
    /// The window's name.
    pub window: String,
    /// From, s.
    pub from_s: f64,
    /// Until, s.
    pub to_s: f64,
    /// Each link, the bottleneck first.
    pub links: Vec<LinkFigures>,
    /// Each flow.
    pub flows: Vec<FlowFigures>,
    /// Each host of each flow that runs on hosts.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub hosts: Vec<HostFigures>,
}

/// A host of a flow in a window: a peer of a swarm, or one that downloads.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HostFigures {
    /// The flow.
    pub flow: String,
    /// The host: the name of its uplink, without " up".
    pub host: String,
    /// Payload that it received for the first time, bit/s.
    pub received_bit_s: f64,
    /// Payload of its uploads that arrived for the first time, bit/s.
    pub sent_bit_s: f64,
}

/// Figures of a link in one window. A link goes one way, so these are figures of a direction, too.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LinkFigures {
    /// The link's name, as in the run's `links`.
    pub link: String,
    /// The rate at which it could have sent, headers included, bit/s: the mean over the window. The content of a token bucket as the window began is part of it.
    pub capacity_bit_s: f64,
    /// Bytes that left the link (headers included) over what it could have sent. Of a packet at an edge of the window the part counts
    /// that was sent within.
    pub utilisation: f64,
    /// Time that packets spent in its queue.
    pub queuing_delay: Option<Quantiles>,
    /// Mean number of packets in the queue over time, the one in transmission not counted.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub queue_packets: Option<f64>,
    /// The length of its queue over time, where the scenario records queues.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub queue_length: Option<QueueLength>,
    /// Mean length of its queue over what its buffer holds, E\[Q\] / Q_max, of buffers in packets.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub queue_of_buffer: Option<f64>,
    /// Connections that share a bucket of its queue, where the scenario records queues and the queue has buckets.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub buckets: Option<BucketFigures>,
    /// Each flow's part of the link, where the scenario records queues.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub flows: Vec<FlowAtLink>,
    /// Each class, in scenarios with flows of both.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub classes: Vec<ClassFigures>,
    /// Jain's index of the goodput of background flows with a controller whose data cross the link, where there are two or
    /// more.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub fairness: Option<f64>,
    /// The same index of foreground flows.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub foreground_fairness: Option<f64>,
    /// Goodput of the background over what the foreground left of the link's payload capacity; none if less than 5 % was
    /// left. Counted are flows whose data cross the link.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub harvest: Option<f64>,
    /// Goodput of the foreground over that of all flows whose data cross the link.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub foreground_share: Option<f64>,
}

/// The length of a queue over time, in packets; the one in transmission is not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct QueueLength {
    /// Part of the time during which no packet waited: P(Q = 0).
    pub empty: f64,
    /// The queue was no longer than this half of the time.
    pub p50: u64,
    /// The same for 95 % of the time.
    pub p95: u64,
    /// The same for 99 % of the time.
    pub p99: u64,
    /// The greatest length.
    pub max: u64,
}

/// A flow's part of a link in a window: its packets of both kinds, data and acknowledgements.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FlowAtLink {
    /// The flow.
    pub flow: String,
    /// Bytes of it that left the queue onto the link, headers and retransmissions included.
    pub bytes: u64,
    /// These bytes over those of all flows.
    pub share: f64,
    /// Mean number of its packets in the queue over time.
    pub queue_packets: f64,
    /// Its packets in the queue as the window ended.
    #[serde(default)]
    pub queued_at_end: u64,
}

/// Connections at a queue with buckets, as a window ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BucketFigures {
    /// Connections of which a packet came in the window, of both kinds: data and acknowledgements.
    pub connections: u64,
    /// Those of them that share their bucket with another one.
    pub sharing: u64,
}

/// The packets of one class in a window.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ClassFigures {
    /// "best effort" or "lower effort".
    pub class: String,
    /// Time that its packets spent in the link's queue.
    pub queuing_delay: Option<Quantiles>,
    /// Mean number of its packets in the queue over time.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub queue_packets: Option<f64>,
}

/// Figures of one flow in one window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FlowFigures {
    /// The flow's name.
    pub flow: String,
    /// The flow's role.
    pub role: Role,
    /// Payload that arrived for the first time, bit/s. A packet counts as it arrives, so a window has up to one more than its time.
    pub goodput_bit_s: f64,
    /// Goodput over what the slowest link of its path could carry of this flow's payload, headers taken off. Of a packet at an edge of
    /// the window the part counts that was sent within, so no more than 1; out of a token bucket a packet comes at once, and counts whole.
    pub share_of_payload_capacity: f64,
    /// Delay of this flow's packets beyond the propagation delay, for flows that measure it (cbr).
    pub queuing_delay: Option<Quantiles>,
    /// Its sender over time, where the scenario records senders.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sender: Option<SenderFigures>,
}

/// Returns Jain's index of fairness: (Σx)² / (n · Σx²).
pub fn jain(rates: &[f64]) -> f64 {
    let (sum, squares) = rates.iter().fold((0.0, 0.0), |(sum, squares), x| (sum + x, squares + x * x));
    if squares == 0.0 {
        return 1.0;
    }
    sum * sum / (rates.len() as f64 * squares)
}

/// A harvest has no meaning below this share of the payload capacity left over.
const LEAST_LEFT_OVER: f64 = 0.05;

impl WindowFigures {
    /// Returns the first link: the only one of most scenarios. None where nothing was measured.
    pub fn bottleneck(&self) -> Option<&LinkFigures> {
        self.links.first()
    }

    /// Returns the link called `name`.
    pub fn link(&self, name: &str) -> Option<&LinkFigures> {
        self.links.iter().find(|link| link.link == name)
    }

    /// Fills in what follows for each link from the figures of the flows that cross it.
    pub fn derive(&mut self, scenario: &Scenario) {
        // A constant rate is no share of anything: the application set it.
        let elastic = scenario.flow.iter().filter(|flow| flow.controller.is_some());
        let elastic: HashSet<&str> = elastic.map(|flow| flow.name.as_str()).collect();
        for (link, crossing) in self.links.iter_mut().zip(Crossings::of(scenario).links()) {
            let part = |flow: &FlowFigures| {
                let of_capacity = crossing.get(flow.flow.as_str())?;
                Some(Part {
                    role: flow.role,
                    goodput_bit_s: flow.goodput_bit_s,
                    of_capacity: flow.share_of_payload_capacity * of_capacity,
                    is_elastic: elastic.contains(flow.flow.as_str()),
                })
            };
            let parts: Vec<Part> = self.flows.iter().filter_map(part).collect();
            if !parts.is_empty() {
                link.derive(&parts);
            }
        }
    }
}

/// The part that a flow has in a link.
struct Part {
    role: Role,
    goodput_bit_s: f64,
    /// Of what the link could carry of the flow's payload.
    of_capacity: f64,
    is_elastic: bool,
}

impl LinkFigures {
    fn derive(&mut self, parts: &[Part]) {
        let of = |role: Role| parts.iter().filter(move |part| part.role == role);
        // From +0: the empty sum is −0, which would show.
        let share = |role| of(role).fold(0.0, |sum, part| sum + part.of_capacity);
        let goodput = |role| of(role).fold(0.0, |sum, part| sum + part.goodput_bit_s);
        let fairness = |role| {
            let competing = of(role).filter(|part| part.is_elastic);
            let rates: Vec<f64> = competing.map(|part| part.goodput_bit_s).collect();
            (rates.len() > 1).then(|| round(jain(&rates), 4))
        };
        let left_over = 1.0 - share(Role::Foreground);
        let harvests = of(Role::Background).next().is_some() && left_over >= LEAST_LEFT_OVER;
        let all = goodput(Role::Foreground) + goodput(Role::Background);
        (self.foreground_fairness, self.fairness) = (fairness(Role::Foreground), fairness(Role::Background));
        self.harvest = harvests.then(|| round(share(Role::Background) / left_over, 4));
        self.foreground_share = (all > 0.0).then(|| round(goodput(Role::Foreground) / all, 4));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer::Buffer;
    use crate::{Flow, Link};
    use afteryou_notation::{Duration, Rate, Size};

    #[test]
    fn jain_of_the_check_vectors() {
        let index = |rates: &[f64]| round(jain(rates), 6);
        assert_eq!(index(&[9.0, 1.0]), 0.609756);
        assert_eq!(index(&[10.0, 0.0]), 0.5);
        assert_eq!(index(&[4.0, 3.0, 2.0, 1.0]), 0.833333);
        assert_eq!(index(&[5.0, 5.0]), 1.0);
        assert_eq!(index(&[0.0, 0.0]), 1.0);
    }

    fn figures(flow: &str, role: Role, share: f64) -> FlowFigures {
        FlowFigures {
            flow: flow.to_owned(),
            role,
            goodput_bit_s: share * 1e7,
            share_of_payload_capacity: share,
            queuing_delay: None,
            sender: None,
        }
    }

    /// Returns a scenario of flows with a controller.
    fn scenario(flows: &[(&str, Role)]) -> Scenario {
        let rtt = Duration::from_millis(40);
        let flow = flows.iter().map(|(name, role)| Flow::new(*name, *role, "cubic", rtt)).collect();
        let link = Link::new(Rate::from_mbit(10), Buffer::Time(rtt));
        Scenario { flow, ..Scenario::new("", rtt, link) }
    }

    /// Returns the bottleneck's derived figures in a window with these flows.
    fn derived(scenario: &Scenario, flows: Vec<FlowFigures>) -> LinkFigures {
        let links = vec![LinkFigures::default()];
        let mut window = WindowFigures { links, flows, ..WindowFigures::default() };
        window.derive(scenario);
        window.links.remove(0)
    }

    #[test]
    fn foreground_flows_have_an_index_of_their_own_and_constant_rates_are_in_none() {
        let (front, back) = (Role::Foreground, Role::Background);
        let mut scenario = scenario(&[("one", front), ("two", front), ("backup", back)]);
        let call = Flow::cbr(
            "call",
            front,
            Rate::from_bits(64_000),
            Size::from_bytes(160),
            Duration::from_millis(40),
        );
        scenario.flow.push(call);
        let flows = vec![
            figures("one", front, 0.6),
            figures("two", front, 0.2),
            figures("call", front, 0.01),
            figures("backup", back, 0.1),
        ];
        let derived = derived(&scenario, flows);
        assert_eq!((derived.foreground_fairness, derived.fairness), (Some(0.8), None));
    }

    #[test]
    fn a_harvest_is_what_the_background_takes_of_what_is_left() {
        let (front, back) = (Role::Foreground, Role::Background);
        let scenario = scenario(&[("upload", front), ("backup", back), ("sync", back)]);
        let (upload, backup) =
            (|share| figures("upload", front, share), |share| figures("backup", back, share));
        let derived = |flows| {
            let derived = derived(&scenario, flows);
            (derived.harvest, derived.fairness, derived.foreground_share)
        };
        let three = vec![upload(0.6), backup(0.2), figures("sync", back, 0.2)];
        assert_eq!(derived(three), (Some(1.0), Some(1.0), Some(0.6)));
        assert_eq!(derived(vec![upload(0.96), backup(0.04)]), (None, None, Some(0.96)));
        assert_eq!(derived(vec![backup(0.0)]), (Some(0.0), None, None));
    }
}
