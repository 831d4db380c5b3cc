//! Saved rows as they are read back: a table of text, and its columns as numbers.

mod result;
mod transfers;

use crate::error::{advice_on_reading, Error};
use crate::palette::Style;
use crate::saved;
use afteryou_notation::{unknown, Plain, Unit};
use afteryou_scenario::outcome::PhaseSpan;
use afteryou_scenario::Outcome;
use std::collections::BTreeMap;
use std::path::Path;

/// A table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Data {
    /// Names of the columns.
    pub columns: Vec<String>,
    /// The rows, each with a cell for every column.
    pub rows: Vec<Vec<String>>,
    /// The look of some values.
    pub looks: BTreeMap<String, Style>,
    /// The run that these are curves of, in words.
    pub run: Option<[String; 2]>,
    /// Moments of that run: when, s, and what.
    pub marks: Vec<(f64, String)>,
    /// Phases of its controllers.
    pub phases: Vec<PhaseSpan>,
    /// The column that holds how many cases a row stands for; one where there is none.
    pub weight: Option<&'static str>,
}

/// The files of a folder that may have the requested columns, in the order in which they are tried. Rows for whole runs
/// come first; there `controller` is that of the background.
const TABLES: [&str; 4] = ["runs.csv", "flows.csv", "links.csv", "sets.csv"];
const CURVES: &str = "series.csv";
/// A run's own file.
const RESULT: &str = "result.json";
/// Columns of curves: a table that has them names quantities in its rows.
const QUANTITY: &str = "quantity";
const VALUE: &str = "value";

impl Data {
    /// Reads `path`: a CSV file, a `result.json`, whose curves are the rows, or a folder with either. Of a folder's tables the first
    /// one counts that has all of `wanted`.
    ///
    /// # Errors
    /// A file that cannot be read or is no table, and a folder without any.
    pub fn read(path: &Path, wanted: &[&str]) -> Result<Data, Error> {
        if !path.is_dir() {
            return Data::read_file(path);
        }
        let mut tables =
            TABLES.iter().map(|name| path.join(name)).filter(|file| file.is_file()).collect::<Vec<_>>();
        // A result has the looks of its flows, which the same curves as a table have not.
        let curves = [RESULT, CURVES].map(|name| path.join(name)).into_iter().find(|file| file.is_file());
        tables.extend(curves);
        let mut first = None;
        for table in &tables {
            let data = Data::read_file(table)?;
            if wanted.iter().all(|name| data.has(name)) {
                return Ok(data);
            }
            first.get_or_insert(data);
        }
        // The caller reports the column.
        let files = || format!("it has none of {}, {RESULT}", TABLES.join(", "));
        first.ok_or_else(|| Error::NotATable { path: path.to_owned(), reason: files() })
    }

    fn read_file(path: &Path) -> Result<Data, Error> {
        if path.extension().is_some_and(|extension| extension == "json") {
            return result::data(&saved::read(path)?, path);
        }
        let text = std::fs::read_to_string(path).map_err(|reason| {
            let advice = advice_on_reading(&reason);
            Error::Read { path: path.to_owned(), reason, advice }
        })?;
        Data::parse(&text, path)
    }

    /// Returns the rows of a result: its curves, Jain's index over time, and the completion times of its transfers.
    ///
    /// # Errors
    /// A result in which nothing was measured over time.
    pub fn of(outcome: &Outcome) -> Result<Data, Error> {
        result::data(outcome, Path::new(RESULT))
    }

    /// Reads CSV with a line of names; `path` is named in errors.
    ///
    /// # Errors
    /// Text that is no CSV, or a table without rows.
    pub fn parse(text: &str, path: &Path) -> Result<Data, Error> {
        let wrong = |reason: String| Error::NotATable { path: path.to_owned(), reason };
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let columns: Vec<String> =
            reader.headers().map_err(|error| wrong(error.to_string()))?.iter().map(plain_text).collect();
        let rows = reader.records().map(|record| Ok(record?.iter().map(plain_text).collect()));
        let rows = rows
            .collect::<Result<Vec<Vec<String>>, csv::Error>>()
            .map_err(|error| wrong(error.to_string()))?;
        match rows.is_empty() {
            true => Err(wrong("it has no rows".to_owned())),
            false => Ok(Data { columns, rows, ..Data::default() }),
        }
    }

    /// Returns whether there is such a column, or such a quantity among curves.
    pub fn has(&self, name: &str) -> bool {
        self.place(name).is_some() || self.quantities().contains(&name)
    }

    fn place(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column == name)
    }

    /// Returns names of quantities, if this is a table of curves.
    fn quantities(&self) -> Vec<&str> {
        let (Some(quantity), Some(_)) = (self.place(QUANTITY), self.place(VALUE)) else { return Vec::new() };
        let mut names: Vec<&str> = self.rows.iter().map(|row| row[quantity].as_str()).collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Returns the column called `name`.
    ///
    /// # Errors
    /// A name that no column has, with the nearest one and all others.
    pub fn column(&self, name: &str) -> Result<usize, Error> {
        self.place(name).ok_or_else(|| {
            let quantities = self.quantities();
            let names: Vec<&str> = self.columns.iter().map(String::as_str).chain(quantities).collect();
            Error::Plot(unknown("column", name, &names).to_string())
        })
    }

    /// Keeps the rows whose `column` holds `value`; numbers are compared as numbers.
    ///
    /// # Errors
    /// An unknown column, and a value that no row has.
    pub fn only(&mut self, column: &str, value: &str) -> Result<(), Error> {
        let place = self.column(column)?;
        let same = |cell: &str| {
            cell == value || matches!((Plain::of(cell), Plain::of(value)), (Some(a), Some(b)) if a == b)
        };
        let mut values: Vec<String> = self.rows.iter().map(|row| row[place].clone()).collect();
        self.rows.retain(|row| same(&row[place]));
        if self.rows.is_empty() {
            values.sort_unstable();
            values.dedup();
            let values: Vec<&str> = values.iter().map(String::as_str).collect();
            return Err(Error::Plot(unknown(format!("value of {column}"), value, &values).to_string()));
        }
        Ok(())
    }

    /// Keeps the rows of the quantity `name` and calls their values by its name, if `name` is a quantity of curves and no column. Columns in
    /// which none of these rows has anything go.
    pub fn choose_quantity(&mut self, name: &str) {
        if self.place(name).is_some() || !self.quantities().contains(&name) {
            return;
        }
        let (Some(quantity), Some(value)) = (self.place(QUANTITY), self.place(VALUE)) else { return };
        self.rows.retain(|row| row[quantity] == name);
        self.columns[value] = name.to_owned();
        for place in (0..self.columns.len()).rev() {
            if self.rows.iter().all(|row| row[place].is_empty()) {
                self.columns.remove(place);
                self.rows.iter_mut().for_each(|row| drop(row.remove(place)));
            }
        }
    }

    /// Returns how many cases each row has.
    pub fn weights(&self) -> Vec<f64> {
        let place = self.weight.and_then(|name| self.place(name));
        let numbers = place.and_then(|place| self.numbers(place)).map(|(numbers, _)| numbers);
        let numbers = numbers.unwrap_or_else(|| vec![None; self.rows.len()]);
        numbers.into_iter().map(|number| number.unwrap_or(1.0)).collect()
    }

    /// Returns the unit of a quantity of curves.
    pub fn unit_of_curves(&self) -> Option<&str> {
        let unit = self.place("unit")?;
        self.rows.first().map(|row| row[unit].as_str())
    }

    /// Returns the column's cells as numbers, if all that are not empty are, with their unit.
    pub fn numbers(&self, place: usize) -> Option<(Vec<Option<f64>>, Unit)> {
        let mut unit = None;
        let mut numbers = Vec::with_capacity(self.rows.len());
        for row in &self.rows {
            if row[place].is_empty() {
                numbers.push(None);
                continue;
            }
            let plain = Plain::of(&row[place])?;
            if *unit.get_or_insert(plain.unit) != plain.unit {
                return None;
            }
            numbers.push(Some(plain.value));
        }
        unit.map(|unit| (numbers, unit))
    }
}

/// Returns a cell without the apostrophe that keeps spreadsheets from taking it for a formula.
fn plain_text(cell: &str) -> String {
    match cell.strip_prefix('\'') {
        Some(rest) if rest.starts_with(['=', '+', '-', '@']) => rest.to_owned(),
        _ => cell.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(text: &str) -> Data {
        Data::parse(text, Path::new("t.csv")).unwrap()
    }

    #[test]
    fn columns_are_numbers_only_if_every_cell_is_one_of_the_same_unit() {
        let data = data("a,b,c\n5 Mbit/s,1,1\n500 kbit/s,,x\n");
        assert_eq!(data.numbers(0), Some((vec![Some(5e6), Some(5e5)], Unit::BitPerSecond)));
        assert_eq!(data.numbers(1), Some((vec![Some(1.0), None], Unit::One)));
        assert_eq!(data.numbers(2), None);
    }

    #[test]
    fn a_quantity_of_curves_stands_for_the_column_of_values() {
        let mut data = data("time_s,of,quantity,unit,value\n1,a,cwnd,kB,7\n1,a,goodput,Mbit/s,9\n");
        data.choose_quantity("goodput");
        assert_eq!(data.rows.len(), 1);
        assert_eq!(data.numbers(data.column("goodput").unwrap()).unwrap().0, [Some(9.0)]);
    }

    #[test]
    fn unknown_names_get_the_nearest_one() {
        let mut data = data("window,kept\nalone,1\n");
        assert!(data.column("windw").unwrap_err().to_string().contains("did you mean \"window\"?"));
        assert!(data.only("window", "alon").unwrap_err().to_string().contains("did you mean \"alone\"?"));
    }
}
