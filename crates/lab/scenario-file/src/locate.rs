//! The place in a file that a key leads to.

use crate::error::Place;
use crate::names::names;
use crate::tree::{Node, Table, Value};

/// Returns the place of the setting `key` ("link.queue", "flow.backup.controller.target") in the file. A setting that is not
/// written has the nearest place it would be a part of: a word with parameters, the flow's table, the file.
pub(crate) fn place(root: &Table, key: &str) -> Place {
    let below = |name: &str, rest: &str| {
        let node = root.get(name)?;
        Some(nearest(node, rest).clone())
    };
    let of_flow = |rest: &str| {
        let Value::List(flows) = &root.get("flow")?.value else { return None };
        let names = names(flows);
        let leads_to = |name: &&String| {
            let after = rest.strip_prefix(name.as_str());
            after.is_some_and(|after| after.is_empty() || after.starts_with('.'))
        };
        // Names may have dots: the longest is meant.
        let name = names.iter().filter(leads_to).max_by_key(|name| name.len())?;
        let index = names.iter().position(|other| other == name)?;
        Some(nearest(&flows[index], rest[name.len()..].trim_start_matches('.')).clone())
    };
    let (first, rest) = key.split_once('.').unwrap_or((key, ""));
    let found = if first == "flow" { of_flow(rest) } else { below(first, rest) };
    found.unwrap_or(Place::At(0..0))
}

/// Returns the place of the setting below `node`, or of the last table on the way to it.
fn nearest<'a>(node: &'a Node, setting: &str) -> &'a Place {
    let (first, rest) = setting.split_once('.').unwrap_or((setting, ""));
    match &node.value {
        Value::Table(table) => table.get(first).map_or(&node.place, |inner| nearest(inner, rest)),
        _ => &node.place,
    }
}
