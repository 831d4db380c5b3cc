//! A file as a tree whose nodes have their places in the text.

use crate::error::{Place, Problem};
use crate::limits::LONGEST_TEXT;
use toml::de::{DeTable, DeValue};
use toml::Spanned;

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    pub(crate) place: Place,
    pub(crate) value: Value,
}

/// A value's kind.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Text(String),
    /// As it was written.
    Number(String),
    Flag(bool),
    List(Vec<Node>),
    Table(Table),
}

/// A table, in the order of the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Table {
    pub(crate) entries: Vec<(Key, Node)>,
}

/// A key and where it was written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Key {
    pub(crate) name: String,
    pub(crate) place: Place,
}

impl Table {
    /// Reads TOML.
    pub(crate) fn parse(text: &str) -> Result<Table, Problem> {
        let table = DeTable::parse(text).map_err(|error| {
            let span = error.span().unwrap_or(0..0);
            let message = match error.message() {
                "recursion limit" => "the file nests its tables and lists too deeply",
                other => other,
            };
            Problem::new(&Place::At(span), message.trim_end_matches('\n').replace('\n', ", "))
        })?;
        let mut table = Table::of(table.get_ref());
        check_lengths(&table)?;
        table.make_lists();
        Ok(table)
    }

    /// Makes lists: a single `[flow]` is a list of one; so are the lines of the script. `[link]` is not: it is the short
    /// form.
    fn make_lists(&mut self) {
        for name in ["flow", "drop", "delay", "route_change"] {
            let Some(node) = self.get_mut(name) else { continue };
            if let Value::Table(_) = node.value {
                node.value = Value::List(vec![node.clone()]);
            }
        }
    }

    fn of(table: &DeTable<'_>) -> Table {
        let entry = |(key, value): (&Spanned<toml::de::DeString<'_>>, &Spanned<DeValue<'_>>)| {
            let key = Key { name: key.get_ref().to_string(), place: Place::At(key.span()) };
            (key, Node::of(value))
        };
        Table { entries: table.iter().map(entry).collect() }
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Node> {
        self.entries.iter().find(|(key, _)| key.name == name).map(|(_, node)| node)
    }

    pub(crate) fn get_mut(&mut self, name: &str) -> Option<&mut Node> {
        self.entries.iter_mut().find(|(key, _)| key.name == name).map(|(_, node)| node)
    }

    /// Puts `node` under `key`, in the place of what is there.
    pub(crate) fn put(&mut self, key: Key, node: Node) {
        match self.entries.iter_mut().find(|(other, _)| other.name == key.name) {
            Some(entry) => *entry = (key, node),
            None => self.entries.push((key, node)),
        }
    }

    pub(crate) fn remove(&mut self, name: &str) -> Option<Node> {
        let at = self.entries.iter().position(|(key, _)| key.name == name)?;
        Some(self.entries.remove(at).1)
    }
}

impl Node {
    fn of(value: &Spanned<DeValue<'_>>) -> Node {
        let place = Place::At(value.span());
        let value = match value.get_ref() {
            DeValue::String(text) => Value::Text(text.to_string()),
            DeValue::Integer(number) => match number.radix() {
                10 => Value::Number(number.as_str().to_owned()),
                radix => match u64::from_str_radix(number.as_str(), radix) {
                    Ok(number) => Value::Number(number.to_string()),
                    Err(_) => Value::Number(number.as_str().to_owned()),
                },
            },
            DeValue::Float(number) => Value::Number(number.as_str().to_owned()),
            DeValue::Boolean(flag) => Value::Flag(*flag),
            DeValue::Datetime(time) => Value::Text(time.to_string()),
            DeValue::Array(list) => Value::List(list.iter().map(Node::of).collect()),
            DeValue::Table(table) => Value::Table(Table::of(table)),
        };
        Node { place, value }
    }

    /// Reads the value of an assignment on the command line: TOML if it is, else text.
    pub(crate) fn of_assignment(assignment: &str, value: &str) -> Result<Node, Problem> {
        let place = Place::Set(assignment.to_owned());
        let text = || Node { place: place.clone(), value: Value::Text(value.to_owned()) };
        let parsed = Table::parse(&format!("value = {value}")).ok();
        let mut node = parsed.and_then(|mut table| table.remove("value")).unwrap_or_else(text);
        node.moved_to(&place);
        check_length(&node)?;
        Ok(node)
    }

    /// Gives the node and all that is in it another place.
    pub(crate) fn moved_to(&mut self, place: &Place) {
        self.place = place.clone();
        match &mut self.value {
            Value::List(list) => list.iter_mut().for_each(|node| node.moved_to(place)),
            Value::Table(table) => table.entries.iter_mut().for_each(|(key, node)| {
                key.place = place.clone();
                node.moved_to(place);
            }),
            _ => {}
        }
    }

    /// Returns the value as people would write it, for tables of results.
    pub(crate) fn shown(&self) -> String {
        match &self.value {
            Value::Text(text) | Value::Number(text) => text.clone(),
            Value::Flag(flag) => flag.to_string(),
            Value::List(list) => list.iter().map(Node::shown).collect::<Vec<_>>().join(" "),
            // A flow is known by its name.
            Value::Table(table) if table.get("name").is_some() => {
                table.get("name").map(Node::shown).unwrap_or_default()
            }
            Value::Table(table) => {
                let entry = |(key, node): &(Key, Node)| match key.name.as_str() {
                    "kind" => node.shown(),
                    name => format!("{name}={}", node.shown()),
                };
                table.entries.iter().map(entry).collect::<Vec<_>>().join(",")
            }
        }
    }

    /// Returns the whole value, as in a file: no two values are written alike.
    pub(crate) fn written(&self) -> String {
        let joined = |parts: Vec<String>| parts.join(", ");
        match &self.value {
            Value::Text(text) => format!("{text:?}"),
            Value::Number(_) | Value::Flag(_) => self.shown(),
            Value::List(list) => format!("[{}]", joined(list.iter().map(Node::written).collect())),
            Value::Table(table) => {
                let entry = |(key, node): &(Key, Node)| format!("{} = {}", key.name, node.written());
                format!("{{ {} }}", joined(table.entries.iter().map(entry).collect()))
            }
        }
    }

    /// Returns its kind in a word, for messages.
    pub(crate) fn is_a(&self) -> &'static str {
        match self.value {
            Value::Text(_) => "text",
            Value::Number(_) => "a number",
            Value::Flag(_) => "true or false",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
        }
    }
}

/// Refuses keys and values that are longer than anybody writes. Dotted keys are followed step by step, so their length is
/// also the depth of what they make.
fn check_lengths(table: &Table) -> Result<(), Problem> {
    table.entries.iter().try_for_each(|(key, node)| check_key(key).and_then(|()| check_length(node)))
}

pub(crate) fn check_key(Key { name, place }: &Key) -> Result<(), Problem> {
    match name.len() > LONGEST_TEXT {
        true => Err(Problem::new(place, format!("a key is longer than {LONGEST_TEXT} bytes: shorten it"))),
        false => Ok(()),
    }
}

fn check_length(node: &Node) -> Result<(), Problem> {
    match &node.value {
        Value::Text(text) | Value::Number(text) if text.len() > LONGEST_TEXT => {
            let message = format!("this is longer than {LONGEST_TEXT} bytes: shorten it");
            Err(Problem::new(&node.place, message))
        }
        Value::List(list) => list.iter().try_for_each(check_length),
        Value::Table(table) => check_lengths(table),
        _ => Ok(()),
    }
}
