//! The events of an experiment.
//!
//! A [`Scenario`] is concrete: every flow is there with the times and the path that it has. All random draws and sweep
//! settings of a file have been made when one of these exists. So a result carries exactly the scenario that was run.

use crate::buffer::Buffer;
use crate::discipline::discipline;
use crate::element::Elements;
use crate::end_rule::EndRule;
use crate::flow_set::FlowSet;
use crate::fluid::Fluid;
use crate::hosts::Hosts;
use crate::path::{Direction, Path};
use crate::random;
use crate::record::Record;
use crate::route_change::RouteChange;
pub use crate::script::{Delay, Drop, Every};
use crate::traffic::{Gaps, Traffic};
use crate::transport::{Transport, TransportKind};
use afteryou_aqm::{Limit, Queue, Site};
use afteryou_notation::{Algorithm, Dscp, Duration, Error, Probability, Rate, Size};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Scenario {
    /// Its claim, one line.
    pub name: String,
    /// How long it runs.
    pub duration: Duration,
    /// Seed of every random choice.
    pub seed: u64,
    /// Intervals that get figures of their own.
    pub measure: Vec<Window>,
    /// Flows that are measured together in a window, at most one set for each.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub sets: Vec<FlowSet>,
    /// Time between the points of curves. By default the engine chooses one by the run's length.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sample: Option<Duration>,
    /// Measures beyond the usual figures, in order, each once.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub record: Vec<Record>,
    /// Run it a second time without the background flows, and compare.
    pub baseline: bool,
    /// The bottleneck: the link of the short form, or the first of several named ones.
    pub link: Link,
    /// The other named links.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub further_links: Vec<Link>,
    /// Hosts whose access links are among the named ones.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub hosts: Vec<Hosts>,
    /// The flows.
    pub flow: Vec<Flow>,
    /// Packets to drop, before they reach the queue.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub drop: Vec<Drop>,
    /// Packets to hold back, so that others overtake them.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub delay: Vec<Delay>,
    /// Changes of routes.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub route_change: Vec<RouteChange>,
    /// Settings of the fluid engine alone.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub fluid: Option<Fluid>,
}

/// A link. Without a name it is the bottleneck and has two directions; with a name it goes one way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Link {
    /// Its name, by which paths refer to it, unique in the scenario; none in the short form.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub name: Option<String>,
    /// Rate, counted in IP packets (headers included).
    pub rate: Rate,
    /// How much its queue may hold.
    pub buffer: Buffer,
    /// Queue discipline.
    pub queue: Algorithm,
    /// Probability that a packet is lost at random, in each direction.
    pub loss: Probability,
    /// Its other effects on packets, in each direction.
    #[serde(skip_serializing_if = "Elements::is_plain", default)]
    pub elements: Elements,
    /// The reverse direction, where it differs; short form only.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub reverse: Option<Reverse>,
}

/// The reverse direction of the short form's link: settings left out are as in the forward direction.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Reverse {
    /// Rate.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub rate: Option<Rate>,
    /// How much its queue may hold.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub buffer: Option<Buffer>,
    /// Queue discipline.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub queue: Option<Algorithm>,
    /// Probability that a packet is lost at random.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub loss: Option<Probability>,
    /// Its other effects on packets: all of its elements, if they differ from those of the forward direction.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub elements: Option<Elements>,
}

/// One flow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Flow {
    /// Its name, unique in the scenario.
    pub name: String,
    /// The name under which it was written together with others (`count`), if it was.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub group: Option<String>,
    /// The foreground and the background.
    pub role: Role,
    /// Congestion controller; none for traffic at a constant rate.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub controller: Option<Algorithm>,
    /// Protocol.
    pub transport: Transport,
    /// How its receiver limits the sender, over TCP; by its buffer alone if not given.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub receiver: Option<EndRule>,
    /// How its sender's host limits it, over TCP; not at all if not given.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sender: Option<EndRule>,
    /// Base round-trip time.
    pub rtt: Duration,
    /// Which direction of the short form's link its data cross.
    #[serde(skip_serializing_if = "Direction::is_up", default)]
    pub direction: Direction,
    /// The named links that its packets cross; none in the short form.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub path: Option<Path>,
    /// The hosts that it runs on, for a swarm and downloads.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub hosts: Option<String>,
    /// The host before the bottleneck that it belongs to, for queues that keep hosts apart; one of its own if not given.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub host: Option<String>,
    /// When it starts.
    pub start: Duration,
    /// When it stops; at the end of the run by default.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub stop: Option<Duration>,
    /// When it has something to send, ascending; all the time if empty.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub active: Vec<[Duration; 2]>,
    /// Each time of activity has a connection of its own.
    #[serde(skip_serializing_if = "is_false", default)]
    pub reconnect: bool,
    /// The flow's traffic.
    pub traffic: Traffic,
    /// Sizes of its packets; the transport's own by default.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub packet: Option<PacketFormat>,
    /// The class that its packets claim; from its role by default.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub dscp: Option<Dscp>,
    /// The elements that its data meet before the first link of their path.
    #[serde(skip_serializing_if = "Elements::is_plain", default)]
    pub elements: Elements,
}

/// Sizes of a flow's packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PacketFormat {
    /// Payload of a full packet.
    pub payload: Size,
    /// Headers, as far as the link's rate counts them; an acknowledgement is this long.
    pub overhead: Size,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

/// The foreground and the background.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Must not notice.
    Foreground,
    /// Must not be noticed.
    Background,
}

/// An interval that is measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Window {
    /// Its name, unique in the scenario.
    pub name: String,
    /// From.
    pub from: Duration,
    /// Until.
    pub to: Duration,
}

impl Scenario {
    /// Creates an experiment without flows that measures nothing yet.
    pub fn new(name: impl Into<String>, duration: Duration, link: Link) -> Scenario {
        Scenario {
            name: name.into(),
            duration,
            seed: 1,
            measure: Vec::new(),
            sets: Vec::new(),
            sample: None,
            record: Vec::new(),
            baseline: false,
            link,
            further_links: Vec::new(),
            hosts: Vec::new(),
            flow: Vec::new(),
            drop: Vec::new(),
            delay: Vec::new(),
            route_change: Vec::new(),
            fluid: None,
        }
    }

    /// Returns the same experiment without its background flows.
    pub fn without_background(&self) -> Scenario {
        let foreground =
            |name: &str| self.flow.iter().any(|flow| flow.name == name && flow.role == Role::Foreground);
        let flow = self.flow.iter().filter(|flow| flow.role == Role::Foreground).cloned().collect();
        let drop = self.drop.iter().filter(|drop| drop.flow.as_deref().is_none_or(foreground));
        let delay = self.delay.iter().filter(|delay| foreground(&delay.flow));
        let concerned = |change: &&RouteChange| {
            let mut flows = self.flow.iter().filter(|flow| flow.role == Role::Foreground);
            change.flow.is_none() || flows.any(|flow| change.concerns(flow))
        };
        let route_change = self.route_change.iter().filter(concerned).cloned().collect();
        let set = |set: &FlowSet| FlowSet {
            flows: set.flows.iter().filter(|flow| foreground(flow)).cloned().collect(),
            ..set.clone()
        };
        Scenario {
            name: format!("{}, without background", self.name),
            baseline: false,
            sets: self.sets.iter().map(set).collect(),
            flow,
            drop: drop.cloned().collect(),
            delay: delay.cloned().collect(),
            route_change,
            ..self.clone()
        }
    }
}

impl Link {
    /// Creates a link with a DropTail queue that loses nothing and is the same both ways.
    pub fn new(rate: Rate, buffer: Buffer) -> Link {
        Link {
            name: None,
            rate,
            buffer,
            queue: Algorithm::named("droptail"),
            loss: Probability::default(),
            elements: Elements::default(),
            reverse: None,
        }
    }

    /// Returns the same link with a name, so that paths can refer to it.
    pub fn named(self, name: impl Into<String>) -> Link {
        Link { name: Some(name.into()), ..self }
    }

    /// Returns the reverse direction as a link of its own.
    pub fn back(&self) -> Link {
        let reverse = self.reverse.clone().unwrap_or_default();
        Link {
            name: self.name.clone(),
            rate: reverse.rate.unwrap_or(self.rate),
            buffer: reverse.buffer.unwrap_or(self.buffer),
            queue: reverse.queue.unwrap_or_else(|| self.queue.clone()),
            loss: reverse.loss.unwrap_or(self.loss),
            elements: reverse.elements.unwrap_or_else(|| self.elements.clone()),
            reverse: None,
        }
    }

    /// Returns the limit of its queue.
    pub fn limit(&self) -> Limit {
        self.buffer.limit(self.rate)
    }

    /// Builds its queue in one direction, empty; `stream` names the queue's random numbers.
    ///
    /// # Errors
    /// An unknown discipline, a parameter that it refuses, or a buffer that holds nothing.
    pub fn build_queue<T: Send + 'static>(
        &self,
        seed: u64,
        stream: &str,
    ) -> Result<Box<dyn Queue<T>>, Error> {
        let (entry, overrides) = discipline(&self.queue)?;
        let site = Site {
            limit: self.limit(),
            bits_per_second: self.rate.bits_per_second(),
            random: random::stream(seed, stream),
        };
        let refused = |error: afteryou_aqm::Error| Error::Parameter {
            of: entry.name.to_owned(),
            reason: error.to_string(),
        };
        entry.build(&overrides, site).map_err(refused)
    }
}

/// The default payload and headers of a full packet, bytes: headers of IPv4 and TCP with timestamps, of IPv4, UDP and
/// uTP, of IPv4 and UDP.
const TCP_PACKET: (u64, u64) = (1448, 52);
const UTP_PACKET: (u64, u64) = (1352, 48);
/// With IPv4 and UDP, and QUIC's headers of a packet with one stream: 33 bytes with the tag of its encryption.
const QUIC_PACKET: (u64, u64) = (1419, 61);
const UDP_OVERHEAD: u64 = 28;

impl Flow {
    /// Creates bulk traffic over TCP for the whole run.
    pub fn new(name: impl Into<String>, role: Role, controller: &str, rtt: Duration) -> Flow {
        Flow {
            name: name.into(),
            group: None,
            role,
            controller: Some(Algorithm::named(controller)),
            transport: Transport::tcp(),
            receiver: None,
            sender: None,
            rtt,
            direction: Direction::Up,
            path: None,
            hosts: None,
            host: None,
            start: Duration::default(),
            stop: None,
            active: Vec::new(),
            reconnect: false,
            traffic: Traffic::Bulk,
            packet: None,
            dscp: None,
            elements: Elements::default(),
        }
    }

    /// Returns the class of its packets: lower effort for background flows, unless the scenario has another.
    pub fn dscp(&self) -> Dscp {
        let by_role = if self.role == Role::Background { Dscp::LE } else { Dscp::DEFAULT };
        self.dscp.unwrap_or(by_role)
    }

    /// Creates bare datagrams at a constant rate for the whole run.
    pub fn cbr(name: impl Into<String>, role: Role, rate: Rate, payload: Size, rtt: Duration) -> Flow {
        Flow {
            controller: None,
            transport: Transport::udp(),
            traffic: Traffic::Cbr { rate, payload, gaps: Gaps::Equal },
            ..Flow::new(name, role, "", rtt)
        }
    }

    /// Returns the sizes of its packets.
    pub fn packet_format(&self) -> PacketFormat {
        let own = |(payload, overhead)| PacketFormat {
            payload: Size::from_bytes(payload),
            overhead: Size::from_bytes(overhead),
        };
        match (self.packet, &self.traffic, self.transport.kind) {
            (Some(format), ..) => format,
            (None, Traffic::Cbr { payload, .. }, _) => own((payload.bytes(), UDP_OVERHEAD)),
            (None, _, TransportKind::Utp) => own(UTP_PACKET),
            (None, _, TransportKind::Quic) => own(QUIC_PACKET),
            // The programs of a command over bare datagrams make packets of any size.
            (None, _, TransportKind::Tcp | TransportKind::Udp) => own(TCP_PACKET),
        }
    }
}
