//! A concrete scenario from a file's tree.

use crate::element::Context;
use crate::error::{Place, Problem};
use crate::limits::{MOST_FLOWS, MOST_WINDOWS};
use crate::measure::Times;
use crate::noise::Noise;
use crate::outside::Outside;
use crate::read::{at, check_keys, list, needed, quantity, tables, text, Result};
use crate::tree::{Node, Table, Value};
use crate::{check, flow, fluid, hosts, keys, link, measure, names, noise, path};
use afteryou_notation::{unknown, Duration};
use afteryou_scenario::{Checked, FlowSet, Record, Scenario, Window};
use std::collections::BTreeSet;

/// Makes a concrete scenario of a file's tree, checked.
pub(crate) fn scenario(root: &Table, seed: u64, files: &Outside) -> Result<Checked> {
    check_keys(root, "a scenario", keys::ROOT)?;
    let whole = Node { place: Place::At(0..0), value: Value::Table(Table::default()) };
    let name = root.get("name").map_or(Ok(""), text)?;
    let written = needed(root, "duration", &whole, "\"60 s\"")?;
    let duration: Duration = quantity(written)?;
    if duration == Duration::default() {
        return Err(Problem::new(&written.place, "no time at all: use 1 ms or more"));
    }
    let context = Context { files, duration, seed };
    let (hosts, access) = hosts::hosts(root, seed)?;
    let mut links = Vec::new();
    match root.get("link") {
        Some(node) => {
            let (first, further) = link::links(node, &context)?;
            if first.name.is_none() && !hosts.is_empty() {
                let message = "hosts have links with names, so this one needs a name, too: write [[link]]";
                return Err(Problem::new(&node.place, message));
            }
            links.push(first);
            links.extend(further);
        }
        None if hosts.is_empty() => drop(needed(root, "link", &whole, "… in a table: [link]")?),
        None => {}
    }
    links.extend(access);
    let link = links.remove(0); // there is one, or hosts, which have two each
    let mut scenario = Scenario { further_links: links, hosts, ..Scenario::new(name, duration, link) };
    scenario.seed = seed;
    scenario.record = root.get("record").map_or(Ok(Vec::new()), record)?;
    scenario.baseline = root.get("baseline").map_or(Ok(false), baseline)?;
    if let Some(node) = root.get("sample") {
        scenario.sample = Some(quantity(node)?);
        at(node, scenario.check_sample())?;
    }
    let owners = flows(root, seed, &mut scenario, files)?;
    (scenario.measure, scenario.sets) = windows(root, &scenario)?;
    let names = scenario.flow.iter().map(|flow| flow.name.as_str());
    scenario.fluid = root.get("fluid").map(|node| fluid::fluid(node, names, seed)).transpose()?;
    let list = |name: &str| root.get(name).map_or(Ok(Vec::new()), tables);
    scenario.drop = list("drop")?.into_iter().map(link::dropping).collect::<Result<_>>()?;
    scenario.delay = list("delay")?.into_iter().map(link::delaying).collect::<Result<_>>()?;
    let links = scenario.links_by_name();
    let changes = list("route_change")?.into_iter();
    let changes = changes.map(|node| path::changing_route(node, &links, duration)).collect::<Result<_>>()?;
    scenario.route_change = changes;
    scenario.checked().map_err(|fault| check::problem(root, &owners, &fault))
}

/// Reads the measures of `record`, in the order of the list of all, each once.
fn record(node: &Node) -> Result<Vec<Record>> {
    let measure = |node: &Node| {
        let word = text(node)?;
        let refused = || Problem::new(&node.place, unknown("measure", word, Record::WORDS).to_string());
        Record::of_word(word).ok_or_else(refused)
    };
    let measures: BTreeSet<Record> = list(node)?.iter().map(measure).collect::<Result<_>>()?;
    Ok(measures.into_iter().collect())
}

fn baseline(node: &Node) -> Result<bool> {
    match &node.value {
        Value::Flag(flag) => Ok(*flag),
        Value::Text(word) if word == "without background" => Ok(true),
        Value::Text(word) if word == "none" => Ok(false),
        _ => Err(Problem::new(&node.place, "write \"without background\" or \"none\"")),
    }
}

/// Draws all flows; returns for each the table that it comes from.
fn flows<'a>(root: &'a Table, seed: u64, scenario: &mut Scenario, files: &Outside) -> Result<Vec<&'a Node>> {
    let tables = root.get("flow").map_or(Ok(&[][..]), list)?;
    let names = names::names(tables);
    let links = scenario.links_by_name();
    let read = |(node, name): (&'a Node, &String)| flow::read(node, name, &links, &scenario.hosts, files);
    let written = tables.iter().zip(&names).map(read).collect::<Result<Vec<_>>>()?;
    let mut total = 0;
    for (node, written) in tables.iter().zip(&written) {
        total += written.count();
        if total > MOST_FLOWS {
            return Err(Problem::new(&node.place, format!("more than {MOST_FLOWS} flows are too many")));
        }
    }
    names::check(tables, &names)?;
    let noise = root.get("noise").map_or(Ok(Noise::default()), noise::noise)?;
    let (mut owners, mut seen) = (Vec::new(), BTreeSet::new());
    for (node, written) in tables.iter().zip(written) {
        let begin = scenario.flow.len();
        written.draw(seed, &noise, &mut scenario.flow)?;
        for flow in &scenario.flow[begin..] {
            if !seen.insert(flow.name.clone()) {
                return Err(names::twice(node, &flow.name));
            }
            owners.push(node);
        }
    }
    Ok(owners)
}

fn windows(root: &Table, scenario: &Scenario) -> Result<(Vec<Window>, Vec<FlowSet>)> {
    let starts = || scenario.flow.iter().map(|flow| flow.start);
    let times = Times {
        first_start: starts().min().unwrap_or_default(),
        last_start: starts().max().unwrap_or_default(),
        end: scenario.duration,
    };
    let Some(node) = root.get("measure") else {
        return Ok((vec![measure::default_window(&times)], Vec::new()));
    };
    let nodes = tables(node)?;
    if nodes.len() > MOST_WINDOWS {
        return Err(Problem::new(&node.place, format!("more than {MOST_WINDOWS} windows are too many")));
    }
    let mut names = BTreeSet::new();
    let (mut windows, mut sets) = (Vec::new(), Vec::new());
    for node in nodes {
        let (window, set) = measure::measure(node, &times, &scenario.flow)?;
        if !names.insert(window.name.clone()) {
            let message = format!("two windows are named {:?}: rename one", window.name);
            return Err(Problem::new(&node.place, message));
        }
        windows.push(window);
        sets.extend(set);
    }
    Ok((windows, sets))
}
