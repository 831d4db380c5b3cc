//! Routes over the links of a network, and those between hosts.

use afteryou_base::{Span, Time};

/// The links that a flow's packets cross, as indices of [`Network::links`](crate::Network).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Route {
    /// By data.
    pub forward: Vec<usize>,
    /// By acknowledgements.
    pub reverse: Vec<usize>,
    /// Propagation delay of the forward path.
    pub forward_delay: Span,
    /// Propagation delay of the reverse path.
    pub reverse_delay: Span,
}

/// A flow's route from some time on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rerouted {
    /// When packets begin to take it.
    pub at: Time,
    /// The route.
    pub route: Route,
}

/// A host's access: the indices of its links in the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The index of the host's uplink.
    pub up: usize,
    /// The index of the host's downlink.
    pub down: usize,
    /// As [`Host::rtt`](crate::hosts::Host::rtt).
    pub rtt: Span,
}

impl Access {
    /// Returns the route of data from this host to `peer`.
    pub fn to(&self, peer: &Access) -> Route {
        route(vec![self.up, peer.down], vec![peer.up, self.down], Span((self.rtt.0 + peer.rtt.0) / 2))
    }

    /// Returns the route of data from this host to one whose access is no bottleneck.
    pub fn upload(&self) -> Route {
        route(vec![self.up], vec![self.down], self.rtt)
    }

    /// Returns the route of data to this host from a server that is no bottleneck.
    pub fn download(&self) -> Route {
        route(vec![self.down], vec![self.up], self.rtt)
    }
}

fn route(forward: Vec<usize>, reverse: Vec<usize>, rtt: Span) -> Route {
    let forward_delay = rtt / 2;
    Route { forward, reverse, forward_delay, reverse_delay: rtt - forward_delay }
}
