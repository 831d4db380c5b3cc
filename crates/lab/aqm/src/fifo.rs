//! First in, first out, with arrival times: what most disciplines are built on.

use crate::backlog::Backlog;
use crate::packet::Packet;
use afteryou_base::{Span, Time};
use std::collections::VecDeque;

/// A first-in first-out store with arrival times and a running backlog.
#[derive(Clone, Debug)]
pub struct Fifo<T> {
    packets: VecDeque<(Time, Packet<T>)>,
    bytes: u64,
}

impl<T> Fifo<T> {
    /// Creates an empty queue.
    pub fn new() -> Fifo<T> {
        Fifo { packets: VecDeque::new(), bytes: 0 }
    }

    /// Appends a packet that arrives now.
    pub fn push(&mut self, now: Time, packet: Packet<T>) {
        self.bytes += u64::from(packet.size);
        self.packets.push_back((now, packet));
    }

    /// Takes the oldest packet and the time it has spent here.
    pub fn pop(&mut self, now: Time) -> Option<(Packet<T>, Span)> {
        let (arrived, packet) = self.packets.pop_front()?;
        self.bytes -= u64::from(packet.size);
        Some((packet, now.since(arrived)))
    }

    /// Returns the packet with `index` older ones.
    pub fn get(&self, index: usize) -> Option<&Packet<T>> {
        self.packets.get(index).map(|(_, packet)| packet)
    }

    /// Takes the packet with `index` older ones out of the line, in time proportional to its distance to the nearer end.
    pub fn remove(&mut self, index: usize) -> Option<Packet<T>> {
        let (_, packet) = self.packets.remove(index)?;
        self.bytes -= u64::from(packet.size);
        Some(packet)
    }

    /// Takes the newest packet of those that `is_wanted` out of the line.
    pub fn remove_newest(&mut self, is_wanted: impl Fn(&Packet<T>) -> bool) -> Option<Packet<T>> {
        let index = self.packets.iter().rposition(|(_, packet)| is_wanted(packet))?;
        self.remove(index)
    }

    /// Returns when the oldest packet arrived.
    pub fn oldest(&self) -> Option<Time> {
        self.packets.front().map(|(arrived, _)| *arrived)
    }

    /// Returns the contents of the queue.
    pub fn backlog(&self) -> Backlog {
        Backlog { packets: self.packets.len() as u64, bytes: self.bytes }
    }
}

/// Where packets come from, oldest first: a store of its own, or one flow's part of a common one.
pub trait Source<T> {
    /// Takes the oldest packet and the time it has spent here.
    fn pop(&mut self, now: Time) -> Option<(Packet<T>, Span)>;

    /// Returns the contents against which the limit counts.
    fn backlog(&self) -> Backlog;
}

impl<T> Source<T> for Fifo<T> {
    fn pop(&mut self, now: Time) -> Option<(Packet<T>, Span)> {
        Fifo::pop(self, now)
    }

    fn backlog(&self) -> Backlog {
        Fifo::backlog(self)
    }
}

impl<T> Default for Fifo<T> {
    fn default() -> Fifo<T> {
        Fifo::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_taken_out_of_the_middle_leaves_the_others_in_order() {
        let mut fifo = Fifo::new();
        (0..5).for_each(|i| fifo.push(Time(i.into()), Packet::from_tos(100 + i, i, 0, i)));
        assert_eq!(fifo.get(3).map(|packet| packet.flow), Some(3));
        assert_eq!(fifo.remove(3).map(|packet| packet.body), Some(3));
        assert_eq!(fifo.backlog(), Backlog { packets: 4, bytes: 100 + 101 + 102 + 104 });
        let rest: Vec<_> = std::iter::from_fn(|| fifo.pop(Time(10))).collect();
        assert_eq!(rest.iter().map(|(packet, _)| packet.body).collect::<Vec<_>>(), [0, 1, 2, 4]);
        assert_eq!(rest[3].1, Span(6));
        assert_eq!(fifo.remove(0), None);
    }
}
