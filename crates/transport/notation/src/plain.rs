//! Any quantity as a plain number in its base unit: for tables that programs read, and for ranges of a sweep.

use crate::units::{Duration, Probability, Rate, Size};

/// A number and its base unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plain {
    /// The number, in `unit`.
    pub value: f64,
    /// The unit.
    pub unit: Unit,
}

/// A base unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unit {
    /// A number without a unit.
    One,
    /// Bits per second.
    BitPerSecond,
    /// Seconds.
    Second,
    /// Round-trip times of the flow.
    RoundTrip,
    /// Bytes.
    Byte,
    /// Packets.
    Packet,
    /// A probability as a ratio between 0 and 1.
    Ratio,
}

impl Unit {
    /// Returns the end of a column's name with the unit: "_bit_s"; empty for a number without a unit.
    pub fn suffix(self) -> &'static str {
        match self {
            Unit::One => "",
            Unit::BitPerSecond => "_bit_s",
            Unit::Second => "_s",
            Unit::RoundTrip => "_rtt",
            Unit::Byte => "_bytes",
            Unit::Packet => "_packets",
            Unit::Ratio => "_ratio",
        }
    }
}

impl Plain {
    /// Returns the quantity that `text` writes; `None` if it is a word.
    ///
    /// ```
    /// use afteryou_notation::{Plain, Unit};
    ///
    /// assert_eq!(Plain::of("5 Mbit/s"), Some(Plain { value: 5e6, unit: Unit::BitPerSecond }));
    /// assert_eq!(Plain::of("0.5"), Some(Plain { value: 0.5, unit: Unit::One }));
    /// assert_eq!(Plain::of("ledbat++"), None);
    /// ```
    pub fn of(text: &str) -> Option<Plain> {
        let text = text.trim();
        // "nan" and "inf" are words here.
        if !text.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.')) {
            return None;
        }
        let (number, unit) = Plain::split(text);
        let number = number.replace('_', "").parse::<f64>().ok().filter(|number| number.is_finite());
        let plain = |value: f64, unit| Some(Plain { value, unit });
        match (number, unit) {
            (Some(number), "") => return plain(number, Unit::One),
            (Some(number), "rtt") => return plain(number, Unit::RoundTrip),
            (Some(number), "packet" | "packets") => return plain(number, Unit::Packet),
            _ => {}
        }
        if let Ok(rate) = text.parse::<Rate>() {
            return plain(rate.bits_per_second() as f64, Unit::BitPerSecond);
        }
        if let Ok(time) = text.parse::<Duration>() {
            return plain(time.as_secs_f64(), Unit::Second);
        }
        if let Ok(size) = text.parse::<Size>() {
            return plain(size.bytes() as f64, Unit::Byte);
        }
        text.parse::<Probability>().ok().and_then(|probability| plain(probability.ratio(), Unit::Ratio))
    }

    /// Returns the number of "20 Mbit/s", and the unit as it is written.
    pub fn split(text: &str) -> (&str, &str) {
        let is_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+' | '_');
        let end = text.find(|c| !is_number(c)).unwrap_or(text.len());
        // An exponent belongs to the number.
        let end = match text[end..].strip_prefix(['e', 'E']) {
            Some(rest) if rest.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '-' | '+')) => {
                rest.find(|c| !is_number(c)).map_or(text.len(), |at| end + 1 + at)
            }
            _ => end,
        };
        (&text[..end], text[end..].trim())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_unit_has_a_base_and_words_have_none() {
        for (text, value, unit) in [
            ("250 kB", 250e3, Unit::Byte),
            ("64 KiB", 65536.0, Unit::Byte),
            ("100 packets", 100.0, Unit::Packet),
            ("20 ms", 0.02, Unit::Second),
            ("3 rtt", 3.0, Unit::RoundTrip),
            ("1 %", 0.01, Unit::Ratio),
            ("1_000", 1000.0, Unit::One),
            ("-2.5e-3", -0.0025, Unit::One),
            ("1e3", 1000.0, Unit::One),
        ] {
            assert_eq!(Plain::of(text), Some(Plain { value, unit }), "{text}");
        }
        for word in ["nan", "inf", "cubic", "", "3 horses", "-", "1.2.3", "5 Mbit/s extra"] {
            assert_eq!(Plain::of(word), None, "{word}");
        }
    }
}
