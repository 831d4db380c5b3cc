//! An outcome read from its file.

use crate::error::{advice_on_reading, Error};
use afteryou_scenario::Outcome;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Largest file that is read as an outcome, GB: ten thousand flows with a curve each take less.
const MOST_GB: u64 = 1;

/// Reads an outcome from a `result.json` of this format or of an earlier one.
///
/// # Errors
/// A file that cannot be read, is larger than any outcome, or holds none.
pub fn read(path: &Path) -> Result<Outcome, Error> {
    let mut text = String::new();
    let most = MOST_GB * 1_000_000_000;
    let read = File::open(path).and_then(|file| match file.metadata()?.len() {
        large if large > most => Ok(usize::MAX), // without reading it
        _ => file.take(most + 1).read_to_string(&mut text),
    });
    let length = read.map_err(|reason| {
        let advice = advice_on_reading(&reason);
        Error::Read { path: path.to_owned(), reason, advice }
    })?;
    if length as u64 > most {
        return Err(Error::TooLarge { path: path.to_owned(), most_gb: MOST_GB });
    }
    Outcome::from_json(&text).map_err(|reason| Error::NotAnOutcome { path: path.to_owned(), reason })
}
