//! A list for people.

use super::wrap::wrap;
use super::Listed;
use afteryou_base::param::{Kind, Param, Preset, Value};
use afteryou_scenario::Size;

const INDENT: &str = "  ";
const APART: &str = "  ";
/// A range of many words gets more lines rather than more columns.
const WIDEST_RANGE: usize = 24;
/// With less room than this for explanations there are no columns.
const NARROWEST_HELP: usize = 28;
const HEADS: [&str; 3] = ["parameter", "default", "range"];

/// A parameter's figures, and its description.
struct Row {
    figures: [String; 3],
    help: String,
}

/// Formats `entries` in lines of at most `width` characters. Columns are the same for all of them.
pub fn text(entries: &[Listed], width: usize) -> String {
    let tables: Vec<Vec<Row>> = entries.iter().map(|entry| entry.params.iter().map(row).collect()).collect();
    let layout = Layout::of(tables.iter().flatten(), width);
    let blocks: Vec<_> =
        entries.iter().zip(&tables).map(|(entry, rows)| block(entry, rows, &layout)).collect();
    blocks.join("\n")
}

fn block(entry: &Listed, rows: &[Row], layout: &Layout) -> String {
    let class = entry.class_name().map(|class| format!(" ({class})")).unwrap_or_default();
    let mut lines = vec![format!("{}{class}", entry.name)];
    lines.extend(layout.indented(entry.summary));
    lines.extend(layout.indented(&format!("source: {}", entry.source)));
    lines.extend(layout.indented(&format!("engines: {}", entry.engines.join(", "))));
    lines.push(String::new());
    match rows {
        [] => lines.extend(layout.indented("It has no parameters.")),
        _ => lines.extend(layout.head().into_iter().chain(rows.iter().flat_map(|row| layout.row(row)))),
    }
    if !entry.presets.is_empty() {
        lines.push(String::new());
        lines.extend(entry.presets.iter().flat_map(|preset| layout.hanging(&preset_in_words(entry, preset))));
    }
    lines.join("\n") + "\n"
}

/// The columns' places and widths.
struct Layout {
    width: usize,
    /// Widths of the figures and of the explanation; none if there is no room for columns.
    columns: Option<[usize; 4]>,
}

impl Layout {
    fn of<'a>(rows: impl Iterator<Item = &'a Row>, width: usize) -> Layout {
        let mut figures = HEADS.map(|head| head.chars().count());
        for row in rows {
            for (column, figure) in figures.iter_mut().zip(&row.figures) {
                *column = figure.chars().count().max(*column);
            }
        }
        let [name, default, range] = figures;
        let range = range.min(WIDEST_RANGE);
        let help = width.saturating_sub(INDENT.len() + name + default + range + 3 * APART.len());
        Layout { width, columns: (help >= NARROWEST_HELP).then_some([name, default, range, help]) }
    }

    fn head(&self) -> Vec<String> {
        match self.columns {
            Some(columns) => side_by_side(&[HEADS[0], HEADS[1], HEADS[2], "what it does [source]"], &columns),
            None => Vec::new(),
        }
    }

    fn row(&self, row: &Row) -> Vec<String> {
        let [name, default, range] = &row.figures;
        if let Some(columns) = self.columns {
            return side_by_side(&[name, default, range, &row.help], &columns);
        }
        let mut lines = self.indented(&format!("{name} = {default}"));
        let said = wrap(&format!("{range}: {}", row.help), self.width - 2 * INDENT.len());
        lines.extend(said.iter().map(|line| format!("{INDENT}{INDENT}{line}")));
        lines
    }

    /// Formats a paragraph whose first line is not indented.
    fn hanging(&self, text: &str) -> Vec<String> {
        let lines = wrap(text, self.width - 2 * INDENT.len()).into_iter().enumerate();
        lines
            .map(|(i, line)| if i == 0 { INDENT.to_owned() + &line } else { INDENT.repeat(2) + &line })
            .collect()
    }

    fn indented(&self, text: &str) -> Vec<String> {
        wrap(text, self.width - INDENT.len()).iter().map(|line| format!("{INDENT}{line}")).collect()
    }
}

/// Formats a line of the table, or as many as its fullest cell takes.
fn side_by_side(cells: &[&str; 4], columns: &[usize; 4]) -> Vec<String> {
    let cells: Vec<_> = cells.iter().zip(columns).map(|(text, width)| wrap(text, *width)).collect();
    let height = cells.iter().map(Vec::len).max().unwrap_or(0);
    let line = |i: usize| {
        let cells = cells.iter().map(|cell| cell.get(i).map_or("", String::as_str));
        let cells: Vec<_> = cells.zip(columns).map(|(text, width)| format!("{text:<width$}")).collect();
        format!("{INDENT}{}", cells.join(APART).trim_end())
    };
    (0..height).map(line).collect()
}

fn row(param: &Param) -> Row {
    Row {
        figures: [param.name.to_owned(), default(param), range(param)],
        help: match param.source {
            "" => param.help.to_owned(),
            source => format!("{} [{source}]", param.help),
        },
    }
}

/// Formats a preset: "preset=linux: as in Linux; target = 20 ms"
fn preset_in_words(entry: &Listed, preset: &Preset) -> String {
    let words = format!("preset={}: {}", preset.name, preset.help);
    match changes_in_words(entry.params, preset).join(", ") {
        none if none.is_empty() => words,
        changes => format!("{words}; {changes}"),
    }
}

/// Returns the changes that a preset makes to a table, each as "target = 20 ms".
pub fn changes_in_words(table: &[Param], preset: &Preset) -> Vec<String> {
    let change = |(name, value): &(&str, Value)| {
        let param = table.iter().find(|param| param.name == *name);
        format!("{name} = {}", param.map_or_else(|| figure(*value), |param| with_unit(param, *value)))
    };
    preset.rows.iter().map(change).collect()
}

/// Returns a parameter's default with its unit.
pub fn default(param: &Param) -> String {
    with_unit(param, param.default)
}

fn with_unit(param: &Param, value: Value) -> String {
    let value = figure(value);
    match param.kind {
        // These are written with their unit already.
        Kind::Time | Kind::Bytes => value,
        _ => format!("{value} {}", unit_of(&value, param.unit)).trim_end().to_owned(),
    }
}

/// Returns the values that a parameter may have.
pub fn range(param: &Param) -> String {
    match param.kind {
        Kind::Flag => "true or false".to_owned(),
        Kind::Choice(words) => words.join(", "),
        Kind::Time => format!("{} to {}", figure(param.min).trim_end_matches(" ms"), figure(param.max)),
        Kind::Number | Kind::Count | Kind::Bytes => format!("{} to {}", figure(param.min), figure(param.max)),
    }
}

fn figure(value: Value) -> String {
    match value {
        Value::Bytes(bytes) => Size::from_bytes(bytes).to_string(),
        other => other.to_string(),
    }
}

/// Returns the unit: "1 packet per RTT" where it is "packets per RTT".
fn unit_of(value: &str, unit: &str) -> String {
    let (first, rest) = unit.split_once(' ').map_or((unit, None), |(first, rest)| (first, Some(rest)));
    let first = match first.strip_suffix('s') {
        // "ms" and the like are no plurals.
        Some(single) if value == "1" && single.len() > 2 => single,
        _ => first,
    };
    match rest {
        Some(rest) => format!("{first} {rest}"),
        None => first.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::list::List;

    #[test]
    fn nothing_is_wider_than_the_terminal_and_every_parameter_is_there() {
        for list in [List::Controllers, List::Queues] {
            for width in [40, 60, 80, 110] {
                let entries = list.entries();
                let text = text(&entries, width);
                assert!(text.lines().all(|line| line.chars().count() <= width), "{width}:\n{text}");
                for param in entries.iter().flat_map(|entry| entry.params) {
                    assert!(text.contains(&format!("\n  {} ", param.name)), "{}", param.name);
                }
            }
        }
    }

    #[test]
    fn a_row_says_default_range_meaning_and_source() {
        let text = text(&List::Controllers.entries(), 150);
        let row = text.lines().find(|line| line.starts_with("  target ")).unwrap();
        let words: Vec<_> = row.split("  ").filter(|cell| !cell.is_empty()).map(str::trim).collect();
        assert_eq!(words, ["target", "60 ms", "1 to 100 ms", "queuing delay to stay below [draft-01 §4.5]"]);
    }

    #[test]
    fn presets_say_whose_values_they_are_and_what_they_change() {
        let wide = text(&[crate::list::tests::WITH_PRESETS], 100);
        let expected = "\n\n  preset=paper: as in the paper\n  preset=linux: as in Linux; target = 20 ms, limit = 64 KiB, ecn = true\n";
        assert!(wide.ends_with(expected), "{wide}");
        let narrow = text(&[crate::list::tests::WITH_PRESETS], 36);
        let expected =
            "\n  preset=linux: as in Linux;\n    target = 20 ms, limit = 64 KiB,\n    ecn = true\n";
        assert!(narrow.ends_with(expected), "{narrow}");
    }

    #[test]
    fn one_of_something_is_singular() {
        assert_eq!(unit_of("1", "packets per RTT"), "packet per RTT");
        assert_eq!(unit_of("2", "packets"), "packets");
        assert_eq!(unit_of("1", "ms"), "ms");
        assert_eq!(unit_of("0.4", "packets/s^3"), "packets/s^3");
    }
}
