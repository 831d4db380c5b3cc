//! Quantities and controllers as scenario files have them.

use afteryou_notation::Algorithm;

/// Returns a time of `ms` milliseconds, to a microsecond.
pub fn millis(ms: f64) -> String {
    format!("{} ms", (ms * 1e3).round() / 1e3)
}

/// Returns a time of `s` seconds, to a millisecond.
pub fn seconds(s: f64) -> String {
    format!("{} s", (s * 1e3).round() / 1e3)
}

/// Returns a rate of `bit_s` bit/s, whole.
pub fn rate(bit_s: f64) -> String {
    format!("{} bit/s", bit_s.round())
}

/// Returns a controller as a value of a file.
pub fn algorithm(algorithm: &Algorithm) -> String {
    let quoted = |text: &str| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
    if algorithm.params.is_empty() {
        return quoted(&algorithm.kind);
    }
    let params = algorithm.params.iter().map(|(name, value)| format!(", {name} = {}", quoted(value)));
    format!("{{ kind = {}{} }}", quoted(&algorithm.kind), params.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_controller_reads_back_with_its_parameters() {
        assert_eq!(algorithm(&Algorithm::named("ledbat++")), "\"ledbat++\"");
        let written: Algorithm = "ledbat,target=25ms".parse().unwrap();
        assert_eq!(algorithm(&written), "{ kind = \"ledbat\", target = \"25ms\" }");
    }
}
