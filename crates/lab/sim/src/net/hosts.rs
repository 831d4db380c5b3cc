//! Hosts of flows: queues that keep hosts apart are notified of each connection's.

use crate::link::Link;
use afteryou_aqm::Hosts;
use afteryou_scenario::network::Route;
use afteryou_scenario::path::Direction;
use afteryou_scenario::Scenario;
use std::collections::BTreeSet;

/// By flow, the number of its host, and whether that host sends data. Empty if no flow names a host.
#[derive(Debug)]
pub(super) struct Homes(Vec<Option<(u32, bool)>>);

impl Homes {
    /// Assigns to the hosts of a scenario's flows numbers, in the order of their names.
    pub(super) fn new(scenario: &Scenario) -> Homes {
        let names: BTreeSet<&str> = scenario.flow.iter().filter_map(|flow| flow.host.as_deref()).collect();
        if names.is_empty() {
            return Homes(Vec::new());
        }
        let number = |name: &str| names.iter().position(|known| *known == name).map(|place| place as u32);
        let homes = scenario.flow.iter().map(|flow| {
            let host = flow.host.as_deref().and_then(number)?;
            Some((host, flow.direction == Direction::Up))
        });
        Homes(homes.collect())
    }

    /// Notes the hosts of a flow's connection at the links of its route. The host at its other end is not known.
    pub(super) fn note(&self, connection: usize, flow: usize, route: &Route, links: &mut [Link]) {
        let Some((host, sends_data)) = self.0.get(flow).copied().flatten() else { return };
        for (way, sends) in [(&route.forward, sends_data), (&route.reverse, !sends_data)] {
            let ends = (Some(host), None);
            let (source, destination) = if sends { ends } else { (ends.1, ends.0) };
            way.iter().for_each(|link| links[*link].note_hosts(connection, Hosts { source, destination }));
        }
    }
}
