//! Many runs on the disk: files of each as it ends, then the page and the tables of all.

use super::{index_html, Brief, MOST_SHOWN};
use crate::error::{unwritten, Error};
use crate::folder::write_run;
use crate::rows::{Columns, Csv, Fixed, Identity, Parquet, Row, Rows};
use crate::series::write_series;
use afteryou_files::{settle, temporary, ResultFolder, TEMPORARY};
use afteryou_scenario::content::ContentHash;
use afteryou_scenario::Outcome;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

/// Longest part of a folder's name that shows the point of the sweep, characters.
const LONGEST_SLUG: usize = 60;

const PARQUET: &str = "parquet";

/// The kept part of a run: enough for its rows and for the page of all.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The folder of its files, relative to the page of all; empty if it has none.
    pub folder: String,
    /// The run's rows.
    pub rows: Rows,
    /// Its part in the page of all, if it is shown there.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub brief: Option<Brief>,
}

/// The folder of a sweep.
#[derive(Clone, Debug)]
pub struct Folders {
    out: PathBuf,
    runs: usize,
    series: bool,
    parquet: bool,
}

/// The files that were written when all runs had ended.
#[derive(Clone, Debug)]
pub struct FinishedSweep {
    /// The page of all runs.
    pub page: PathBuf,
    /// The runs that it shows.
    pub briefs: Vec<Brief>,
    /// How many runs there are.
    pub runs: usize,
}

impl Folders {
    /// Returns the folder `out` of a sweep with `runs` runs. Without `series`, runs have no files of their own.
    pub fn new(out: impl Into<PathBuf>, runs: usize, series: bool) -> Folders {
        Folders { out: out.into(), runs, series, parquet: false }
    }

    /// Returns the same folders with every table and the curves of each run as Parquet, too.
    pub fn with_parquet(self, parquet: bool) -> Folders {
        Folders { parquet, ..self }
    }

    /// Writes `result.json`, `report.html`, `figure.svg` and `series.csv` of the run with this index, from 0, into a
    /// folder of its own. Returns the part of the run that is kept. Files of an interrupted run in the folder are
    /// removed.
    ///
    /// # Errors
    /// A folder or file that cannot be written, or an outcome that cannot be drawn.
    pub fn write(&self, index: usize, outcome: &Outcome, key: ContentHash) -> Result<Record, Error> {
        let folder = match self.series {
            true => name(index, self.runs, outcome),
            false => String::new(),
        };
        if self.series {
            let dir = self.out.join(&folder);
            let mut files = ResultFolder::open(&dir)?;
            remove_temporary(&dir)?;
            write_run(&mut files, outcome, Some("../report.html"))?;
            write_series(&mut files, outcome, self.parquet)?;
            files.finish()?;
        }
        let rows = Rows::of(outcome, Identity { run: index as u64 + 1, key });
        let brief = (index < MOST_SHOWN).then(|| Brief::of(outcome, &folder));
        Ok(Record { folder, rows, brief })
    }

    /// Writes `runs.csv`, `flows.csv`, the page `report.html`, where data cross several links `links.csv`, and where sets of flows are
    /// measured `sets.csv`. `records` goes through the finished runs in the order of the sweep; it is called twice, and one record is in
    /// memory at a time.
    ///
    /// # Errors
    /// A file that cannot be written, and every error of `records`.
    pub fn finish<E, Records>(&self, title: &str, records: impl Fn() -> Records) -> Result<FinishedSweep, E>
    where
        E: From<Error>,
        Records: Iterator<Item = Result<Record, E>>,
    {
        let mut folder = ResultFolder::open(&self.out).map_err(Error::from)?;
        remove_temporary(&self.out)?;
        let mut tables = Tables::default();
        let (mut briefs, mut runs) = (Vec::new(), 0);
        for record in records() {
            let record = record?;
            tables.add(&record.rows);
            briefs.extend(record.brief);
            runs += 1;
        }
        let mut files = tables.files(&mut folder, self.parquet)?;
        for record in records() {
            let Rows { run, flows, links, sets } = record?.rows;
            let all = [("runs", &[run][..]), ("flows", &flows), ("links", &links), ("sets", &sets)];
            for (name, rows) in all {
                let file = files.iter_mut().find(|(known, _)| *known == name);
                file.map_or(Ok(()), |(_, file)| rows.iter().try_for_each(|row| file.write(row)))?;
            }
        }
        files.into_iter().try_for_each(|(_, file)| file.finish())?;
        folder.write(&[("report.html", index_html(title, &briefs, runs))]).map_err(Error::from)?;
        folder.finish().map_err(Error::from)?;
        Ok(FinishedSweep { page: self.out.join("report.html"), briefs, runs })
    }
}

/// The columns of all tables.
#[derive(Default)]
struct Tables {
    runs: Columns,
    flows: Columns,
    links: Columns,
    sets: Columns,
    /// Some run has figures of several links.
    several_links: bool,
    has_sets: bool,
    has_begun: bool,
}

impl Tables {
    fn add(&mut self, rows: &Rows) {
        if !std::mem::replace(&mut self.has_begun, true) {
            let fixed = Fixed::of(rows);
            (self.runs, self.flows, self.links, self.sets) =
                (fixed.runs, fixed.flows, fixed.links, fixed.sets);
        }
        let Rows { run, flows, links, sets } = rows;
        self.has_sets |= !sets.is_empty();
        self.runs.add(run);
        flows.iter().for_each(|row| self.flows.add(row));
        links.iter().for_each(|row| self.links.add(row));
        sets.iter().for_each(|row| self.sets.add(row));
        let names: BTreeSet<String> = links.iter().map(|row| format!("{:?}", row.get("link"))).collect();
        self.several_links |= names.len() > 1;
    }

    /// Opens files for the runs and the flows, for the links if they have more than the runs, and for the sets if there are
    /// any.
    fn files(
        &self,
        folder: &mut ResultFolder,
        parquet: bool,
    ) -> Result<Vec<(&'static str, TableFile<'_>)>, Error> {
        let mut tables = vec![("runs", &self.runs), ("flows", &self.flows)];
        if self.several_links {
            tables.push(("links", &self.links));
        }
        if self.has_sets {
            tables.push(("sets", &self.sets));
        }
        let file = |(name, columns)| Ok((name, TableFile::new(folder, name, columns, parquet)?));
        tables.into_iter().map(file).collect()
    }
}

pub(super) type Output = BufWriter<NamedTempFile>;

/// Gives a complete file its name.
pub(super) fn keep(output: io::Result<Output>, path: &Path) -> Result<(), Error> {
    let whole = || {
        let file = output?.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.as_file().sync_all()?;
        settle(file.into_temp_path(), path)
    };
    whole().map_err(|reason| unwritten(path, reason))
}

/// A table that appears under its names when it is complete: as CSV, and as Parquet on request.
struct TableFile<'a> {
    path: PathBuf,
    csv: Csv<'a, Output>,
    parquet: Option<Parquet<'a, Output>>,
}

impl<'a> TableFile<'a> {
    fn new(
        folder: &mut ResultFolder,
        name: &str,
        columns: &'a Columns,
        parquet: bool,
    ) -> Result<TableFile<'a>, Error> {
        folder.declare(&format!("{name}.csv"))?;
        if parquet {
            folder.declare(&format!("{name}.{PARQUET}"))?;
        }
        let path = folder.dir().join(format!("{name}.csv"));
        let output = || temporary(folder.dir()).map(BufWriter::new);
        let csv = output()
            .and_then(|output| Csv::new(columns, output))
            .map_err(|reason| unwritten(&path, reason))?;
        let parquet = parquet.then(|| output().and_then(|output| Parquet::new(columns, output))).transpose();
        let parquet = parquet.map_err(|reason| unwritten(&path.with_extension(PARQUET), reason))?;
        Ok(TableFile { path, csv, parquet })
    }

    fn write(&mut self, row: &Row) -> Result<(), Error> {
        self.csv.write(row).map_err(|reason| unwritten(&self.path, reason))?;
        let written = self.parquet.as_mut().map_or(Ok(()), |parquet| parquet.write(row));
        written.map_err(|reason| unwritten(&self.path.with_extension(PARQUET), reason))
    }

    fn finish(self) -> Result<(), Error> {
        if let Some(parquet) = self.parquet {
            keep(parquet.finish(), &self.path.with_extension(PARQUET))?;
        }
        keep(self.csv.finish(), &self.path)
    }
}

/// Removes what a process that was killed left in `dir` half-written. No other process may be writing there.
fn remove_temporary(dir: &Path) -> Result<(), Error> {
    let remove = || {
        for entry in std::fs::read_dir(dir)? {
            let entry = entry?;
            if entry.file_name().to_string_lossy().starts_with(TEMPORARY) {
                std::fs::remove_file(entry.path())?;
            }
        }
        Ok(())
    };
    remove().map_err(|reason| unwritten(dir, reason))
}

/// Returns a run's folder name: "0007-link.rate-5-mbit-s-seed-3".
fn name(index: usize, runs: usize, outcome: &Outcome) -> String {
    let digits = runs.to_string().len();
    let point: Vec<String> = outcome.point.iter().map(|(key, value)| format!("{key}-{value}")).collect();
    let words = format!("{} seed-{}", point.join(" "), outcome.scenario.seed);
    let slug: String = words
        .to_lowercase()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '.' || c == '+' { c } else { '-' })
        .collect();
    let parts: Vec<&str> = slug.split('-').filter(|part| !part.is_empty()).collect();
    let slug: String = parts.join("-").chars().take(LONGEST_SLUG).collect();
    format!("{:0digits$}-{}", index + 1, slug.trim_end_matches('-'))
}
