//! Curves as Parquet, and as files.

use super::{columns, rows, series_csv};
use crate::error::{unwritten, Error};
use crate::rows::Parquet;
use afteryou_files::ResultFolder;
use afteryou_scenario::Outcome;
use std::io;

/// Returns the curves of an outcome as Parquet, with the columns of [`series_csv`].
///
/// # Errors
/// A curve that the format cannot hold.
pub fn series_parquet(outcome: &Outcome) -> io::Result<Vec<u8>> {
    let columns = columns();
    let mut table = Parquet::new(&columns, Vec::new())?;
    rows(outcome).try_for_each(|row| table.write(&row))?;
    table.finish()
}

/// Writes the curves of an outcome into a run's folder: `series.csv` and, with `parquet`, `series.parquet`.
///
/// # Errors
/// A folder that takes no files.
pub fn write_series(folder: &mut ResultFolder, outcome: &Outcome, parquet: bool) -> Result<(), Error> {
    folder.write(&[("series.csv", series_csv(outcome))])?;
    if parquet {
        let name = "series.parquet";
        let table = series_parquet(outcome).map_err(|reason| unwritten(&folder.dir().join(name), reason))?;
        folder.write(&[(name, table)])?;
    }
    Ok(())
}
