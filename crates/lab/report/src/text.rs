//! The outcome for a terminal: the headline or the verdict alone, or everything.

use crate::batch::{headline as batch_headline, remarks, tables as batch_tables, Brief};
use crate::scenario_tables::point;
use crate::table::{Cell, Column, Table, Tone};
use crate::{completions, cost, headline, links, queues, sets, tables, totals};
use afteryou_plot::escape::{cut, plain};
use afteryou_plot::names::{engine_in_words, link_in_words, title};
use afteryou_scenario::outcome::{Outcome, Verdict};
use std::collections::BTreeSet;
use std::fmt::Write;
use textwrap::{Options, WordSplitter};

/// Columns never get narrower than this.
const NARROWEST: usize = 6;
/// Most rows of a table below a headline.
const FEW_ROWS: usize = 4;
/// Most rows of the table of many runs in its brief form.
const BATCH_ROWS: usize = 8;
/// Longest line of prose, columns: longer lines are hard to read.
const PROSE: usize = 110;
const INDENT: &str = "  ";
const APART: &str = "  ";

/// The terminal's properties.
const RESET: &str = "\u{1b}[0m";
const BOLD: &str = "\u{1b}[1m";

/// Returns what came out of a run in a dozen lines: the verdict if there is one, else the headline with a short table.
pub fn brief_text(outcome: &Outcome, width: usize, colour: bool) -> String {
    let page = Page { width: width.max(40), colour };
    let mut blocks = vec![page.head(outcome)];
    blocks.extend(tables::warning(outcome).map(|(what, advice)| page.warning(what, advice)));
    match &outcome.verdict {
        Some(verdict) => blocks.push(page.verdict(verdict)),
        None => {
            blocks.extend(page.headline(outcome));
            let times = || completions::table_of(outcome).filter(|_| completions::lead(outcome));
            let table = tables::comparison(outcome).or_else(times).or_else(|| tables::flows(outcome));
            blocks.extend(table.filter(|table| table.rows.len() <= FEW_ROWS).map(|table| page.table(&table)));
        }
    }
    blocks.join("\n")
}

/// Formats `outcome` in words for a terminal of `width` columns, with colours if `colour`.
///
/// A narrow terminal gets fewer columns and shorter names. Names that would look alike keep the length that
/// distinguishes them. Below 40 columns lines may be longer than requested. Output that is not for a terminal has no
/// width: `usize::MAX` cuts nothing.
pub fn text(outcome: &Outcome, width: usize, colour: bool) -> String {
    let page = Page { width: width.max(40), colour };
    let mut blocks = vec![page.head(outcome)];
    blocks.extend(outcome.verdict.as_ref().map(|verdict| page.verdict(verdict)));
    blocks.extend(page.headline(outcome).filter(|_| outcome.verdict.is_none()));
    blocks.extend(tables::warning(outcome).map(|(what, advice)| page.warning(what, advice)));
    let shown = [
        sets::table_of(outcome),
        tables::flows(outcome),
        links::figures(outcome),
        queues::classes(outcome),
        totals::shares(outcome),
        totals::totals(outcome),
        tables::transfers(outcome),
        tables::lateness(outcome),
    ];
    let costs = cost::tables_of(outcome);
    let first = tables::checks(outcome).into_iter().chain(costs.into_iter().flatten());
    blocks.extend(first.chain(shown.into_iter().flatten()).map(|table| page.table(&table)));
    blocks.join("\n")
}

/// Formats a table alone, for a terminal of `width` columns, with colours if `colour`.
pub fn table_text(table: &Table, width: usize, colour: bool) -> String {
    Page { width: width.max(40), colour }.table(table)
}

/// Formats many runs of one experiment in tables for a terminal of `width` columns.
pub fn batch_text(title: &str, briefs: &[Brief], all: usize, width: usize, colour: bool) -> String {
    let page = Page { width: width.max(40), colour };
    let tables = batch_tables(briefs);
    let shown = tables.iter().map(|table| page.table(table));
    std::iter::once(page.batch_head(title, briefs, all)).chain(shown).collect::<Vec<_>>().join("\n")
}

/// Returns the first rows of the first of these tables, and how many rows it leaves out.
pub fn brief_batch_text(
    title: &str,
    briefs: &[Brief],
    all: usize,
    width: usize,
    colour: bool,
) -> (String, usize) {
    let page = Page { width: width.max(40), colour };
    let (head, mut tables) = (page.batch_head(title, briefs, all), batch_tables(briefs));
    let rows: usize = tables.iter().map(|table| table.rows.len()).sum();
    if tables.is_empty() {
        return (head, 0);
    }
    let mut first = tables.swap_remove(0);
    first.rows.truncate(BATCH_ROWS);
    (format!("{head}\n{}", page.table(&first)), rows - first.rows.len())
}

/// The width of the text.
struct Page {
    width: usize,
    colour: bool,
}

impl Page {
    fn head(&self, outcome: &Outcome) -> String {
        let name = self.wrapped(title(outcome), "");
        let parts = [
            link_in_words(outcome),
            engine_in_words(outcome).to_owned(),
            format!("seed {}", outcome.scenario.seed),
            point(outcome),
            format!("afteryou {}", outcome.afteryou_version),
        ];
        let said: Vec<&str> = parts.iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
        let setting = said.join(" · ");
        let painted: Vec<_> = name.iter().map(|line| self.painted(line, BOLD)).collect();
        format!("{}\n{}\n", painted.join("\n"), self.wrapped(&setting, "").join("\n"))
    }

    fn batch_head(&self, title: &str, briefs: &[Brief], all: usize) -> String {
        let name: Vec<_> = self.wrapped(title, "").iter().map(|line| self.painted(line, BOLD)).collect();
        let said = remarks(briefs, all).into_iter().map(|said| self.wrapped(&said, "").join("\n") + "\n");
        let headline = batch_headline(briefs).map(|said| self.bold(&said) + "\n").unwrap_or_default();
        format!("{}\n{all} runs\n{headline}{}", name.join("\n"), said.collect::<String>())
    }

    fn headline(&self, outcome: &Outcome) -> Option<String> {
        let sentences = headline::headline(outcome);
        let lines: String = sentences.iter().map(|sentence| self.bold(sentence)).collect();
        (!lines.is_empty()).then_some(lines)
    }

    /// Formats a sentence on lines of its own.
    fn bold(&self, sentence: &str) -> String {
        self.wrapped(sentence, "").iter().map(|line| self.painted(line, BOLD) + "\n").collect()
    }

    fn verdict(&self, verdict: &Verdict) -> String {
        let (sign, tone) = if verdict.good { ("✓", Tone::Good) } else { ("✗", Tone::Bad) };
        let headline = self.wrapped(&format!("{sign} {}", verdict.headline), INDENT);
        let mut block = String::new();
        for (i, line) in headline.iter().enumerate() {
            let line = if i == 0 { line.trim_start() } else { line };
            block.push_str(&self.painted(line, code(tone)));
            block.push('\n');
        }
        for detail in &verdict.details {
            let _ = writeln!(block, "{}", self.wrapped(detail, INDENT).join("\n"));
        }
        block
    }

    fn warning(&self, what: &str, advice: &str) -> String {
        let what = self.painted(&self.wrapped(what, "").join("\n"), code(Tone::Bad));
        format!("{what}\n{}\n", self.wrapped(advice, INDENT).join("\n"))
    }

    fn table(&self, table: &Table) -> String {
        let table = self.narrowed(table);
        let widths = self.widths(&table);
        let mut block = format!("{}\n", self.painted(&plain(&table.title), BOLD));
        let heads: Vec<_> =
            table.columns.iter().map(|column| Cell::new(&column.name).toned(Tone::Faint)).collect();
        let _ = writeln!(block, "{}", self.row(&table, &widths, &heads));
        for (i, row) in table.rows.iter().enumerate() {
            let silent = |(place, cell): (usize, &Cell)| match table.repeats(i, place) {
                true => Cell::default(),
                false => cell.clone(),
            };
            let row: Vec<_> = row.iter().enumerate().map(silent).collect();
            let _ = writeln!(block, "{}", self.row(&table, &widths, &row));
        }
        block
    }

    fn row(&self, table: &Table, widths: &[usize], cells: &[Cell]) -> String {
        let cells = cells.iter().zip(&table.columns).zip(widths);
        let cells: Vec<_> = cells.map(|((cell, column), width)| self.cell(cell, column, *width)).collect();
        format!("{INDENT}{}", cells.join(APART).trim_end())
    }

    /// Drops as many of the table's dispensable columns as it takes to fit, the last first.
    fn narrowed(&self, table: &Table) -> Table {
        let mut table = table.clone();
        while total(&natural_widths(&table)) > self.width {
            let Some(last) = table.columns.iter().rposition(|column| column.spare) else {
                break;
            };
            table.remove_column(last);
        }
        table
    }

    /// Returns widths at which the table fits: words give way, the widest first, as long as no two that differ become alike;
    /// numbers never do.
    fn widths(&self, table: &Table) -> Vec<usize> {
        let mut widths = natural_widths(table);
        if total(&widths) <= self.width {
            return widths;
        }
        let least: Vec<usize> = (0..widths.len()).map(|i| narrowest(table, i)).collect();
        while total(&widths) > self.width {
            let words = (0..widths.len()).filter(|i| !table.columns[*i].number && widths[*i] > least[*i]);
            let Some(widest) = words.max_by_key(|i| widths[*i]) else {
                break;
            };
            widths[widest] -= 1;
        }
        widths
    }

    fn cell(&self, cell: &Cell, column: &Column, width: usize) -> String {
        let text = cut(&cell.marked(), width);
        let space = " ".repeat(width - text.chars().count().min(width));
        let text = self.painted(&text, code(cell.tone));
        match column.number {
            true => space + &text,
            false => text + &space,
        }
    }

    fn painted(&self, text: &str, code: &str) -> String {
        match self.colour && !code.is_empty() && !text.is_empty() {
            true => format!("{code}{text}{RESET}"),
            false => text.to_owned(),
        }
    }

    /// Wraps `text` into lines that fit, each after `indent`. A word that is longer than a line is broken.
    fn wrapped(&self, text: &str, indent: &str) -> Vec<String> {
        let room = self.width.min(PROSE) - indent.len();
        let options = Options::new(room).word_splitter(WordSplitter::NoHyphenation);
        textwrap::wrap(&plain(text), options).iter().map(|line| format!("{indent}{line}")).collect()
    }
}

fn code(tone: Tone) -> &'static str {
    match tone {
        Tone::Plain => "",
        Tone::Good => "\u{1b}[32m",
        Tone::Bad => "\u{1b}[1;31m",
        Tone::Faint => "\u{1b}[2m",
    }
}

fn natural_widths(table: &Table) -> Vec<usize> {
    let width = |i: usize, column: &Column| {
        let cells = table.rows.iter().filter_map(|row| row.get(i)).map(|cell| cell.marked().chars().count());
        cells.chain([column.name.chars().count()]).max().unwrap_or(0)
    };
    table.columns.iter().enumerate().map(|(i, column)| width(i, column)).collect()
}

/// Returns the least width of column `i` at which no two different cells look alike.
fn narrowest(table: &Table, i: usize) -> usize {
    let cells: BTreeSet<String> =
        table.rows.iter().filter_map(|row| row.get(i)).map(|cell| cell.marked()).collect();
    let widest = cells.iter().map(|cell| cell.chars().count()).max().unwrap_or(0).max(NARROWEST);
    if table.columns[i].whole {
        return widest;
    }
    let are_distinct = |width: &usize| {
        cells.iter().map(|cell| cut(cell, *width)).collect::<BTreeSet<_>>().len() == cells.len()
    };
    (NARROWEST..widest).find(are_distinct).unwrap_or(widest)
}

fn total(widths: &[usize]) -> usize {
    INDENT.len() + widths.iter().sum::<usize>() + APART.len() * widths.len().saturating_sub(1)
}
