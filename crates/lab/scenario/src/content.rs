//! Content hashes: a name for a value that is the same on every machine.
//!
//! The hash is BLAKE3 of the value's canonical JSON: object keys in the order of their UTF-8 bytes, no white space.
//! Strings have the escapes that JSON requires and no others. Numbers are the shortest decimal that reads back as the
//! same number, without an exponent. This is RFC 8785 with two differences. Whole numbers keep all their digits, since
//! a seed may lie beyond 2⁵³, where RFC 8785 rounds. Very large and very small numbers have no exponent either.
//!
//! A number that is infinite or no number is `null`, as in the JSON of a file. Fields that are left out of the JSON
//! when they have their default (`skip_serializing_if`) are left out here. So a new optional field changes no hash of
//! values that do not use it.
//!
//! ```
//! use afteryou_scenario::content::ContentHash;
//! use std::collections::BTreeMap;
//!
//! let hash = ContentHash::of(&BTreeMap::from([("rate", 5), ("buffer", 100)]))?;
//! assert_eq!(hash, ContentHash::of_text("{\"buffer\":100,\"rate\":5}"));
//! assert_eq!(hash.to_string().parse(), Ok(hash));
//! # Ok::<(), afteryou_scenario::Error>(())
//! ```

use afteryou_notation::Error;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};
use std::fmt;
use std::str::FromStr;

/// Length of a hash, bytes.
const LENGTH: usize = 32;

/// A name for a value, made of the value alone; as text 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(into = "String", try_from = "String")]
#[schemars(with = "String")]
pub struct ContentHash([u8; LENGTH]);

impl ContentHash {
    /// Returns the hash of `value`'s [`canonical`] JSON.
    ///
    /// # Errors
    /// As [`canonical`].
    pub fn of<T: Serialize + ?Sized>(value: &T) -> Result<ContentHash, Error> {
        Ok(ContentHash::of_text(&canonical(value)?))
    }

    /// Returns the hash of `text` as it is.
    pub fn of_text(text: &str) -> ContentHash {
        ContentHash(*blake3::hash(text.as_bytes()).as_bytes())
    }

    /// Returns the hash's bytes.
    pub fn as_bytes(&self) -> &[u8; LENGTH] {
        &self.0
    }
}

/// Hashes a long content piece by piece.
#[derive(Clone, Default)]
pub struct Hasher(blake3::Hasher);

impl Hasher {
    /// Takes in what comes next.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Returns the hash of everything, as of one text.
    pub fn finish(&self) -> ContentHash {
        ContentHash(*self.0.finalize().as_bytes())
    }
}

/// Returns `value` as canonical JSON: equal values give equal text on every machine.
///
/// # Errors
/// A value that JSON cannot hold, such as a map whose keys are lists.
pub fn canonical<T: Serialize + ?Sized>(value: &T) -> Result<String, Error> {
    let cannot =
        |error: serde_json::Error| Error::Contradiction(format!("this value has no content hash: {error}"));
    let mut text = String::new();
    write(&serde_json::to_value(value).map_err(cannot)?, &mut text);
    Ok(text)
}

fn write(value: &Value, text: &mut String) {
    match value {
        Value::Array(items) => {
            text.push('[');
            for (i, item) in items.iter().enumerate() {
                separate(i, text);
                write(item, text);
            }
            text.push(']');
        }
        Value::Object(fields) => {
            // Sorted here: another crate of the program may have asked `serde_json` for the order of insertion.
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_by_key(|(name, _)| name.as_bytes());
            text.push('{');
            for (i, (name, value)) in fields.into_iter().enumerate() {
                separate(i, text);
                write(&Value::String(name.clone()), text);
                text.push(':');
                write(value, text);
            }
            text.push('}');
        }
        Value::Number(number) => text.push_str(&decimal(number)),
        scalar => text.push_str(&scalar.to_string()),
    }
}

/// Formats a number by the standard library, which never writes an exponent: the form of `serde_json` is its own and has
/// changed before.
fn decimal(number: &Number) -> String {
    match number.as_f64() {
        Some(float) if number.is_f64() => match float == 0.0 {
            true => "0".to_owned(), // −0 is equal
            false => float.to_string(),
        },
        _ => number.to_string(),
    }
}

fn separate(index: usize, text: &mut String) {
    if index > 0 {
        text.push(',');
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ContentHash({self})")
    }
}

impl From<ContentHash> for String {
    fn from(hash: ContentHash) -> String {
        hash.to_string()
    }
}

impl TryFrom<String> for ContentHash {
    type Error = Error;

    fn try_from(text: String) -> Result<ContentHash, Error> {
        text.parse()
    }
}

impl FromStr for ContentHash {
    type Err = Error;

    fn from_str(text: &str) -> Result<ContentHash, Error> {
        let wrong = || Error::Quantity {
            what: "content hash",
            text: text.chars().take(2 * LENGTH + 1).collect(),
            example: "its 64 lower-case hexadecimal digits",
        };
        let digit = |byte: u8| match byte {
            b'0'..=b'9' => Ok(byte - b'0'),
            b'a'..=b'f' => Ok(byte - b'a' + 10),
            _ => Err(wrong()),
        };
        if text.len() != 2 * LENGTH {
            return Err(wrong());
        }
        let mut bytes = [0; LENGTH];
        for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
            *byte = digit(pair[0])? << 4 | digit(pair[1])?;
        }
        Ok(ContentHash(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn canonical_text_has_sorted_keys_exact_integers_and_no_space() {
        let value = json!({
            "b": [1, 1.0, 2.5, -0.0, 1e-7, 1e22, 0.1],
            "a": { "é": null, "z": true, "\u{1}\"\n": "\u{20ac}\t/" },
            "seed": u64::MAX,
        });
        let expected = "{\"a\":{\"\\u0001\\\"\\n\":\"€\\t/\",\"z\":true,\"é\":null},\
                        \"b\":[1,1,2.5,0,0.0000001,10000000000000000000000,0.1],\"seed\":18446744073709551615}";
        assert_eq!(canonical(&value).unwrap(), expected);
    }

    #[test]
    fn seeds_beyond_the_integers_of_a_float_have_hashes_of_their_own() {
        let hash = |seed: u64| ContentHash::of(&json!({ "seed": seed })).unwrap();
        assert_ne!(hash((1 << 53) + 1), hash(1 << 53));
    }

    #[test]
    fn a_hash_is_what_blake3_says_of_the_text() {
        // From the BLAKE3 team's test vectors: the empty input.
        let empty = "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262";
        assert_eq!(ContentHash::of_text("").to_string(), empty);
        assert_eq!(empty.parse(), Ok(ContentHash::of_text("")));
    }

    #[test]
    fn what_json_cannot_hold_has_no_hash() {
        let by_list = std::collections::BTreeMap::from([([1, 2], 3)]);
        let error = ContentHash::of(&by_list).unwrap_err().to_string();
        assert!(error.contains("no content hash"), "{error}");
    }

    #[test]
    fn a_text_that_is_no_hash_is_refused() {
        let hash = ContentHash::of_text("x").to_string();
        for text in ["", "12", &hash[1..], &hash.to_uppercase(), &format!("{hash}0"), &"é".repeat(32)] {
            assert!(text.parse::<ContentHash>().is_err(), "{text}");
        }
        let json = serde_json::to_string(&ContentHash::of_text("x")).unwrap();
        assert_eq!(serde_json::from_str::<ContentHash>(&json).unwrap(), ContentHash::of_text("x"));
        assert!(serde_json::from_str::<ContentHash>("\"x\"").is_err());
    }
}
