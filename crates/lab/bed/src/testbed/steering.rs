//! Jobs whose sockets are steered from outside, by what `afteryou run` uses: the kernel's windows and rates.
//!
//! A thread for each job looks a hundred times a second at the sockets that the flows have opened. It is a thread like the command's
//! process: it has no priority.

use crate::error::Error;
use crate::net::{Side, Topology};
use afteryou_outside::linux::{Roster, Steer, TICK};
use afteryou_outside::rule::Direction;
use afteryou_scenario::{Job, Scenario};
use std::collections::BTreeMap;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Instant;

/// The jobs of a run. Dropping it ends their threads.
pub(super) struct Steering {
    over: Arc<AtomicBool>,
    threads: Vec<JoinHandle<()>>,
    pub(super) steered: Steered,
}

/// Where the flows of jobs hand over their sockets.
#[derive(Clone, Default)]
pub(super) struct Steered(Arc<BTreeMap<usize, (Direction, Roster)>>);

impl Steering {
    /// Starts the jobs of a scenario.
    pub(super) fn start(scenario: &Scenario, topology: &Topology) -> Result<Steering, Error> {
        let over = Arc::new(AtomicBool::new(false));
        let (mut threads, mut steered) = (Vec::new(), BTreeMap::new());
        for Job { direction, params, flows } in afteryou_scenario::jobs(&scenario.flow)? {
            let roster = Roster::default();
            steered.extend(flows.iter().map(|member| (member.flow, (direction, roster.clone()))));
            let (steer, over) = (Steer::of_roster(roster, params, None), Arc::clone(&over));
            let named = thread::Builder::new().name("steering".to_owned());
            // A thread has the namespace of the one that starts it: the counters of its interface are those of this end.
            let side = if direction == Direction::Down { Side::Receivers } else { Side::Senders };
            let started = topology.namespace(side).run(|| named.spawn(move || steer_until(steer, &over)))?;
            threads.push(started.map_err(Error::Thread)?);
        }
        Ok(Steering { over, threads, steered: Steered(Arc::new(steered)) })
    }
}

impl Steered {
    /// Returns whether a flow is steered at the end from which its data go in `direction`.
    pub(super) fn has(&self, flow: usize, direction: Direction) -> bool {
        self.0.get(&flow).is_some_and(|(steered, _)| *steered == direction)
    }

    /// Hands over a connected socket of a flow whose data go in `direction`, seen from the socket, if the flow is steered at that end.
    pub(super) fn take<S: AsFd + Send + Sync + 'static>(
        &self,
        flow: usize,
        direction: Direction,
        socket: &Arc<S>,
    ) {
        let found = self.0.get(&flow).filter(|(steered, _)| *steered == direction);
        if let Some((_, roster)) = found {
            roster.add(socket);
        }
    }
}

fn steer_until(mut steer: Steer, over: &AtomicBool) {
    while !over.load(Ordering::Relaxed) {
        steer.tick(Instant::now());
        thread::sleep(TICK);
    }
}

impl Drop for Steering {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}
