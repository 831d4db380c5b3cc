//! The book's tables of a result's fields, made from the schema of results.

use serde_json::{Map, Value};
use std::fmt::Write;

/// The end of the page's text; the rest is made here.
const MARK: &str =
    "<!-- Made from the schema: UPDATE_SCHEMA=1 cargo test -p afteryou-scenario-file --test all schema -->\n";

/// The type of the scenario, which has pages of its own in the book.
const SCENARIO: &str = "Scenario";

/// Returns `page` with the tables of `schema` after its text.
pub fn filled(page: &str, schema: &Value) -> String {
    let (text, _) = page.split_once(MARK).expect("the page says where the fields begin");
    format!("{text}{MARK}{}", tables(schema))
}

/// Returns a table for each type of a result, in the order in which types are met.
fn tables(schema: &Value) -> String {
    let mut text = String::new();
    let mut met = vec![("Outcome".to_owned(), schema)];
    let mut next = 0;
    while let Some((name, of)) = met.get(next).cloned() {
        next += 1;
        let Some(fields) = of["properties"].as_object() else { continue };
        let _ = write!(text, "\n### {name}\n\n{}\n\n", prose(of));
        text.push_str("| field | value | meaning |\n|---|---|---|\n");
        let required: Vec<&str> =
            of["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        for (field, value) in fields {
            let may_be_absent = if required.contains(&field.as_str()) { "" } else { ", or absent" };
            let kind = kind(value, schema);
            let _ = writeln!(text, "| `{field}` | {kind}{may_be_absent} | {} |", prose(value));
            for name in named(value) {
                if name != SCENARIO && !met.iter().any(|(known, _)| *known == name) {
                    met.push((name.clone(), &schema["$defs"][&name]));
                }
            }
        }
    }
    text
}

/// Returns a description on one line, its links to Rust items as code.
fn prose(of: &Value) -> String {
    let text = of["description"].as_str().unwrap_or_default();
    text.replace("[`", "`").replace("`]", "`").replace('\n', " ").replace('|', "\\|")
}

/// Returns the types that a value refers to.
fn named(value: &Value) -> Vec<String> {
    match value {
        Value::Object(fields) => {
            let own = fields.get("$ref").and_then(Value::as_str).and_then(|path| path.rsplit('/').next());
            own.map(str::to_owned).into_iter().chain(fields.values().flat_map(named)).collect()
        }
        Value::Array(values) => values.iter().flat_map(named).collect(),
        _ => Vec::new(),
    }
}

/// Returns the kind of a value, in words.
fn kind(value: &Value, schema: &Value) -> String {
    let Some(fields) = value.as_object() else { return "anything".to_owned() };
    if let Some(name) = fields.get("$ref").and_then(Value::as_str).and_then(|path| path.rsplit('/').next()) {
        return reference(name, schema);
    }
    if let Some(several) = fields.get("anyOf").or_else(|| fields.get("oneOf")).and_then(Value::as_array) {
        return several.iter().map(|one| kind(one, schema)).collect::<Vec<_>>().join(" or ");
    }
    if let Some(word) = fields.get("const") {
        return format!("`{word}`");
    }
    match &fields.get("type") {
        Some(Value::String(name)) => simple(name, fields, schema),
        Some(Value::Array(names)) => {
            let names = names.iter().filter_map(Value::as_str).map(|name| simple(name, fields, schema));
            names.collect::<Vec<_>>().join(" or ")
        }
        _ => "anything".to_owned(),
    }
}

fn reference(name: &str, schema: &Value) -> String {
    let of = &schema["$defs"][name];
    match of.get("properties").is_some() && name != SCENARIO {
        true => format!("[{name}](#{})", name.to_lowercase()),
        false if name == SCENARIO => "a scenario, as in files".to_owned(),
        false => kind(of, schema),
    }
}

fn simple(name: &str, fields: &Map<String, Value>, schema: &Value) -> String {
    match (name, fields.get("prefixItems").and_then(Value::as_array), fields.get("items")) {
        ("array", Some(items), _) => {
            format!("[{}]", items.iter().map(|item| kind(item, schema)).collect::<Vec<_>>().join(", "))
        }
        ("array", None, Some(items)) => format!("list of {}", kind(items, schema)),
        ("object", ..) => "texts by name".to_owned(),
        ("string", ..) => "text".to_owned(),
        ("integer", ..) => "whole number".to_owned(),
        (other, ..) => other.to_owned(),
    }
}
