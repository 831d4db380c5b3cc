//! Many runs on the disk: a folder for each as it ends, then the page and the table of all.

use super::{index_html, links_csv, runs_csv, series_csv, Brief};
use crate::error::Error;
use crate::folder::{write_files, write_run};
use afteryou_scenario::Outcome;
use std::path::PathBuf;

/// Longest part of a folder's name that shows the point of the sweep, characters.
const LONGEST_SLUG: usize = 60;

/// The folder of an experiment's runs. One run lies in it directly, several have a folder each.
#[derive(Clone, Debug)]
pub struct Folders {
    out: PathBuf,
    runs: usize,
}

impl Folders {
    /// The folder `out` of an experiment with so many runs; it is made when the first run is written.
    pub fn new(out: impl Into<PathBuf>, runs: usize) -> Folders {
        Folders { out: out.into(), runs }
    }

    /// Writes `result.json`, `report.html`, `figure.svg` and `series.csv` of the run with this index; returns the run's folder,
    /// relative to the page of all.
    ///
    /// # Errors
    /// A folder or file that cannot be written, or an outcome that cannot be drawn.
    pub fn write(&self, index: usize, outcome: &Outcome) -> Result<String, Error> {
        let folder = match self.runs {
            1 => String::new(),
            _ => name(index, self.runs, outcome),
        };
        let dir = self.out.join(&folder);
        write_run(outcome, &dir, (self.runs > 1).then_some("../report.html"))?;
        write_files(&dir, &[("series.csv", series_csv(outcome))])?;
        Ok(folder)
    }

    /// Writes the files about all runs, if there are several; returns the page to open.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn finish(&self, title: &str, briefs: &[Brief]) -> Result<PathBuf, Error> {
        if self.runs > 1 {
            let page = index_html(title, briefs);
            let mut files = vec![("runs.csv", runs_csv(briefs)), ("report.html", page)];
            files.extend(links_csv(briefs).map(|links| ("links.csv", links)));
            write_files(&self.out, &files)?;
        }
        Ok(self.out.join("report.html"))
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
