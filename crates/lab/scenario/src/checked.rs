//! Checked scenarios, which engines take.

use crate::fault::Fault;
use crate::network::Network;
use crate::scenario::{Role, Scenario};
use serde::{Deserialize, Serialize};
use std::ops::Deref;

/// A scenario that was [checked](Scenario::checked), with its network. Engines take no other, so each is checked once.
/// Reading one from JSON checks it, too.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "Scenario", try_from = "Scenario")]
pub struct Checked {
    scenario: Scenario,
    network: Network,
}

impl Checked {
    /// Puts a scenario and its network together; the caller has checked both.
    pub(crate) fn new(scenario: Scenario, network: Network) -> Checked {
        Checked { scenario, network }
    }

    /// Returns the links, and the route of each flow.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// Returns the scenario, to be changed and checked anew.
    pub fn into_scenario(self) -> Scenario {
        self.scenario
    }

    /// Returns the same experiment without its background flows.
    pub fn without_background(&self) -> Checked {
        let flows = self.scenario.flow.iter().enumerate();
        let foreground: Vec<usize> =
            flows.filter(|(_, flow)| flow.role == Role::Foreground).map(|(index, _)| index).collect();
        Checked { scenario: self.scenario.without_background(), network: self.network.of_flows(&foreground) }
    }
}

impl Deref for Checked {
    type Target = Scenario;

    fn deref(&self) -> &Scenario {
        &self.scenario
    }
}

impl From<Checked> for Scenario {
    fn from(checked: Checked) -> Scenario {
        checked.scenario
    }
}

impl TryFrom<Scenario> for Checked {
    type Error = Fault;

    fn try_from(scenario: Scenario) -> Result<Checked, Fault> {
        scenario.checked()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Duration, Flow, Link, RouteChange};

    fn scenario() -> Scenario {
        let link = Link::new("10 Mbit/s".parse().unwrap(), "50 packets".parse().unwrap());
        let flow = |name: &str, role| Flow::new(name, role, "cubic", Duration::from_millis(50));
        Scenario {
            flow: vec![flow("a", Role::Background), flow("b", Role::Foreground), flow("c", Role::Background)],
            route_change: vec![
                RouteChange {
                    at: Duration::from_millis(9),
                    flow: Some("a".into()),
                    path: None,
                    rtt: Some(Duration::from_millis(7)),
                },
                RouteChange {
                    at: Duration::from_millis(8),
                    flow: None,
                    path: None,
                    rtt: Some(Duration::from_millis(6)),
                },
            ],
            ..Scenario::new("", Duration::from_millis(10_000), link)
        }
    }

    #[test]
    fn without_background_the_network_is_that_of_the_smaller_scenario() {
        let smaller = scenario().checked().unwrap().without_background();
        assert_eq!(smaller, smaller.clone().into_scenario().checked().unwrap());
        assert_eq!((smaller.flow.len(), smaller.network().routes.len()), (1, 1));
    }

    #[test]
    fn what_is_read_is_checked() {
        let checked = scenario().checked().unwrap();
        let text = serde_json::to_string(&checked).unwrap();
        assert_eq!(text, serde_json::to_string(&scenario()).unwrap());
        assert_eq!(serde_json::from_str::<Checked>(&text).unwrap(), checked);
        let mut wrong = scenario();
        wrong.flow[1].name = "a".to_owned();
        let text = serde_json::to_string(&wrong).unwrap();
        assert!(serde_json::from_str::<Checked>(&text)
            .unwrap_err()
            .to_string()
            .contains("two flows are named"));
    }
}
