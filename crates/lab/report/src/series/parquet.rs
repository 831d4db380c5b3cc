//! Curves as Parquet, and as files.

use super::{columns, rows, series_csv};
use crate::error::Error;
use crate::result_folder::ResultFolder;
use crate::rows::Parquet;
use crate::staged::unwritten;
use afteryou_scenario::Outcome;
use std::io;

/// The curves of an outcome as Parquet, with the columns of [`series_csv`].
///
/// # Errors
/// A curve that the format cannot hold.
pub fn series_parquet(outcome: &Outcome) -> io::Result<Vec<u8>> {
    let columns = columns();
    let mut table = Parquet::new(&columns, Vec::new())?;
    rows(outcome).try_for_each(|row| table.write(&row))?;
    table.finish()
}

impl ResultFolder {
    /// Writes the curves of an outcome: `series.csv` and, with `parquet`, `series.parquet`.
    ///
    /// # Errors
    /// A folder that takes no files.
    pub fn write_series(&mut self, outcome: &Outcome, parquet: bool) -> Result<(), Error> {
        self.write(&[("series.csv", series_csv(outcome))])?;
        if parquet {
            let name = "series.parquet";
            let unwritten = |reason| unwritten(&self.dir().join(name), reason);
            let table = series_parquet(outcome).map_err(unwritten)?;
            self.write(&[(name, table)])?;
        }
        Ok(())
    }
}
