//! What is written into the folder: each run's files as it ends, then the page of all.

use crate::failure::Failure;
use afteryou_report::{self as report, Brief};
use afteryou_scenario::Outcome;
use std::path::PathBuf;

/// Longest part of a folder's name that says the point of the sweep, characters.
const LONGEST_SLUG: usize = 60;

/// The folder of a file's runs, if there is to be one.
pub(super) struct Files {
    out: Option<PathBuf>,
    runs: usize,
}

impl Files {
    pub(super) fn new(out: Option<PathBuf>, runs: usize) -> Files {
        Files { out, runs }
    }

    /// Writes a run's files; returns their folder, relative to the page of all.
    pub(super) fn write(&mut self, index: usize, outcome: &Outcome) -> Result<String, Failure> {
        let Some(out) = &self.out else { return Ok(String::new()) };
        let folder = match self.runs {
            1 => String::new(),
            _ => name(index, self.runs, outcome),
        };
        let dir = out.join(&folder);
        report::write_folder(outcome, &dir)?;
        report::write_files(&dir, &[("series.csv", report::series_csv(outcome))])?;
        Ok(folder)
    }

    /// Writes what is about all runs; returns the page to look at.
    pub(super) fn finish(&self, title: &str, briefs: &[Brief]) -> Result<Option<PathBuf>, Failure> {
        let Some(out) = &self.out else { return Ok(None) };
        if self.runs > 1 {
            let page = report::index_html(title, briefs);
            report::write_files(out, &[("runs.csv", report::runs_csv(briefs)), ("report.html", page)])?;
        }
        Ok(Some(out.join("report.html")))
    }
}

/// "0007-link.rate-5-mbit-s-seed-3".
fn name(index: usize, runs: usize, outcome: &Outcome) -> String {
    let digits = runs.to_string().len();
    let point: Vec<String> = outcome.point.iter().map(|(key, value)| format!("{key}-{value}")).collect();
    let words = format!("{} seed-{}", point.join(" "), outcome.scenario.seed);
    let slug: String = words
        .to_lowercase()
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '.' || c == '+' { c } else { '-' })
        .collect();
    let parts: Vec<&str> = slug.split('-').filter(|part| !part.is_empty()).collect();
    let slug: String = parts.join("-").chars().take(LONGEST_SLUG).collect();
    format!("{:0digits$}-{}", index + 1, slug.trim_end_matches('-'))
}
