//! The papers' files, built into the program, so that a study needs nothing beside it.

pub use crate::scenarios::{scenario, scenarios};

use crate::entry::Paper;
use crate::error::{Error, Result};
use crate::known::Known;
use std::sync::OnceLock;

/// A paper's files.
struct Files {
    id: &'static str,
    /// Grids and entries.
    entries: &'static str,
    /// Misses that are explained, and verdicts on the edge.
    known: &'static str,
}

macro_rules! files {
    ($($id:literal),+ $(,)?) => {
        &[$(Files {
            id: $id,
            entries: include_str!(concat!("../papers/", $id, "/entries.toml")),
            known: include_str!(concat!("../papers/", $id, "/known.toml")),
        }),+]
    };
}

/// In the order of the papers, our own questions last.
const PAPERS: &[Files] =
    files!["gong2012", "carofiglio2013", "kuhn2014", "alsaadi2017", "bagnulo2022", "questions"];

/// Returns all papers, in order.
///
/// # Errors
/// A file that is wrong; a test reads all of them.
pub fn all() -> Result<&'static [Paper]> {
    static READ: OnceLock<Vec<Paper>> = OnceLock::new();
    if let Some(papers) = READ.get() {
        return Ok(papers);
    }
    let papers = PAPERS.iter().map(read).collect::<Result<_>>()?;
    Ok(READ.get_or_init(|| papers))
}

fn read(files: &Files) -> Result<Paper> {
    toml::from_str(files.entries).map_err(|error| Error::data(files.id, error.to_string()))
}

/// Returns a paper's explained misses and its verdicts on the edge.
///
/// # Errors
/// A file that is wrong, or a paper that is not there.
pub fn known(paper: &str) -> Result<Known> {
    let files = PAPERS.iter().find(|files| files.id == paper);
    let files = files.ok_or_else(|| Error::data(paper, "there is no such paper"))?;
    toml::from_str(files.known).map_err(|error| Error::data(paper, error.to_string()))
}
