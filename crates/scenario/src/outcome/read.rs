//! An outcome from JSON: of this format, or of format 1 or 2, which become the one form that programs see. Format 2 differs from
//! this one in the number of the repetition alone, which is from 0 there.

use super::{schema1, Outcome, SCHEMA_VERSION};
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

/// The number of a repetition in formats 1 and 2, from 0.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(transparent)]
pub(super) struct FromZero(u32);

impl FromZero {
    /// The same repetition, from 1.
    pub(super) fn counted_from_one(self) -> u32 {
        self.0.saturating_add(1)
    }
}

/// The part of format 2 that differs.
#[derive(Deserialize)]
struct Difference2 {
    #[serde(default)]
    repetition: FromZero,
}

fn of_format_2(text: &str) -> Result<Outcome, ReadError> {
    let repetition = serde_json::from_str::<Difference2>(text)?.repetition.counted_from_one();
    let outcome: Outcome = serde_json::from_str(text)?;
    Ok(Outcome { schema_version: SCHEMA_VERSION, repetition, ..outcome })
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
            2 => of_format_2(text),
            version if version == u64::from(SCHEMA_VERSION) => of_this_format(text),
            0 => Err(serde_json::Error::custom("schema_version is 0, and the first format is 1").into()),
            found => Err(ReadError::Newer { found, writer: head.afteryou_version }),
        }
    }
}
