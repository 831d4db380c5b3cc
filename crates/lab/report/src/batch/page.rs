//! The page of many runs: pictures, tables that sort and filter (`assets/sweep.js`), and a link to each run.

use super::pictures::pictures;
use super::{headline, remarks, tables, Brief};
use crate::document::{address, figures, markup, Document};
use maud::{html, PreEscaped};

const JS: &str = include_str!("../../assets/sweep.js");

/// Returns a page with the means of all points and links to the runs; `all` runs were made, of which `briefs` are shown.
pub fn index_html(title: &str, briefs: &[Brief], all: usize) -> String {
    let title = if title.trim().is_empty() { "Unnamed scenario" } else { title };
    let with_files: Vec<&Brief> = briefs.iter().filter(|brief| !brief.folder.is_empty()).collect();
    let body = html! {
        header {
            h1 { (title) }
            p.subtitle {
                (all) " runs"
                @if let Some(brief) = briefs.first() { " · " (brief.engine) }
                " · afteryou " (env!("CARGO_PKG_VERSION"))
            }
            @if let Some(said) = headline(briefs) { p.lead { (said) } }
            @for said in remarks(briefs, all) { p { (said) } }
        }
        (figures(pictures(briefs)))
        @for table in tables(briefs) { (markup(&table)) }
        @if !with_files.is_empty() {
            h2 { "Each run" }
            ol.runs {
                @for brief in with_files {
                    li {
                        a href={ (address(&brief.folder)) "/report.html" } {
                            (brief.setting()) ", repetition " (brief.repetition) ", seed " (brief.seed)
                        }
                    }
                }
            }
        }
        footer { p { span { "Figures of each run are in runs.csv, of each flow in flows.csv." } } }
    };
    let policy = "; script-src 'unsafe-inline'; img-src blob:";
    let scripts = html! { script { (PreEscaped(JS)) } };
    Document { title, policy, body, scripts, ..Document::default() }.html()
}
