//! The class that a flow's packets claim in their IP headers.

use crate::error::Error;
use afteryou_base::Dscp as CodePoint;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A differentiated services code point: "le" (lower effort, RFC 8622), "default", "cs1", or a number from 0 to 63.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(into = "String", try_from = "String")]
#[schemars(with = "String")]
pub struct Dscp(pub CodePoint);

impl Dscp {
    /// Best effort, what packets are by default.
    pub const DEFAULT: Dscp = Dscp(CodePoint::DEFAULT);
    /// Lower effort.
    pub const LE: Dscp = Dscp(CodePoint::LE);
}

impl FromStr for Dscp {
    type Err = Error;

    fn from_str(text: &str) -> Result<Dscp, Error> {
        let word = text.trim().to_ascii_lowercase();
        let named = CodePoint::NAMES.iter().find(|(name, _)| *name == word).map(|(_, dscp)| *dscp);
        let number = || word.parse().ok().and_then(CodePoint::new);
        named.or_else(number).map(Dscp).ok_or_else(|| Error::Quantity {
            what: "code point",
            text: text.to_owned(),
            example: "\"le\", \"default\", \"cs1\" or a number from 0 to 63",
        })
    }
}

impl fmt::Display for Dscp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match CodePoint::NAMES.iter().find(|(_, dscp)| *dscp == self.0) {
            Some((name, _)) => f.write_str(name),
            None => self.0.bits().fmt(f),
        }
    }
}

impl From<Dscp> for String {
    fn from(dscp: Dscp) -> String {
        dscp.to_string()
    }
}

impl TryFrom<String> for Dscp {
    type Error = Error;

    fn try_from(text: String) -> Result<Dscp, Error> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_read_and_write_back() {
        for (text, bits, written) in
            [("le", 1, "le"), ("LE", 1, "le"), ("1", 1, "le"), ("0", 0, "default"), ("46", 46, "46")]
        {
            let dscp: Dscp = text.parse().unwrap();
            assert_eq!((dscp.0.bits(), dscp.to_string().as_str()), (bits, written));
        }
        for text in ["64", "-1", "lower", ""] {
            let error = text.parse::<Dscp>().unwrap_err().to_string();
            assert!(error.contains("\"le\", \"default\", \"cs1\" or a number from 0 to 63"), "{error}");
        }
    }
}
