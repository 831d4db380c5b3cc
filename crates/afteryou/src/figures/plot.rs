//! `afteryou plot`: a figure of any columns of saved rows.

use super::failure;
use afteryou_files::write_file;
use afteryou_plot::figure::kind;
use afteryou_plot::{png, Figure, Kind};
use afteryou_terminal::Failure;
use clap::Args;
use std::path::{Path, PathBuf};

/// Arguments of `afteryou plot`.
#[derive(Args, Clone, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct PlotArgs {
    /// Table of a sweep (CSV), result.json of a run, or a folder with either
    #[arg(value_name = "RESULT")]
    pub result: PathBuf,

    /// Column on the horizontal axis; the time if the rows are curves
    #[arg(long, value_name = "COLUMN")]
    pub x: Option<String>,

    /// Column that was measured, or a quantity of a run such as goodput, queuing_delay, fairness or completion
    #[arg(long, value_name = "COLUMN")]
    pub y: String,

    /// A curve or a bar for each value of this column; in a map, the vertical axis. May be repeated
    #[arg(long, value_name = "COLUMN")]
    pub by: Vec<String>,

    /// line, bar, cdf or heat; by default the one that suits the columns
    #[arg(long, value_name = "KIND", value_parser = kind)]
    pub kind: Option<Kind>,

    /// Only rows in which a column has a value, such as window=measured. May be repeated
    #[arg(long = "only", value_name = "COLUMN=VALUE", value_parser = only)]
    pub only: Vec<(String, String)>,

    /// Title, instead of the columns' names
    #[arg(long, value_name = "TEXT")]
    pub title: Option<String>,

    /// File to write; .png for a picture, .svg for a drawing
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
}

const AFTER_HELP: &str = "\
Examples:
  afteryou plot sweep --x flow.backup.rtt_s --y kept --by controller --out kept.svg
  afteryou plot sweep --kind heat --x link.rate_bit_s --by flow.backup.rtt_s --y harvest --out harvest.png
  afteryou plot sweep --kind cdf --y completed_in_s --by controller --out completion.svg
  afteryou plot run/result.json --y queuing_delay --by of --out delay.png
  afteryou plot run --y completion --by size --out times.svg
  afteryou plot run --y fairness --out fairness.svg

Rows at the same place are repetitions: the mean is drawn, with its 95 % interval if there are at least three. For an \
unknown column the error names the nearest one and lists all.";

fn only(words: &str) -> Result<(String, String), String> {
    let parts = words.split_once('=').map(|(column, value)| (column.trim(), value.trim()));
    let parts = parts.filter(|(column, _)| !column.is_empty());
    let parts = parts.ok_or_else(|| format!("{words:?} is no COLUMN=VALUE, such as window=measured"))?;
    Ok((parts.0.to_owned(), parts.1.to_owned()))
}

impl PlotArgs {
    /// Draws the figure.
    ///
    /// # Errors
    /// A file name that ends in neither .svg nor .png, and a file that cannot be written. A result that cannot be read, and columns that it
    /// does not have.
    pub fn run(&self) -> Result<(), Failure> {
        let is_png = match self.out.extension().and_then(|extension| extension.to_str()) {
            Some("svg") => false,
            Some("png") => true,
            _ => {
                return Err(Failure::usage(format!(
                    "--out {}: end its name with .svg or .png",
                    self.out.display()
                )))
            }
        };
        let figure = Figure {
            kind: self.kind,
            x: self.x.clone(),
            y: self.y.clone(),
            by: self.by.clone(),
            only: self.only.clone(),
            title: self.title.clone(),
        };
        let svg = figure.draw(&self.result).map_err(failure)?;
        let content = if is_png { png(&svg)? } else { svg.into_bytes() };
        write(&self.out, &content)
    }
}

/// Writes a file.
pub(super) fn write(path: &Path, content: &[u8]) -> Result<(), Failure> {
    Ok(write_file(path, content)?)
}
