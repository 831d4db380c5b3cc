//! Records of a relay's packets.

use crate::way::Way;
use afteryou_aqm::DropReason;
use afteryou_base::{Span, Time};
use afteryou_scenario::outcome::{Lateness, Packets};

/// A link of a relay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkId(pub(super) u32);

/// A flow of a relay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlowId(pub(super) u32);

/// One packet in one direction of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// The link.
    pub link: LinkId,
    /// The flow.
    pub flow: FlowId,
    /// The direction of the link.
    pub way: Way,
    /// Which arrival of this direction it was, counted from zero.
    pub number: u64,
    /// Size of the IP packet, bytes.
    pub size_bytes: u32,
    /// TOS or traffic-class byte as it left: a queue may have set the CE mark. Zero where the platform hides it.
    pub tos: u8,
    /// When it arrived at the link.
    pub arrived_at: Time,
    /// The packet's outcome.
    pub fate: Fate,
}

/// The outcome for a packet. All times are those of the schedule, not of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It left the queue and was sent.
    Sent {
        /// When the link began to send it.
        dequeued_at: Time,
        /// Time it waited in the queue before.
        sojourn: Span,
        /// When it is due at the other end: behind its own serialisation and the propagation.
        due_at: Time,
    },
    /// The queue dropped it.
    Dropped {
        /// When.
        at: Time,
        /// Why.
        reason: DropReason,
    },
    /// It was lost at random when it arrived.
    Lost,
}

/// A relay's counters from start to stop.
#[derive(Clone, Debug)]
pub struct Statistics {
    /// Each link, in the order in which they were added.
    pub links: Vec<LinkStatistics>,
    /// How late packets were delivered; none if there was no packet. Includes the time that a datagram lay in the
    /// relay's socket, where the platform reports it ([`TOS_IS_KEPT`](super::TOS_IS_KEPT) has the platforms).
    pub lateness: Option<Lateness>,
    /// Datagrams ignored because they came from neither the flow's client nor its server.
    pub strangers: u64,
}

/// Counters of one link.
#[derive(Clone, Debug)]
pub struct LinkStatistics {
    /// The link's name.
    pub name: String,
    /// From clients to servers.
    pub forward: DirectionStatistics,
    /// From servers to clients.
    pub reverse: DirectionStatistics,
}

/// Counters of one direction of a link.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DirectionStatistics {
    /// The packets of this direction. Every one that arrived is in exactly one of the other counters.
    pub packets: Packets,
    /// Of the delivered: those that the machine then refused to send (no buffer space, nobody listening).
    pub unsent: u64,
    /// Datagrams that the machine dropped before the relay could read them; they are not in `packets`. Zero where the
    /// platform does not report it. Anything else means that the sender outran this machine, not the emulated link.
    pub missed: u64,
    /// Its queue's counters, per class.
    pub queue: afteryou_aqm::Statistics,
}
