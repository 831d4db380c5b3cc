//! Packets in the order of time, though an engine reports some of them before theirs.

use afteryou_scenario::passage::Time;
use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;
use std::collections::{BinaryHeap, VecDeque};

/// Packets that were reported before their time, by link.
#[derive(Debug, Default)]
pub struct Early {
    links: Vec<VecDeque<(u64, Ready)>>,
    /// The first packet of each link that has some: when it is sent, its number, and the link.
    firsts: BinaryHeap<Reverse<(Time, u64, usize)>>,
    /// Packets so far: those of one instant stay in the order of the reports.
    reported: u64,
    /// Memory of packets that are written.
    spare: Vec<Vec<u8>>,
}

/// A packet as it will be written.
#[derive(Debug)]
pub struct Ready {
    /// When it is sent.
    pub at: Time,
    /// Length of the whole packet, bytes.
    pub length: u32,
    /// The packet's headers.
    pub data: Vec<u8>,
    /// A comment about it.
    pub comment: Option<String>,
}

impl Early {
    /// Keeps a packet until its time comes. No packet of its link that was kept before is sent later.
    pub fn keep(&mut self, link: usize, packet: Ready) {
        if self.links.len() <= link {
            self.links.resize_with(link + 1, VecDeque::new);
        }
        let number = self.reported;
        self.reported += 1;
        if self.links[link].is_empty() {
            self.firsts.push(Reverse((packet.at, number, link)));
        }
        self.links[link].push_back((number, packet));
    }

    /// Returns the next packet whose time has come by `now`, and its link.
    pub fn next(&mut self, now: Time) -> Option<(usize, Ready)> {
        let mut first = self.firsts.peek_mut().filter(|first| first.0 .0 <= now)?;
        let (_, _, link) = first.0;
        let packet = self.links[link].pop_front();
        match self.links[link].front() {
            Some((number, next)) => *first = Reverse((next.at, *number, link)),
            None => drop(PeekMut::pop(first)),
        }
        Some((link, packet?.1))
    }

    /// Returns empty memory for a packet's headers, to be [given back](Self::give_back) once they are written.
    pub fn buffer(&mut self) -> Vec<u8> {
        self.spare.pop().unwrap_or_default()
    }

    /// Takes the memory of a packet that has been written, for another one.
    pub fn give_back(&mut self, mut data: Vec<u8>) {
        data.clear();
        self.spare.push(data);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_come_at_their_times_and_those_of_one_instant_as_they_were_reported() {
        let mut early = Early::default();
        for (at, link) in [(30, 0), (10, 1), (20, 2), (20, 3), (20, 1), (40, 2)] {
            early.keep(link, Ready { at: Time(at), length: 40, data: b"head".to_vec(), comment: None });
        }
        let mut until = |now| {
            let mut links = Vec::new();
            while let Some((link, packet)) = early.next(Time(now)) {
                assert_eq!(packet.data, b"head");
                links.push(link);
                early.give_back(packet.data);
            }
            links
        };
        assert_eq!([until(9), until(20), until(39), until(40)], [vec![], vec![1, 2, 3, 1], vec![0], vec![2]]);
    }
}
