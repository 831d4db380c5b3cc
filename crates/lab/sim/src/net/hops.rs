//! The hops of all connections.
//!
//! Every connection has 2ⁿ places for hops, so that its hops are found by a shift. Each route of its flow has as many of them,
//! the first half for data and the second half for acknowledgements. A packet's label is the number of its hop, so it stays on the
//! route that it began on. Places are filled in when the connection is opened.

use crate::packet::Packet;
use afteryou_scenario::network::Network;

/// Which way of its connection a packet goes, whichever links these are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// From the sender to the receiver.
    Forward,
    /// From the receiver to the sender.
    Reverse,
}

/// A step of a path.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Hop {
    /// Index of the link.
    pub(super) link: u32,
    /// Index of the wire behind it.
    pub(super) line: u32,
}

/// The hops of all connections.
pub(super) struct Hops {
    hops: Vec<Hop>,
    /// Each connection has 2 to the power of this many places.
    shift: u32,
    /// Number of the first hop of acknowledgements: the bit of a packet's direction. Routes are counted above it.
    reverse: u8,
}

impl Hops {
    pub(super) fn new(network: &Network) -> Hops {
        let flows = 0..network.routes.len();
        let routes = flows.clone().flat_map(|flow| network.routes_of(flow));
        let lengths = routes.map(|route| route.forward.len().max(route.reverse.len()));
        // A checked scenario has few enough routes and links for the packet's eight bits.
        let half = lengths.max().unwrap_or(1).next_power_of_two();
        let routes =
            flows.map(|flow| network.rerouted[flow].len() + 1).max().unwrap_or(1).next_power_of_two();
        let shift = half.trailing_zeros() + 1 + routes.trailing_zeros();
        Hops { hops: Vec::new(), shift, reverse: half as u8 }
    }

    /// Returns the places of a connection's data and acknowledgements on its route with this number, made if there are none
    /// yet.
    pub(super) fn places(&mut self, connection: usize, route: usize) -> (&mut [Hop], &mut [Hop]) {
        let half = usize::from(self.reverse);
        let (from, to) = ((connection << self.shift) + 2 * half * route, (connection + 1) << self.shift);
        if self.hops.len() < to {
            self.hops.resize(to, Hop::default());
        }
        self.hops[from..from + 2 * half].split_at_mut(half)
    }

    pub(super) fn of(&self, packet: &Packet) -> Hop {
        self.hops[(packet.flow as usize) << self.shift | packet.label as usize]
    }

    /// Returns the number of the first hop on a route.
    pub(super) fn first(&self, route: usize, way: Way) -> u8 {
        let begin = (2 * usize::from(self.reverse) * route) as u8;
        match way {
            Way::Forward => begin,
            Way::Reverse => begin | self.reverse,
        }
    }

    pub(super) fn way(&self, packet: &Packet) -> Way {
        match packet.label & self.reverse {
            0 => Way::Forward,
            _ => Way::Reverse,
        }
    }

    /// Returns the number of the route that a packet is on.
    pub(super) fn route(&self, packet: &Packet) -> usize {
        usize::from(packet.label) / (2 * usize::from(self.reverse))
    }
}
