//! `[sweep]` and `--set`: putting values where a dotted path leads.

use super::error::Problem;
use super::read::{list, table, Result};
use super::tree::{Key, Node, Table, Value};
use crate::words::unknown;

/// Takes a setting, or a whole flow, away.
const NONE: &str = "none";

/// A setting that is varied.
#[derive(Clone, Debug)]
pub(crate) struct Axis {
    pub(crate) path: Key,
    pub(crate) values: Vec<Node>,
}

/// The axes of `[sweep]`, in the order of the file.
pub(crate) fn axes(sweep: &Node) -> Result<Vec<Axis>> {
    let mut axes = Vec::new();
    collect(table(sweep)?, "", &mut axes)?;
    Ok(axes)
}

/// Bare dotted keys are nested tables in TOML: joins them again.
fn collect(table: &Table, prefix: &str, axes: &mut Vec<Axis>) -> Result<()> {
    for (key, node) in &table.entries {
        let name = if prefix.is_empty() { key.name.clone() } else { format!("{prefix}.{}", key.name) };
        if let Value::Table(inner) = &node.value {
            collect(inner, &name, axes)?;
            continue;
        }
        let values = list(node)?.to_vec();
        if values.is_empty() {
            return Err(Problem::new(&node.place, "there is nothing to vary: write two or more values"));
        }
        axes.push(Axis { path: Key { name, place: key.place.clone() }, values });
    }
    Ok(())
}

/// Puts `value` where `path` leads.
pub(crate) fn assign(root: &mut Table, path: &Key, value: &Node) -> Result<()> {
    let Some(rest) = path.name.strip_prefix("flow.") else {
        return put(root, &path.name, path, value);
    };
    let flows = root.get_mut("flow").map(|node| &mut node.value);
    match (rest.strip_prefix("*."), flows) {
        (Some(setting), Some(Value::List(flows))) => {
            flows.iter_mut().try_for_each(|flow| match &mut flow.value {
                Value::Table(fields) => put(fields, setting, path, value),
                _ => Ok(()),
            })
        }
        (None, Some(Value::List(flows))) => assign_to_flow(flows, rest, path, value),
        _ => Err(Problem::new(&path.place, "there are no flows: write [[flow]] first")),
    }
}

/// `rest` is a flow's name (which may have dots and spaces) and a setting, or the name alone.
fn assign_to_flow(flows: &mut Vec<Node>, rest: &str, path: &Key, value: &Node) -> Result<()> {
    let names: Vec<String> = flows.iter().map(name_of).collect();
    let leads_to = |name: &str| rest == name || rest.starts_with(&format!("{name}."));
    let found = (0..names.len()).filter(|i| leads_to(&names[*i])).max_by_key(|i| names[*i].len());
    let Some(index) = found else {
        let name = rest.split('.').next().unwrap_or(rest);
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        return Err(Problem::new(&path.place, unknown("flow", name, &names).to_string()));
    };
    if rest == names[index] {
        return match &value.value {
            Value::Text(word) if word == NONE => {
                flows.remove(index);
                Ok(())
            }
            Value::Table(_) => {
                flows[index] = value.clone();
                Ok(())
            }
            _ => Err(Problem::new(&value.place, "write a whole flow in { }, or \"none\"")),
        };
    }
    match &mut flows[index].value {
        Value::Table(fields) => put(fields, &rest[names[index].len() + 1..], path, value),
        _ => Ok(()),
    }
}

/// A flow's name as the sweep addresses it: the controller's if it has none of its own.
fn name_of(flow: &Node) -> String {
    let Value::Table(fields) = &flow.value else { return String::new() };
    let kind = |node: &Node| match &node.value {
        Value::Text(text) => Some(text.split(',').next().unwrap_or_default().to_owned()),
        Value::Table(table) => table.get("kind").map(Node::shown),
        _ => None,
    };
    let name = fields.get("name").map(Node::shown);
    name.or_else(|| fields.get("controller").and_then(kind)).unwrap_or_else(|| "cbr".to_owned())
}

/// Puts `value` under the dotted `setting` of a table.
fn put(fields: &mut Table, setting: &str, path: &Key, value: &Node) -> Result<()> {
    let Some((first, rest)) = setting.split_once('.') else {
        if matches!(&value.value, Value::Text(word) if word == NONE) && setting != "baseline" {
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
    // A bare word ("cubic") gets parameters by becoming a table.
    if let Value::Text(word) = &node.value {
        let kind = Key { name: "kind".to_owned(), place: node.place.clone() };
        let word = Node { place: node.place.clone(), value: Value::Text(word.clone()) };
        node.value = Value::Table(Table { entries: vec![(kind, word)] });
    }
    match &mut node.value {
        Value::Table(inner) => put(inner, rest, path, value),
        _ => Err(Problem::new(&path.place, format!("{first} has no settings of its own"))),
    }
}
