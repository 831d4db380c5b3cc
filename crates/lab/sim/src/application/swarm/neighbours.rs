//! Hosts and the neighbours that each may upload to.

use super::super::draw_index;
use afteryou_scenario::network::{Access, Route};
use rand_pcg::Pcg64;

/// A host that uploads.
pub(super) struct Peer {
    pub(super) access: Access,
    /// None where a neighbour's access is no bottleneck.
    pub(super) neighbours: Vec<Option<Neighbour>>,
    /// The peer uploads to this neighbour.
    pub(super) is_active: Vec<bool>,
}

/// Another host.
#[derive(Clone, Copy)]
pub(super) struct Neighbour {
    pub(super) host: usize,
    access: Access,
}

impl Peer {
    /// Returns the peer with this index and neighbours drawn from the others.
    pub(super) fn drawn(peer: usize, hosts: &[Access], neighbours: usize, random: &mut Pcg64) -> Peer {
        let others = hosts.iter().enumerate().filter(|(host, _)| *host != peer);
        let mut others: Vec<Option<Neighbour>> =
            others.map(|(host, access)| Some(Neighbour { host, access: *access })).collect();
        if others.is_empty() {
            others = vec![None; neighbours];
        }
        let number = neighbours.min(others.len());
        // The first steps of a Fisher–Yates shuffle.
        for i in 0..number {
            let other = i + draw_index(random, others.len() - i);
            others.swap(i, other);
        }
        others.truncate(number);
        Peer { access: hosts[peer], is_active: vec![false; number], neighbours: others }
    }

    /// Returns the route to a neighbour.
    pub(super) fn route(&self, neighbour: usize) -> Route {
        match &self.neighbours[neighbour] {
            Some(neighbour) => self.access.to(&neighbour.access),
            None => self.access.upload(),
        }
    }

    /// Returns a neighbour to which it does not upload, drawn at random; `None` if there is none.
    pub(super) fn inactive(&self, random: &mut Pcg64) -> Option<usize> {
        let inactive: Vec<usize> = (0..self.is_active.len()).filter(|i| !self.is_active[*i]).collect();
        (!inactive.is_empty()).then(|| inactive[draw_index(random, inactive.len())])
    }

    fn add(&mut self, host: usize, access: Access) {
        if self.neighbours.iter().flatten().all(|neighbour| neighbour.host != host) {
            self.neighbours.push(Some(Neighbour { host, access }));
            self.is_active.push(false);
        }
    }
}

/// Makes neighbours mutual: a neighbour of a peer has the peer for a neighbour from now on.
pub(super) fn make_mutual(peers: &mut [Peer]) {
    for peer in 0..peers.len() {
        let hosts: Vec<usize> =
            peers[peer].neighbours.iter().flatten().map(|neighbour| neighbour.host).collect();
        let access = peers[peer].access;
        hosts.into_iter().for_each(|host| peers[host].add(peer, access));
    }
}
