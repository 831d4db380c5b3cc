//! A table, before anybody decides whether it goes to a page or to a terminal.

use afteryou_notation::format::NOTHING;
use afteryou_plot::escape::plain;
use afteryou_plot::palette::Style;
use std::borrow::Cow;

/// A table.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The table's title.
    pub title: String,
    /// The explanation of its words; may be empty.
    pub note: &'static str,
    /// The number of first columns that are left empty where they repeat the row above.
    pub grouped: usize,
    /// The columns.
    pub columns: Vec<Column>,
    /// The rows, each with a cell for every column.
    pub rows: Vec<Vec<Cell>>,
}

/// A column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Its head, free of control characters.
    pub name: Cow<'static, str>,
    /// Numbers are on the right.
    pub number: bool,
    /// A narrow terminal does without it.
    pub spare: bool,
    /// Its cells are never cut.
    pub whole: bool,
}

/// A cell's style beyond its text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tone {
    /// Nothing.
    #[default]
    Plain,
    /// As it should be.
    Good,
    /// Not as it should be.
    Bad,
    /// Less important.
    Faint,
}

/// A cell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cell {
    /// Its text, free of control characters.
    pub text: String,
    /// Its style beyond that.
    pub tone: Tone,
    /// Mark and colour of the flow it names.
    pub(crate) style: Option<Style>,
    /// The whole of what the text cuts short.
    pub whole: Option<String>,
}

impl Column {
    /// Creates a column of words.
    pub const fn words(name: &'static str) -> Column {
        Column { name: Cow::Borrowed(name), number: false, spare: false, whole: false }
    }

    /// Creates a column of a setting's values, which identify rows. Control characters in the setting's name are replaced.
    pub fn setting(name: &str) -> Column {
        Column { name: Cow::Owned(plain(name).into_owned()), whole: true, ..Column::words("") }
    }

    /// Creates a column of numbers.
    pub const fn numbers(name: &'static str) -> Column {
        Column { name: Cow::Borrowed(name), number: true, spare: false, whole: false }
    }

    /// Returns the same column, but dispensable.
    pub const fn spare(mut self) -> Column {
        self.spare = true;
        self
    }
}

impl Table {
    /// Takes a column away.
    pub fn remove_column(&mut self, i: usize) {
        self.columns.remove(i);
        self.grouped -= usize::from(i < self.grouped);
        for row in &mut self.rows {
            row.remove(i);
        }
    }

    /// Returns whether the cell in column `i` of row `row` repeats the one above, as do all before it.
    pub fn repeats(&self, row: usize, i: usize) -> bool {
        let above = row.checked_sub(1).and_then(|above| self.rows.get(above));
        i < self.grouped && above.is_some_and(|above| above.get(..=i) == self.rows[row].get(..=i))
    }
}

impl Cell {
    /// Creates a cell with `text`, in which control characters are replaced.
    pub fn new(text: impl AsRef<str>) -> Cell {
        Cell { text: plain(text.as_ref()).into_owned(), ..Cell::default() }
    }

    /// Creates a cell with what `format` makes of `value`, or a dash.
    pub fn maybe<T>(value: Option<T>, format: impl FnOnce(T) -> String) -> Cell {
        match value {
            Some(value) => Cell::new(format(value)),
            None => Cell::new(NOTHING).toned(Tone::Faint),
        }
    }

    /// Returns the same cell in another tone.
    pub fn toned(self, tone: Tone) -> Cell {
        Cell { tone, ..self }
    }

    /// Returns the same cell, marked by `style`.
    pub(crate) fn styled(self, style: Style) -> Cell {
        Cell { style: Some(style), ..self }
    }

    /// Returns the same cell, cut short from `whole`.
    pub fn of_whole(self, whole: &str) -> Cell {
        Cell { whole: Some(plain(whole).into_owned()), ..self }
    }

    /// Returns the text for a terminal, with the mark of the style before it.
    pub fn marked(&self) -> String {
        let text = plain(&self.text);
        match self.style {
            Some(style) => format!("{} {text}", style.shape.glyph()),
            None => text.into_owned(),
        }
    }
}
