//! Checks of changes of routes.

use crate::route_change::RouteChange;
use crate::scenario::{Flow, Scenario};
use afteryou_notation::{unknown, Error};

/// Most places on the routes of one flow in one direction, where each route has as many as the longest of the scenario.
const MOST_PLACES: usize = 128;
impl Scenario {
    /// Checks that it is a change of routes. If not, returns what is wrong.
    pub(super) fn check_route_change(&self, change: &RouteChange) -> Result<(), Error> {
        let wrong = |what: String| Err(Error::Contradiction(format!("a change of routes {what}")));
        if change.at >= self.duration {
            return wrong(format!("at {} is not in the run: use a time below {}", change.at, self.duration));
        }
        if change.path.is_none() && change.rtt.is_none() {
            return wrong("changes nothing: write path = …, rtt = … or both".to_owned());
        }
        let concerned: Vec<&Flow> = self.flow.iter().filter(|flow| change.concerns(flow)).collect();
        if let (Some(name), true) = (&change.flow, concerned.is_empty()) {
            let names: Vec<&str> = self.flow.iter().map(|flow| flow.name.as_str()).collect();
            return Err(unknown("flow", name, &names));
        }
        if let Some(flow) = concerned.iter().find(|flow| flow.hosts.is_some()) {
            return wrong(format!("names flow {:?}, which runs between hosts: their routes stay", flow.name));
        }
        let most = self.most_changes();
        let too_many =
            |flow: &&&Flow| self.route_change.iter().filter(|other| other.concerns(flow)).count() > most;
        match concerned.iter().find(too_many) {
            Some(flow) => wrong(format!(
                "is one of more than {most} of flow {:?}: use fewer with paths as long as these",
                flow.name
            )),
            None => Ok(()),
        }
    }

    /// Returns the most changes of a flow's route, by the longest path of the scenario.
    fn most_changes(&self) -> usize {
        let of_flows = self.flow.iter().filter_map(|flow| flow.path.as_ref());
        let paths = of_flows.chain(self.route_change.iter().filter_map(|change| change.path.as_ref()));
        let longest = paths.map(|path| path.forward.len().max(path.reverse.len())).max().unwrap_or(1);
        // Between two hosts there are two links.
        MOST_PLACES / longest.max(2).next_power_of_two() - 1
    }
}
