//! `afteryou sim --trace`: one run, with every packet in a file.

use super::ended::Ended;
use afteryou_lab::{Engine, Event, Point, PoolProgress};
use afteryou_report::Capture;
use afteryou_scenario::Outcome;
use afteryou_terminal::Failure;
use anyhow::Context;
use std::cell::Cell;
use std::io::BufWriter;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use tempfile::NamedTempFile;

/// Bytes that are written to the file at once.
const BUFFER: usize = 1 << 20;

/// Runs `point` and writes its packets to `path`, where nothing appears before all is there. `report` gets the events that a
/// pool's caller gets.
pub(super) fn run(
    engine: &dyn Engine,
    point: &Point,
    path: &Path,
    stop: &AtomicBool,
    report: &mut dyn FnMut(Event<Box<Outcome>>) -> Result<(), Ended>,
) -> Result<(), Ended> {
    let file = temporary(path).map_err(Ended::Here)?;
    let mut capture =
        Capture::begin(&point.scenario, BufWriter::with_capacity(BUFFER, file)).map_err(here)?;
    let mut broken = None;
    let mut ended = Ok(());
    // The tap cannot end the run; the watch can, and looks at what the tap left.
    let is_broken = Cell::new(false);
    let outcome = point.traced(
        engine,
        &mut |progress| {
            ended = report(Event::Progress(PoolProgress {
                done: 0,
                work: progress.done,
                passed_s: progress.passed_s,
            }));
            ended.is_ok() && !stop.load(Ordering::Relaxed) && !is_broken.get()
        },
        &mut |passage| {
            if broken.is_none() {
                broken = capture.packet(passage).err();
                is_broken.set(broken.is_some());
            }
        },
    );
    ended?;
    if let Some(error) = broken {
        return Err(here(error));
    }
    let outcome = outcome?;
    let file =
        capture.finish().map_err(here)?.into_inner().map_err(|error| kept(path, error.into_error()))?;
    file.persist(path).map_err(|error| kept(path, error.error))?;
    report(Event::Done(0, Box::new(outcome)))
}

fn here(error: afteryou_report::Error) -> Ended {
    Ended::Here(error.into())
}

fn kept(path: &Path, error: std::io::Error) -> Ended {
    Ended::Here(anyhow::Error::from(error).context(format!("cannot write {}", path.display())).into())
}

/// A file beside `path` that vanishes unless it takes its place.
fn temporary(path: &Path) -> Result<NamedTempFile, Failure> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    builder.prefix(".afteryou-");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let file = builder.tempfile_in(folder);
    Ok(file.with_context(|| format!("cannot write into the folder of {}: choose another", path.display()))?)
}
