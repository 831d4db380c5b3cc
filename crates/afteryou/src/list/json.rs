//! A list for programs. The form is documented in `afteryou list --help`; every key is always there.

use super::Listed;
use afteryou_base::param::{Kind, Param, Preset, Value};
use serde::Serialize;
use std::collections::BTreeMap;

#[derive(Serialize)]
struct Entry {
    name: &'static str,
    class: Option<&'static str>,
    summary: &'static str,
    source: &'static str,
    engines: Vec<&'static str>,
    parameters: Vec<Parameter>,
    presets: Vec<PresetOf>,
}

#[derive(Serialize)]
struct Parameter {
    name: &'static str,
    kind: &'static str,
    unit: &'static str,
    default: serde_json::Value,
    min: Option<serde_json::Value>,
    max: Option<serde_json::Value>,
    choices: Option<&'static [&'static str]>,
    help: &'static str,
    source: &'static str,
}

#[derive(Serialize)]
struct PresetOf {
    name: &'static str,
    help: &'static str,
    values: BTreeMap<&'static str, serde_json::Value>,
}

/// Returns `entries` as a JSON array, with a line feed at the end.
pub fn json(entries: &[Listed]) -> Result<String, serde_json::Error> {
    let entries: Vec<_> = entries.iter().map(entry).collect();
    Ok(serde_json::to_string_pretty(&entries)? + "\n")
}

fn entry(listed: &Listed) -> Entry {
    Entry {
        name: listed.name,
        class: listed.class_name(),
        summary: listed.summary,
        source: listed.source,
        engines: listed.engines.clone(),
        parameters: listed.params.iter().map(parameter).collect(),
        presets: listed.presets.iter().map(preset).collect(),
    }
}

fn preset(preset: &Preset) -> PresetOf {
    let values = preset.rows.iter().map(|(name, value)| (*name, plain(*value)));
    PresetOf { name: preset.name, help: preset.help, values: values.collect() }
}

fn parameter(param: &Param) -> Parameter {
    let (kind, bounded, choices) = match param.kind {
        Kind::Time => ("time", true, None),
        Kind::Number => ("number", true, None),
        Kind::Count => ("count", true, None),
        Kind::Bytes => ("bytes", true, None),
        Kind::Flag => ("flag", false, None),
        Kind::Choice(words) => ("choice", false, Some(words)),
    };
    Parameter {
        name: param.name,
        kind,
        unit: param.unit,
        default: plain(param.default),
        min: bounded.then(|| plain(param.min)),
        max: bounded.then(|| plain(param.max)),
        choices,
        help: param.help,
        source: param.source,
    }
}

/// Returns the value in its parameter's unit, which is ms for times.
fn plain(value: Value) -> serde_json::Value {
    match value {
        Value::Time(span) => number(span.as_millis_f64()),
        Value::Number(value) => number(value),
        Value::Count(count) | Value::Bytes(count) => count.into(),
        Value::Flag(flag) => flag.into(),
        Value::Choice(word) => word.into(),
    }
}

/// Returns a number as people write it: 60 rather than 60.0.
fn number(value: f64) -> serde_json::Value {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match value.fract() == 0.0 && value.abs() < EXACT {
        true => (value as i64).into(),
        false => value.into(),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::list::List;

    #[test]
    fn values_are_plain_numbers_in_the_unit() {
        let text = json(&List::Controllers.entries()).unwrap();
        let all: serde_json::Value = serde_json::from_str(&text).unwrap();
        let entry = all.as_array().unwrap().iter().find(|entry| entry["name"] == "ledbat++").unwrap();
        assert_eq!(entry["class"], "background");
        let of = |name: &str| {
            let found = entry["parameters"].as_array().unwrap().iter().find(|row| row["name"] == name);
            found.unwrap_or_else(|| panic!("{name}")).clone()
        };
        let target = of("target");
        assert_eq!((&target["default"], &target["unit"]), (&60.into(), &"ms".into()));
        assert_eq!((&target["min"], &target["max"]), (&1.into(), &100.into()));
        assert_eq!(of("restart")["default"], false);
        assert!(of("restart")["min"].is_null());
        assert_eq!(of("signal")["choices"], serde_json::json!(["rtt", "one-way"]));
    }

    #[test]
    fn every_key_is_always_there() {
        // As a set: whether a parsed object keeps the order of its keys is a feature that any dependency may turn on.
        let keys = |value: &serde_json::Value| -> Vec<String> {
            value.as_object().unwrap().keys().cloned().collect::<BTreeSet<_>>().into_iter().collect()
        };
        for list in [List::Controllers, List::Queues, List::Transports] {
            let all: serde_json::Value = serde_json::from_str(&json(&list.entries()).unwrap()).unwrap();
            for entry in all.as_array().unwrap() {
                assert_eq!(
                    keys(entry),
                    ["class", "engines", "name", "parameters", "presets", "source", "summary"]
                );
                for row in entry["parameters"].as_array().unwrap() {
                    let expected =
                        ["choices", "default", "help", "kind", "max", "min", "name", "source", "unit"];
                    assert_eq!(keys(row), expected);
                }
            }
        }
    }

    #[test]
    fn presets_say_what_they_change_as_plain_numbers() {
        let text = json(&[crate::list::tests::WITH_PRESETS]).unwrap();
        let all: serde_json::Value = serde_json::from_str(&text).unwrap();
        let expected = serde_json::json!([
            { "name": "paper", "help": "as in the paper", "values": {} },
            { "name": "linux", "help": "as in Linux", "values": { "target": 20, "limit": 65536, "ecn": true } },
        ]);
        assert_eq!(all[0]["presets"], expected);
    }
}
