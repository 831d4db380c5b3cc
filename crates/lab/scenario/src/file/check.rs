//! Checks of the file as a whole, each with its place in the file.

use super::error::{Place, Problem};
use super::read::{table, tables, Result};
use super::tree::{Node, Table};
use crate::error::Error;
use crate::network::WrongLink;
use crate::scenario::{Flow, Scenario, WrongSetting};
use crate::words::unknown;
use std::collections::BTreeSet;

/// Checks that it is a scenario. If not, each fault is shown where it was written; `owners` are the tables of the flows.
pub(crate) fn check(root: &Table, scenario: &Scenario, owners: &[&Node]) -> Result<()> {
    scenario.check().map_err(|error| {
        culprit(root, scenario, owners).unwrap_or_else(|| {
            // Too many figures: each window has its own for each flow.
            let suspect = ["measure", "name"].iter().find_map(|name| root.get(name));
            Problem::new(suspect.map_or(&Place::At(0..0), |node| &node.place), error.to_string())
        })
    })
}

/// The first flow or line of the script that is wrong by itself.
fn culprit(root: &Table, scenario: &Scenario, owners: &[&Node]) -> Option<Problem> {
    let wrong = |node: &Node, error: Error| Problem::new(&node.place, error.to_string());
    let mut flows = scenario.flow.iter().zip(owners);
    let of_setting = |(flow, node): (&Flow, &&Node)| {
        let WrongSetting { key, error } = flow.check_settings(scenario.duration).err()?;
        let written = table(node).ok().and_then(|fields| fields.get(key));
        Some(match written {
            Some(written) => wrong(written, error),
            None => Problem::new(&node.place, format!("flow {:?}: {key}: {error}", flow.name)),
        })
    };
    if let Some(problem) = flows.find_map(of_setting) {
        return Some(problem);
    }
    let mut flows = scenario.flow.iter().zip(owners);
    if let Some(problem) =
        flows.find_map(|(flow, node)| scenario.check_path(flow).err().map(|error| wrong(node, error)))
    {
        return Some(problem);
    }
    let rerouted = |flow: &Flow| {
        let error = scenario.check_rerouted(flow).err()?;
        let change = scenario.route_change.iter().position(|change| change.concerns(flow))?;
        let nodes = root.get("route_change").and_then(|node| tables(node).ok())?;
        Some(wrong(nodes.get(change)?, error))
    };
    if let Some(problem) = scenario.flow.iter().find_map(rerouted) {
        return Some(problem);
    }
    if let (Err(WrongLink { link, error }), Some(links)) = (scenario.check_buffers(), root.get("link")) {
        let link = tables(links).ok().and_then(|links| links.get(link).copied()).unwrap_or(links);
        let buffer = table(link).ok().and_then(|link| link.get("buffer")).unwrap_or(link);
        return Some(wrong(buffer, error));
    }
    let names: Vec<&str> = scenario.flow.iter().map(|flow| flow.name.as_str()).collect();
    let set: BTreeSet<&str> = names.iter().copied().collect();
    let known = |name: &str| match set.contains(name) {
        true => Ok(()),
        false => Err(unknown("flow", name, &names)),
    };
    let nodes = |name: &str| root.get(name).and_then(|node| tables(node).ok()).unwrap_or_default();
    let drops = scenario.drop.iter().map(|drop| {
        drop.flow.as_deref().map_or(Ok(()), known)?;
        drop.check()?;
        scenario.check_numbered(drop.flow.as_deref().filter(|_| drop.packet.is_some()))
    });
    let delays = scenario.delay.iter().map(|delay| {
        known(&delay.flow)?;
        delay.check()?;
        scenario.check_numbered(delay.packet.map(|_| delay.flow.as_str()))
    });
    let changes = scenario.route_change.iter().map(|change| scenario.check_route_change(change));
    let script = drops.zip(nodes("drop")).chain(delays.zip(nodes("delay")));
    let mut script = script.chain(changes.zip(nodes("route_change")));
    script.find_map(|(checked, node)| checked.err().map(|error| wrong(node, error)))
}
