//! The page: one file that works offline.
//!
//! Tables are written here; the charts are drawn by `assets/report.js` with uPlot from the plan and the outcome, both
//! embedded as JSON. Without scripts, the figure is in place of the charts.

use crate::error::Error;
use crate::table::{Cell, Column, Table, Tone};
use crate::{cost, groups, headline, links, queues, scenario_tables, sets, tables, totals};
use afteryou_notation::format::{count, moment};
use afteryou_plot::escape;
use afteryou_plot::palette::{Colour, Style};
use afteryou_plot::plan::{Plan, Surroundings, SURROUNDINGS};
use afteryou_plot::{names, svg};
use afteryou_scenario::outcome::{Outcome, Verdict};
use serde::Serialize;

/// Longer tables would hide those that follow.
const MOST_OPEN_ROWS: usize = 60;

const TEMPLATE: &str = include_str!("../assets/report.html");
pub(crate) const CSS: &str = include_str!("../assets/report.css");
const JS: &str = include_str!("../assets/report.js");
const UPLOT_CSS: &str = include_str!("../assets/uPlot.min.css");
const UPLOT_JS: &str = include_str!("../assets/uPlot.iife.min.js");
const UPLOT_LICENSE: &str = include_str!("../assets/uPlot.LICENSE");

/// The script's data beside the outcome.
#[derive(Serialize)]
struct Embedded {
    #[serde(flatten)]
    plan: Plan,
    surroundings: Surroundings,
}

/// Draws `outcome` as one HTML document that needs no network.
pub fn html(outcome: &Outcome) -> Result<String, Error> {
    page(outcome, None)
}

/// Returns the page with a link to the page `back` of a whole sweep.
pub(crate) fn page(outcome: &Outcome, back: Option<&str>) -> Result<String, Error> {
    let embedded = Embedded { plan: Plan::of(outcome), surroundings: SURROUNDINGS };
    let values = [
        ("title", escape::html(names::title(outcome))),
        ("subtitle", escape::html(&subtitle(outcome))),
        (
            "back",
            back.map(|back| format!("<p><a href=\"{}\">All runs</a></p>\n", escape::html(back)))
                .unwrap_or_default(),
        ),
        ("verdict", verdict(outcome.verdict.as_ref())),
        ("headline", lead(outcome)),
        ("warning", warning(outcome)),
        ("checks", section(&[tables::checks(outcome)])),
        ("figure", svg(outcome)?),
        ("tables", figures(outcome)),
        ("scenario", scenario(outcome)?),
        ("outcome", embed(outcome)?),
        ("plan", embed(&embedded)?),
        ("css", CSS.to_owned()),
        ("js", JS.to_owned()),
        ("uplot_css", UPLOT_CSS.to_owned()),
        ("uplot_js", UPLOT_JS.to_owned()),
        ("uplot_license", UPLOT_LICENSE.to_owned()),
        ("version", escape::html(&outcome.afteryou_version)),
    ];
    Ok(fill(TEMPLATE, &values))
}

/// Puts `values` in place of `{{name}}` in the template. A value is not searched again after it was put in, so no value can
/// ask for another.
fn fill(template: &str, values: &[(&str, String)]) -> String {
    let mut pieces = template.split("{{");
    let mut page = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (name, rest) = piece.split_once("}}").unwrap_or(("", piece));
        if let Some((_, value)) = values.iter().find(|(known, _)| *known == name) {
            page.push_str(value);
        }
        page.push_str(rest);
    }
    page
}

fn embed(value: &impl Serialize) -> Result<String, Error> {
    serde_json::to_string(value).map(|json| escape::json_in_script(&json)).map_err(Error::Json)
}

fn subtitle(outcome: &Outcome) -> String {
    let parts = [
        names::link_in_words(outcome),
        format!("{} s", moment(outcome.run.duration_s)),
        names::engine_in_words(outcome).to_owned(),
        format!("seed {}", outcome.scenario.seed),
        scenario_tables::point(outcome),
        format!("afteryou {}", outcome.afteryou_version),
    ];
    let said: Vec<&str> = parts.iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
    said.join(" · ")
}

fn verdict(verdict: Option<&Verdict>) -> String {
    let Some(verdict) = verdict else {
        return String::new();
    };
    let (class, sign, word) = if verdict.good { ("good", "✓", "Good") } else { ("bad", "✗", "Not good") };
    let details: String = verdict.details.iter().map(|d| format!("<li>{}</li>\n", escape::html(d))).collect();
    let details = if details.is_empty() { details } else { format!("<ul>\n{details}</ul>\n") };
    format!(
        "<section class=\"verdict {class}\" aria-label=\"Verdict\">\n<p class=\"headline\"><span class=\"sign\" \
         role=\"img\" aria-label=\"{word}:\">{sign}</span> {}</p>\n{details}</section>\n",
        escape::html(&verdict.headline)
    )
}

/// Returns the outcome, where it has no verdict.
fn lead(outcome: &Outcome) -> String {
    let sentences = if outcome.verdict.is_none() { headline::headline(outcome) } else { Vec::new() };
    match sentences.is_empty() {
        true => String::new(),
        false => format!("<p class=\"lead\">{}</p>\n", escape::html(&sentences.join(" "))),
    }
}

fn warning(outcome: &Outcome) -> String {
    let markup = |(what, advice)| format!("<p class=\"warning\"><strong>{what}</strong> {advice}</p>\n");
    let sentence = |warning: &String| format!("<p class=\"warning\">{}</p>\n", escape::html(warning));
    let of_the_machine = tables::warning(outcome).map(markup).unwrap_or_default();
    of_the_machine + &outcome.warnings.iter().map(sentence).collect::<String>()
}

fn figures(outcome: &Outcome) -> String {
    let shown = [
        sets::table_of(outcome),
        tables::flows(outcome),
        links::figures(outcome),
        queues::classes(outcome),
        totals::shares(outcome),
        totals::totals(outcome),
        tables::transfers(outcome),
        links::packets(outcome),
        queues::counts(outcome),
        totals::ledger(outcome),
        tables::lateness(outcome),
    ];
    section(&cost::tables_of(outcome)) + &section(&shown)
}

fn scenario(outcome: &Outcome) -> Result<String, Error> {
    let setting = section(&[Some(scenario_tables::setting(outcome)), scenario_tables::links(outcome)]);
    let flows = section(&[scenario_tables::flows(outcome)]);
    let number = outcome.scenario.flow.len();
    let flows = match number > groups::MOST_ROWS {
        true => format!("<details>\n<summary>The {number} flows</summary>\n{flows}</details>\n"),
        false => flows,
    };
    let json = serde_json::to_string_pretty(&outcome.scenario).map_err(Error::Json)?;
    let json = escape::html_lines(&json);
    Ok(format!(
        "{setting}{flows}<details>\n<summary>The scenario as JSON</summary>\n<pre>{json}</pre>\n</details>\n"
    ))
}

fn section(shown: &[Option<Table>]) -> String {
    shown.iter().flatten().map(folded).collect()
}

/// Returns a table, which waits to be opened if it is long.
fn folded(table: &Table) -> String {
    if table.rows.len() <= MOST_OPEN_ROWS {
        return markup(table);
    }
    let summary = escape::html(&format!("{}: {} rows", table.title, count(table.rows.len() as u64)));
    format!("<details>\n<summary>{summary}</summary>\n{}</details>\n", markup(table))
}

pub(crate) fn markup(table: &Table) -> String {
    let heads: String = table
        .columns
        .iter()
        .map(|column| format!("<th scope=\"col\"{}>{}</th>", class(kind(column)), escape::html(&column.name)))
        .collect();
    let row = |(row, cells): (usize, &Vec<Cell>)| {
        let cells = cells.iter().zip(&table.columns).enumerate();
        let cells = cells.map(|(i, (cell, column))| cell_markup(cell, column, table.repeats(row, i)));
        format!("<tr>{}</tr>\n", cells.collect::<String>())
    };
    let rows: String = table.rows.iter().enumerate().map(row).collect();
    let note = match table.note {
        "" => String::new(),
        note => format!("<p class=\"note\">{}</p>\n", escape::html(note)),
    };
    let title = escape::html(&table.title);
    let class = class(if table.grouped > 0 { "figures" } else { "" });
    format!(
        "<section class=\"table\">\n<h2>{title}</h2>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" \
         aria-label=\"{title}\"><table{class}>\n<thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}</tbody>\n\
         </table></div>\n{note}</section>\n"
    )
}

/// Returns the style sheet's information about a column.
fn kind(column: &Column) -> &'static str {
    match (column.number, column.spare) {
        (true, _) => "n",
        (false, true) => "spare",
        (false, false) => "",
    }
}

fn class(names: &str) -> String {
    match names.trim() {
        "" => String::new(),
        names => format!(" class=\"{names}\""),
    }
}

/// Returns a cell. One that repeats the one above is invisible, but stays in the text for programs and for copies of the
/// table.
fn cell_markup(cell: &Cell, column: &Column, repeats: bool) -> String {
    let whole = cell.whole.as_ref().map(|whole| format!(" title=\"{}\"", escape::html(whole)));
    let text = escape::html(&cell.text);
    let text = match cell.tone {
        Tone::Plain => text,
        Tone::Good => format!("<span class=\"good\">{text}</span>"),
        Tone::Bad => format!("<span class=\"bad\">{text}</span>"),
        Tone::Faint => format!("<span class=\"faint\">{text}</span>"),
    };
    let swatch = cell.style.map(swatch).unwrap_or_default();
    let class = class(&format!("{}{}", kind(column), if repeats { " repeat" } else { "" }));
    format!("<td{class}{}>{swatch}{text}</td>", whole.unwrap_or_default())
}

fn swatch(style: Style) -> String {
    let Colour { light, dark } = style.colour;
    let glyph = style.shape.glyph();
    format!(
        "<span class=\"swatch\" aria-hidden=\"true\" style=\"--light:{light};--dark:{dark}\">{glyph}</span> "
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_cannot_ask_for_another_value() {
        let values = [("a", "{{b}}".to_owned()), ("b", "secret".to_owned())];
        assert_eq!(fill("<{{a}}|{{b}}|{{unknown}}>", &values), "<{{b}}|secret|>");
    }

    #[test]
    fn what_is_embedded_cannot_end_its_script() {
        assert!(!UPLOT_JS.contains("</script") && !JS.contains("</script"));
        assert!(!UPLOT_LICENSE.contains("*/"));
    }
}
