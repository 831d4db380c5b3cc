//! Pages drawn again from what is saved: after a new version, or when only the results were copied.

use crate::batch::{index_html, Brief, MOST_SHOWN};
use crate::error::Error;
use crate::folder::write_run;
use afteryou_files::ResultFolder;
use afteryou_plot::{png, read, svg, Error as Unread};
use std::path::{Path, PathBuf};

const RESULT: &str = "result.json";

/// Draws the pages and figures of `dir` again: those of a result in it. Otherwise those of every folder with a result,
/// and the page of all. With `png`, figures are drawn as PNG, too. Returns the page to look at.
///
/// # Errors
/// A folder without results, and files that cannot be read or written.
pub fn redraw(dir: &Path, png: bool) -> Result<PathBuf, Error> {
    if dir.join(RESULT).is_file() {
        redraw_run(dir, None, png)?;
        return Ok(dir.join("report.html"));
    }
    let none = |reason: String| Unread::NotATable { path: dir.to_owned(), reason };
    let entries = std::fs::read_dir(dir).map_err(|error| none(error.to_string()))?;
    let mut folders: Vec<PathBuf> =
        entries.flatten().map(|entry| entry.path()).filter(|path| path.join(RESULT).is_file()).collect();
    if folders.is_empty() {
        return Err(none(format!("neither it nor a folder in it has a {RESULT}")).into());
    }
    // Numbers of runs have leading zeros.
    folders.sort();
    let mut briefs = Vec::new();
    for folder in &folders {
        let outcome = redraw_run(folder, Some("../report.html"), png)?;
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        briefs.push(Brief::of(&outcome, &name));
    }
    let title = briefs[0].name.clone();
    let mut files = ResultFolder::open(dir)?;
    files.write(&[(
        "report.html",
        index_html(&title, &briefs[..briefs.len().min(MOST_SHOWN)], briefs.len()),
    )])?;
    Ok(dir.join("report.html"))
}

fn redraw_run(dir: &Path, back: Option<&str>, with_png: bool) -> Result<afteryou_scenario::Outcome, Error> {
    let outcome = read(&dir.join(RESULT))?;
    // `finish` is not called, so the other files of the run stay.
    let mut files = ResultFolder::open(dir)?;
    write_run(&mut files, &outcome, back)?;
    if with_png {
        files.write(&[("figure.png", png(&svg(&outcome)?)?)])?;
    }
    Ok(outcome)
}
