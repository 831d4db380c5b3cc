//! Tit-for-tat: peers upload to those that upload most to them, after BitTorrent's choking.
//!
//! # Model
//! Every [`ROUND`] each peer ranks its neighbours by the bytes of the chunks that have come from them in this round and
//! the one before. The best ones are chosen, one fewer than it has slots. One more neighbour, the optimistic one, is
//! drawn from the rest and keeps its place for [`OPTIMISTIC_ROUNDS`]. So newcomers are found, and a peer that uploads
//! nothing gets something. A slot leaves a neighbour that is not chosen any more at the end of its chunk. Neighbours of
//! equal rank are drawn.
//!
//! # Source
//! B. Cohen, "Incentives build robustness in BitTorrent", 2003, §2.4, and BEP 3, "choking": 10 s, an average over 20 s, 30 s.
//!
//! # Not implemented
//! Anti-snubbing, seeds that rank by what they send, and interest: everybody lacks what the others have.
//!
//! # Known bad cases
//! Chunks count when they are complete. One that takes longer than two rounds counts late, and on slow uplinks the ranks are
//! mostly drawn.

use super::super::draw_index;
use super::neighbours::Peer;
use afteryou_base::Span;
use rand_pcg::Pcg64;
use std::cmp::Reverse;

/// Time between two choices.
pub(super) const ROUND: Span = Span::from_secs(10);
/// Rounds after which another neighbour is the optimistic one.
const OPTIMISTIC_ROUNDS: u32 = 3;

/// The choices of all peers.
pub(super) struct Choking {
    peers: Vec<Choice>,
    /// Uploads of a peer at a time.
    slots: usize,
    rounds: u32,
}

/// A peer's knowledge about its neighbours, in their order.
struct Choice {
    /// Hosts that the neighbours are; none of one that is no host.
    hosts: Vec<Option<usize>>,
    /// Bytes that came in this round and in the one before.
    received: Vec<[u64; 2]>,
    is_chosen: Vec<bool>,
    optimistic: Option<usize>,
}

impl Choking {
    pub(super) fn new(peers: &[Peer], slots: usize) -> Choking {
        let choice = |peer: &Peer| Choice {
            hosts: peer
                .neighbours
                .iter()
                .map(|neighbour| neighbour.map(|neighbour| neighbour.host))
                .collect(),
            received: vec![[0; 2]; peer.neighbours.len()],
            is_chosen: vec![false; peer.neighbours.len()],
            optimistic: None,
        };
        Choking { peers: peers.iter().map(choice).collect(), slots, rounds: 0 }
    }

    /// Records that a chunk of `bytes` has arrived from one host at another.
    pub(super) fn arrived(&mut self, from: usize, to: usize, bytes: u64) {
        let choice = &mut self.peers[to];
        if let Some(neighbour) = choice.hosts.iter().position(|host| *host == Some(from)) {
            choice.received[neighbour][0] += bytes;
        }
    }

    /// Begins a round: every peer chooses.
    pub(super) fn choose(&mut self, random: &mut Pcg64) {
        let turns = self.rounds.is_multiple_of(OPTIMISTIC_ROUNDS);
        self.rounds += 1;
        self.peers.iter_mut().for_each(|peer| peer.choose(self.slots, turns, random));
    }

    /// Returns whether the peer continues to upload to this neighbour.
    pub(super) fn is_chosen(&self, peer: usize, neighbour: usize) -> bool {
        self.peers[peer].is_chosen[neighbour]
    }

    /// Returns a chosen neighbour to which the peer does not upload.
    pub(super) fn next(&self, peer: usize, is_active: &[bool]) -> Option<usize> {
        let chosen = &self.peers[peer].is_chosen;
        (0..chosen.len()).find(|neighbour| chosen[*neighbour] && !is_active[*neighbour])
    }
}

impl Choice {
    fn choose(&mut self, slots: usize, turns: bool, random: &mut Pcg64) {
        let mut ranked: Vec<usize> = (0..self.hosts.len()).collect();
        // In random order first, which a stable sort keeps among equals.
        for i in (1..ranked.len()).rev() {
            ranked.swap(i, draw_index(random, i + 1));
        }
        ranked.sort_by_key(|neighbour| Reverse(self.received[*neighbour].iter().sum::<u64>()));
        let rest = ranked.split_off((slots - 1).min(ranked.len()));
        self.is_chosen.fill(false);
        ranked.into_iter().for_each(|neighbour| self.is_chosen[neighbour] = true);
        let keeps_its_place = self.optimistic.filter(|neighbour| !turns && rest.contains(neighbour));
        let drawn = || (!rest.is_empty()).then(|| rest[draw_index(random, rest.len())]);
        self.optimistic = keeps_its_place.or_else(drawn);
        if let Some(neighbour) = self.optimistic {
            self.is_chosen[neighbour] = true;
        }
        self.received.iter_mut().for_each(|[now, before]| (*now, *before) = (0, *now));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a choice among ten neighbours, of which `senders` send.
    fn choice(senders: usize) -> Choice {
        Choice {
            hosts: (1..=10).map(Some).collect(),
            received: (0..10).map(|i| [if i < senders { 1000 + i as u64 } else { 0 }, 0]).collect(),
            is_chosen: vec![false; 10],
            optimistic: None,
        }
    }

    #[test]
    fn the_best_are_chosen_and_one_of_the_others_is_drawn_evenly() {
        let mut random = Pcg64::new(1, 2);
        let mut drawn = [0_u32; 10];
        for _ in 0..6000 {
            let mut choice = choice(6);
            choice.choose(5, true, &mut random);
            assert_eq!(choice.is_chosen[2..6], [true; 4], "the four of most bytes");
            drawn[choice.optimistic.unwrap()] += 1;
        }
        // Six are left, each with 1000 ± 29.
        assert_eq!(drawn[2..6], [0; 4]);
        assert!(drawn[..2].iter().chain(&drawn[6..]).all(|n| (900..1100).contains(n)), "{drawn:?}");
    }

    #[test]
    fn the_optimistic_neighbour_stays_until_its_turn_is_over_or_it_is_among_the_best() {
        let mut random = Pcg64::new(1, 2);
        let mut choice = choice(4);
        choice.choose(5, true, &mut random);
        let first = choice.optimistic.unwrap();
        choice.choose(5, false, &mut random);
        assert_eq!(choice.optimistic, Some(first), "the round before still counts");
        choice.received[first][0] = 9000;
        choice.choose(5, false, &mut random);
        assert!(choice.is_chosen[first] && choice.optimistic != Some(first));
    }
}
