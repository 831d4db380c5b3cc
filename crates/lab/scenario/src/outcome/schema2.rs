//! Format 2 of an outcome, read only. The number of the repetition counts from 0 there, which format 3 changed.

use super::{Outcome, SCHEMA_VERSION};
use serde::Deserialize;

/// The number of a repetition in formats 1 and 2, from 0.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(transparent)]
pub(super) struct FromZero(u32);

impl FromZero {
    /// Returns the same repetition, counted from 1.
    pub(super) fn counted_from_one(self) -> u32 {
        self.0.saturating_add(1)
    }
}

/// The part that differs.
#[derive(Deserialize)]
struct Difference {
    #[serde(default)]
    repetition: FromZero,
}

/// Reads an outcome of format 2.
pub(super) fn read(text: &str) -> serde_json::Result<Outcome> {
    let repetition = serde_json::from_str::<Difference>(text)?.repetition.counted_from_one();
    let outcome: Outcome = serde_json::from_str(text)?;
    Ok(Outcome { schema_version: SCHEMA_VERSION, repetition, ..outcome })
}
