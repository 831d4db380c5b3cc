//! A tin of CAKE: queues with a law each, and turns among them by DRR++.
//!
//! # Model
//! Each flow has a queue. A queue that becomes active is sparse: it is served before all others until it has used up its
//! quantum, as in [FQ-CoDel](crate::fq_codel). Then it is bulk and takes turns. A turn is a quantum, divided by the number of bulk
//! queues of the flow's host: the source or the destination, whichever has more. So hosts get equal parts, and the flows
//! of a host equal parts of its. A fraction of a byte is given at random, so that none is lost over time.
//!
//! # States
//! ```text
//!          a packet comes            quantum used up, not empty
//!   none ─────────────────▶ sparse ─────────────────────────────▶ bulk ──┐ quantum used up: to the tail
//!    ▲                        │ ▲    quantum used up, empty       ▲  ▲ ◀─┘
//!    │ decayed    its turn    │ │ ┌───────────────▶ waiting ──────┘  │
//!    │            and empty   ▼ │                   a packet comes   │
//!    └──────────────────── decaying ◀────────────────────────────────┘ its turn and empty
//! ```
//! A decaying queue is empty, but its law still changes; it keeps its place.
//!
//! # Constants
//! | name | value | why |
//! |---|---|---|
//! | queues | 1024 | as FQ-CoDel |
//! | quantum | 300 to 1514 B | 1/4096 s at the tin's rate: on a slow link turns of small packets go between those of full ones |
//!
//! # Source
//! Linux `sch_cake.c`; Høiland-Jørgensen, Täht and Morton 2018 §III.

use super::chains::{Chain, Chains};
use super::cobalt::{Cobalt, Times};
use super::hosts::HostTable;
use super::isolation::{Hashes, Isolation};
use super::shaper::Schedule;
use super::ways::{Found, Ways};
use afteryou_base::{Span, Time};
use rand_core::Rng;

/// Queues of a tin.
pub const QUEUES: usize = 1024;
/// Bounds of the quantum, bytes.
const QUANTUM: (u64, u64) = (300, 1514);
/// Turns of a quantum in a second at the rate.
const TURNS: u64 = 4096;

/// The set that a queue belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Set {
    None,
    Sparse,
    /// Counted as sparse, in the list of the bulk ones.
    Waiting,
    Bulk,
    Decaying,
}

#[derive(Clone, Copy, Debug)]
struct Queue {
    law: Cobalt,
    /// Bytes left in its turn.
    deficit: i64,
    set: Set,
}

/// A tin.
#[derive(Clone, Debug)]
pub struct Tin {
    pub(crate) times: Times,
    /// When it is due by its threshold.
    pub(crate) schedule: Schedule,
    /// Its part where the rate is not known, and the bytes left of it.
    pub(crate) weight: i64,
    pub(crate) credit: i64,
    /// Packets that wait.
    pub(crate) packets: u64,
    quantum: u64,
    queues: Vec<Queue>,
    chains: Chains,
    ways: Ways,
    /// Where turns are shared, the sources and the destinations.
    hosts: [Option<HostTable>; 2],
    sparse: u32,
    bulk: u32,
}

impl Tin {
    /// Creates an empty tin with a threshold, none if the rate is not known.
    pub fn new(isolation: Isolation, rtt: Span, bits_per_second: Option<u64>, weight: i64) -> Tin {
        let of_rate = |rate: u64| (rate / 8 / TURNS).clamp(QUANTUM.0, QUANTUM.1);
        let quantum = bits_per_second.map_or(QUANTUM.1, of_rate);
        let queue = Queue { law: Cobalt::new(), deficit: 0, set: Set::None };
        Tin {
            times: Times::new(rtt, bits_per_second),
            schedule: Schedule::new(bits_per_second.unwrap_or(u64::MAX)),
            weight,
            credit: 0,
            packets: 0,
            quantum,
            queues: vec![queue; QUEUES],
            chains: Chains::new(QUEUES),
            ways: Ways::new(QUEUES),
            hosts: isolation.shares_turns().map(|shares| shares.then(|| HostTable::new(QUEUES))),
            sparse: 0,
            bulk: 0,
        }
    }

    /// Returns whether a queue has, or had a moment ago, something to send.
    pub fn is_active(&self) -> bool {
        self.sparse + self.bulk > 0
    }

    /// Returns the number of queues that take turns.
    pub fn bulk(&self) -> u64 {
        self.bulk.into()
    }

    /// Returns the queue of a flow, if it has one.
    pub fn own(&self, hashes: &Hashes) -> Option<usize> {
        self.ways.own(hashes.queue).filter(|queue| self.queues[*queue].set != Set::None)
    }

    /// Returns the queues that may have packets.
    pub fn active(&self) -> impl Iterator<Item = usize> + '_ {
        self.chains.active()
    }

    /// Takes a queue for a packet of a flow.
    pub fn take(&mut self, hashes: &Hashes) -> usize {
        let Tin { ways, queues, hosts, .. } = self;
        let (queue, found) = ways.take(hashes.queue, |queue| queues[queue].set == Set::None);
        let set = queues[queue].set;
        if found == Found::Own && set != Set::None {
            return queue;
        }
        for (table, host) in hosts.iter_mut().zip(hashes.hosts) {
            let Some(table) = table else { continue };
            if set == Set::Bulk {
                table.subtract(queue);
            }
            table.assign(queue, host, set == Set::Bulk);
        }
        queue
    }

    /// Notes that a queue has got a packet.
    pub fn activate(&mut self, queue: usize) {
        match self.queues[queue].set {
            Set::None | Set::Decaying => {
                self.chains.append(Chain::New, queue);
                self.sparse += 1;
                self.queues[queue].set = Set::Sparse;
                self.queues[queue].deficit = (self.quantum / self.load(queue)) as i64;
            }
            Set::Waiting => {
                self.sparse -= 1;
                self.become_bulk(queue);
            }
            Set::Sparse | Set::Bulk => {}
        }
    }

    fn become_bulk(&mut self, queue: usize) {
        self.queues[queue].set = Set::Bulk;
        self.bulk += 1;
        self.hosts.iter_mut().flatten().for_each(|hosts| hosts.add(queue));
    }

    /// Returns the number of queues by which the quantum of a queue is divided.
    fn load(&self, queue: usize) -> u64 {
        let loads = self.hosts.iter().flatten().map(|hosts| hosts.load(queue));
        loads.max().unwrap_or_default().max(1).into()
    }

    /// Returns the queue whose turn it is; `decaying_first` serves a decaying one, which is empty.
    pub fn turn(
        &mut self,
        decaying_first: bool,
        is_empty: impl Fn(usize) -> bool,
        random: &mut impl Rng,
    ) -> Option<usize> {
        let decaying = |chains: &Chains| chains.first(Chain::Decaying);
        let mut first = if decaying_first { decaying(&self.chains) } else { None };
        loop {
            let listed = || self.chains.first(Chain::New).or_else(|| self.chains.first(Chain::Old));
            let queue = first.take().or_else(listed).or_else(|| decaying(&self.chains))?;
            if self.queues[queue].deficit > 0 {
                return Some(queue);
            }
            self.begin_turn(queue, is_empty(queue), random);
        }
    }

    /// Gives a queue the quantum of its next turn, for which it waits at the tail of the list.
    fn begin_turn(&mut self, queue: usize, is_empty: bool, random: &mut impl Rng) {
        match (self.queues[queue].set, is_empty) {
            (Set::Sparse, true) => self.queues[queue].set = Set::Waiting,
            (Set::Sparse, false) => {
                self.sparse -= 1;
                self.become_bulk(queue);
            }
            _ => {}
        }
        let load = self.load(queue);
        let fraction = if load > 1 { random.next_u64() % load } else { 0 };
        self.queues[queue].deficit += ((self.quantum + fraction) / load) as i64;
        self.chains.append(Chain::Old, queue);
    }

    /// Charges a queue for bytes that it has sent.
    pub fn charge(&mut self, queue: usize, bytes: u64) {
        self.queues[queue].deficit -= bytes as i64;
        self.credit -= bytes as i64;
    }

    /// Returns the law of a queue, with the tin's times.
    pub fn law(&mut self, queue: usize) -> (&mut Cobalt, &Times) {
        (&mut self.queues[queue].law, &self.times)
    }

    /// Ends the turns of a queue that has nothing to send.
    pub fn emptied(&mut self, now: Time, queue: usize) {
        let Queue { law, set, .. } = &mut self.queues[queue];
        law.emptied(now, &self.times);
        let (before, is_at_rest) = (*set, law.is_at_rest(now));
        *set = if is_at_rest { Set::None } else { Set::Decaying };
        match before {
            Set::Sparse | Set::Waiting => self.sparse -= 1,
            Set::Bulk => {
                self.bulk -= 1;
                self.hosts.iter_mut().flatten().for_each(|hosts| hosts.subtract(queue));
            }
            Set::None | Set::Decaying => {}
        }
        match is_at_rest {
            true => self.chains.remove(queue),
            false => self.chains.append(Chain::Decaying, queue),
        }
    }
}
