//! The columns that a table always has, whatever was measured: programs that read it find each of them, with or without values. They
//! are read off the schema of outcomes, so a new field of an outcome is a new column.
//!
//! Not fixed are the varied settings, the size classes of transfers, and figures whose names have the name of a link or a flow in them.

use super::{Column, Columns, Kind, Row, Rows, Value};
use afteryou_scenario::outcome::{
    Comparison, CompletionCost, FlowFigures, LinkComparison, LinkFigures, SetFigures, Totals,
};
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Map, Value as Json};

/// The identity of a run.
const RUN: [(&str, Kind); 5] = [
    ("run", Kind::Whole),
    ("repetition", Kind::Whole),
    ("seed", Kind::Seed),
    ("key", Kind::Word),
    ("engine", Kind::Word),
];
const WINDOW: [(&str, Kind); 3] = [("window", Kind::Word), ("from_s", Kind::Number), ("to_s", Kind::Number)];
const FLOW: [(&str, Kind); 6] = [
    ("flow", Kind::Word),
    ("group", Kind::Word),
    ("role", Kind::Word),
    ("controller", Kind::Word),
    ("controller_parameters", Kind::Word),
    ("link", Kind::Word),
];
/// Sums over the flows of a run.
const SUMS: [&str; 5] = ["packets", "retransmissions", "losses", "timeouts", "handshake_timeouts"];

/// The fixed columns of all tables, for runs like this one: its windows are part of names in the table of runs.
pub struct Fixed {
    /// Of the table of runs.
    pub runs: Columns,
    /// Of flows.
    pub flows: Columns,
    /// Of links.
    pub links: Columns,
    /// Of sets.
    pub sets: Columns,
}

impl Fixed {
    /// Returns those of runs whose rows are like `rows`.
    pub fn of(rows: &Rows) -> Fixed {
        Fixed { runs: runs(rows), flows: flows(), links: links(), sets: sets() }
    }
}

/// Returns the columns of every table of flows.
pub fn flows() -> Columns {
    let mut columns = named(&[&RUN[..], &WINDOW, &FLOW].concat());
    columns.extend(of::<CompletionCost>("", &[]));
    columns.extend(of::<FlowFigures>("", &["flow", "role"]));
    columns.extend(of_comparison());
    columns.extend(of::<Totals>("run_", &["flow"]));
    columns.extend(named(&[("baseline_completed_in_s", Kind::Number)]));
    columns.into()
}

/// Returns the columns of every table of links.
pub fn links() -> Columns {
    let mut columns = named(&[&RUN[..], &WINDOW, &[("link", Kind::Word)]].concat());
    columns.extend(of_link(""));
    columns.into()
}

/// Returns the columns of every table of sets.
pub fn sets() -> Columns {
    let mut columns = named(&[&RUN[..], &WINDOW, &[("flows", Kind::Whole)]].concat());
    columns.extend(of::<SetFigures>("", &["window", "from_s", "to_s", "flows"]));
    columns.into()
}

/// Returns the columns of every table of flows with the background and without.
pub fn comparison() -> Columns {
    let mut columns = named(&[("window", Kind::Word), ("flow", Kind::Word)]);
    columns.extend(of::<CompletionCost>("", &[]));
    columns.extend(of_comparison());
    columns.into()
}

/// Returns the columns of a table of runs with these windows, and with these flows that have completion times.
fn runs(rows: &Rows) -> Columns {
    let word = |row: &Row| match row.get("window") {
        Value::Word(window) => Some(window.clone()),
        _ => None,
    };
    let mut windows: Vec<String> = rows.flows.iter().chain(&rows.links).filter_map(word).collect();
    windows.dedup();
    let several = windows.iter().any(|window| *window != windows[0]);
    let prefixes: Vec<String> = match several {
        true => windows.iter().map(|window| format!("{window}.")).collect(),
        false => vec![String::new()],
    };
    let mut columns = named(&RUN);
    columns.extend(named(&[("controller", Kind::Word), ("foreground_controller", Kind::Word)]));
    columns.extend(named(&[("duration_s", Kind::Number)]));
    let completions = rows.run.cells().iter().filter_map(|(name, _)| name.strip_suffix(".transfers"));
    let mut completions: Vec<String> = completions.map(|prefix| format!("{prefix}.")).collect();
    if completions.is_empty() {
        completions.push(String::new());
    }
    completions.iter().for_each(|prefix| columns.extend(of::<CompletionCost>(prefix, &[])));
    for prefix in &prefixes {
        let goodputs = ["foreground", "background"]
            .map(|role| Column { name: format!("{prefix}{role}_goodput_bit_s"), kind: Kind::Number });
        columns.extend(goodputs);
        columns.extend(of_link(prefix));
    }
    columns.extend(named(&SUMS.map(|name| (name, Kind::Whole))));
    columns.into()
}

fn of_link(prefix: &str) -> Vec<Column> {
    let mut columns = of::<LinkFigures>(prefix, &["link"]);
    columns.extend(of::<LinkComparison>(prefix, &["window", "link"]));
    columns
}

/// Returns the columns of a comparison beside completion times.
fn of_comparison() -> Vec<Column> {
    let completion = of::<CompletionCost>("", &[]);
    let mut columns = of::<Comparison>("", &["window", "flow"]);
    columns.retain(|column| !completion.contains(column));
    columns
}

fn named(columns: &[(&str, Kind)]) -> Vec<Column> {
    columns.iter().map(|(name, kind)| Column { name: (*name).to_owned(), kind: *kind }).collect()
}

/// Returns a column for each number and word of a structure, as [`figures`](super::figures) names them.
fn of<T: JsonSchema>(prefix: &str, without: &[&str]) -> Vec<Column> {
    let schema = SchemaGenerator::default().into_root_schema_for::<T>().to_value();
    let mut columns = Vec::new();
    if let Some(fields) = schema["properties"].as_object() {
        add(&mut columns, prefix, fields, without, &schema["$defs"]);
    }
    columns
}

fn add(columns: &mut Vec<Column>, prefix: &str, fields: &Map<String, Json>, without: &[&str], defs: &Json) {
    let mut fields: Vec<(&String, &Json)> =
        fields.iter().filter(|(name, _)| !without.contains(&name.as_str())).collect();
    fields.sort_by_key(|(name, _)| *name);
    for (name, field) in fields {
        let name = format!("{prefix}{name}");
        let field = resolved(field, defs);
        match (kind(field), field["properties"].as_object()) {
            (Some(kind), _) => columns.push(Column { name, kind }),
            (None, Some(inside)) => add(columns, &format!("{name}_"), inside, &[], defs),
            (None, None) => {}
        }
    }
}

/// Returns a field's own schema: behind references, and the one of two that is not null.
fn resolved<'a>(field: &'a Json, defs: &'a Json) -> &'a Json {
    if let Some(name) = field["$ref"].as_str().and_then(|path| path.rsplit('/').next()) {
        return resolved(&defs[name], defs);
    }
    let options = field["anyOf"].as_array().into_iter().flatten();
    match options.filter(|option| option["type"] != "null").collect::<Vec<_>>()[..] {
        [only] => resolved(only, defs),
        _ => field,
    }
}

fn kind(field: &Json) -> Option<Kind> {
    let name = match &field["type"] {
        Json::String(name) => name.as_str(),
        Json::Array(names) => names.iter().filter_map(Json::as_str).find(|name| *name != "null")?,
        _ => return None,
    };
    match name {
        "integer" | "boolean" => Some(Kind::Whole),
        "number" => Some(Kind::Number),
        "string" => Some(Kind::Word),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(columns: &Columns) -> Vec<&str> {
        columns.columns().iter().map(|column| column.name.as_str()).collect()
    }

    #[test]
    fn a_table_of_flows_has_what_may_be_measured_and_each_column_once() {
        let columns = flows();
        let names = names(&columns);
        for name in [
            "kept",
            "completion_mean_ratio",
            "queuing_delay_p95_ms",
            "run_timeouts",
            "group",
            "sender_rtt_mean_ms",
        ] {
            assert_eq!(names.iter().filter(|known| **known == name).count(), 1, "{name} in {names:?}");
        }
        let kind = |name: &str| columns.columns().iter().find(|column| column.name == name).unwrap().kind;
        assert_eq!(
            (kind("run_timeouts"), kind("kept"), kind("group")),
            (Kind::Whole, Kind::Number, Kind::Word)
        );
        assert_eq!(kind("seed"), Kind::Seed, "it uses all 64 bits");
        let mut unique = names.clone();
        unique.sort_unstable();
        unique.dedup();
        assert_eq!(unique.len(), names.len());
    }

    #[test]
    fn a_table_of_runs_has_the_figures_of_each_window() {
        let window = |name: &str| {
            let mut row = Row::default();
            row.add("window", name);
            row
        };
        let one = runs(&Rows { flows: vec![window("all"), window("all")], ..Rows::default() });
        assert!(names(&one).contains(&"kept") && names(&one).contains(&"completion_mean_s"));
        let two = runs(&Rows { flows: vec![window("early"), window("late")], ..Rows::default() });
        assert!(names(&two).contains(&"early.kept") && names(&two).contains(&"late.utilisation"));
        assert!(!names(&two).contains(&"kept"));
    }
}
