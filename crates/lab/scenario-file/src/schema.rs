//! The JSON schema of a scenario file, made from the tables of keys and of parameters, so that editors can help.

use crate::distribution::{LOGNORMAL, NORMAL};
use crate::keys::{Key, Takes, ROOT, TRAFFIC};
use crate::range::MOST_PER_DECADE;
use afteryou_aqm::list::QUEUES;
use afteryou_base::param::{Kind, Param};
use afteryou_cc::list::CONTROLLERS;
use afteryou_scenario::end_rule::{RECEIVERS, SENDERS};
use afteryou_scenario::traffic::Gaps;
use afteryou_scenario::transport::TransportKind;
use serde_json::{json, Map, Value};

const RATE: &str = r"^\s*[0-9.]+\s*([kKmMgG]?bit/s|[kKmMgG]bps)\s*$";
const SIZE: &str = r"^\s*[0-9.]+\s*([kKmMgG]?[bB]|[kKmMgG]i[bB])\s*$";
const TIME: &str = r"^\s*[0-9.]+\s*(us|µs|μs|ms|s|min|h)\s*$";
const PROBABILITY: &str = r"^\s*[0-9.]+\s*%\s*$";
const PACKETS: &str = r"^\s*[0-9.]+\s*packets?\s*$";
const ROUNDS: &str = r"^\s*[0-9.]+\s*rtt\s*$";

/// Returns the schema of a scenario file (JSON Schema 2020-12). It has the built-in controllers only, so that it is the same
/// in every program.
pub fn schema() -> Value {
    let mut root = object(ROOT);
    if let Some(fields) = root.as_object_mut() {
        fields.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
        fields.insert("title".to_owned(), json!("afteryou scenario"));
        fields.insert("required".to_owned(), json!(["duration"]));
        fields.insert("$defs".to_owned(), json!({ "varied": varied() }));
    }
    root
}

/// Describes a table with these keys and no others.
fn object(keys: &[Key]) -> Value {
    let property = |key: &Key| {
        let mut schema = takes(key.takes);
        if let Some(fields) = schema.as_object_mut() {
            fields.insert("description".to_owned(), json!(key.help));
        }
        (key.name.to_owned(), schema)
    };
    let properties: Map<String, Value> = keys.iter().map(property).collect();
    json!({ "type": "object", "properties": properties, "additionalProperties": false })
}

fn text(pattern: &str) -> Value {
    json!({ "type": "string", "pattern": pattern })
}

fn takes(takes: Takes) -> Value {
    let time_or_rounds = || json!({ "anyOf": [text(TIME), text(ROUNDS)] });
    let pair = |of: Value| json!({ "type": "array", "items": of, "minItems": 2, "maxItems": 2 });
    match takes {
        Takes::Text => json!({ "type": "string" }),
        Takes::Rate => text(RATE),
        Takes::Size => text(SIZE),
        Takes::Time => text(TIME),
        Takes::TimeOrRounds => time_or_rounds(),
        Takes::Moment => {
            json!({ "anyOf": [text(TIME), text(r"^\s*(last start|first start|end)\s*([+-].*)?$")] })
        }
        Takes::Buffer => json!({ "anyOf": [text(TIME), text(SIZE), text(r"^\s*[0-9]+\s*packets?\s*$")] }),
        Takes::Probability => text(PROBABILITY),
        Takes::Number(least, most) => json!({ "type": "number", "minimum": least, "maximum": most }),
        Takes::ChangingRate(keys) => json!({ "anyOf": [text(RATE), object(keys)] }),
        Takes::Markov(keys) => json!({ "anyOf": [{ "const": "satellite" }, object(keys)] }),
        Takes::Weights => json!({ "type": "object" }),
        Takes::Elements => json!({ "type": "object" }),
        Takes::RateSteps => json!({
            "type": "array",
            "minItems": 1,
            "items": { "type": "array", "items": { "type": "string" }, "minItems": 2, "maxItems": 2 },
        }),
        Takes::Propagation(keys) => json!({ "anyOf": [text(TIME), object(keys)] }),
        Takes::Jitter(keys) => json!({ "anyOf": [{ "const": "none" }, object(keys)] }),
        Takes::OrNone(keys) => json!({ "anyOf": [{ "const": "none" }, object(keys)] }),
        Takes::CountOrTime => json!({ "anyOf": [{ "type": "integer", "minimum": 1 }, text(TIME)] }),
        Takes::DelaySteps => json!({ "type": "array", "minItems": 1, "items": pair(text(TIME)) }),
        Takes::UpTo => json!({ "anyOf": [text(TIME), pair(text(TIME))] }),
        Takes::Range => pair(text(TIME)),
        Takes::Samples => samples(),
        Takes::Loss(keys) => json!({ "anyOf": [text(PROBABILITY), object(keys)] }),
        Takes::Dscp => json!({ "anyOf": [
            text(r"^\s*([lL][eE]|[dD][eE][fF][aA][uU][lL][tT]|[cC][sS]1|[0-9]|[1-5][0-9]|6[0-3])\s*$"),
            { "type": "integer", "minimum": 0, "maximum": 63 },
        ] }),
        Takes::Packets => text(PACKETS),
        Takes::Window => json!({ "anyOf": [
            text(PACKETS),
            { "type": "object", "required": ["uniform"], "properties": { "uniform": pair(text(PACKETS)) }, "additionalProperties": false },
        ] }),
        Takes::Count => json!({ "type": "integer", "minimum": 0 }),
        Takes::Flag => json!({ "type": "boolean" }),
        Takes::Word(words) => json!({ "enum": words }),
        Takes::Words(words) => json!({ "type": "array", "items": { "enum": words } }),
        Takes::WordOrFlag(words) => json!({ "anyOf": [{ "enum": words }, { "type": "boolean" }] }),
        Takes::Controller => {
            choices(CONTROLLERS.iter().map(|entry| (entry.name, entry.summary, entry.params)))
        }
        Takes::Queue => choices(QUEUES.iter().map(|entry| (entry.name, entry.summary, entry.params))),
        Takes::Transport => choices(
            TransportKind::ALL
                .map(TransportKind::about)
                .into_iter()
                .map(|entry| (entry.name, entry.summary, entry.params)),
        ),
        Takes::Receiver => {
            choices_by("controller", RECEIVERS.iter().map(|about| (about.name, about.summary, about.params)))
        }
        Takes::Sender => {
            choices_by("controller", SENDERS.iter().map(|about| (about.name, about.summary, about.params)))
        }
        Takes::Traffic => json!({ "anyOf": [
            { "const": "bulk" },
            { "type": "object", "required": ["size"], "properties": { "size": text(SIZE) }, "additionalProperties": false },
            { "type": "object", "required": ["chunk"], "properties": { "chunk": text(SIZE) }, "additionalProperties": false },
            { "type": "object", "required": ["on", "off"], "properties": { "on": text(TIME), "off": text(TIME) }, "additionalProperties": false },
            { "type": "object", "required": ["cbr"], "properties": { "cbr": text(RATE), "payload": text(SIZE), "gaps": { "enum": Gaps::WORDS } }, "additionalProperties": false },
            form(&["arrivals", "size"]),
            form(&["chunk", "pause", "persist"]),
            form(&["web"]),
            { "type": "object", "required": ["command"], "properties": { "command": words(), "server": words() }, "additionalProperties": false },
            form(&["swarm"]),
            form(&["downloads", "size"]),
            { "type": "object", "required": ["every", "size"], "properties": { "every": time_or_rounds(), "size": text(SIZE) }, "additionalProperties": false },
        ] }),
        Takes::SizeLaw => json!({ "anyOf": laws(SIZE) }),
        Takes::TimeLaw => json!({ "anyOf": laws(TIME) }),
        Takes::RateLaw => json!({ "anyOf": laws(RATE) }),
        Takes::Arrivals => {
            let mut forms = laws(TIME);
            let rate = text(r"^\s*[0-9.]+\s*per\s*(s|min|h)\s*$");
            forms.push(one("poisson", rate));
            json!({ "anyOf": forms })
        }
        Takes::Ratio => json!({ "anyOf": [{ "type": "number" }, text(r"^\s*[0-9.]+\s*%\s*$")] }),
        Takes::Distribution => json!({ "anyOf": [
            text(TIME),
            { "type": "object", "required": ["uniform"], "properties": { "uniform": pair(text(TIME)) }, "additionalProperties": false },
            { "type": "object", "required": ["normal"], "properties": { "normal": object(NORMAL) }, "additionalProperties": false },
            { "type": "object", "required": ["lognormal"], "properties": { "lognormal": object(LOGNORMAL) }, "additionalProperties": false },
            { "type": "object", "required": ["samples"], "properties": { "samples": samples() }, "additionalProperties": false },
        ] }),
        Takes::Start => json!({ "anyOf": [
            time_or_rounds(),
            { "type": "object", "required": ["every"], "properties": { "every": time_or_rounds(), "first": time_or_rounds() }, "additionalProperties": false },
            { "type": "object", "required": ["uniform"], "properties": { "uniform": pair(time_or_rounds()) }, "additionalProperties": false },
        ] }),
        Takes::Intervals => json!({ "type": "array", "items": pair(time_or_rounds()) }),
        Takes::Table(keys) => object(keys),
        Takes::TableOrList(one, several) => {
            json!({ "anyOf": [object(one), { "type": "array", "minItems": 1, "items": object(several) }] })
        }
        Takes::Names => words(),
        Takes::NamesOrAll => {
            json!({ "anyOf": [{ "const": "all" }, { "type": "array", "items": { "type": "string" } }] })
        }
        Takes::Tables(keys) => json!({ "anyOf": [object(keys), { "type": "array", "items": object(keys) }] }),
        Takes::Sweep => json!({ "type": "object", "additionalProperties": { "$ref": VARIED } }),
    }
}

/// Where the values of a setting that varies are defined.
const VARIED: &str = "#/$defs/varied";

/// Describes a list of values, a range, or a table of settings that vary.
fn varied() -> Value {
    let value = json!({ "anyOf": [{ "type": "number" }, { "type": "string" }] });
    let range = |properties: Value, required: &[&str]| json!({ "type": "object", "properties": properties, "required": required, "additionalProperties": false });
    json!({ "anyOf": [
        { "type": "array", "minItems": 1 },
        range(json!({ "from": value, "to": value, "step": value }), &["from", "to", "step"]),
        range(
            json!({ "log": { "type": "array", "items": value, "minItems": 2, "maxItems": 2 }, "per_decade": { "type": "integer", "minimum": 1, "maximum": MOST_PER_DECADE } }),
            &["log", "per_decade"],
        ),
        { "type": "object", "additionalProperties": { "$ref": VARIED } },
    ] })
}

/// Describes times, each alone or with a weight, or a file of them.
fn samples() -> Value {
    let weighted = json!({ "type": "array", "minItems": 2, "maxItems": 2 });
    let list = json!({ "type": "array", "minItems": 1, "items": { "anyOf": [text(TIME), weighted] } });
    json!({ "anyOf": [{ "type": "string" }, list] })
}

/// Describes a form of traffic with exactly these keys.
fn form(names: &[&str]) -> Value {
    let keys: Vec<Key> = TRAFFIC.iter().filter(|key| names.contains(&key.name)).copied().collect();
    let mut schema = object(&keys);
    if let Some(fields) = schema.as_object_mut() {
        fields.insert("required".to_owned(), json!(names));
    }
    schema
}

/// Describes a table with this one key.
fn one(name: &str, value: Value) -> Value {
    json!({ "type": "object", "required": [name], "properties": { name: value }, "additionalProperties": false })
}

/// Describes a list of at least one text.
fn words() -> Value {
    json!({ "type": "array", "minItems": 1, "items": { "type": "string" } })
}

/// Describes a value that is written like `pattern`, or a law of such values.
fn laws(pattern: &str) -> Vec<Value> {
    let pair = || json!({ "type": "array", "items": text(pattern), "minItems": 2, "maxItems": 2 });
    let number = || json!({ "type": "number" });
    let table = |required: &[&str], properties: Value| json!({ "type": "object", "required": required, "properties": properties, "additionalProperties": false });
    let lognormal =
        json!({ "median": text(pattern), "mean": text(pattern), "sigma": number(), "clip": pair() });
    let pareto = json!({ "shape": number(), "min": text(pattern), "cap": text(pattern) });
    vec![
        text(pattern),
        one("uniform", pair()),
        one("exponential", text(pattern)),
        one("lognormal", table(&["sigma"], lognormal)),
        one("pareto", table(&["shape", "min"], pareto)),
        one("listed", json!({ "type": "array", "minItems": 1, "items": text(pattern) })),
    ]
}

/// Describes a word of a list, with or without parameters after it, or a table with them.
fn choices<'a>(entries: impl Iterator<Item = (&'a str, &'a str, &'static [Param])>) -> Value {
    choices_by("kind", entries)
}

/// Describes the same where the table's key `by` has the word.
fn choices_by<'a>(by: &str, entries: impl Iterator<Item = (&'a str, &'a str, &'static [Param])>) -> Value {
    let mut forms = Vec::new();
    for (name, summary, params) in entries {
        let escaped = name.replace('+', r"\+");
        forms.push(
            json!({ "type": "string", "pattern": format!("^{escaped}(,.*)?$"), "description": summary }),
        );
        let mut properties: Map<String, Value> =
            params.iter().map(|param| (param.name.to_owned(), value(param))).collect();
        properties.insert(by.to_owned(), json!({ "const": name }));
        forms.push(json!({
            "type": "object",
            "description": summary,
            "required": [by],
            "properties": properties,
            "additionalProperties": false,
        }));
    }
    json!({ "anyOf": forms })
}

/// Describes the value of a parameter.
fn value(param: &Param) -> Value {
    let flag_words = json!([true, false, "true", "false", "on", "off", "yes", "no"]);
    let shape = match param.kind {
        Kind::Time => text(TIME),
        Kind::Bytes => text(SIZE),
        Kind::Number => json!({ "anyOf": [{ "type": "number" }, { "type": "string" }] }),
        Kind::Count => json!({ "anyOf": [{ "type": "integer" }, { "type": "string" }] }),
        Kind::Flag => json!({ "enum": flag_words }),
        Kind::Choice(words) if param.kind.word_of_flag(true).is_some() => {
            json!({ "anyOf": [{ "enum": words }, { "enum": flag_words }] })
        }
        Kind::Choice(words) => json!({ "enum": words }),
    };
    let mut shape = shape;
    if let Some(fields) = shape.as_object_mut() {
        fields.insert("description".to_owned(), json!(param.help));
        fields.insert("default".to_owned(), json!(param.default.to_string()));
    }
    shape
}
