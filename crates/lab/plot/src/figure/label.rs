//! Columns in words: a name and a unit that people read, and the factor from the column's numbers to that unit.

use afteryou_notation::Unit;

/// How a column is shown.
#[derive(Clone, Debug, PartialEq)]
pub struct Label {
    /// "goodput (Mbit/s)".
    pub text: String,
    /// The factor of a number of the column.
    pub factor: f64,
}

/// The end of a name, and the units that it may be shown in: from this size on, its factor and its name.
type Ending = (&'static str, &'static [(f64, f64, &'static str)]);

/// The longest endings come first: "_s" is the end of "_bit_s", too.
const ENDINGS: &[Ending] = &[
    ("_bit_s", &[(1e9, 1e-9, "Gbit/s"), (1e6, 1e-6, "Mbit/s"), (0.0, 1e-3, "kbit/s")]),
    ("_bytes", &[(1e9, 1e-9, "GB"), (1e6, 1e-6, "MB"), (1e3, 1e-3, "kB"), (0.0, 1.0, "B")]),
    ("_packets", &[(0.0, 1.0, "packets")]),
    ("_ratio", &[(0.0, 1e2, "%")]),
    ("_rtt", &[(0.0, 1.0, "round trips")]),
    ("_ms", &[(0.0, 1.0, "ms")]),
    ("_s", &[(2.0, 1.0, "s"), (0.0, 1e3, "ms")]),
];

/// Returns how the column `name` is shown, whose largest number is `largest`; `unit` is that of its cells, `curves` that of a quantity of
/// curves.
pub fn of(name: &str, unit: Unit, curves: Option<&str>, largest: f64) -> Label {
    if let Some(curves) = curves {
        return labelled(name, curves, 1.0);
    }
    // Time is read in seconds, however short a run is.
    if name == "time_s" {
        return labelled("time", "s", 1.0);
    }
    let written = format!("{name}{}", unit.suffix());
    let ending = ENDINGS.iter().find(|(ending, _)| written.ends_with(ending) && written.len() > ending.len());
    let Some((ending, units)) = ending else { return labelled(name, "", 1.0) };
    let found = units.iter().find(|(from, ..)| largest >= *from).or(units.last());
    match found {
        Some((_, factor, unit)) => labelled(&written[..written.len() - ending.len()], unit, *factor),
        None => labelled(name, "", 1.0),
    }
}

/// Returns the column `name` in words, without its unit.
pub fn name_of(name: &str) -> String {
    let ending = ENDINGS.iter().find(|(ending, _)| name.ends_with(ending) && name.len() > ending.len());
    name[..name.len() - ending.map_or(0, |(ending, _)| ending.len())].replace('_', " ")
}

fn labelled(name: &str, unit: &str, factor: f64) -> Label {
    let name = name.replace('_', " ");
    let text = if unit.is_empty() { name } else { format!("{name} ({unit})") };
    Label { text, factor }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_name_is_its_unit() {
        let cases = [
            ("goodput_bit_s", Unit::One, 2e7, "goodput (Mbit/s)", 1e-6),
            ("queuing_delay_mean_ms", Unit::One, 9.0, "queuing delay mean (ms)", 1.0),
            ("flow.backup.rtt_s", Unit::One, 0.4, "flow.backup.rtt (ms)", 1e3),
            ("link.rate", Unit::BitPerSecond, 5e5, "link.rate (kbit/s)", 1e-3),
            ("kept", Unit::One, 1.0, "kept", 1.0),
            ("time_s", Unit::One, 1.0, "time (s)", 1.0),
        ];
        for (name, unit, largest, text, factor) in cases {
            assert_eq!(of(name, unit, None, largest), Label { text: text.to_owned(), factor }, "{name}");
        }
    }
}
