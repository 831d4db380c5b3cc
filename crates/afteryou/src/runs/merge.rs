//! `afteryou merge`: parts of a sweep, made by `--shard` or on other machines, as one.

use super::ended::Ended;
use super::sweep::finish;
use super::words_of_all;
use crate::run_args::MergeArgs;
use afteryou_engines::sweep::{self, Part};
use afteryou_engines::Error;
use afteryou_report::Record;
use afteryou_terminal::{output, Failure};
use std::io;
use std::path::{Component, Path};

/// Runs that a message names.
const MOST_NAMED: usize = 10;

/// Joins the parts.
///
/// # Errors
/// Parts of different sweeps, a part that cannot be read, a folder that cannot be written, and runs that are in no part.
pub fn run(args: &MergeArgs) -> Result<(), Failure> {
    let take = &mut |part: &Part| bring_files(part, &args.out);
    let folder = sweep::merge(&args.parts, &args.out, take).map_err(Ended::from)?;
    let title = folder.manifest().name.clone();
    let finished = finish(&folder, &title, args.parquet)?;
    output::print(&words_of_all(
        &title,
        &finished.briefs,
        finished.runs,
        Some(&finished.page),
        args.verbose,
    ))?;
    let missing = folder.pending();
    if missing.is_empty() {
        return Ok(());
    }
    let mut named: Vec<String> =
        missing.iter().take(MOST_NAMED).map(|index| (index + 1).to_string()).collect();
    if missing.len() > MOST_NAMED {
        named.push("…".to_owned());
    }
    let (missing, all, named) = (missing.len(), folder.manifest().runs, named.join(", "));
    Err(Failure::Incomplete(format!(
        "{missing} of {all} runs are missing ({named}): join their parts, too, or run the sweep into {}",
        args.out.display()
    )))
}

/// Copies the files of a run.
fn bring_files(part: &Part, out: &Path) -> Result<(), Error> {
    let failed = |error: io::Error| {
        let what = format!(
            "cannot copy the files of run {} from {}: {error}",
            part.run.index + 1,
            part.dir.display()
        );
        Error::Failed(what.into())
    };
    let record: Record = serde_json::from_str(&part.run.content).map_err(|error| failed(error.into()))?;
    if record.folder.is_empty() {
        return Ok(());
    }
    let folder = Path::new(&record.folder);
    // The name comes from a file, which may lead anywhere.
    let is_plain =
        folder.components().count() == 1 && matches!(folder.components().next(), Some(Component::Normal(_)));
    if !is_plain {
        return Err(failed(io::ErrorKind::InvalidData.into()));
    }
    copy(&part.dir.join(folder), &out.join(folder)).map_err(failed)
}

/// Copies the files of a folder, none of which is a folder.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        std::fs::copy(entry.path(), to.join(entry.file_name()))?;
    }
    Ok(())
}
