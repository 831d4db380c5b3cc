//! Runs as a dataset that grows during a sweep: a folder for each table, in it one for each scenario. Those
//! contain Parquet files.
//!
//! ```text
//! dataset/runs/scenario=home-uplink/part-00001.parquet
//! dataset/runs/scenario=home-uplink/part-00002.parquet
//! dataset/flows/scenario=home-uplink/part-00001.parquet
//! ```
//!
//! Readers of partitioned datasets (polars, pyarrow, DuckDB, Spark) take such a folder as one table with a column `scenario`. A file
//! appears when it is complete and never changes. Rows are in the order in which runs ended; `run` is their number in the sweep.

use super::folders::keep;
use super::Record;
use crate::error::{unwritten, Error};
use crate::rows::{Columns, Fixed, Parquet, Row, Rows};
use afteryou_files::temporary;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Most runs of a part. Larger parts read faster, and this many need a few MB of memory.
const MOST: usize = 10_000;

/// Longest time from a run's end to its part.
const LATEST: Duration = Duration::from_secs(30);

/// The parts of one scenario's tables.
#[derive(Debug)]
pub struct Parts {
    tables: [PartTable; 4],
    written: usize,
    waiting: usize,
    /// When the first run that waits has ended.
    since: Option<Duration>,
}

#[derive(Debug)]
struct PartTable {
    dir: PathBuf,
    /// Of this part and of those before, so that a later part lacks no column of an earlier one.
    columns: Columns,
    waiting: Vec<Row>,
}

impl Parts {
    /// Begins the parts of `scenario` in `dataset`, and removes those that are there. `scenario` becomes a folder's name as it is.
    ///
    /// # Errors
    /// A folder that cannot be removed.
    pub fn begin(dataset: &Path, scenario: &str) -> Result<Parts, Error> {
        let table = |name: &str| {
            let dir = dataset.join(name).join(format!("scenario={scenario}"));
            match std::fs::remove_dir_all(&dir) {
                Err(reason) if reason.kind() != io::ErrorKind::NotFound => Err(unwritten(&dir, reason)),
                _ => Ok(PartTable { dir, columns: Columns::default(), waiting: Vec::new() }),
            }
        };
        let tables = [table("runs")?, table("flows")?, table("links")?, table("sets")?];
        Ok(Parts { tables, written: 0, waiting: 0, since: None })
    }

    /// Adds a run that ended at `now`, a time since any fixed moment. Writes a part when 10 000 runs wait, or one of them for 30 s.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn add(&mut self, record: Record, now: Duration) -> Result<(), Error> {
        if self.written == 0 && self.waiting == 0 {
            let Fixed { runs, flows, links, sets } = Fixed::of(&record.rows);
            self.tables
                .iter_mut()
                .zip([runs, flows, links, sets])
                .for_each(|(table, fixed)| table.columns = fixed);
        }
        let Rows { run, flows, links, sets } = record.rows;
        for (table, rows) in self.tables.iter_mut().zip([vec![run], flows, links, sets]) {
            rows.iter().for_each(|row| table.columns.add(row));
            table.waiting.extend(rows);
        }
        self.waiting += 1;
        let since = *self.since.get_or_insert(now);
        match self.waiting >= MOST || now.saturating_sub(since) >= LATEST {
            true => self.flush(),
            false => Ok(()),
        }
    }

    /// Writes the runs that wait as a part.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn flush(&mut self) -> Result<(), Error> {
        if self.waiting == 0 {
            return Ok(());
        }
        self.written += 1;
        let name = format!("part-{:05}.parquet", self.written);
        self.tables.iter_mut().try_for_each(|table| table.write(&name))?;
        (self.waiting, self.since) = (0, None);
        Ok(())
    }
}

impl PartTable {
    fn write(&mut self, name: &str) -> Result<(), Error> {
        let rows = std::mem::take(&mut self.waiting);
        if rows.is_empty() {
            return Ok(());
        }
        let path = self.dir.join(name);
        let part = || {
            std::fs::create_dir_all(&self.dir)?;
            let mut part = Parquet::new(&self.columns, BufWriter::new(temporary(&self.dir)?))?;
            rows.iter().try_for_each(|row| part.write(row))?;
            part.finish()
        };
        keep(part(), &path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use std::fs::File;

    fn record(run: u64, more: Option<&str>) -> Record {
        let mut row = Row::default();
        row.add("run", run);
        row.add("controller", more);
        let rows =
            Rows { run: row.clone(), flows: vec![row.clone(), row], links: Vec::new(), sets: Vec::new() };
        Record { folder: String::new(), rows, brief: None }
    }

    /// Returns the rows of each part, in order, and whether it has a column for the controller and one for a figure that no
    /// row has.
    fn parts(dataset: &Path, table: &str) -> Vec<(i64, bool)> {
        let dir = dataset.join(table).join("scenario=a");
        let Ok(entries) = std::fs::read_dir(dir) else { return Vec::new() };
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        paths.sort();
        let shape = |path: &PathBuf| {
            let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
            let metadata = reader.metadata().file_metadata();
            let columns = metadata.schema_descr().columns();
            let has = |name: &str| columns.iter().any(|column| column.name() == name);
            (metadata.num_rows(), has("controller") && has("kept"))
        };
        paths.iter().map(shape).collect()
    }

    #[test]
    fn a_run_is_in_a_part_30_s_after_it_ended() {
        let dir = tempfile::tempdir().unwrap();
        let mut all = Parts::begin(dir.path(), "a").unwrap();
        let at = Duration::from_secs;
        all.add(record(1, Some("ledbat")), at(5)).unwrap();
        all.add(record(2, None), at(34)).unwrap();
        assert_eq!(parts(dir.path(), "runs"), []);
        all.add(record(3, None), at(35)).unwrap();
        assert_eq!(
            (parts(dir.path(), "runs"), parts(dir.path(), "flows")),
            (vec![(3, true)], vec![(6, true)])
        );
        all.add(record(4, None), at(36)).unwrap();
        all.flush().unwrap();
        // The last part has the column that only the first one fills.
        assert_eq!(parts(dir.path(), "runs"), [(3, true), (1, true)]);
        all.flush().unwrap();
        assert_eq!((parts(dir.path(), "runs").len(), parts(dir.path(), "links")), (2, vec![]));
    }

    #[test]
    fn parts_of_an_earlier_attempt_are_removed_and_those_of_another_scenario_stay() {
        let dir = tempfile::tempdir().unwrap();
        for scenario in ["a", "b", "a"] {
            let mut all = Parts::begin(dir.path(), scenario).unwrap();
            all.add(record(1, None), Duration::ZERO).unwrap();
            all.flush().unwrap();
        }
        assert_eq!(parts(dir.path(), "runs"), [(1, true)]);
        assert!(dir.path().join("runs/scenario=b/part-00001.parquet").is_file());
    }
}
