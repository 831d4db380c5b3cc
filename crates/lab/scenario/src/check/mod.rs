//! A scenario is checked once: [`Scenario::checked`] returns what engines take, or the first fault with the part that is to blame.

mod changes;
mod flow;
mod links;

use crate::checked::Checked;
use crate::fault::{Fault, Part};
use crate::network::Network;
use crate::scenario::{Delay, Drop, Flow, Scenario, Window};
use afteryou_notation::{unknown, Duration, Error};
use std::collections::HashSet;

/// Most flows and links times windows: each has figures of its own.
const MOST_FIGURES: usize = 200_000;

impl Scenario {
    /// Checks the scenario and makes its network.
    ///
    /// # Errors
    /// The first fault.
    pub fn checked(self) -> Result<Checked, Fault> {
        match self.check() {
            Ok(network) => Ok(Checked::new(self, network)),
            Err(error) => Err(Fault { error, part: self.wrong_part().map(Box::new) }),
        }
    }

    /// Returns the network of a scenario without a fault.
    fn check(&self) -> Result<Network, Error> {
        let wrong = |message: String| Err(Error::Contradiction(message));
        if self.duration == Duration::default() {
            return wrong("duration = 0 s is no time at all: use 1 s or more".to_owned());
        }
        self.check_sample()?;
        self.check_links().map_err(|wrong| wrong.error)?;
        for window in &self.measure {
            if window.from >= window.to || window.to > self.duration {
                let Window { name, from, to } = window;
                return wrong(format!("window {name:?} ({from} to {to}) is empty or ends after the run"));
            }
        }
        let (windows, flows, links) = (self.measure.len(), self.flow.len(), self.links().count());
        if windows * (flows + links) > MOST_FIGURES {
            return wrong(format!(
                "{windows} windows of {flows} flows and {links} links are too many figures: at most {MOST_FIGURES}"
            ));
        }
        self.route_change.iter().try_for_each(|change| self.check_route_change(change))?;
        let network = self.network()?;
        self.check_buffers(&network).map_err(|wrong| wrong.error)?;
        let mut names = HashSet::new();
        for flow in &self.flow {
            if !names.insert(flow.name.as_str()) {
                return wrong(format!("two flows are named {:?}: rename one", flow.name));
            }
            flow.check_settings(self.duration).map_err(|wrong| wrong.of_flow(flow))?;
        }
        self.check_sets()?;
        self.drop.iter().try_for_each(|drop| self.check_drop(drop, &names))?;
        self.delay.iter().try_for_each(|delay| self.check_delay(delay, &names))?;
        Ok(network)
    }

    fn check_drop(&self, drop: &Drop, known: &HashSet<&str>) -> Result<(), Error> {
        drop.flow.as_deref().map_or(Ok(()), |flow| self.check_known(flow, known))?;
        drop.check()?;
        self.check_numbered(drop.flow.as_deref().filter(|_| drop.packet.is_some()))
    }

    fn check_delay(&self, delay: &Delay, known: &HashSet<&str>) -> Result<(), Error> {
        self.check_known(&delay.flow, known)?;
        delay.check()?;
        self.check_numbered(delay.packet.map(|_| delay.flow.as_str()))
    }

    fn check_known(&self, flow: &str, known: &HashSet<&str>) -> Result<(), Error> {
        if known.contains(flow) {
            return Ok(());
        }
        let names: Vec<_> = self.flow.iter().map(|flow| flow.name.as_str()).collect();
        Err(unknown("flow", flow, &names))
    }

    /// Returns the first part that is wrong by itself.
    fn wrong_part(&self) -> Option<(Part, Error)> {
        let flows = || self.flow.iter().enumerate();
        let setting = |(index, flow): (usize, &Flow)| {
            let flow::WrongSetting { key, error } = flow.check_settings(self.duration).err()?;
            Some((Part::Setting { flow: index, name: flow.name.clone(), key }, error))
        };
        let path = |(index, flow): (usize, &Flow)| Some((Part::Path(index), self.check_path(flow).err()?));
        let rerouted = |flow: &Flow| {
            let error = self.check_rerouted(flow).err()?;
            let change = self.route_change.iter().position(|change| change.concerns(flow))?;
            Some((Part::RouteChange(change), error))
        };
        let buffer = || {
            let wrong = self.check_buffers(&self.network().ok()?).err()?;
            Some((Part::Buffer(wrong.link), wrong.error))
        };
        let in_flows = flows().find_map(setting).or_else(|| flows().find_map(path));
        let in_network = || self.flow.iter().find_map(rerouted).or_else(buffer);
        in_flows.or_else(in_network).or_else(|| self.wrong_script())
    }

    /// Returns the first line of the script that is wrong by itself.
    fn wrong_script(&self) -> Option<(Part, Error)> {
        fn first<T>(
            list: &[T],
            part: fn(usize) -> Part,
            check: impl Fn(&T) -> Result<(), Error>,
        ) -> Option<(Part, Error)> {
            list.iter().enumerate().find_map(|(index, one)| Some((part(index), check(one).err()?)))
        }
        let names = self.flow.iter().map(|flow| flow.name.as_str()).collect();
        first(&self.drop, Part::Drop, |drop| self.check_drop(drop, &names))
            .or_else(|| first(&self.delay, Part::Delay, |delay| self.check_delay(delay, &names)))
            .or_else(|| {
                first(&self.route_change, Part::RouteChange, |change| self.check_route_change(change))
            })
    }

    /// Checks that the packets of this flow have numbers. Those of an application with many connections have none.
    fn check_numbered(&self, flow: Option<&str>) -> Result<(), Error> {
        let flow = self.flow.iter().find(|other| Some(other.name.as_str()) == flow);
        match flow.filter(|flow| flow.traffic.has_transfers()) {
            Some(Flow { name, .. }) => Err(Error::Contradiction(format!(
                "flow {name:?} opens connections by itself, so its packets have no numbers: say at = … instead"
            ))),
            None => Ok(()),
        }
    }
}
