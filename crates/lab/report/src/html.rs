//! The page: one file that works offline.
//!
//! Tables are written here; the charts are drawn by `assets/report.js` with uPlot from the plan and the outcome, both
//! embedded as JSON. Without scripts, the figure is in place of the charts.

use crate::document::{markup, Document};
use crate::error::Error;
use crate::table::Table;
use crate::{cost, groups, headline, links, queues, scenario_tables, sets, tables, totals};
use afteryou_notation::format::{count, moment};
use afteryou_plot::escape;
use afteryou_plot::plan::{Plan, Surroundings, SURROUNDINGS};
use afteryou_plot::{names, svg};
use afteryou_scenario::outcome::{Outcome, Verdict};
use maud::{html, Markup, PreEscaped};
use serde::Serialize;

/// Longer tables would hide those that follow.
const MOST_OPEN_ROWS: usize = 60;

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
///
/// # Errors
/// As [`svg`], and [`Error::Json`] for an outcome that JSON cannot hold.
pub fn html(outcome: &Outcome) -> Result<String, Error> {
    page(outcome, None)
}

/// Returns the page with a link to the page `back` of a whole sweep.
pub(crate) fn page(outcome: &Outcome, back: Option<&str>) -> Result<String, Error> {
    let embedded = Embedded { plan: Plan::of(outcome), surroundings: SURROUNDINGS };
    let title = names::title(outcome);
    let body = html! {
        header {
            h1 { (title) }
            p.subtitle { (subtitle(outcome)) }
        }
        @if let Some(back) = back { p { a href=(back) { "All runs" } } }
        @if let Some(verdict) = &outcome.verdict { (verdict_markup(verdict)) }
        (lead(outcome))
        (warning(outcome))
        (section(&[tables::checks(outcome)]))
        section #charts aria-label="Charts" {
            noscript {
                p.note { "Scripts are off: this is the printed figure, without zoom and without values under the cursor." }
                div.paper { (PreEscaped(svg(outcome)?)) }
            }
        }
        (figures(outcome))
        section.scenario {
            h1.part { "The scenario" }
            (scenario(outcome)?)
        }
        footer {
            p {
                a #download download="result.json" hidden { "Download result.json" }
                span { "Every number of this page is in it. Drawn by afteryou with uPlot." }
            }
        }
    };
    let scripts = html! {
        script type="application/json" id="outcome" { (embed(outcome)?) }
        script type="application/json" id="plan" { (embed(&embedded)?) }
        script { "/*\nuPlot 1.6.32\n\n" (PreEscaped(UPLOT_LICENSE)) "*/\n" (PreEscaped(UPLOT_JS)) }
        script { (PreEscaped(JS)) }
    };
    let policy = "; script-src 'unsafe-inline'";
    Ok(Document { title, policy, style: UPLOT_CSS, body, scripts }.html())
}

fn embed(value: &impl Serialize) -> Result<Markup, Error> {
    serde_json::to_string(value).map(|json| PreEscaped(escape::json_in_script(&json))).map_err(Error::Json)
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

fn verdict_markup(verdict: &Verdict) -> Markup {
    let (class, sign, word) = if verdict.good { ("good", "✓", "Good") } else { ("bad", "✗", "Not good") };
    html! {
        section.verdict.(class) aria-label="Verdict" {
            p.headline {
                span.sign role="img" aria-label={ (word) ":" } { (sign) }
                " " (&verdict.headline)
            }
            @if !verdict.details.is_empty() {
                ul { @for detail in &verdict.details { li { (detail) } } }
            }
        }
    }
}

/// Returns the outcome, where it has no verdict.
fn lead(outcome: &Outcome) -> Markup {
    let sentences = if outcome.verdict.is_none() { headline::headline(outcome) } else { Vec::new() };
    html! {
        @if !sentences.is_empty() { p.lead { (sentences.join(" ")) } }
    }
}

fn warning(outcome: &Outcome) -> Markup {
    html! {
        @if let Some((what, advice)) = tables::warning(outcome) {
            p.warning { strong { (what) } " " (advice) }
        }
        @for warning in &outcome.warnings { p.warning { (warning) } }
    }
}

fn figures(outcome: &Outcome) -> Markup {
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
    html! { (section(&cost::tables_of(outcome))) (section(&shown)) }
}

fn scenario(outcome: &Outcome) -> Result<Markup, Error> {
    let flows = section(&[scenario_tables::flows(outcome)]);
    let number = outcome.scenario.flow.len();
    let json = serde_json::to_string_pretty(&outcome.scenario).map_err(Error::Json)?;
    Ok(html! {
        (section(&[Some(scenario_tables::setting(outcome)), scenario_tables::links(outcome)]))
        @if number > groups::MOST_ROWS {
            details { summary { "The " (number) " flows" } (flows) }
        } @else {
            (flows)
        }
        details {
            summary { "The scenario as JSON" }
            pre { @for line in json.lines() { (line) "\n" } }
        }
    })
}

fn section(shown: &[Option<Table>]) -> Markup {
    html! { @for table in shown.iter().flatten() { (folded(table)) } }
}

/// Returns a table, which waits to be opened if it is long.
fn folded(table: &Table) -> Markup {
    if table.rows.len() <= MOST_OPEN_ROWS {
        return markup(table);
    }
    html! {
        details {
            summary { (&table.title) ": " (count(table.rows.len() as u64)) " rows" }
            (markup(table))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_embedded_cannot_end_its_script() {
        assert!(!UPLOT_JS.contains("</script") && !JS.contains("</script"));
        assert!(!UPLOT_LICENSE.contains("*/"));
    }
}
