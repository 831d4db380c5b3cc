//! Watching a run until it is over.

use super::flows::{Broken, Directable, Directed, Direction, Ended};
use super::programs::Programs;
use super::shown::Shown;
use super::Task;
use crate::error::Error;
use crate::run::log::{Log, Timing};
use crate::run::{BedProgress, End, FlowProgress};
use crate::wire::Wire;
use afteryou_base::Span;
use afteryou_scenario::outcome::Run;
use afteryou_scenario::{Flow, Scenario};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread;
use std::time::Duration;
use tokio::sync::watch;

/// How often senders are looked at.
const SAMPLE: Duration = Duration::from_millis(20);
/// Samples between two calls of the observer.
const OBSERVE_EVERY: u32 = 5;

/// Ends all flows, however the run ends.
pub(super) struct Over {
    pub(super) flag: Arc<AtomicBool>,
    watched: watch::Sender<bool>,
}

impl Over {
    /// Returns it, and what the transfers watch.
    pub(super) fn new() -> (Over, watch::Receiver<bool>) {
        let (watched, over) = watch::channel(false);
        (Over { flag: Arc::default(), watched }, over)
    }
}

impl Drop for Over {
    fn drop(&mut self) {
        self.flag.store(true, Ordering::Relaxed);
        let _ = self.watched.send(true);
    }
}

/// A run to be observed while it runs.
pub(super) struct Watching<'a, 'b, 'c> {
    pub(super) scenario: &'a Scenario,
    pub(super) end: End,
    pub(super) is_baseline: bool,
    pub(super) timing: Timing,
    pub(super) logs: &'a [Arc<Log>],
    pub(super) directed: &'a BTreeMap<usize, Directable>,
    pub(super) transfers: &'a BTreeMap<usize, Task>,
    pub(super) broken: &'a Broken,
    pub(super) programs: &'a mut Programs<'b>,
    pub(super) shown: Option<&'a mut Shown<'c>>,
    pub(super) wire: &'a Wire,
}

impl Watching<'_, '_, '_> {
    /// Directs the flows until the run is over, and ends them. Returns their ends, what the director measured, and when the run ended,
    /// in seconds.
    pub(super) fn direct(
        mut self,
        direction: Direction<'_>,
        ending: Over,
        observe: &mut dyn FnMut(&BedProgress) -> ControlFlow<()>,
    ) -> Result<(Vec<Ended>, Run, f64), Error> {
        thread::scope(|scope| {
            let director = Directed::start(scope, direction)?;
            let watched = self.until_the_end(&director, observe);
            let end_s = self.timing.now().as_secs_f64().min(self.scenario.duration.as_secs_f64());
            drop(ending);
            let (ended, flows) = watched.and(director.join())?;
            Ok((ended, flows, end_s))
        })
    }

    fn until_the_end(
        &mut self,
        director: &Directed<'_>,
        observe: &mut dyn FnMut(&BedProgress) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        for tick in 0u32.. {
            thread::sleep(SAMPLE);
            let now = self.timing.now();
            self.logs.iter().for_each(|log| log.sample(now));
            self.directed.values().for_each(|flow| flow.sample(now));
            self.programs.poll(now)?;
            self.shown.iter_mut().for_each(|shown| shown.catch_up());
            if let Some(error) = self.broken.take() {
                return Err(error);
            }
            if tick % OBSERVE_EVERY == 0 && observe(&self.progress(now)).is_break() {
                return Err(Error::Interrupted);
            }
            if self.wire.has_ended() || self.is_over(now, director)? {
                break;
            }
        }
        self.programs.finish()
    }

    fn is_over(&self, now: Span, director: &Directed<'_>) -> Result<bool, Error> {
        self.end.is_over(self.scenario, now, |index| self.is_finished(index, director))
    }

    /// Returns whether a flow of a given size has ended.
    fn is_finished(&self, flow: usize, director: &Directed<'_>) -> bool {
        match self.transfers.get(&flow) {
            Some(task) => task.is_finished(),
            None => director.is_finished(),
        }
    }

    fn progress(&self, now: Span) -> BedProgress {
        let of_flow = |(flow, log): (&Flow, &Arc<Log>)| {
            let (rate_mbit, received_bytes, controller) = log.progress(now);
            FlowProgress { name: flow.name.clone(), role: flow.role, rate_mbit, received_bytes, controller }
        };
        let length_s = self.scenario.duration.as_secs_f64();
        let runs = if self.scenario.baseline || self.is_baseline { 2.0 } else { 1.0 };
        let before_s = if self.is_baseline { length_s } else { 0.0 };
        BedProgress {
            is_baseline: self.is_baseline,
            at_s: now.as_secs_f64(),
            elapsed_s: before_s + now.as_secs_f64(),
            total_s: runs * length_s,
            flows: self.scenario.flow.iter().zip(self.logs).map(of_flow).collect(),
            queue_ms: None,
        }
    }
}
