//! Figures read off their own serialisation: the fields of a structure as columns.

use super::{Row, Value};
use serde::Serialize;
use serde_json::Value as Json;

/// Adds every number and word of `figures` under `prefix` and its field's name, in the order of names. Fields of a structure
/// inside are joined to its name by `_`. Lists have tables of their own and are left out, and so are the fields in `without`.
pub(super) fn add(row: &mut Row, prefix: &str, figures: &impl Serialize, without: &[&str]) {
    // What cannot be serialized has no figures; a result with such numbers is refused when it is written.
    let Ok(Json::Object(fields)) = serde_json::to_value(figures) else { return };
    let mut fields: Vec<_> =
        fields.into_iter().filter(|(name, _)| !without.contains(&name.as_str())).collect();
    fields.sort_by(|one, other| one.0.cmp(&other.0));
    for (name, value) in fields {
        let name = format!("{prefix}{name}");
        match value {
            Json::Number(number) => row.add(name, number_of(&number)),
            Json::String(word) => row.add(name, word.as_str()),
            Json::Bool(flag) => row.add(name, u64::from(flag)),
            Json::Object(_) => add(row, &format!("{name}_"), &value, &[]),
            Json::Null | Json::Array(_) => {}
        }
    }
}

fn number_of(number: &serde_json::Number) -> Value {
    match number.as_u64() {
        Some(whole) => Value::Whole(whole),
        None => number.as_f64().into(),
    }
}
