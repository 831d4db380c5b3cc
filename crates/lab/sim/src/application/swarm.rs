//! A swarm (Carofiglio et al. 2013, §8 and §9): peers with access links of their own that upload to each other.
//!
//! Each peer has some neighbours, drawn when the run begins, and uploads to some of them at a time, one chunk after another over
//! one connection each. As soon as a chunk's last acknowledgement has arrived (§7.1), the slot continues: with probability `persist`
//! with the same neighbour, which keeps connection, window and base delay, otherwise with a neighbour drawn from those that the
//! peer does not upload to, over a new connection. Chunks are not pipelined, so a connection is idle for a round trip between the
//! last packet of a chunk and its acknowledgement (§9.2); `idle_rtts` adds to this pause. Slots begin within the first round trip.
//!
//! Every peer always has what its neighbours are missing. With [tit-for-tat](choking), which is off by default, the neighbours that
//! upload most to a peer take the place of random ones. One host alone is a peer whose
//! neighbours' access is no bottleneck. Where some hosts upload alone, the others have round-trip times of their own and receive.

mod choking;
mod neighbours;

use super::transfers::Transfer;
use super::{Dialer, Stage};
use crate::connection::News;
use afteryou_base::{Span, Time};
use afteryou_scenario::network::{Access, Route};
use afteryou_scenario::traffic::Swarm as Words;
use afteryou_scenario::{random, Flow as Spec, Scenario};
use choking::Choking;
use neighbours::Peer;
use rand_pcg::Pcg64;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

/// Such an application.
pub(super) struct Swarm {
    words: Words,
    random: Pcg64,
    stop: Time,
    has_begun: bool,
    peers: Vec<Peer>,
    /// With tit-for-tat.
    choking: Option<Choking>,
    /// By connection.
    slots: BTreeMap<usize, Slot>,
    agenda: BinaryHeap<Reverse<(Time, Wake)>>,
}

/// An upload.
struct Slot {
    peer: usize,
    neighbour: usize,
    chunk: Option<Transfer>,
}

/// The event that is due at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Wake {
    /// A slot of this peer begins.
    Begin(usize),
    /// The slot with this connection continues after a pause.
    GoOn(usize),
    /// Every peer chooses whom it uploads to.
    Choose,
}

impl Swarm {
    pub(super) fn new(scenario: &Scenario, spec: &Spec, words: &Words, hosts: &[Access]) -> Swarm {
        let mut random = Dialer::random(scenario, spec, "peers");
        // Among mutual neighbours half of them were drawn by the others.
        let drawn = if words.tit_for_tat { words.neighbours.div_ceil(2) } else { words.neighbours };
        let peers = (0..hosts.len()).map(|peer| Peer::drawn(peer, hosts, drawn as usize, &mut random));
        let mut peers: Vec<Peer> = peers.collect();
        if words.tit_for_tat {
            neighbours::make_mutual(&mut peers);
        }
        let choking = words.tit_for_tat.then(|| Choking::new(&peers, words.slots as usize));
        Swarm {
            choking,
            words: words.clone(),
            stop: Time(spec.stop.unwrap_or(scenario.duration).0 .0),
            has_begun: false,
            peers,
            slots: BTreeMap::new(),
            agenda: BinaryHeap::new(),
            random,
        }
    }

    /// Lets slots begin or continue; returns when the next one does.
    pub(super) fn act(&mut self, dialer: &mut Dialer, stage: &mut Stage<'_, '_>) -> Option<Time> {
        let now = stage.now;
        if now >= self.stop {
            dialer.stop(stage);
            return None;
        }
        if !std::mem::replace(&mut self.has_begun, true) {
            self.draw_beginnings(now);
        }
        while self.agenda.peek().is_some_and(|Reverse((at, _))| *at <= now) {
            match self.agenda.pop() {
                Some(Reverse((_, Wake::Begin(peer)))) => self.begin(dialer, stage, peer, None),
                Some(Reverse((_, Wake::GoOn(connection)))) => self.go_on(dialer, stage, connection),
                Some(Reverse((_, Wake::Choose))) => self.choose(now),
                None => {}
            }
        }
        Some(self.next())
    }

    fn next(&self) -> Time {
        self.agenda.peek().map_or(self.stop, |Reverse((at, _))| (*at).min(self.stop))
    }

    /// Lets every peer choose now, and again after a round, with tit-for-tat.
    fn choose(&mut self, now: Time) {
        if let Some(choking) = &mut self.choking {
            choking.choose(&mut self.random);
            self.agenda.push(Reverse((now + choking::ROUND, Wake::Choose)));
        }
    }

    /// Returns the neighbour that a slot of a peer takes up, if there is one.
    fn neighbour_for(&mut self, peer: usize) -> Option<usize> {
        match &self.choking {
            Some(choking) => choking.next(peer, &self.peers[peer].is_active),
            None => self.peers[peer].inactive(&mut self.random),
        }
    }

    fn draw_beginnings(&mut self, now: Time) {
        self.choose(now);
        let uploaders = self.words.uploaders.map_or(usize::MAX, |number| number as usize);
        for (i, peer) in self.peers.iter().enumerate().take(uploaders) {
            for _ in 0..(self.words.slots as usize).min(peer.neighbours.len()) {
                let after = Span((peer.access.rtt.0 as f64 * random::uniform(&mut self.random)) as u64);
                self.agenda.push(Reverse((now + after, Wake::Begin(i))));
            }
        }
    }

    /// Lets a slot of a peer take up a neighbour to which the peer does not upload, or `last` if there is none.
    fn begin(&mut self, dialer: &mut Dialer, stage: &mut Stage<'_, '_>, peer: usize, last: Option<usize>) {
        let Some(neighbour) = self.neighbour_for(peer).or(last) else { return };
        if let Some(last) = last {
            self.peers[peer].is_active[last] = false;
        }
        self.peers[peer].is_active[neighbour] = true;
        let bytes = self.words.chunk.bytes();
        let chunk = Some(dialer.transfers.begin(stage.now, bytes));
        let connection = dialer.dial_over(stage, &self.peers[peer].route(neighbour), bytes);
        self.slots.insert(connection, Slot { peer, neighbour, chunk });
    }

    /// Lets a slot send its next chunk over the same connection.
    fn go_on(&mut self, dialer: &mut Dialer, stage: &mut Stage<'_, '_>, connection: usize) {
        let bytes = self.words.chunk.bytes();
        if let Some(slot) = self.slots.get_mut(&connection) {
            slot.chunk = Some(dialer.transfers.begin(stage.now, bytes));
            dialer.send(stage, connection, bytes);
        }
    }

    /// Returns when the next slot continues, if that may be sooner than before.
    pub(super) fn on_news(
        &mut self,
        dialer: &mut Dialer,
        stage: &mut Stage<'_, '_>,
        connection: usize,
        news: News,
    ) -> Option<Time> {
        let slot = self.slots.get_mut(&connection)?;
        if news == News::Arrived {
            dialer.transfers.complete(stage.now, slot.chunk.take()?);
            if let (Some(choking), Some(to)) =
                (&mut self.choking, self.peers[slot.peer].neighbours[slot.neighbour])
            {
                choking.arrived(slot.peer, to.host, self.words.chunk.bytes());
            }
            return None;
        }
        let (peer, neighbour) = (slot.peer, slot.neighbour);
        let goes_on = match &self.choking {
            Some(choking) => choking.is_chosen(peer, neighbour),
            None => random::happens(&mut self.random, self.words.persist.ratio()),
        };
        if goes_on {
            if self.words.idle_rtts == 0.0 {
                self.go_on(dialer, stage, connection);
                return None;
            }
            let Route { forward_delay, reverse_delay, .. } = self.peers[peer].route(neighbour);
            let idle_s = self.words.idle_rtts * (forward_delay + reverse_delay).as_secs_f64();
            self.agenda.push(Reverse((stage.now + Span::from_secs_f64(idle_s), Wake::GoOn(connection))));
            return Some(self.next());
        }
        self.slots.remove(&connection);
        dialer.hang_up(stage, connection);
        self.begin(dialer, stage, peer, Some(neighbour));
        None
    }
}
