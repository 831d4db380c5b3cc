//! A text with values replaced: everything else in it is kept, comments and order included.

use crate::error::{json, Error};
use serde::{Deserialize, Serialize};
use toml_edit::{DocumentMut, Item, TableLike};

/// A value to replace.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Edit {
    /// Names and places from the root: `["flow", 0, "rtt"]`.
    pub path: Vec<Step>,
    /// The value as in the file, such as `"20 Mbit/s"` with its quotes; none to remove the key.
    pub value: Option<String>,
}

/// A step of a path.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Step {
    /// The place in an array of tables.
    Place(usize),
    /// A key.
    Name(String),
}

#[derive(Serialize)]
struct Edited {
    text: String,
}

/// Answers with the new text.
///
/// # Errors
/// A text that is not TOML, and a value that is none or has no place there.
pub fn answer(text: &str, edits: &[Edit]) -> Result<String, Error> {
    let mut document = document(text)?;
    edits.iter().try_for_each(|edit| apply(&mut document, edit))?;
    json(&Edited { text: document.to_string() })
}

/// Reads `text` as TOML.
///
/// # Errors
/// The first mistake of the text.
pub fn document(text: &str) -> Result<DocumentMut, Error> {
    text.parse().map_err(|error: toml_edit::TomlError| Error::Edit(error.message().to_owned()))
}

fn apply(document: &mut DocumentMut, edit: &Edit) -> Result<(), Error> {
    let nowhere = || Error::Edit(format!("the text has no place for {:?}: edit the text", edit.path));
    let Some((Step::Name(key), above)) = edit.path.split_last() else { return Err(nowhere()) };
    let mut item = document.as_item_mut();
    for step in above {
        item = below(item, step).ok_or_else(nowhere)?;
    }
    // A bare name becomes a table as soon as it has a parameter: "cubic", { kind = "cubic", beta = 0.5 }.
    if let Some(kind) = item.as_str().map(str::to_owned) {
        let mut table = toml_edit::InlineTable::new();
        table.insert("kind", kind.into());
        *item = Item::Value(table.into());
    }
    let table = item.as_table_like_mut().ok_or_else(nowhere)?;
    match &edit.value {
        None => drop(table.remove(key)),
        Some(value) => replace(table, key, value)?,
    }
    Ok(())
}

fn below<'a>(item: &'a mut Item, step: &Step) -> Option<&'a mut Item> {
    match step {
        Step::Name(name) => item.as_table_like_mut()?.get_mut(name),
        // A single flow may be without brackets.
        Step::Place(0) if item.is_table_like() => Some(item),
        Step::Place(place) => item.get_mut(*place),
    }
}

fn replace(table: &mut dyn TableLike, key: &str, value: &str) -> Result<(), Error> {
    let mut new: toml_edit::Value = value
        .parse()
        .map_err(|error: toml_edit::TomlError| Error::Edit(format!("{value}: {}", error.message())))?;
    match table.get_mut(key) {
        // In place: the spaces around the key and the value, and a comment behind them, stay.
        Some(Item::Value(old)) => {
            *new.decor_mut() = old.decor().clone();
            *old = new;
        }
        _ => drop(table.insert(key, Item::Value(new))),
    }
    Ok(())
}
