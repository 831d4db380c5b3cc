//! Rows as CSV and as JSON lines.

use super::{Columns, Row, Value};
use std::borrow::Cow;
use std::io::{self, Write};

/// Returns a field that no spreadsheet takes for a formula: what would be one gets an apostrophe before it.
pub(crate) fn field(text: &str) -> Cow<'_, str> {
    // Spreadsheets pass over white space before a formula.
    match text.trim_start().starts_with(['=', '+', '-', '@']) && text.parse::<f64>().is_err() {
        true => format!("'{text}").into(),
        false => text.into(),
    }
}

/// Writes rows as CSV: a line of names, then a line for each row. A missing value is an empty field.
pub struct Csv<'a, W: Write> {
    columns: &'a Columns,
    lines: csv::Writer<W>,
}

impl<'a, W: Write> Csv<'a, W> {
    /// Writes the line of names to `out`.
    ///
    /// # Errors
    /// As `out`'s.
    pub fn new(columns: &'a Columns, out: W) -> io::Result<Csv<'a, W>> {
        let mut lines = csv::WriterBuilder::new().flexible(true).from_writer(out);
        if !columns.columns().is_empty() {
            lines.write_record(columns.columns().iter().map(|column| field(&column.name).into_owned()))?;
        }
        Ok(Csv { columns, lines })
    }

    /// Writes a row.
    ///
    /// # Errors
    /// As the output's.
    pub fn write(&mut self, row: &Row) -> io::Result<()> {
        let text = |value: &Value| match value {
            Value::Missing => String::new(),
            Value::Whole(number) => number.to_string(),
            Value::Number(number) => number.to_string(),
            Value::Word(word) => field(word).into_owned(),
        };
        Ok(self.lines.write_record(self.columns.values(row).map(text))?)
    }

    /// Writes what is left, and returns the output.
    ///
    /// # Errors
    /// As the output's.
    pub fn finish(self) -> io::Result<W> {
        self.lines.into_inner().map_err(|error| io::Error::from(error.error().kind()))
    }
}

/// Writes rows as JSON, an object in each line. A missing value is `null`, so every object has the same names.
pub struct JsonLines<'a, W: Write> {
    columns: &'a Columns,
    out: W,
}

impl<'a, W: Write> JsonLines<'a, W> {
    /// Writes rows to `out`.
    pub fn new(columns: &'a Columns, out: W) -> JsonLines<'a, W> {
        JsonLines { columns, out }
    }

    /// Writes a row.
    ///
    /// # Errors
    /// As the output's.
    pub fn write(&mut self, row: &Row) -> io::Result<()> {
        self.out.write_all(b"{")?;
        for (i, (column, value)) in self.columns.columns().iter().zip(self.columns.values(row)).enumerate() {
            if i > 0 {
                self.out.write_all(b",")?;
            }
            serde_json::to_writer(&mut self.out, &column.name)?;
            self.out.write_all(b":")?;
            serde_json::to_writer(&mut self.out, value)?;
        }
        self.out.write_all(b"}\n")
    }

    /// Returns the output.
    pub fn finish(self) -> W {
        self.out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(rows: &[Row]) -> [String; 2] {
        let mut columns = Columns::default();
        rows.iter().for_each(|row| columns.add(row));
        let mut csv = Csv::new(&columns, Vec::new()).unwrap();
        let mut lines = JsonLines::new(&columns, Vec::new());
        for row in rows {
            csv.write(row).unwrap();
            lines.write(row).unwrap();
        }
        [csv.finish().unwrap(), lines.finish()].map(|bytes| String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn fields_are_quoted_where_they_must_be_and_are_no_formulas() {
        let mut row = Row::default();
        for (name, value) in [("plain", "a, b"), ("@x", "say \"hi\""), ("-x, y", "two\nlines"), ("n", "-3.5")]
        {
            row.add(name, value);
        }
        row.add("f", "=1+1");
        row.add("tab", "\t@x");
        row.add("empty", "");
        row.add("number", -3.5);
        let [csv, _] = written(&[row]);
        let expected =
            "plain,'@x,\"'-x, y\",n,f,tab,number\n\"a, b\",\"say \"\"hi\"\"\",\"two\nlines\",-3.5,'=1+1,'\t@x,-3.5\n";
        assert_eq!(csv, expected);
    }

    #[test]
    fn a_row_without_a_value_has_an_empty_field_and_a_null() {
        let mut rows = [Row::default(), Row::default()];
        rows[0].add("a", 1);
        rows[0].add("b", 0.1 + 0.2);
        rows[1].add("a", "word");
        rows[1].add("c", f64::NAN);
        let [csv, lines] = written(&rows);
        assert_eq!(csv, "a,b\n1,0.30000000000000004\nword,\n");
        assert_eq!(lines, "{\"a\":1,\"b\":0.30000000000000004}\n{\"a\":\"word\",\"b\":null}\n");
        assert_eq!(written(&[]), [String::new(), String::new()]);
    }
}
