//! The varied settings of a sweep as columns.

use super::{Row, Value};
use afteryou_notation::Plain;
use std::collections::BTreeMap;

/// Adds a column for each setting of `point`: "5 Mbit/s" of `link.rate` is 5000000 in `link.rate_bit_s`. A word is text
/// in a column with the setting's own name. Where some values of a setting are words, or have another unit, it has a
/// column of each kind. A name that is in `taken` gets `sweep.` before it.
pub(super) fn add(row: &mut Row, point: &BTreeMap<String, String>, taken: &[&str]) {
    for (setting, written) in point {
        let (name, value) = match Plain::of(written) {
            Some(plain) => (format!("{setting}{}", plain.unit.suffix()), number(plain.value)),
            None => (setting.clone(), written.as_str().into()),
        };
        let name = if taken.contains(&name.as_str()) { format!("sweep.{name}") } else { name };
        row.add(name, value);
    }
}

fn number(value: f64) -> Value {
    // Up to here every whole number is exact.
    let is_whole = value.fract() == 0.0 && (0.0..9e15).contains(&value);
    if is_whole {
        return Value::Whole(value as u64);
    }
    value.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_numbers_with_the_unit_in_the_name_and_words_stay_text() {
        let point = [
            ("flow.backup.rtt", "20 ms"),
            ("flow.backup.controller", "ledbat++,target=60 ms"),
            ("flow.backup.count", "3"),
            ("link.buffer", "100 packets"),
            ("link.loss", "0.5 %"),
            ("link.rate", "5 Mbit/s"),
            ("run", "7"),
        ];
        let point = point.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let mut row = Row::default();
        add(&mut row, &point, &["run"]);
        let cells: Vec<(&str, Value)> =
            row.cells().iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
        let expected: [(&str, Value); 7] = [
            ("flow.backup.controller", "ledbat++,target=60 ms".into()),
            ("flow.backup.count", 3.into()),
            ("flow.backup.rtt_s", 0.02.into()),
            ("link.buffer_packets", 100.into()),
            ("link.loss_ratio", 0.005.into()),
            ("link.rate_bit_s", 5_000_000.into()),
            ("sweep.run", 7.into()),
        ];
        assert_eq!(cells, expected);
    }
}
