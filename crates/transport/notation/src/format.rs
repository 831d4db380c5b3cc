//! Numbers as people read them: three digits that matter, and the unit.

/// The text of a cell that has no measure.
pub const NOTHING: &str = "–";

/// Keeps a number and its unit on one line.
const NO_BREAK: char = '\u{a0}';

/// Returns `value` with about `digits` significant digits and never in exponent form; [`NOTHING`] if it is no number.
pub fn significant(value: f64, digits: i32) -> String {
    if !value.is_finite() {
        return NOTHING.to_owned();
    }
    // Nothing at all looks different from very little.
    if value == 0.0 {
        return "0".to_owned();
    }
    let mut before = 0;
    let mut rest = value.abs();
    while rest >= 1.0 && before < 400 {
        rest /= 10.0;
        before += 1;
    }
    let decimals = (digits - before.max(1)).max(0) as usize;
    let mut text = format!("{value:.decimals$}");
    // Rounding may add a digit before the point: 99.96 is 100, not 100.0.
    let whole = text.trim_start_matches('-').split('.').next().map_or(0, str::len);
    if decimals > 0 && whole > before.max(1) as usize {
        text = format!("{value:.*}", decimals - 1);
    }
    // Rounding may leave a minus before nothing but zeros.
    match text.strip_prefix('-') {
        Some(zero) if zero.chars().all(|c| matches!(c, '0' | '.')) => zero.to_owned(),
        _ => text,
    }
}

/// Returns `value` with three significant digits.
pub fn number(value: f64) -> String {
    significant(value, 3)
}

/// Returns a number without the zeros at its end, for bounds and axes.
pub fn short(value: f64) -> String {
    trimmed(significant(value, 6))
}

fn trimmed(text: String) -> String {
    if !text.contains('.') {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Returns a count with its thousands apart.
pub fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() * 2);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}

/// Returns "packet", "2nd packet", "100th packet".
pub fn nth(n: u64, what: &str) -> String {
    let ending = match (n % 10, n % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    match n {
        1 => what.to_owned(),
        _ => format!("{}{ending} {what}", count(n)),
    }
}

/// Returns a number followed by its unit.
fn with_unit(number: &str, unit: &str) -> String {
    if number == NOTHING || unit.is_empty() {
        return number.to_owned();
    }
    format!("{number}{NO_BREAK}{unit}")
}

/// Returns a rate given in bit/s.
pub fn rate(bit_s: f64) -> String {
    scaled(bit_s, &[("bit/s", 1.0), ("kbit/s", 1e3), ("Mbit/s", 1e6), ("Gbit/s", 1e9)])
}

/// Returns a size given in bytes, decimal.
pub fn size(bytes: u64) -> String {
    if bytes < 1000 {
        return with_unit(&bytes.to_string(), "B");
    }
    scaled(bytes as f64, &[("B", 1.0), ("kB", 1e3), ("MB", 1e6), ("GB", 1e9), ("TB", 1e12)])
}

fn scaled(value: f64, units: &[(&str, f64)]) -> String {
    let (unit, factor) = units.iter().rev().find(|(_, factor)| value.abs() >= *factor).unwrap_or(&units[0]);
    with_unit(&number(value / factor), unit)
}

/// Returns a time given in ms.
pub fn ms(value: f64) -> String {
    with_unit(&number(value), "ms")
}

/// Returns a time given in s.
pub fn seconds(value: f64) -> String {
    with_unit(&format!("{value:.3}"), "s")
}

/// Returns a difference given in ms, with its sign.
pub fn signed_ms(value: f64) -> String {
    let text = ms(value);
    match text.starts_with('-') || !value.is_finite() {
        true => text.replace('-', "−"),
        false => format!("+{text}"),
    }
}

/// Returns a moment given in s, without the unit.
pub fn moment(s: f64) -> String {
    trimmed(format!("{:.2}", if s.is_finite() { s } else { 0.0 }))
}

/// Returns an interval given in s.
pub fn interval(from_s: f64, to_s: f64) -> String {
    with_unit(&format!("{}–{}", moment(from_s), moment(to_s)), "s")
}

/// Returns a ratio in per cent.
pub fn percent(ratio: f64) -> String {
    with_unit(&number(ratio * 100.0), "%")
}

/// Returns `part` of `whole` in per cent; [`NOTHING`] of nothing.
pub fn part(part: u64, whole: u64) -> String {
    match whole {
        0 => NOTHING.to_owned(),
        _ => percent(part as f64 / whole as f64),
    }
}

/// Returns a value of a check: a ratio (no unit) in per cent, anything else in its unit. It has as many digits as it needs to
/// look different from the bound it missed or met.
pub fn checked(value: f64, unit: &str, bounds: &[f64]) -> String {
    let (factor, unit) = ratio_unit(unit);
    let text = |digits, value: f64| significant(value * factor, digits);
    let digits = (3..12)
        .find(|digits| {
            bounds.iter().all(|bound| *bound == value || text(*digits, *bound) != text(*digits, value))
        })
        .unwrap_or(3);
    with_unit(&text(digits, value), unit)
}

/// Returns a bound of a check.
pub fn bound(value: f64, unit: &str) -> String {
    let (factor, unit) = ratio_unit(unit);
    // 0.07 × 100 is not 7 in binary; six digits hide it.
    with_unit(&short(value * factor), unit)
}

fn ratio_unit(unit: &str) -> (f64, &str) {
    match unit {
        "" => (100.0, "%"),
        _ => (1.0, unit),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits_that_matter_and_no_exponent() {
        let texts: Vec<_> = [0.0, 0.01234, 1.0, 9.876, 98.76, 987.6, 98765.4, -0.0001].map(number).into();
        assert_eq!(texts, ["0", "0.01", "1.00", "9.88", "98.8", "988", "98765", "0.00"]);
        assert_eq!([99.96, -9.996, 0.9996, 999.9].map(number), ["100", "-10.0", "1.00", "1000"]);
        assert_eq!(number(f64::NAN), NOTHING);
        assert_eq!(number(f64::NEG_INFINITY), NOTHING);
        assert!(!number(f64::MAX).contains('e'));
    }

    #[test]
    fn rates_and_sizes_take_the_unit_that_fits() {
        assert_eq!(rate(18_940_000.0), "18.9\u{a0}Mbit/s");
        assert_eq!(rate(64_000.0), "64.0\u{a0}kbit/s");
        assert_eq!(rate(0.0), "0\u{a0}bit/s");
        assert_eq!(size(999), "999\u{a0}B");
        assert_eq!(size(250_000_000), "250\u{a0}MB");
        assert_eq!(count(1_234_567), "1\u{202f}234\u{202f}567");
    }

    #[test]
    fn a_value_that_just_misses_its_bound_does_not_look_like_it() {
        assert_eq!(checked(0.91996, "", &[0.92]), "91.996\u{a0}%");
        assert_eq!(checked(0.993, "", &[0.92]), "99.3\u{a0}%");
        assert_eq!(checked(0.92, "", &[0.92]), "92.0\u{a0}%");
        assert_eq!(bound(0.92, ""), "92\u{a0}%");
        assert_eq!(bound(0.07, ""), "7\u{a0}%");
        assert_eq!(bound(25.0, "ms"), "25\u{a0}ms");
    }

    #[test]
    fn differences_carry_their_sign() {
        assert_eq!(signed_ms(3.21), "+3.21\u{a0}ms");
        assert_eq!(signed_ms(-3.21), "−3.21\u{a0}ms");
        assert_eq!(signed_ms(f64::NAN), NOTHING);
        assert_eq!(interval(20.0, 92.5), "20–92.5\u{a0}s");
    }
}
