//! Rows as Parquet, for DuckDB, polars, pandas, R and Spark.
//!
//! Columns are written as they are: counts as INT64, seeds as unsigned INT64, numbers as DOUBLE, words as strings; every value may be missing. A row group
//! has [`GROUP`] rows, so that a table need not fit into memory.

use super::{Columns, Kind, Row, Value};
use ::parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use ::parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int64Type};
use ::parquet::errors::ParquetError;
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use ::parquet::schema::types::Type;
use std::io::{self, Write};
use std::sync::Arc;

/// Rows of a group.
const GROUP: usize = 10_000;

/// Writes rows as Parquet.
pub struct Parquet<'a, W: Write + Send> {
    columns: &'a Columns,
    writer: SerializedFileWriter<W>,
    waiting: Vec<Row>,
}

impl<'a, W: Write + Send> Parquet<'a, W> {
    /// Begins a table with these columns.
    ///
    /// # Errors
    /// As `out`'s.
    pub fn new(columns: &'a Columns, out: W) -> io::Result<Parquet<'a, W>> {
        let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
        let writer = SerializedFileWriter::new(out, schema(columns).map_err(failed)?, Arc::new(properties));
        Ok(Parquet { columns, writer: writer.map_err(failed)?, waiting: Vec::new() })
    }

    /// Writes a row.
    ///
    /// # Errors
    /// As the output's.
    pub fn write(&mut self, row: &Row) -> io::Result<()> {
        self.waiting.push(row.clone());
        if self.waiting.len() == GROUP {
            self.write_group()?;
        }
        Ok(())
    }

    /// Writes what is left, and returns the output.
    ///
    /// # Errors
    /// As the output's.
    pub fn finish(mut self) -> io::Result<W> {
        if !self.waiting.is_empty() {
            self.write_group()?;
        }
        self.writer.into_inner().map_err(failed)
    }

    fn write_group(&mut self) -> io::Result<()> {
        let rows = std::mem::take(&mut self.waiting);
        // By column: the values of all rows.
        let mut values: Vec<Vec<&Value>> = vec![Vec::with_capacity(rows.len()); self.columns.columns().len()];
        for row in &rows {
            self.columns.values(row).zip(&mut values).for_each(|(value, column)| column.push(value));
        }
        let mut group = self.writer.next_row_group().map_err(failed)?;
        for (column, values) in self.columns.columns().iter().zip(&values) {
            write_column(&mut group, column.kind, values).map_err(failed)?;
        }
        group.close().map_err(failed)?;
        Ok(())
    }
}

/// Returns the columns as Parquet describes them.
fn schema(columns: &Columns) -> Result<Arc<Type>, ParquetError> {
    let fields = columns.columns().iter().map(|column| {
        let (physical, logical) = match column.kind {
            Kind::Whole => (Physical::INT64, Some(LogicalType::integer(64, true))),
            Kind::Seed => (Physical::INT64, Some(LogicalType::integer(64, false))),
            Kind::Number => (Physical::DOUBLE, None),
            Kind::Word => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        };
        let field = Type::primitive_type_builder(&column.name, physical);
        field.with_logical_type(logical).with_repetition(Repetition::OPTIONAL).build().map(Arc::new)
    });
    let fields = fields.collect::<Result<Vec<_>, _>>()?;
    Type::group_type_builder("rows").with_fields(fields).build().map(Arc::new)
}

fn write_column<W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    kind: Kind,
    values: &[&Value],
) -> Result<(), ParquetError> {
    let Some(mut column) = group.next_column()? else { return Ok(()) };
    let present: Vec<i16> = values.iter().map(|value| i16::from(**value != Value::Missing)).collect();
    let there = values.iter().filter(|value| ***value != Value::Missing);
    match kind {
        Kind::Whole | Kind::Seed => {
            // A large seed keeps its bits.
            let whole = |value: &&Value| if let Value::Whole(number) = value { *number as i64 } else { 0 };
            let numbers: Vec<i64> = there.map(whole).collect();
            column.typed::<Int64Type>().write_batch(&numbers, Some(&present), None)?;
        }
        Kind::Number => {
            let number = |value: &&Value| match value {
                Value::Whole(number) => *number as f64,
                Value::Number(number) => *number,
                _ => f64::NAN,
            };
            let numbers: Vec<f64> = there.map(number).collect();
            column.typed::<DoubleType>().write_batch(&numbers, Some(&present), None)?;
        }
        Kind::Word => {
            let word = |value: &&Value| match value {
                Value::Whole(number) => number.to_string(),
                Value::Number(number) => number.to_string(),
                Value::Word(word) => word.clone(),
                Value::Missing => String::new(),
            };
            let words: Vec<ByteArray> =
                there.map(|value| ByteArray::from(word(value).into_bytes())).collect();
            column.typed::<ByteArrayType>().write_batch(&words, Some(&present), None)?;
        }
    }
    column.close()
}

fn failed(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(reason) => *reason,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::parquet::file::reader::{FileReader, SerializedFileReader};
    use ::parquet::record::Field;
    use bytes::Bytes;

    fn written(rows: &[Row]) -> SerializedFileReader<Bytes> {
        let mut columns = Columns::default();
        rows.iter().for_each(|row| columns.add(row));
        let mut table = Parquet::new(&columns, Vec::new()).unwrap();
        rows.iter().for_each(|row| table.write(row).unwrap());
        SerializedFileReader::new(Bytes::from(table.finish().unwrap())).unwrap()
    }

    #[test]
    fn rows_are_read_back_as_they_were() {
        let mut rows = [Row::default(), Row::default()];
        rows[0].add("run", 1);
        rows[0].add("kept", 0.1 + 0.2);
        rows[0].add("controller", "ledbat++");
        rows[1].add("run", 2);
        rows[1].add("seed", u64::MAX);
        let reader = written(&rows);
        let read: Vec<Vec<(String, Field)>> = reader
            .get_row_iter(None)
            .unwrap()
            .map(|row| {
                row.unwrap().get_column_iter().map(|(name, field)| (name.clone(), field.clone())).collect()
            })
            .collect();
        let cell =
            |row: usize, name: &str| read[row].iter().find(|(known, _)| known == name).unwrap().1.clone();
        assert_eq!(cell(0, "run"), Field::Long(1));
        assert_eq!(cell(0, "kept"), Field::Double(0.1 + 0.2));
        assert_eq!(cell(0, "controller"), Field::Str("ledbat++".to_owned()));
        assert_eq!(cell(0, "seed"), Field::Null);
        assert_eq!(cell(1, "seed"), Field::ULong(u64::MAX));
        assert_eq!(cell(1, "controller"), Field::Null);
    }

    #[test]
    fn long_tables_have_several_groups_of_rows() {
        let rows: Vec<Row> = (0..GROUP as u64 + 5)
            .map(|i| {
                let mut row = Row::default();
                row.add("i", i);
                row
            })
            .collect();
        let reader = written(&rows);
        let metadata = reader.metadata();
        assert_eq!((metadata.num_row_groups(), metadata.file_metadata().num_rows()), (2, GROUP as i64 + 5));
    }
}
