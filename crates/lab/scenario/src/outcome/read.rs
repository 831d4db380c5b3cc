//! An outcome from JSON: of this format, or of an earlier one, which becomes the one form that programs see.

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
        /// The file's format.
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

/// Reads an outcome that differs from this format in fields alone that may be absent.
fn of_this_format(text: &str) -> Result<Outcome, ReadError> {
    let outcome: Outcome = serde_json::from_str(text)?;
    if outcome.repetition == 0 {
        return Err(serde_json::Error::custom("repetition is 0, and the first is 1").into());
    }
    Ok(outcome)
}

impl Outcome {
    /// Reads an outcome from the text of a `result.json` of any format up to this one, and makes it one of this format. Repetitions
    /// count from 1 since format 3. `comparison` has completion times since format 4; of an earlier result they are those of the whole
    /// run. Format 1 has figures of the bottleneck alone, and of the reverse path its ledger and its queue.
    ///
    /// # Errors
    /// A text that is no outcome, or one of a later format.
    pub fn from_json(text: &str) -> Result<Outcome, ReadError> {
        let head: Head = serde_json::from_str(text)?;
        match head.schema_version {
            1 => Ok(Outcome::from(serde_json::from_str::<schema1::Outcome1>(text)?).with_completion_times()),
            2 => Ok(schema2::read(text)?.with_completion_times()),
            3 => {
                let outcome = of_this_format(text)?;
                Ok(Outcome { schema_version: SCHEMA_VERSION, ..outcome }.with_completion_times())
            }
            version if version == u64::from(SCHEMA_VERSION) => of_this_format(text),
            0 => Err(serde_json::Error::custom("schema_version is 0, and the first format is 1").into()),
            found => Err(ReadError::Newer { found, writer: head.afteryou_version }),
        }
    }
}
