//! An outcome from JSON: of this format, or of format 1 or 2, which become the one form that programs see.

use super::{schema1, schema2, Outcome, SCHEMA_VERSION};
use serde::de::Error as _;
use serde::Deserialize;
use thiserror::Error;

/// The reason that a text gave no outcome.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReadError {
    /// It is something else, or damaged.
    #[error("this is not a result of afteryou: {0}; give the result.json that a run wrote")]
    NotAnOutcome(#[from] serde_json::Error),
    /// It is of a later format.
    #[error(
        "the result has format {found}, and this afteryou reads formats up to {SCHEMA_VERSION}: use the version that wrote \
         it{}, or a newer one", writer.as_ref().map(|v| format!(" ({v})")).unwrap_or_default()
    )]
    Newer {
        /// Its format.
        found: u64,
        /// Version of afteryou that wrote it, if the text names it.
        writer: Option<String>,
    },
}

/// The part that every version of the format has.
#[derive(Deserialize)]
struct Head {
    schema_version: u64,
    afteryou_version: Option<String>,
}

fn of_this_format(text: &str) -> Result<Outcome, ReadError> {
    let outcome: Outcome = serde_json::from_str(text)?;
    if outcome.repetition == 0 {
        return Err(serde_json::Error::custom("repetition is 0, and the first is 1").into());
    }
    Ok(outcome)
}

impl Outcome {
    /// Reads an outcome from the text of a `result.json` of format 1, 2 or 3. One of an earlier format becomes an outcome of
    /// format 3, whose repetitions count from 1. Format 1 has figures of the bottleneck alone, and of the reverse path its
    /// ledger and its queue.
    ///
    /// # Errors
    /// A text that is no outcome, or one of a later format.
    pub fn from_json(text: &str) -> Result<Outcome, ReadError> {
        let head: Head = serde_json::from_str(text)?;
        match head.schema_version {
            1 => Ok(serde_json::from_str::<schema1::Outcome1>(text)?.into()),
            2 => Ok(schema2::read(text)?),
            version if version == u64::from(SCHEMA_VERSION) => of_this_format(text),
            0 => Err(serde_json::Error::custom("schema_version is 0, and the first format is 1").into()),
            found => Err(ReadError::Newer { found, writer: head.afteryou_version }),
        }
    }
}
