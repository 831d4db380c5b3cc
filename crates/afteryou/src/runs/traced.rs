//! `--trace` and `--qlog`: one run, with every packet in a file or every sender in a folder.

use super::ended::Ended;
use crate::run_args::Traces;
use afteryou_engines::{Engine, Event, Looks, Point, PoolProgress};
use afteryou_files::Output;
use afteryou_report::{qlogs, Capture, Error};
use afteryou_scenario::{Outcome, Passage};
use afteryou_trace::qlog::Qlogs;
use std::cell::Cell;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// Runs `point` and writes its traces, of which nothing appears before all is there. `report` gets the events that a pool's caller
/// gets.
pub(super) fn run(
    engine: &dyn Engine,
    point: &Point,
    traces: &Traces,
    stop: &AtomicBool,
    report: &mut dyn FnMut(Event<Box<Outcome>>) -> Result<(), Ended>,
) -> Result<(), Ended> {
    let mut trace = traces.trace.as_deref().map(|path| Trace::begin(point, path)).transpose()?;
    let logs = traces.qlog.as_deref().map(|folder| qlogs(&point.scenario, folder));
    let logs = logs.transpose().map_err(here)?;
    let mut ended = Ok(());
    // The tap cannot end the run; the watch can, and looks at what the tap left.
    let is_broken = Cell::new(false);
    let mut tap = |passage: &Passage<'_>| {
        if let Some(trace) = &mut trace {
            trace.packet(passage);
            is_broken.set(trace.broken.is_some());
        }
    };
    let looks = Looks {
        tap: if traces.trace.is_some() { Some(&mut tap) } else { None },
        observers: logs.as_ref().map(Qlogs::observers),
    };
    let mut watch = |progress: afteryou_engines::RunProgress| {
        let progress = PoolProgress { done: 0, work: progress.done, passed_s: progress.passed_s };
        ended = report(Event::Progress(progress));
        match ended.is_err() || stop.load(Ordering::Relaxed) || is_broken.get() {
            true => ControlFlow::Break(()),
            false => ControlFlow::Continue(()),
        }
    };
    let outcome = point.traced(engine, &mut watch, looks);
    ended?;
    // A trace that failed has ended the run.
    trace.map(|trace| trace.finish(outcome.is_ok())).transpose()?;
    let outcome = outcome?;
    logs.map(Qlogs::finish).transpose().map_err(|error| here(error.into()))?;
    report(Event::Done(0, Box::new(outcome)))
}

/// A packet trace that is being written.
struct Trace<'a> {
    path: &'a Path,
    file: Output,
    capture: Capture,
    broken: Option<Error>,
}

impl<'a> Trace<'a> {
    fn begin(point: &Point, path: &'a Path) -> Result<Trace<'a>, Ended> {
        let file = Output::begin(path).map_err(|error| kept(path, error))?;
        let writer = file.file().try_clone().map_err(|error| kept(path, error))?;
        let capture = Capture::begin(&point.scenario, writer).map_err(here)?;
        Ok(Trace { path, file, capture, broken: None })
    }

    fn packet(&mut self, passage: &Passage<'_>) {
        if self.broken.is_none() {
            self.broken = self.capture.packet(passage).err();
        }
    }

    /// Finishes the trace of a run that is over; `is_whole`: with an outcome. Without one no file is kept.
    fn finish(self, is_whole: bool) -> Result<(), Ended> {
        let Trace { path, file, capture, broken } = self;
        if let Some(error) = broken {
            return Err(here(error));
        }
        if !is_whole {
            return Ok(());
        }
        capture.finish().map_err(here)?;
        file.keep().map_err(|error| kept(path, error))
    }
}

fn here(error: Error) -> Ended {
    Ended::Here(error.into())
}

fn kept(path: &Path, error: std::io::Error) -> Ended {
    Ended::Here(anyhow::Error::from(error).context(format!("cannot write {}", path.display())).into())
}
