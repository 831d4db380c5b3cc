//! `[sweep]` and `--set`: putting values where a dotted path leads.

use crate::error::Problem;
use crate::limits::MOST_AXES;
use crate::names::names;
use crate::range;
use crate::read::{table, wanted, Result};
use crate::tree::{Key, Node, Table, Value};
use afteryou_notation::catalogue::NONE;
use afteryou_notation::{unknown, Algorithm};
use std::collections::BTreeSet;

/// A setting that is varied.
#[derive(Clone, Debug)]
pub(crate) struct Axis {
    pub(crate) path: Key,
    pub(crate) values: Vec<Node>,
    /// The name of each value in results; no two are alike.
    pub(crate) labels: Vec<String>,
}

/// Reads the axes of `[sweep]`, in the order of the file.
pub(crate) fn axes(sweep: &Node) -> Result<Vec<Axis>> {
    let mut axes = Vec::new();
    collect(table(sweep)?, "", &mut axes)?;
    let mut seen = BTreeSet::new();
    match axes.iter().find(|axis| !seen.insert(axis.path.name.as_str())) {
        Some(axis) => {
            Err(Problem::new(&axis.path.place, format!("{} varies already: write it once", axis.path.name)))
        }
        None => Ok(axes),
    }
}

/// Collects axes: bare dotted keys are nested tables in TOML, and are joined again.
fn collect(table: &Table, prefix: &str, axes: &mut Vec<Axis>) -> Result<()> {
    for (key, node) in &table.entries {
        let name = if prefix.is_empty() { key.name.clone() } else { format!("{prefix}.{}", key.name) };
        match &node.value {
            Value::Table(inner) if !range::is_range(inner) => {
                collect(inner, &name, axes)?;
                continue;
            }
            _ => {}
        }
        if axes.len() == MOST_AXES {
            return Err(Problem::new(&key.place, format!("more than {MOST_AXES} settings vary: fix some")));
        }
        axes.push(Axis::new(Key { name, place: key.place.clone() }, node)?);
    }
    Ok(())
}

impl Axis {
    /// Reads a setting and the list, or the range, of its values.
    pub(crate) fn new(path: Key, node: &Node) -> Result<Axis> {
        let instead = match path.name.split('.').next() {
            Some("seed") => Some("write repeat = n, and each repetition has the next seed"),
            Some("repeat") => Some("write repeat = n outside of [sweep]"),
            Some("sweep") => Some("write the setting alone, such as \"link.rate\""),
            _ => None,
        };
        if let Some(instead) = instead {
            return Err(Problem::new(&path.place, format!("{} cannot vary: {instead}", path.name)));
        }
        let values = match &node.value {
            Value::List(values) => values.clone(),
            Value::Table(table) if range::is_range(table) => range::values(node, table)?,
            _ => {
                return Err(wanted(node, "a list in [ ] or a range, such as { from = 1, to = 9, step = 2 }"))
            }
        };
        if values.is_empty() {
            return Err(Problem::new(&node.place, "there is nothing to vary: write two or more values"));
        }
        let short: Vec<String> = values.iter().map(Node::shown).collect();
        // Two variants of a flow may have the same name: then only the whole distinguishes them.
        let labels = match repeated(&short) {
            None => short,
            Some(_) => values.iter().map(Node::written).collect(),
        };
        match repeated(&labels) {
            None => Ok(Axis { path, values, labels }),
            Some(at) => Err(Problem::new(&values[at].place, "this value is there twice: take one away")),
        }
    }
}

/// Returns the first text that was there before.
fn repeated(texts: &[String]) -> Option<usize> {
    let mut seen = BTreeSet::new();
    texts.iter().position(|text| !seen.insert(text))
}

/// Puts the values of a point of the sweep into a file.
pub(crate) fn apply(root: &mut Table, axes: &[Axis], point: &[usize]) -> Result<()> {
    let mut chosen: Vec<_> = axes.iter().zip(point).collect();
    // What holds another setting comes first, and all flows or links come before one of them.
    let is_of_all = |name: &str| name.starts_with("flow.*") || name.starts_with("link.*");
    chosen.sort_by_key(|(axis, _)| (!is_of_all(&axis.path.name), axis.path.name.len()));
    chosen.iter().try_for_each(|(axis, value)| {
        let path = &axis.path;
        assign(root, path, &axis.values[**value]).map_err(|problem| match taken_away(&chosen, &path.name) {
            Some(flow) => {
                let message = format!(
                    "{flow} is \"none\" in some runs, where {} is nothing: vary whole flows",
                    path.name
                );
                Problem::new(&path.place, message)
            }
            None => problem,
        })
    })
}

/// Returns the settings that a point of the sweep removes although `path` leads into them.
fn taken_away<'a>(chosen: &[(&'a Axis, &usize)], path: &str) -> Option<&'a str> {
    let holds = |outer: &str| path.strip_prefix(outer).is_some_and(|rest| rest.starts_with('.'));
    let taken =
        |(axis, value): &&(&'a Axis, &usize)| is_none(&axis.values[**value]) && holds(&axis.path.name);
    chosen.iter().find(taken).map(|(axis, _)| axis.path.name.as_str())
}

pub(crate) fn is_none(value: &Node) -> bool {
    matches!(&value.value, Value::Text(word) if word == NONE)
}

/// Puts `value` where `path` leads.
pub(crate) fn assign(root: &mut Table, path: &Key, value: &Node) -> Result<()> {
    for list in ["link", "hosts"] {
        let is_list = matches!(root.get(list).map(|node| &node.value), Some(Value::List(_)));
        let rest = path.name.strip_prefix(list).and_then(|rest| rest.strip_prefix('.'));
        if let (Some(rest), true) = (rest, is_list) {
            return assign_to_named(root, list, rest, path, value);
        }
    }
    let Some(rest) = path.name.strip_prefix("flow.") else {
        return put(root, &path.name, path, value);
    };
    let flows = root.get_mut("flow").map(|node| &mut node.value);
    match (rest.strip_prefix("*."), flows) {
        (Some(setting), Some(Value::List(flows))) => {
            refuse_none(setting, value)?;
            flows.iter_mut().try_for_each(|flow| match &mut flow.value {
                Value::Table(fields) => put(fields, setting, path, value),
                _ => Ok(()),
            })
        }
        (None, Some(Value::List(_))) => assign_to_flow(root, rest, path, value),
        _ => Err(Problem::new(&path.place, "there are no flows: write [[flow]] first")),
    }
}

/// Assigns to one of a `list` of links or hosts: `rest` is its name and a setting, or `*` and a setting for each.
fn assign_to_named(root: &mut Table, list: &str, rest: &str, path: &Key, value: &Node) -> Result<()> {
    let Some(Value::List(tables)) = root.get_mut(list).map(|node| &mut node.value) else { return Ok(()) };
    let names: Vec<String> = tables.iter().map(name_of).collect();
    let leads_to = |name: &str| rest.strip_prefix(name).is_some_and(|after| after.starts_with('.'));
    let found = (0..names.len()).filter(|i| leads_to(&names[*i])).max_by_key(|i| names[*i].len());
    let (chosen, setting) = match (found, rest.strip_prefix("*.")) {
        (Some(index), _) => (index..index + 1, &rest[names[index].len() + 1..]),
        (None, Some(setting)) => (0..tables.len(), setting),
        (None, None) => {
            let name = rest.split('.').next().unwrap_or(rest);
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            return Err(Problem::new(&path.place, unknown(list, name, &names).to_string()));
        }
    };
    tables[chosen].iter_mut().try_for_each(|table| match &mut table.value {
        Value::Table(fields) => put(fields, setting, path, value),
        _ => Ok(()),
    })
}

/// Returns the name of a table; empty without one.
fn name_of(table: &Node) -> String {
    match &table.value {
        Value::Table(fields) => fields.get("name").map(Node::shown).unwrap_or_default(),
        _ => String::new(),
    }
}

/// Assigns to a flow: `rest` is its name (which may have dots and spaces) and a setting, or the name alone.
fn assign_to_flow(root: &mut Table, rest: &str, path: &Key, value: &Node) -> Result<()> {
    let Some(Value::List(flows)) = root.get_mut("flow").map(|node| &mut node.value) else { return Ok(()) };
    let names = names(flows);
    let leads_to =
        |name: &str| rest.strip_prefix(name).is_some_and(|after| after.is_empty() || after.starts_with('.'));
    let found = (0..names.len()).filter(|i| leads_to(&names[*i])).max_by_key(|i| names[*i].len());
    let Some(index) = found else {
        let name = rest.split('.').next().unwrap_or(rest);
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        return Err(Problem::new(&path.place, unknown("flow", name, &names).to_string()));
    };
    if let Some(setting) = rest[names[index].len()..].strip_prefix('.') {
        refuse_none(setting, value)?;
        return match &mut flows[index].value {
            Value::Table(fields) => put(fields, setting, path, value),
            _ => Ok(()),
        };
    }
    match &value.value {
        _ if is_none(value) => {
            flows.remove(index);
            forget(root, &names[index]);
            Ok(())
        }
        Value::Table(fields) => {
            flows[index] = value.clone();
            keep_name(&mut flows[index], fields, &names[index]);
            Ok(())
        }
        _ => Err(Problem::new(&value.place, "write a whole flow in { }, or \"none\"")),
    }
}

/// Refuses "none" for a setting: it means a flow that is absent, and a flow without one of its settings would be another
/// flow.
fn refuse_none(setting: &str, value: &Node) -> Result<()> {
    // Words of a setting's own.
    if !is_none(value) || setting == "jitter" {
        return Ok(());
    }
    let message = format!(
        "\"none\" takes a whole flow away, not its {setting}: write the flow's name alone, count = 0, or a value"
    );
    Err(Problem::new(&value.place, message))
}

/// Forgets what the script does to a flow: without the flow there is nothing of it to drop or to delay.
fn forget(root: &mut Table, flow: &str) {
    for script in ["drop", "delay", "route_change"] {
        let Some(Value::List(entries)) = root.get_mut(script).map(|node| &mut node.value) else { continue };
        let of = |node: &Node| match &node.value {
            Value::Table(fields) => fields.get("flow").map(Node::shown),
            _ => None,
        };
        entries.retain(|entry| of(entry).as_deref() != Some(flow));
    }
}

/// Keeps the name of a flow for another in its place, if that has no name of its own.
fn keep_name(flow: &mut Node, written: &Table, name: &str) {
    let (Value::Table(fields), None) = (&mut flow.value, written.get("name")) else { return };
    let node = Node { place: flow.place.clone(), value: Value::Text(name.to_owned()) };
    fields.put(Key { name: "name".to_owned(), place: flow.place.clone() }, node);
}

/// Puts `value` under the dotted `setting` of a table.
fn put(fields: &mut Table, setting: &str, path: &Key, value: &Node) -> Result<()> {
    let Some((first, rest)) = setting.split_once('.') else {
        if is_none(value) && !["baseline", "jitter", "aggregate", "noise"].contains(&setting) {
            fields.remove(setting);
            return Ok(());
        }
        fields.put(Key { name: setting.to_owned(), place: path.place.clone() }, value.clone());
        return Ok(());
    };
    let inside = |place| Node { place, value: Value::Table(Table::default()) };
    if fields.get(first).is_none() {
        fields.put(Key { name: first.to_owned(), place: path.place.clone() }, inside(path.place.clone()));
    }
    let Some(node) = fields.get_mut(first) else { return Ok(()) };
    if let (Value::Text(word), "controller" | "queue" | "transport") = (&node.value, first) {
        node.value = Value::Table(with_parameters(word, node));
    }
    match &mut node.value {
        Value::Table(inner) => put(inner, rest, path, value),
        _ => Err(Problem::new(&path.place, format!("{first} has no settings of its own"))),
    }
}

/// Returns a bare word ("cubic", "cubic,beta=0.5") as a table, so that it can get parameters.
fn with_parameters(word: &str, node: &Node) -> Table {
    let Algorithm { kind, params } = word.parse().unwrap_or_else(|_| Algorithm::named(word));
    let entry = |(name, value): (String, String)| {
        let place = node.place.clone();
        (Key { name, place: place.clone() }, Node { place, value: Value::Text(value) })
    };
    Table { entries: std::iter::once(("kind".to_owned(), kind)).chain(params).map(entry).collect() }
}
