//! `[[measure]]`: windows, and the sets of flows that are measured together in them.

use crate::error::Problem;
use crate::flow::role;
use crate::keys::WINDOW;
use crate::read::{at, check_keys, needed, optional, quantity, table, text, wanted, Result};
use crate::tree::{Node, Table, Value};
use afteryou_base::Span;
use afteryou_notation::{catalogue, unknown, Duration};
use afteryou_scenario::flow_set::{Among, FlowSet};
use afteryou_scenario::scenario::{Flow, Window};
use std::collections::BTreeSet;

/// Keys that choose the flows of the set.
const CHOICES: [&str; 3] = ["flows", "role", "controller"];
/// Keys of how the set is measured.
const SETTINGS: [&str; 5] = ["step", "stall", "starved", "reach", "among"];

/// When flows start, for moments that refer to it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    pub(crate) first_start: Duration,
    pub(crate) last_start: Duration,
    pub(crate) end: Duration,
}

/// Returns the default measuring interval: from ten seconds after the last start, but at least a fifth of the run is left
/// out and half of it measured.
pub(crate) fn default_window(times: &Times) -> Window {
    let end = times.end.0;
    let from = (times.last_start.0 + Span::from_secs(10)).max(end / 5).min(end / 2);
    Window { name: "measured".to_owned(), from: Duration(from), to: times.end }
}

/// Reads a table of `[[measure]]`: a window and, if it names flows, their set.
pub(crate) fn measure(node: &Node, times: &Times, flows: &[Flow]) -> Result<(Window, Option<FlowSet>)> {
    let window = window(node, times)?;
    let set = set(node, &window, flows)?;
    Ok((window, set))
}

fn window(node: &Node, times: &Times) -> Result<Window> {
    let fields = table(node)?;
    check_keys(fields, "measure", WINDOW)?;
    let from = moment(needed(fields, "from", node, "\"20 s\"")?, times)?;
    let to = fields.get("to").map_or(Ok(times.end), |node| moment(node, times))?;
    if from >= to || to > times.end {
        let message =
            format!("the window from {from} to {to} is empty or ends after the run ({})", times.end);
        return Err(Problem::new(&node.place, message));
    }
    let name = fields.get("name").map_or(Ok("measured"), text)?;
    Ok(Window { name: name.to_owned(), from, to })
}

/// Reads a moment: "20 s", "last start + 10 s", "first start", "end - 30 s".
fn moment(node: &Node, times: &Times) -> Result<Duration> {
    let Value::Text(written) = &node.value else { return Err(wanted(node, "a time, such as \"20 s\"")) };
    let anchors = [("last start", times.last_start), ("first start", times.first_start), ("end", times.end)];
    let Some((word, anchor)) = anchors.into_iter().find(|(word, _)| written.trim().starts_with(word)) else {
        return quantity(node);
    };
    let rest = written.trim()[word.len()..].trim();
    let offset = |text: &str| {
        text.trim().parse::<Duration>().map_err(|error| Problem::new(&node.place, error.to_string()))
    };
    match (rest.strip_prefix('+'), rest.strip_prefix('-'), rest) {
        (Some(later), ..) => Ok(Duration(anchor.0 + offset(later)?.0)),
        (_, Some(earlier), _) => {
            let earlier = offset(earlier)?;
            let before =
                || format!("{earlier} before {word} ({anchor}) is before the run begins: use a shorter time");
            let moment = anchor.0 .0.checked_sub(earlier.0 .0).map(|ns| Duration(Span(ns)));
            moment.ok_or_else(|| Problem::new(&node.place, before()))
        }
        (None, None, "") => Ok(anchor),
        _ => Err(Problem::new(
            &node.place,
            format!("write \"{word}\", \"{word} + 10 s\" or \"{word} - 10 s\""),
        )),
    }
}

/// Reads the set of flows that a table of `[[measure]]` names; `None` if it names none.
fn set(node: &Node, window: &Window, flows: &[Flow]) -> Result<Option<FlowSet>> {
    let fields = table(node)?;
    if CHOICES.iter().all(|key| fields.get(key).is_none()) {
        let setting = SETTINGS.iter().find_map(|key| fields.get(key).map(|node| (key, node)));
        let Some((key, node)) = setting else { return Ok(None) };
        let message =
            format!("{key} is a setting of a set of flows: write flows = \"all\" beside it, or leave it out");
        return Err(Problem::new(&node.place, message));
    }
    let is_member = members(fields, flows)?;
    let members = flows.iter().filter(|flow| is_member(flow)).map(|flow| flow.name.clone());
    let by_default = FlowSet::new(&window.name, members.collect());
    let set = FlowSet {
        step: optional(fields, "step")?.unwrap_or(by_default.step),
        stall: optional(fields, "stall")?.unwrap_or(by_default.stall),
        starved: optional(fields, "starved")?.unwrap_or(by_default.starved),
        reach: optional(fields, "reach")?.unwrap_or(by_default.reach),
        among: fields.get("among").map_or(Ok(by_default.among), among)?,
        ..by_default
    };
    let length = Duration(window.to.0 - window.from.0);
    at(fields.get("step").unwrap_or(node), set.check_step(length))?;
    if let (Among::HostSlots, Some(node)) = (set.among, fields.get("among")) {
        if !flows.iter().any(|flow| is_member(flow) && flow.hosts.is_some()) {
            let message = "no flow of this set runs on hosts: write among = \"connections\", or leave it out";
            return Err(Problem::new(&node.place, message));
        }
    }
    Ok(Some(set))
}

/// Returns a filter of flows: one is in the set if it fits each key that is there.
fn members<'a>(fields: &'a Table, flows: &[Flow]) -> Result<impl Fn(&Flow) -> bool + use<'a>> {
    let names = fields.get("flows").map(|node| names(node, flows)).transpose()?.flatten();
    let role = fields.get("role").map(role).transpose()?;
    let kind = fields.get("controller").map(controller).transpose()?;
    Ok(move |flow: &Flow| {
        let group = flow.group.as_deref();
        let is_named = |names: &BTreeSet<&str>| {
            names.contains(flow.name.as_str()) || group.is_some_and(|group| names.contains(group))
        };
        names.as_ref().is_none_or(is_named)
            && role.is_none_or(|role| flow.role == role)
            && kind.is_none_or(|kind| flow.controller.as_ref().is_some_and(|own| own.kind == kind))
    })
}

/// Reads the names of flows and groups; `None` for "all".
fn names<'a>(node: &'a Node, flows: &[Flow]) -> Result<Option<BTreeSet<&'a str>>> {
    if matches!(&node.value, Value::Text(word) if word == "all") {
        return Ok(None);
    }
    let Value::List(written) = &node.value else {
        return Err(wanted(node, "\"all\", or a list of names of flows and groups in [ ]"));
    };
    let mut known: Vec<&str> = Vec::new();
    for flow in flows {
        let group =
            flow.group.as_deref().filter(|group| known.last() != Some(group) && !known.contains(group));
        known.extend(group);
        known.extend(flow.group.is_none().then_some(flow.name.as_str()));
    }
    let is_known = |name: &str| known.contains(&name) || flows.iter().any(|flow| flow.name == name);
    let name = |node: &'a Node| {
        let name = text(node)?;
        match is_known(name) {
            true => Ok(name),
            false => at(node, Err(unknown("flow or group", name, &known))),
        }
    };
    written.iter().map(name).collect::<Result<_>>().map(Some)
}

/// Reads the rates of an index of fairness.
fn among(node: &Node) -> Result<Among> {
    match text(node)? {
        "connections" => Ok(Among::Connections),
        "host-slots" => Ok(Among::HostSlots),
        other => at(node, Err(unknown("among", other, Among::WORDS))),
    }
}

/// Reads the name of a controller.
fn controller(node: &Node) -> Result<&str> {
    let kind = text(node)?;
    let known: Vec<&str> = catalogue::controllers().iter().map(|entry| entry.name).collect();
    match known.contains(&kind) {
        true => Ok(kind),
        false => at(node, Err(unknown("controller", kind, &known))),
    }
}
