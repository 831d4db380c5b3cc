//! Hosts of a tin: how many bulk queues each has.

use super::ways::Ways;

/// The sources, or the destinations, of a tin's queues.
#[derive(Clone, Debug)]
pub struct HostTable {
    ways: Ways,
    /// By place, the bulk queues of its host.
    bulk: Vec<u32>,
    /// By queue, the place of its host.
    of: Vec<u16>,
}

impl HostTable {
    /// Creates the table for that number of queues, which is a multiple of eight.
    pub fn new(queues: usize) -> HostTable {
        HostTable { ways: Ways::new(queues), bulk: vec![0; queues], of: vec![0; queues] }
    }

    /// Assigns a queue to the host with this hash; `is_bulk`: it is a bulk queue.
    pub fn assign(&mut self, queue: usize, host: u32, is_bulk: bool) {
        let (place, _) = self.ways.take(host, |place| self.bulk[place] == 0);
        self.of[queue] = place as u16;
        self.bulk[place] += u32::from(is_bulk);
    }

    /// Counts a queue that has become a bulk queue.
    pub fn add(&mut self, queue: usize) {
        self.bulk[usize::from(self.of[queue])] += 1;
    }

    /// Counts a queue as no bulk queue any more.
    pub fn subtract(&mut self, queue: usize) {
        self.bulk[usize::from(self.of[queue])] -= 1;
    }

    /// Returns the bulk queues of a queue's host.
    pub fn load(&self, queue: usize) -> u32 {
        self.bulk[usize::from(self.of[queue])]
    }
}
