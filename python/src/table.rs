//! Tables that other libraries take without a copy, by the Arrow PyCapsule interface.

use crate::errors;
use afteryou_report::rows::{Columns, Kind, Row, Value};
use arrow_array::builder::{Float64Builder, Int64Builder, StringBuilder, UInt64Builder};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{ArrayRef, RecordBatch, RecordBatchIterator};
use arrow_schema::ffi::FFI_ArrowSchema;
use arrow_schema::{DataType, Field, Schema};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use std::sync::Arc;

/// A table with named columns. polars, pyarrow, DuckDB and pandas read it: `polars.DataFrame(table)`,
/// `pyarrow.table(table)`, `pandas.DataFrame.from_arrow(table)`, or `table.to_pandas()`.
#[pyclass(frozen, module = "afteryou")]
pub struct Table {
    batch: RecordBatch,
}

impl Table {
    pub fn of_batch(batch: RecordBatch) -> Table {
        Table { batch }
    }

    /// Returns the rows with the columns that such a table always has, and every other one that a row has.
    pub fn of_rows(py: Python<'_>, mut columns: Columns, rows: &[Row]) -> PyResult<Table> {
        rows.iter().for_each(|row| columns.add(row));
        let mut builders: Vec<Builder> =
            columns.columns().iter().map(|column| Builder::new(column.kind, rows.len())).collect();
        for row in rows {
            builders.iter_mut().zip(columns.values(row)).for_each(|(builder, value)| builder.add(value));
        }
        let fields = columns.columns().iter().zip(&builders);
        let fields: Vec<Field> =
            fields.map(|(column, builder)| Field::new(&column.name, builder.data_type(), true)).collect();
        let arrays = builders.into_iter().map(Builder::finish).collect();
        let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays);
        batch.map(Table::of_batch).map_err(|error| errors::other(py, &error))
    }
}

/// A column while its rows are collected.
enum Builder {
    Whole(Int64Builder),
    Seed(UInt64Builder),
    Number(Float64Builder),
    Word(StringBuilder),
}

impl Builder {
    fn new(kind: Kind, rows: usize) -> Builder {
        match kind {
            Kind::Whole => Builder::Whole(Int64Builder::with_capacity(rows)),
            Kind::Seed => Builder::Seed(UInt64Builder::with_capacity(rows)),
            Kind::Number => Builder::Number(Float64Builder::with_capacity(rows)),
            Kind::Word => Builder::Word(StringBuilder::with_capacity(rows, 8 * rows)),
        }
    }

    fn data_type(&self) -> DataType {
        match self {
            Builder::Whole(_) => DataType::Int64,
            Builder::Seed(_) => DataType::UInt64,
            Builder::Number(_) => DataType::Float64,
            Builder::Word(_) => DataType::Utf8,
        }
    }

    fn add(&mut self, value: &Value) {
        match (self, value) {
            (Builder::Whole(column), Value::Whole(whole)) => column.append_option(i64::try_from(*whole).ok()),
            (Builder::Whole(column), _) => column.append_null(),
            (Builder::Seed(column), Value::Whole(seed)) => column.append_value(*seed),
            (Builder::Seed(column), _) => column.append_null(),
            (Builder::Number(column), Value::Number(number)) => column.append_value(*number),
            (Builder::Number(column), Value::Whole(whole)) => column.append_value(*whole as f64),
            (Builder::Number(column), _) => column.append_null(),
            (Builder::Word(column), Value::Word(word)) => column.append_value(word),
            (Builder::Word(column), Value::Whole(whole)) => column.append_value(whole.to_string()),
            (Builder::Word(column), Value::Number(number)) => column.append_value(number.to_string()),
            (Builder::Word(column), Value::Missing) => column.append_null(),
        }
    }

    fn finish(self) -> ArrayRef {
        match self {
            Builder::Whole(mut column) => Arc::new(column.finish()),
            Builder::Seed(mut column) => Arc::new(column.finish()),
            Builder::Number(mut column) => Arc::new(column.finish()),
            Builder::Word(mut column) => Arc::new(column.finish()),
        }
    }
}

#[pymethods]
impl Table {
    /// Returns the table as an Arrow stream, for any library that reads one. The buffers are shared.
    #[pyo3(signature = (requested_schema = None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // The interface allows a producer to leave a requested schema unmet; the reader casts.
        drop(requested_schema);
        let batches = RecordBatchIterator::new([Ok(self.batch.clone())], self.batch.schema());
        let stream = FFI_ArrowArrayStream::new(Box::new(batches));
        PyCapsule::new_with_value(py, stream, c"arrow_array_stream")
    }

    /// Returns the columns' names and types as an Arrow schema.
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let schema = FFI_ArrowSchema::try_from(self.batch.schema().as_ref());
        let schema = schema.map_err(|error| errors::other(py, &error))?;
        PyCapsule::new_with_value(py, schema, c"arrow_schema")
    }

    /// The names of the columns; a unit is the end of a name ("goodput_bit_s").
    #[getter]
    fn column_names(&self) -> Vec<String> {
        self.batch.schema().fields().iter().map(|field| field.name().clone()).collect()
    }

    fn __len__(&self) -> usize {
        self.batch.num_rows()
    }

    fn __repr__(&self) -> String {
        format!("Table({} rows × {} columns)", self.batch.num_rows(), self.batch.num_columns())
    }

    /// Returns a pandas.DataFrame, whose buffers are copies. Requires pandas and pyarrow.
    fn to_pandas<'py>(slf: Bound<'py, Table>) -> PyResult<Bound<'py, PyAny>> {
        let pyarrow = slf.py().import("pyarrow")?;
        pyarrow.call_method1("table", (slf,))?.call_method0("to_pandas")
    }

    /// Returns the rows as a list of dictionaries. Requires no other library.
    fn to_dicts<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, pyo3::types::PyDict>>> {
        let columns: Vec<(String, Cells<'_>)> = self.cells();
        let row = |index: usize| {
            let row = pyo3::types::PyDict::new(py);
            columns.iter().try_for_each(|(name, cells)| cells.put(&row, name, index))?;
            Ok(row)
        };
        (0..self.batch.num_rows()).map(row).collect()
    }
}

/// A column that is read back.
enum Cells<'a> {
    Whole(&'a arrow_array::Int64Array),
    Seed(&'a arrow_array::UInt64Array),
    Number(&'a arrow_array::Float64Array),
    Word(&'a arrow_array::StringArray),
    Words(arrow_array::TypedDictionaryArray<'a, arrow_array::types::Int32Type, arrow_array::StringArray>),
}

impl Table {
    fn cells(&self) -> Vec<(String, Cells<'_>)> {
        use arrow_array::cast::AsArray;
        use arrow_array::types::{Float64Type, Int32Type, Int64Type, UInt64Type};
        let schema = self.batch.schema();
        let columns = schema.fields().iter().zip(self.batch.columns());
        let cells = columns.filter_map(|(field, array)| {
            let cells = match field.data_type() {
                DataType::Int64 => Cells::Whole(array.as_primitive::<Int64Type>()),
                DataType::UInt64 => Cells::Seed(array.as_primitive::<UInt64Type>()),
                DataType::Float64 => Cells::Number(array.as_primitive::<Float64Type>()),
                DataType::Utf8 => Cells::Word(array.as_string::<i32>()),
                _ => Cells::Words(array.as_dictionary::<Int32Type>().downcast_dict()?),
            };
            Some((field.name().clone(), cells))
        });
        cells.collect()
    }
}

impl Cells<'_> {
    fn put(&self, row: &Bound<'_, pyo3::types::PyDict>, name: &str, index: usize) -> PyResult<()> {
        use arrow_array::{Array, ArrayAccessor};
        match self {
            Cells::Whole(array) => row.set_item(name, array.is_valid(index).then(|| array.value(index))),
            Cells::Seed(array) => row.set_item(name, array.is_valid(index).then(|| array.value(index))),
            Cells::Number(array) => row.set_item(name, array.is_valid(index).then(|| array.value(index))),
            Cells::Word(array) => row.set_item(name, array.is_valid(index).then(|| array.value(index))),
            Cells::Words(array) => row.set_item(name, array.is_valid(index).then(|| array.value(index))),
        }
    }
}
