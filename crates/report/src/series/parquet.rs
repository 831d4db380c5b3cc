//! Curves as Parquet, and as files.

use super::{columns, rows, series_csv};
use crate::error::Error;
use crate::folder::{unwritten, write_files};
use crate::rows::Parquet;
use afteryou_scenario::Outcome;
use std::io;
use std::path::Path;

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

/// Writes the curves of an outcome into `dir`: `series.csv` and, with `parquet`, `series.parquet`.
///
/// # Errors
/// A folder that takes no files.
pub fn write_series(outcome: &Outcome, dir: &Path, parquet: bool) -> Result<(), Error> {
    write_files(dir, &[("series.csv", series_csv(outcome))])?;
    if parquet {
        let name = "series.parquet";
        let table = series_parquet(outcome).map_err(|reason| unwritten(&dir.join(name), reason))?;
        write_files(dir, &[(name, table)])?;
    }
    Ok(())
}
