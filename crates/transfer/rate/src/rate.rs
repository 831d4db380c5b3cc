//! Bytes per second, read from text.
//!
//! Two notations are accepted. rclone's has a letter or nothing behind the number: `512` is KiB/s, and `B`, `K`, `M`,
//! `G`, `T`, `P` are powers of 1024 bytes per second. `Mi` and `MiB` mean the same as `M`. Ours has a unit that ends in
//! `/s`: `5 Mbit/s`, `2 MB/s`, `1 MiB/s`, with decimal prefixes unless there is an `i`. `Mb/s` is refused: half of the
//! world means bits by it.
//!
//! Numbers are decimal fractions and are computed with as such; what is left of a byte is cut off.

use crate::error::ParseError;
use std::fmt;
use std::num::NonZeroU64;
use std::str::FromStr;

/// The largest rate, bytes per second: products with times in nanoseconds fit into 128 bits.
const MOST: u128 = 1 << 60;
/// Digits behind the point that count.
const MOST_DECIMALS: usize = 9;

const EXPECTED: &str = "a rate such as 10M, 512K (bytes per second) or 5Mbit/s, 2MB/s";
const UNCLEAR: &str = "bit or B before /s: these distinguish bits from bytes, as in 5Mbit/s or 2MB/s";
const TOO_SMALL: &str = "a rate of at least one byte per second, or off for no limit";
const TOO_LARGE: &str = "a rate of at most 1048576T, or off for no limit";

/// Units of rclone, in bytes; lower case.
const LETTERS: &[(&str, u128)] = &[
    ("", 1 << 10),
    ("b", 1),
    ("k", 1 << 10),
    ("m", 1 << 20),
    ("g", 1 << 30),
    ("t", 1 << 40),
    ("p", 1 << 50),
];
/// Units that end in `/s`, in bits; lower case.
const BITS: &[(&str, u128)] = &[
    ("bit/s", 1),
    ("kbit/s", 1_000),
    ("mbit/s", 1_000_000),
    ("gbit/s", 1_000_000_000),
    ("b/s", 8),
    ("kb/s", 8_000),
    ("mb/s", 8_000_000),
    ("gb/s", 8_000_000_000),
    ("kib/s", 8 << 10),
    ("mib/s", 8 << 20),
    ("gib/s", 8 << 30),
];

/// A rate of at least one byte per second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Rate(NonZeroU64);

impl Rate {
    /// Returns a rate in bytes per second; none if that is zero, and at most 2^60.
    pub fn from_bytes_per_second(bytes: u64) -> Option<Rate> {
        NonZeroU64::new(bytes.min(MOST as u64)).map(Rate)
    }

    /// Returns the bytes per second.
    pub fn bytes_per_second(self) -> u64 {
        self.0.get()
    }

    /// Reads a rate; none if it is zero.
    pub(crate) fn read(text: &str) -> Result<Option<Rate>, ParseError> {
        let text = text.trim();
        let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
        let (number, unit) = text.split_at(end);
        let bits_per_unit = bits(unit.trim_start()).map_err(|expected| ParseError::new(text, expected))?;
        let (digits, decimals) = decimal(number).ok_or_else(|| ParseError::new(text, EXPECTED))?;
        if digits == 0 {
            return Ok(None);
        }
        let bytes = digits.checked_mul(bits_per_unit).map(|bits| bits / (8 * 10u128.pow(decimals)));
        match bytes {
            Some(0) => Err(ParseError::new(text, TOO_SMALL)),
            Some(bytes @ 1..=MOST) => Ok(Rate::from_bytes_per_second(bytes as u64)),
            _ => Err(ParseError::new(text, TOO_LARGE)),
        }
    }
}

/// Returns the size of a unit in bits per second.
fn bits(unit: &str) -> Result<u128, &'static str> {
    let find = |units: &[(&str, u128)], name: &str| {
        units.iter().find(|(known, _)| *known == name).map(|(_, factor)| *factor)
    };
    let name = unit.to_ascii_lowercase();
    if name.ends_with("/s") {
        if unit.ends_with("b/s") {
            return Err(UNCLEAR);
        }
        return find(BITS, &name).ok_or(EXPECTED);
    }
    let letter = name
        .strip_suffix("ib")
        .or(name.strip_suffix('i'))
        .filter(|letter| !letter.is_empty() && *letter != "b");
    find(LETTERS, letter.unwrap_or(&name)).map(|bytes| 8 * bytes).ok_or(EXPECTED)
}

/// Returns a decimal fraction as its digits and the number of them behind the point.
fn decimal(text: &str) -> Option<(u128, u32)> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    if whole.is_empty() && fraction.is_empty() || fraction.contains('.') {
        return None;
    }
    let fraction = &fraction[..fraction.len().min(MOST_DECIMALS)];
    let whole = whole.trim_start_matches('0');
    if whole.len() > 20 {
        return Some((u128::MAX, 0)); // too large for every unit
    }
    let digits = whole.bytes().chain(fraction.bytes());
    let value = digits.fold(0u128, |value, digit| value * 10 + u128::from(digit - b'0'));
    Some((value, fraction.len() as u32))
}

impl FromStr for Rate {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Rate, ParseError> {
        Rate::read(text)?.ok_or_else(|| ParseError::new(text, TOO_SMALL))
    }
}

/// In the largest unit that leaves a whole number: rclone's letters, else bits, else bytes.
impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = u128::from(self.bytes_per_second());
        let whole = |value: u128, units: &[(&'static str, u128)]| {
            units
                .iter()
                .find(|(_, factor)| value.is_multiple_of(*factor))
                .map(|(name, factor)| (value / factor, *name))
        };
        let letters = [("P", 1 << 50), ("T", 1 << 40), ("G", 1 << 30), ("M", 1 << 20), ("K", 1 << 10)];
        let bits = [("Gbit/s", 1_000_000_000), ("Mbit/s", 1_000_000), ("kbit/s", 1_000)];
        let (number, unit) = whole(bytes, &letters).or(whole(bytes * 8, &bits)).unwrap_or((bytes, "B"));
        write!(f, "{number}{unit}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bytes(text: &str) -> u64 {
        text.parse::<Rate>().unwrap_or_else(|error| panic!("{text}: {error}")).bytes_per_second()
    }

    #[test]
    fn rclones_letters_are_powers_of_1024_and_a_bare_number_is_kib() {
        for (text, expected) in [
            ("666", 666 << 10),
            ("666B", 666),
            ("512k", 512 << 10),
            ("10M", 10 << 20),
            ("1.5M", 3 << 19),
            (".5G", 1 << 29),
            ("2t", 2 << 40),
            ("1P", 1 << 50),
            ("10Mi", 10 << 20),
            ("10MiB", 10 << 20),
        ] {
            assert_eq!(bytes(text), expected, "{text}");
        }
    }

    #[test]
    fn units_per_second_are_decimal_unless_they_say_i() {
        for (text, expected) in [
            ("5 Mbit/s", 625_000),
            ("5Mbit/s", 625_000),
            ("600 kbit/s", 75_000),
            ("2 MB/s", 2_000_000),
            ("1.5 gbit/s", 187_500_000),
            ("1 MiB/s", 1 << 20),
            ("9 bit/s", 1),
            ("7 B/s", 7),
        ] {
            assert_eq!(bytes(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_no_rate_is_refused_with_what_was_expected() {
        for text in ["", "bad", "1000X", "1.2.3M", ".", "-5", "5 Mbit", "1e3", "5 iB", "5bi", "٣M"] {
            let error = text.parse::<Rate>().expect_err(text).to_string();
            assert!(error.ends_with(EXPECTED), "{error}");
        }
        assert!("5 Mb/s".parse::<Rate>().unwrap_err().to_string().contains("5Mbit/s or 2MB/s"));
        assert!("0.5B".parse::<Rate>().unwrap_err().to_string().contains("at least one byte"));
        for text in ["1025P", "99999999999999999999999999999999999999999P"] {
            assert!(text.parse::<Rate>().unwrap_err().to_string().contains("at most"), "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_rate_reads_back_as_it_was_written(bytes in 1..=MOST as u64, zeros in 0..50u32) {
            let rate = Rate::from_bytes_per_second((bytes >> zeros << zeros).max(1)).expect("not zero");
            prop_assert_eq!(rate.to_string().parse::<Rate>(), Ok(rate));
        }

        #[test]
        fn no_text_breaks_it(text in "\\PC*", number in "[0-9.]{0,60}", unit in "[a-zA-Z/ ]{0,6}") {
            for text in [text, number.clone() + &unit, number] {
                if let Ok(rate) = text.parse::<Rate>() {
                    prop_assert_eq!(rate.to_string().parse::<Rate>(), Ok(rate));
                }
            }
        }
    }
}
