//! Which flows' data cross which link.

use crate::scenario::Scenario;
use std::collections::HashMap;

/// For each link of a scenario's network, the flows whose data cross it.
pub(super) struct Crossings<'a> {
    links: Vec<Crossing<'a>>,
}

/// The flows whose data cross one link. Each has the rate of its path's slowest link over the rate of this one: a share of
/// the one capacity times this is a share of the other.
pub(super) type Crossing<'a> = HashMap<&'a str, f64>;

impl<'a> Crossings<'a> {
    /// Returns the crossings of a scenario. Without a network, which no engine runs, all flows cross the first link.
    pub(super) fn of(scenario: &'a Scenario) -> Crossings<'a> {
        let name = |flow: usize| scenario.flow[flow].name.as_str();
        let Ok(network) = scenario.network() else {
            return Crossings {
                links: vec![(0..scenario.flow.len()).map(|flow| (name(flow), 1.0)).collect()],
            };
        };
        let mut links = vec![Crossing::new(); network.links.len()];
        for flow in 0..network.routes.len() {
            if !network.hosts[flow].is_empty() {
                continue; // its data cross many links, each in part
            }
            let slowest = network.rate_of_flow(flow) as f64;
            for link in network.routes_of(flow).flat_map(|route| &route.forward) {
                let rate = network.links[*link].link.rate.bits_per_second() as f64;
                links[*link].insert(name(flow), slowest / rate);
            }
        }
        Crossings { links }
    }

    /// Returns each link, in the order of the network.
    pub(super) fn links(&self) -> impl Iterator<Item = &Crossing<'a>> {
        self.links.iter()
    }
}
