//! The director's thread.

use super::super::recorded::Logs;
use super::{Counted, Directable};
use crate::error::Error;
use crate::net::Namespace;
use crate::run::log::Timing;
use afteryou_base::{Span, Time};
use afteryou_scenario::outcome::{Run, Totals};
use afteryou_scenario::{Network, Scenario, Traffic};
use afteryou_sim::director::{Dial, Director, Id, Opening};
use nix::sys::prctl::set_timerslack;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{mpsc, Arc};
use std::thread::{self, ScopedJoinHandle};

/// Longest time between two looks whether the run is over.
const LOOK: Span = Span::from_millis(50);

/// The director's thread at work.
pub(in crate::testbed) struct Directed<'scope> {
    thread: ScopedJoinHandle<'scope, Result<(Vec<Ended>, Run), Error>>,
    /// Every flow of a given size has been received.
    is_finished: Arc<AtomicBool>,
}

/// The outcome of a flow.
pub(in crate::testbed) struct Ended {
    pub(in crate::testbed) flow: usize,
    pub(in crate::testbed) started: Option<Time>,
    pub(in crate::testbed) stopped: Option<Time>,
    pub(in crate::testbed) totals: Totals,
}

/// The thread's inputs.
pub(in crate::testbed) struct Direction<'a> {
    pub(in crate::testbed) scenario: &'a Scenario,
    pub(in crate::testbed) network: &'a Network,
    pub(in crate::testbed) senders: &'a Namespace,
    pub(in crate::testbed) timing: Timing,
    /// By flow.
    pub(in crate::testbed) flows: Arc<BTreeMap<usize, Directable>>,
    /// The flows that are measured alone.
    pub(in crate::testbed) counted: BTreeMap<usize, Counted>,
    pub(in crate::testbed) news: mpsc::Receiver<Id>,
    pub(in crate::testbed) over: Arc<AtomicBool>,
    pub(in crate::testbed) logs: Logs,
}

impl<'scope> Directed<'scope> {
    /// Starts the thread; it ends once the run is over.
    pub(in crate::testbed) fn start<'env>(
        scope: &'scope thread::Scope<'scope, 'env>,
        direction: Direction<'env>,
    ) -> Result<Directed<'scope>, Error> {
        let is_finished = Arc::new(AtomicBool::new(false));
        let finished = Arc::clone(&is_finished);
        let work = move || direct(&direction, &finished);
        let thread = thread::Builder::new().name("director".to_owned());
        let thread = thread.spawn_scoped(scope, work).map_err(Error::Thread)?;
        Ok(Directed { thread, is_finished })
    }

    /// Returns whether every flow of a given size has been received.
    pub(in crate::testbed) fn is_finished(&self) -> bool {
        self.is_finished.load(Ordering::Relaxed)
    }

    /// Waits for the thread and returns what the flows came to, and what was measured of them.
    pub(in crate::testbed) fn join(self) -> Result<(Vec<Ended>, Run), Error> {
        self.thread.join().map_err(|_| Error::Crashed)?
    }
}

fn direct(direction: &Direction<'_>, is_finished: &AtomicBool) -> Result<(Vec<Ended>, Run), Error> {
    let Direction { scenario, network, senders, timing, flows, counted, news, over, logs } = direction;
    senders.enter()?;
    // Timers may otherwise be bundled with others that are 50 µs away.
    let _ = set_timerslack(1_000);
    let sized: Vec<usize> = flows
        .iter()
        .filter(|(_, flow)| matches!(flow.spec.traffic, Traffic::Size(_)))
        .map(|(flow, _)| *flow)
        .collect();
    let (dialed, counted) = (Arc::clone(flows), counted.clone());
    let dial: Dial = Rc::new(move |opening: Opening<'_>| match dialed.get(&opening.flow) {
        Some(flow) => flow.dial(opening),
        None => Box::new(counted[&opening.flow].clone()),
    });
    let mut director = Director::new(scenario, network, &dial, logs.all())?;
    while !over.load(Ordering::Relaxed) {
        director.advance(timing.clock.now());
        let is_done = sized.iter().all(|flow| director.stopped(*flow).is_some());
        is_finished.store(is_done, Ordering::Relaxed);
        let due = director.next_event().unwrap_or(Time::NEVER);
        let wait = due.since(timing.clock.now()).min(LOOK);
        let first = news.recv_timeout(wait.into()).ok();
        for id in first.into_iter().chain(news.try_iter()) {
            director.look(timing.clock.now(), id);
        }
    }
    // The last window may end with the run.
    director.advance(timing.clock.now().min(Time::ZERO + scenario.duration.0));
    let ended = |flow: &usize| {
        let (started, stopped) = (director.started(*flow), director.stopped(*flow));
        Some(Ended { flow: *flow, started, stopped, totals: director.totals(*flow)? })
    };
    let ended = flows.keys().filter_map(ended).collect();
    Ok((ended, director.finish()))
}
