//! The packets on the scoreboard in order of their transmissions.

use std::collections::VecDeque;

/// A queue of transmissions whose fate was undecided when it was last looked at.
///
/// What is no longer a packet's newest transmission stays in the queue until its turn comes: to find it costs more than
/// to pass over it.
#[derive(Debug, Default)]
pub(super) struct Order {
    /// Packet of each transmission, by its index in the connection's life.
    packets: VecDeque<u64>,
    /// Packet number of the front.
    first: u64,
}

impl Order {
    /// Packet `index` is transmitted; packet numbers follow one another.
    pub fn push(&mut self, index: u64) {
        self.packets.push_back(index);
    }

    /// Takes the oldest transmission, if its packet number is less than `end`: packet number and packet.
    pub fn pop_before(&mut self, end: u64) -> Option<(u64, u64)> {
        if self.first >= end {
            return None;
        }
        let index = self.packets.pop_front()?;
        self.first += 1;
        Some((self.first - 1, index))
    }

    /// The transmissions with packet numbers less than `end`: packet number and packet.
    pub fn before(&self, end: u64) -> impl Iterator<Item = (u64, u64)> + '_ {
        (self.first..end).zip(self.packets.iter().copied())
    }

    /// All fates are decided.
    pub fn clear(&mut self) {
        self.first += self.packets.len() as u64;
        self.packets.clear();
    }
}
