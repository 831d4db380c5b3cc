//! Packets of many flows in one place.
//!
//! A fair queue has hundreds of flows, most of them empty, and which ones hold the packets changes all the time. A
//! deque for each would allocate whenever a flow first grows. Here all packets live in one vector of nodes, linked per
//! flow and taken from a common free list. Once the vector has reached the queue's limit, nothing is allocated,
//! whatever the flows do.

use crate::backlog::Backlog;
use crate::fifo::Source;
use crate::packet::Packet;
use afteryou_base::{Span, Time};
use std::cmp::Reverse;

/// End of the free list.
const NONE: u32 = u32::MAX;

/// First-in first-out stores of many flows, numbered from 0, with arrival times and running backlogs.
#[derive(Clone, Debug)]
pub struct Store<T> {
    nodes: Vec<Node<T>>,
    /// First of the unused nodes.
    free: u32,
    flows: Vec<Flow>,
    backlog: Backlog,
}

/// A packet and its neighbours. Past the ends of its flow's line `newer` and `older` mean nothing.
#[derive(Clone, Debug)]
struct Node<T> {
    packet: Option<Packet<T>>,
    arrived: Time,
    /// The next one of the flow, or of the free list.
    newer: u32,
    older: u32,
}

/// The line of a flow; its ends mean nothing while it is empty.
#[derive(Clone, Copy, Debug, Default)]
struct Flow {
    oldest: u32,
    newest: u32,
    backlog: Backlog,
}

impl<T> Store<T> {
    /// Creates an empty store.
    pub fn new(flows: usize) -> Store<T> {
        let flows = vec![Flow::default(); flows];
        Store { nodes: Vec::new(), free: NONE, flows, backlog: Backlog::default() }
    }

    /// Appends to a flow a packet that arrives now.
    pub fn push(&mut self, now: Time, flow: usize, packet: Packet<T>) {
        let size = u64::from(packet.size);
        let node = self.place(Node { packet: Some(packet), arrived: now, newer: NONE, older: NONE });
        let line = &mut self.flows[flow];
        if line.backlog.packets == 0 {
            line.oldest = node;
        } else {
            self.nodes[line.newest as usize].newer = node;
            self.nodes[node as usize].older = line.newest;
        }
        line.newest = node;
        for backlog in [&mut line.backlog, &mut self.backlog] {
            backlog.packets += 1;
            backlog.bytes += size;
        }
    }

    /// Puts a node where one is free.
    fn place(&mut self, node: Node<T>) -> u32 {
        if self.free == NONE {
            self.nodes.push(node);
            return (self.nodes.len() - 1) as u32;
        }
        let at = self.free;
        self.free = self.nodes[at as usize].newer;
        self.nodes[at as usize] = node;
        at
    }

    /// Takes a flow's oldest packet and the time it has spent here.
    pub fn pop_front(&mut self, now: Time, flow: usize) -> Option<(Packet<T>, Span)> {
        let node = self.oldest(flow)?;
        self.flows[flow].oldest = self.nodes[node as usize].newer;
        self.take(now, flow, node)
    }

    /// Takes a flow's newest packet and the time it has spent here.
    pub fn pop_back(&mut self, now: Time, flow: usize) -> Option<(Packet<T>, Span)> {
        self.oldest(flow)?;
        let node = self.flows[flow].newest;
        self.flows[flow].newest = self.nodes[node as usize].older;
        self.take(now, flow, node)
    }

    fn oldest(&self, flow: usize) -> Option<u32> {
        let line = &self.flows[flow];
        (line.backlog.packets > 0).then_some(line.oldest)
    }

    /// Empties a node that its line no longer leads to.
    fn take(&mut self, now: Time, flow: usize, at: u32) -> Option<(Packet<T>, Span)> {
        let node = &mut self.nodes[at as usize];
        let packet = node.packet.take()?;
        let sojourn = now.since(node.arrived);
        node.newer = self.free;
        self.free = at;
        for backlog in [&mut self.flows[flow].backlog, &mut self.backlog] {
            backlog.packets -= 1;
            backlog.bytes -= u64::from(packet.size);
        }
        Some((packet, sojourn))
    }

    /// Returns a flow's oldest packet.
    pub fn front(&self, flow: usize) -> Option<&Packet<T>> {
        let node = self.oldest(flow)?;
        self.nodes[node as usize].packet.as_ref()
    }

    /// Returns a flow's contents.
    pub fn backlog_of(&self, flow: usize) -> Backlog {
        self.flows[flow].backlog
    }

    /// Returns the contents of all flows.
    pub fn backlog(&self) -> Backlog {
        self.backlog
    }

    /// Returns which of some flows holds most, in bytes or packets by `measure`; of several the one with the lowest number.
    /// None if all are empty.
    pub fn fattest(
        &self,
        among: impl Iterator<Item = usize>,
        measure: impl Fn(Backlog) -> u64,
    ) -> Option<usize> {
        let filled = among.filter(|flow| self.flows[*flow].backlog.packets > 0);
        filled.max_by_key(|flow| (measure(self.flows[*flow].backlog), Reverse(*flow)))
    }

    /// Returns one flow's part, as a queue of its own.
    pub fn flow(&mut self, flow: usize) -> FlowOf<'_, T> {
        FlowOf { store: self, flow, counts_all: false }
    }

    /// Returns one flow's part, but what is left is what all flows have.
    pub fn flow_among_all(&mut self, flow: usize) -> FlowOf<'_, T> {
        FlowOf { store: self, flow, counts_all: true }
    }
}

/// One flow's part of a [`Store`].
#[derive(Debug)]
pub struct FlowOf<'a, T> {
    store: &'a mut Store<T>,
    flow: usize,
    counts_all: bool,
}

impl<T> Source<T> for FlowOf<'_, T> {
    fn pop(&mut self, now: Time) -> Option<(Packet<T>, Span)> {
        self.store.pop_front(now, self.flow)
    }

    fn backlog(&self) -> Backlog {
        match self.counts_all {
            true => self.store.backlog(),
            false => self.store.backlog_of(self.flow),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    const FLOWS: usize = 5;

    fn packet(size: u32, body: u64) -> Packet<u64> {
        Packet::from_tos(size, 0, 0, body)
    }

    #[test]
    fn once_it_has_held_as_much_nothing_is_allocated_whichever_flows_hold_it() {
        let mut store = Store::new(1000);
        (0..100).for_each(|i| store.push(Time::ZERO, 0, packet(100, i)));
        let nodes = store.nodes.len();
        for i in 0..10_000u64 {
            // The first hundred are in flow 0, later ones where they were put a hundred rounds ago.
            store.pop_front(Time::ZERO, i.saturating_sub(100) as usize % 1000);
            store.push(Time::ZERO, i as usize % 1000, packet(100, i));
        }
        assert_eq!((store.nodes.len(), store.backlog().packets), (nodes, 100));
    }

    #[test]
    fn the_fattest_flow_is_the_one_with_most_and_of_equals_the_first() {
        let mut store = Store::new(FLOWS);
        assert_eq!(store.fattest(0..FLOWS, |backlog| backlog.bytes), None);
        (0..3).for_each(|_| store.push(Time::ZERO, 1, packet(100, 0)));
        [2, 4].iter().for_each(|flow| store.push(Time::ZERO, *flow, packet(1000, 0)));
        assert_eq!(store.fattest(0..FLOWS, |backlog| backlog.bytes), Some(2));
        assert_eq!(store.fattest(0..FLOWS, |backlog| backlog.packets), Some(1));
    }

    proptest! {
        #[test]
        fn each_flow_is_a_deque_of_its_own(steps in prop::collection::vec((0..3u8, 0..FLOWS, 0..2000u32), 1..300)) {
            let mut store = Store::new(FLOWS);
            let mut deques = vec![VecDeque::new(); FLOWS];
            for (i, (what, flow, size)) in steps.into_iter().enumerate() {
                let now = Time(i as u64);
                let (got, expected) = match what {
                    0 => (store.pop_front(now, flow), deques[flow].pop_front()),
                    1 => (store.pop_back(now, flow), deques[flow].pop_back()),
                    _ => {
                        store.push(now, flow, packet(size, i as u64));
                        deques[flow].push_back((now, packet(size, i as u64)));
                        (None, None)
                    }
                };
                prop_assert_eq!(got, expected.map(|(at, packet)| (packet, now.since(at))));
                for (flow, deque) in deques.iter().enumerate() {
                    let bytes = deque.iter().map(|(_, packet)| u64::from(packet.size)).sum();
                    let backlog = Backlog { packets: deque.len() as u64, bytes };
                    prop_assert_eq!(store.backlog_of(flow), backlog);
                    prop_assert_eq!(store.front(flow), deque.front().map(|(_, packet)| packet));
                }
            }
            let packets: usize = deques.iter().map(VecDeque::len).sum();
            prop_assert_eq!(store.backlog().packets, packets as u64);
        }
    }
}
