//! The columns of a table whose rows need not have the same ones.

use super::{Row, Value};

/// The values that a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Counts alone, which readers subtract: signed where the format has both.
    Whole,
    /// Seeds, which use all 64 bits: unsigned.
    Seed,
    /// Numbers.
    Number,
    /// Text, or text and numbers.
    Word,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// The column's name.
    pub name: String,
    /// Its values; some rows may have none.
    pub kind: Kind,
}

/// All columns of a table, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Columns {
    columns: Vec<Column>,
}

impl Columns {
    /// Takes in the columns of a row. A new one comes after the one that it follows in the row.
    pub fn add(&mut self, row: &Row) {
        let mut place = 0;
        for (name, value) in row.cells() {
            let Some(kind) = kind(name, value) else { continue };
            // Most rows are alike: the next column is nearly always the right one.
            let next = self.columns.get(place).filter(|column| column.name == *name).map(|_| place);
            let found = next.or_else(|| self.columns.iter().position(|column| column.name == *name));
            match found {
                Some(found) => {
                    let column = &mut self.columns[found];
                    column.kind = column.kind.with(kind);
                    place = found + 1;
                }
                None => {
                    self.columns.insert(place, Column { name: name.clone(), kind });
                    place += 1;
                }
            }
        }
    }

    /// Returns the columns, in order.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Returns the values of `row` in the order of the columns.
    pub fn values<'a>(&'a self, row: &'a Row) -> impl Iterator<Item = &'a Value> {
        let cells = row.cells();
        let mut place = 0;
        self.columns.iter().map(move |column| {
            let next = cells.get(place).filter(|(name, _)| *name == column.name).map(|_| place);
            let found = next.or_else(|| cells.iter().position(|(name, _)| *name == column.name));
            place = found.map_or(place, |found| found + 1);
            found.map_or(&Value::Missing, |found| &cells[found].1)
        })
    }
}

impl From<Vec<Column>> for Columns {
    fn from(columns: Vec<Column>) -> Columns {
        Columns { columns }
    }
}

impl Kind {
    fn with(self, other: Kind) -> Kind {
        match (self, other) {
            (Kind::Word, _) | (_, Kind::Word) => Kind::Word,
            (Kind::Number, _) | (_, Kind::Number) => Kind::Number,
            (Kind::Seed, Kind::Seed) => Kind::Seed,
            (Kind::Whole | Kind::Seed, Kind::Whole | Kind::Seed) => Kind::Whole,
        }
    }
}

/// The column of seeds.
const SEED: &str = "seed";

fn kind(name: &str, value: &Value) -> Option<Kind> {
    match value {
        Value::Missing => None,
        Value::Whole(_) if name == SEED => Some(Kind::Seed),
        Value::Whole(_) => Some(Kind::Whole),
        Value::Number(_) => Some(Kind::Number),
        Value::Word(_) => Some(Kind::Word),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(cells: &[(&str, Value)]) -> Row {
        let mut row = Row::default();
        cells.iter().for_each(|(name, value)| row.add(*name, value.clone()));
        row
    }

    #[test]
    fn columns_of_rows_that_differ_stand_where_the_rows_have_them() {
        let rows = [
            row(&[("a", 1.into()), ("z", 2.into())]),
            row(&[("a", 1.5.into()), ("b", "word".into()), ("z", 2.into())]),
            row(&[("first", 0.into()), ("b", 3.into())]),
        ];
        let mut columns = Columns::default();
        rows.iter().for_each(|row| columns.add(row));
        let kinds: Vec<_> =
            columns.columns().iter().map(|column| (column.name.as_str(), column.kind)).collect();
        assert_eq!(
            kinds,
            [("first", Kind::Whole), ("a", Kind::Number), ("b", Kind::Word), ("z", Kind::Whole)]
        );
        let values: Vec<&Value> = columns.values(&rows[2]).collect();
        assert_eq!(values, [&Value::Whole(0), &Value::Missing, &Value::Whole(3), &Value::Missing]);
    }
}
