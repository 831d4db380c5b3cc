//! The page of many runs: pictures, tables that sort and filter (`assets/sweep.js`), and a link to each run.

use super::pictures::pictures;
use super::{headline, remarks, tables, Brief};
use crate::html::{markup, CSS};
use afteryou_plot::escape;
use std::fmt::Write;

const JS: &str = include_str!("../../assets/sweep.js");

/// Returns a page with the means of all points and links to the runs; `all` runs were made, of which `briefs` are shown.
pub fn index_html(title: &str, briefs: &[Brief], all: usize) -> String {
    let title = escape::html(if title.trim().is_empty() { "Unnamed scenario" } else { title });
    let mut links = String::new();
    for brief in briefs.iter().filter(|brief| !brief.folder.is_empty()) {
        let words = format!("{}, repetition {}, seed {}", brief.setting(), brief.repetition, brief.seed);
        let _ = writeln!(
            links,
            "<li><a href=\"{}/report.html\">{}</a></li>",
            escape::html(&brief.folder),
            escape::html(&words)
        );
    }
    let links = if links.is_empty() {
        links
    } else {
        format!("<h2>Each run</h2>\n<ol class=\"runs\">\n{links}</ol>\n")
    };
    let engine =
        briefs.first().map(|brief| format!(" · {}", escape::html(&brief.engine))).unwrap_or_default();
    let remarks: String =
        remarks(briefs, all).iter().map(|said| format!("<p>{}</p>\n", escape::html(said))).collect();
    let headline = headline(briefs).map(|said| format!("<p class=\"lead\">{}</p>\n", escape::html(&said)));
    let headline = headline.unwrap_or_default();
    let pictures: String = pictures(briefs).iter().map(|svg| format!("<figure>{svg}</figure>\n")).collect();
    let tables: String = tables(briefs).iter().map(markup).collect();
    let version = env!("CARGO_PKG_VERSION");
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src blob:\">\n\
         <title>{title}</title>\n<style>\n{CSS}\n</style>\n</head>\n<body>\n<main>\n<header>\n<h1>{title}</h1>\n\
         <p class=\"subtitle\">{} runs{engine} · afteryou {version}</p>\n{headline}{remarks}</header>\n{pictures}{tables}{links}\
         <footer><p><span>Figures of each run are in runs.csv, of each flow in flows.csv.</span></p></footer>\n</main>\n<script>\n{JS}</script>\n</body>\n</html>\n",
        all,
    )
}
