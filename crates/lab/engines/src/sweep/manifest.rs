//! A folder's description of its sweep.

use crate::error::Error;
use crate::lineup::Lineup;
use afteryou_scenario::content::ContentHash;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::Path;
use std::str::FromStr;

/// Version of the files in a folder. Format 1 counts repetitions from 0.
const FORMAT: u32 = 2;

/// The identity of a sweep: folders with equal ones hold parts of the same results.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Version of the files in the folder.
    format: u32,
    /// The experiment's purpose in one line; may be empty.
    pub name: String,
    /// The engine.
    pub engine: String,
    /// Version of the program.
    pub version: String,
    /// Hash of the program's build.
    pub build: ContentHash,
    /// Hash of all its runs.
    pub sweep: ContentHash,
    /// The number of its runs, those of other parts included.
    pub runs: usize,
    /// The part of the runs that the folder is for; all of them if none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub shard: Option<Shard>,
    /// Whether each run has files of its own.
    pub series: bool,
}

/// One of several parts of a sweep: every n-th run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Shard {
    /// The part's number, from 1.
    part: usize,
    /// The number of parts.
    of: usize,
}

impl Shard {
    /// Returns whether the run with this index, from 0, belongs to this part.
    pub fn has(self, index: usize) -> bool {
        index % self.of == self.part - 1
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Shard, String> {
        let numbers = text.split_once('/').map(|(part, of)| (part.trim().parse(), of.trim().parse()));
        match numbers {
            Some((Ok(part), Ok(of))) if (1..=of).contains(&part) => Ok(Shard { part, of }),
            _ => Err("write I/N, part I of N with I from 1 to N, such as 2/8".to_owned()),
        }
    }
}

impl TryFrom<String> for Shard {
    type Error = String;

    fn try_from(text: String) -> Result<Shard, String> {
        text.parse()
    }
}

impl From<Shard> for String {
    fn from(shard: Shard) -> String {
        shard.to_string()
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.part, self.of)
    }
}

impl Manifest {
    /// Returns the identity of `lineup` as the program with this `build` runs it.
    pub fn new(
        lineup: &Lineup,
        name: String,
        build: ContentHash,
        shard: Option<Shard>,
        series: bool,
    ) -> Manifest {
        Manifest {
            format: FORMAT,
            name,
            engine: lineup.engine().name().to_owned(),
            version: lineup.engine().version().to_owned(),
            build,
            sweep: lineup.hash(),
            runs: lineup.number(),
            shard,
            series,
        }
    }

    /// Returns the same sweep, not a part of it alone.
    pub(super) fn whole(&self) -> Manifest {
        Manifest { shard: None, ..self.clone() }
    }

    /// Returns the runs of this part, as indices from 0.
    pub fn indices(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.runs).filter(|index| self.shard.is_none_or(|shard| shard.has(*index)))
    }

    /// Refuses `found` in `dir` if this sweep cannot continue there.
    pub(super) fn check_continues(&self, found: &Manifest, dir: &Path) -> Result<(), Error> {
        let part =
            |shard: &Option<Shard>| shard.map_or("all of it".to_owned(), |shard| format!("part {shard}"));
        if let Some(difference) = self.difference(found) {
            return Err(other(dir, &difference));
        }
        if self.shard != found.shard {
            return Err(other(dir, &format!("{} of this sweep", part(&found.shard))));
        }
        Ok(())
    }

    /// Refuses a folder `dir` whose files have another format.
    pub(super) fn check_format(&self, dir: &Path) -> Result<(), Error> {
        if self.format == FORMAT {
            return Ok(());
        }
        let (dir, version) = (dir.display(), &self.version);
        Err(Error::OtherSweep(format!(
            "{dir} holds a sweep in format {}, and this program reads format {FORMAT}: its tables (runs.csv, flows.csv) \
             are good for plot and compare; for the rest use the build of afteryou {version} that wrote it, or run it again in another folder",
            self.format
        )))
    }

    /// Returns why `found` is no part of the same sweep, if it is none.
    pub(super) fn difference(&self, found: &Manifest) -> Option<String> {
        let builds = || format!("a sweep by another build of {}", found.version);
        let checks = [
            (self.format == found.format, format!("a sweep in format {}, not {}", found.format, self.format)),
            (self.engine == found.engine, format!("a sweep by the engine {}", found.engine)),
            (
                self.sweep == found.sweep,
                "another sweep: settings, seed, repetitions or the scenario differ".to_owned(),
            ),
            (self.build == found.build && self.version == found.version, builds()),
            (
                self.series || !found.series,
                "this sweep with the files of each run (no --no-series)".to_owned(),
            ),
            (
                !self.series || found.series,
                "this sweep without the files of each run (--no-series)".to_owned(),
            ),
        ];
        checks.into_iter().find(|(same, _)| !same).map(|(_, difference)| difference)
    }

    /// Reads a folder's manifest, if it has one.
    pub(super) fn read(path: &Path) -> Result<Option<Manifest>, Error> {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::disk(path, error)),
        };
        let damaged = |_| Error::OtherSweep(format!("{} is damaged: remove the folder", path.display()));
        serde_json::from_str(&text).map(Some).map_err(damaged)
    }
}

fn other(dir: &Path, what: &str) -> Error {
    let dir = dir.display();
    Error::OtherSweep(format!("{dir} holds {what}; choose another folder, or remove this one to begin anew"))
}
