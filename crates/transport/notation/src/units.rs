//! Quantities that know their unit and are written with it.
//!
//! Rates are decimal (1 Mbit/s = 10^6 bit/s); sizes are decimal (kB) or binary (KiB), as written. A number without a unit is refused: it has
//! been misread too often.

use crate::error::Error;
use afteryou_base::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A rate in bits per second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(into = "String", try_from = "String")]
#[schemars(with = "String")]
pub struct Rate {
    bits_per_second: u64,
}

/// A size in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(into = "String", try_from = "String")]
#[schemars(with = "String")]
pub struct Size {
    bytes: u64,
}

/// A span of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(into = "String", try_from = "String")]
#[schemars(with = "String")]
pub struct Duration(pub Span);

/// A probability, written in per cent.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize, JsonSchema)]
#[serde(into = "String", try_from = "String")]
#[schemars(with = "String")]
pub struct Probability(f64);

/// Largest rate taken.
const MAX_BITS_PER_SECOND: f64 = 1e13;
/// Longest time taken, in seconds.
const MAX_SECONDS: f64 = 1e8;

// Beyond the largest quantities arithmetic in the engines could overflow, and nobody meant them.
const RATE: Form = Form {
    what: "rate",
    units: &[
        ("bit/s", 1.0),
        ("kbit/s", 1e3),
        ("Mbit/s", 1e6),
        ("Gbit/s", 1e9),
        ("kbps", 1e3),
        ("Mbps", 1e6),
        ("Gbps", 1e9),
    ],
    most: MAX_BITS_PER_SECOND,
    valid: "0 bit/s to 10000 Gbit/s",
    example: "a number and a unit, such as 20Mbit/s",
};

const SIZE: Form = Form {
    what: "size",
    units: &[
        ("B", 1.0),
        ("kB", 1e3),
        ("MB", 1e6),
        ("GB", 1e9),
        ("KiB", 1024.0),
        ("MiB", 1_048_576.0),
        ("GiB", 1_073_741_824.0),
    ],
    most: 1e15,
    valid: "0 B to 1000000 GB",
    example: "a number and a unit, such as 250kB or 64KiB",
};

const TIME: Form = Form {
    what: "time",
    units: &[
        ("us", 1e-6),
        ("\u{b5}s", 1e-6),
        ("\u{3bc}s", 1e-6),
        ("ms", 1e-3),
        ("s", 1.0),
        ("min", 60.0),
        ("h", 3600.0),
    ],
    most: MAX_SECONDS,
    valid: "0 s to 100000000 s",
    example: "a number and a unit, such as 40ms or 30s",
};

const PROBABILITY: Form = Form {
    what: "probability",
    units: &[("%", 1.0)],
    most: 100.0,
    valid: "0% to 100%",
    example: "per cent between 0% and 100%, such as 5%",
};

impl Rate {
    /// The largest one that can be written.
    pub const LARGEST: Rate = Rate::from_bits(MAX_BITS_PER_SECOND as u64);

    /// Returns `mbit` Mbit/s.
    pub const fn from_mbit(mbit: u64) -> Rate {
        Rate { bits_per_second: mbit * 1_000_000 }
    }

    /// Returns `bits` bit/s.
    pub const fn from_bits(bits: u64) -> Rate {
        Rate { bits_per_second: bits }
    }

    /// Returns the bits per second.
    pub const fn bits_per_second(self) -> u64 {
        self.bits_per_second
    }

    /// Returns the bytes per second, rounded down.
    pub const fn bytes_per_second(self) -> u64 {
        self.bits_per_second / 8
    }
}

impl Size {
    /// Returns `bytes` bytes.
    pub const fn from_bytes(bytes: u64) -> Size {
        Size { bytes }
    }

    /// Returns the size in bytes.
    pub const fn bytes(self) -> u64 {
        self.bytes
    }
}

impl Duration {
    /// The longest one that can be written.
    pub const LONGEST: Duration = Duration(Span::from_secs(MAX_SECONDS as u64));

    /// Returns `s` seconds, rounded to a nanosecond.
    pub fn from_secs_f64(s: f64) -> Duration {
        Duration(Span::from_secs_f64(s))
    }

    /// Returns `ms` milliseconds.
    pub const fn from_millis(ms: u64) -> Duration {
        Duration(Span::from_millis(ms))
    }

    /// Returns the duration in seconds.
    pub fn as_secs_f64(self) -> f64 {
        self.0.as_secs_f64()
    }
}

impl Probability {
    /// Always.
    pub const ONE: Probability = Probability(1.0);

    /// Converts a ratio between 0 and 1.
    pub fn from_ratio(ratio: f64) -> Option<Probability> {
        (0.0..=1.0).contains(&ratio).then_some(Probability(ratio))
    }

    /// Returns the probability as a ratio between 0 and 1.
    pub fn ratio(self) -> f64 {
        self.0
    }
}

/// Splits "20 Mbit/s" into 20 and "Mbit/s".
fn split(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let end = text.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(text.len());
    let number: f64 = text[..end].parse().ok()?;
    Some((number, text[end..].trim()))
}

/// How a quantity is written: its units with their factors, and its largest value in the base unit.
#[derive(Clone, Copy, Debug)]
pub struct Form {
    /// The kind of quantity, for messages: "rate".
    pub what: &'static str,
    /// Units with their factors.
    pub units: &'static [(&'static str, f64)],
    /// The largest value, in the base unit.
    pub most: f64,
    /// The valid range in words.
    pub valid: &'static str,
    /// How to write it, for messages.
    pub example: &'static str,
}

impl Form {
    /// Parses a number with one of the units and returns it in the base unit.
    ///
    /// # Errors
    /// A text without a number or a unit of the form, and a value below zero or above the largest.
    pub fn parse(&self, text: &str) -> Result<f64, Error> {
        let refused = || Error::Quantity { what: self.what, text: text.to_owned(), example: self.example };
        let unsigned = text.trim().strip_prefix('-');
        let (number, unit) = split(unsigned.unwrap_or(text)).ok_or_else(refused)?;
        let (name, factor) =
            self.units.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit)).ok_or_else(refused)?;
        if confuses_bits_and_bytes(unit, name) {
            return Err(Error::BitsOrBytes { text: text.to_owned(), what: self.what, unit: name });
        }
        let value = number * factor;
        if unsigned.is_some() || value > self.most {
            return Err(Error::Range { what: self.what, text: text.to_owned(), valid: self.valid });
        }
        Ok(value)
    }
}

/// Returns whether a unit that is read as `name` has b, a bit, and B, a byte, the wrong way round. In capitals alone, or in none, nobody means that.
fn confuses_bits_and_bytes(unit: &str, name: &str) -> bool {
    let is_mixed = unit.chars().any(char::is_uppercase) && unit.chars().any(char::is_lowercase);
    let differs = |(written, meant): (char, char)| matches!((written, meant), ('b', 'B') | ('B', 'b'));
    is_mixed && unit.chars().zip(name.chars()).any(differs)
}

/// Writes `value` in the largest unit that makes it at least one, without losing digits.
fn write(f: &mut fmt::Formatter<'_>, value: u64, units: &[(&str, u64)]) -> fmt::Result {
    let (name, factor) = units.iter().rev().find(|(_, factor)| value >= *factor).unwrap_or(&units[0]);
    write!(f, "{} {name}", value as f64 / *factor as f64)
}

impl FromStr for Rate {
    type Err = Error;
    fn from_str(text: &str) -> Result<Rate, Error> {
        let bits = RATE.parse(text)?;
        Ok(Rate { bits_per_second: bits.round() as u64 })
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [("bit/s", 1), ("kbit/s", 1_000), ("Mbit/s", 1_000_000), ("Gbit/s", 1_000_000_000)];
        write(f, self.bits_per_second, &units)
    }
}

impl FromStr for Size {
    type Err = Error;
    fn from_str(text: &str) -> Result<Size, Error> {
        let bytes = SIZE.parse(text)?;
        Ok(Size { bytes: bytes.round() as u64 })
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.bytes != 0 && self.bytes.is_multiple_of(1024) {
            return write(f, self.bytes, &[("B", 1), ("KiB", 1024), ("MiB", 1 << 20), ("GiB", 1 << 30)]);
        }
        write(f, self.bytes, &[("B", 1), ("kB", 1_000), ("MB", 1_000_000), ("GB", 1_000_000_000)])
    }
}

impl FromStr for Duration {
    type Err = Error;
    fn from_str(text: &str) -> Result<Duration, Error> {
        let seconds = TIME.parse(text)?;
        Ok(Duration::from_secs_f64(seconds))
    }
}

impl fmt::Display for Duration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write(f, self.0.as_nanos(), &[("us", 1_000), ("ms", 1_000_000), ("s", 1_000_000_000)])
    }
}

impl FromStr for Probability {
    type Err = Error;
    fn from_str(text: &str) -> Result<Probability, Error> {
        let per_cent = PROBABILITY.parse(text)?;
        Ok(Probability(per_cent / 100.0))
    }
}

impl fmt::Display for Probability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The fewest digits that read back as the same: 0.07 is 7 % and not 7.000000000000001 %.
        let per_cent = self.0 * 100.0;
        let exact = |text: &String| text.parse::<f64>().is_ok_and(|number| number / 100.0 == self.0);
        let short = (0..=30).map(|digits| format!("{per_cent:.digits$}")).find(exact);
        write!(f, "{} %", short.unwrap_or_else(|| per_cent.to_string()))
    }
}

/// A quantity is a string in files: `String` both ways, for serde.
macro_rules! as_text {
    ($($kind:ty),*) => {$(
        impl From<$kind> for String {
            fn from(value: $kind) -> String {
                value.to_string()
            }
        }
        impl TryFrom<String> for $kind {
            type Error = Error;
            fn try_from(text: String) -> Result<$kind, Error> {
                text.parse()
            }
        }
    )*};
}
as_text!(Rate, Size, Duration, Probability);

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn quantities_are_read_with_or_without_a_space_and_in_any_case() {
        assert_eq!("20 Mbit/s".parse::<Rate>().unwrap().bits_per_second(), 20_000_000);
        assert_eq!("1.5gbit/s".parse::<Rate>().unwrap().bits_per_second(), 1_500_000_000);
        assert_eq!("64KiB".parse::<Size>().unwrap().bytes(), 65536);
        assert_eq!("250 kB".parse::<Size>().unwrap().bytes(), 250_000);
        assert_eq!("40ms".parse::<Duration>().unwrap().0, Span::from_millis(40));
        assert_eq!("5%".parse::<Probability>().unwrap().ratio(), 0.05);
    }

    #[test]
    fn a_unit_with_a_bit_for_a_byte_is_refused() {
        for (text, unit) in [("10 Mb", "MB"), ("64 Kib", "KiB"), ("1 Gb", "GB")] {
            let error = text.parse::<Size>().unwrap_err().to_string();
            assert!(error.contains(text) && error.contains(&format!("write {unit}")), "{error}");
        }
        for text in ["20 MBps", "1 GBit/s", "5 kBps"] {
            assert!(text.parse::<Rate>().unwrap_err().to_string().contains("write "), "{text}");
        }
        for text in ["10 MB", "10 mb", "64 KIB", "64 kib", "10 mB", "250 KB"] {
            assert!(text.parse::<Size>().is_ok(), "{text}");
        }
        for text in ["20 MBIT/S", "20 mbps", "20 Mbps", "20 MBPS"] {
            assert_eq!(text.parse::<Rate>().unwrap(), Rate::from_mbit(20), "{text}");
        }
    }

    #[test]
    fn a_number_without_its_unit_is_refused_with_an_example() {
        let error = "20".parse::<Rate>().unwrap_err().to_string();
        assert_eq!(error, "\"20\" is not a rate: write a number and a unit, such as 20Mbit/s");
        for text in ["", "Mbit/s", "-3 Mbit/s", "1e3 Mbit/s", "NaN Mbit/s", "99999999 Gbit/s", "20 parsec"] {
            assert!(text.parse::<Rate>().is_err(), "{text}");
        }
        for text in ["101%", "0.05", "5"] {
            assert!(text.parse::<Probability>().is_err(), "{text}");
        }
    }

    #[test]
    fn quantities_are_written_as_people_write_them() {
        assert_eq!(Rate::from_mbit(20).to_string(), "20 Mbit/s");
        assert_eq!(Duration::from_millis(40).to_string(), "40 ms");
        assert_eq!(Duration::default().to_string(), "0 us");
        assert_eq!(Size::from_bytes(65536).to_string(), "64 KiB");
        assert_eq!("7%".parse::<Probability>().unwrap().to_string(), "7 %");
        assert_eq!("0.00000001%".parse::<Probability>().unwrap().to_string(), "0.00000001 %");
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(bits in 0u64..10_000_000_000_000, bytes in 0u64..1 << 49, us in 0u64..10_000_000_000) {
            let (rate, size, time) = (Rate::from_bits(bits), Size::from_bytes(bytes), Duration(Span::from_micros(us)));
            prop_assert_eq!(rate.to_string().parse::<Rate>().unwrap(), rate);
            prop_assert_eq!(size.to_string().parse::<Size>().unwrap(), size);
            let per_cent = format!("{}.{:09} %", bits % 100, us % 1_000_000_000);
            let loss: Probability = per_cent.parse().unwrap();
            prop_assert_eq!(loss.to_string().parse::<Probability>().unwrap(), loss);
            let back = time.to_string().parse::<Duration>().unwrap();
            prop_assert!(back.0.0.abs_diff(time.0.0) <= 1_000);
        }

        #[test]
        fn no_text_panics(text in ".{0,24}") {
            let _ = (text.parse::<Rate>(), text.parse::<Size>(), text.parse::<Probability>());
        }
    }
}
