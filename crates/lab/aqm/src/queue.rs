//! The interface of all disciplines.

use crate::backlog::Backlog;
use crate::dropped::Dropped;
use crate::packet::{Hosts, Packet};
use crate::statistics::Statistics;
use afteryou_base::{Span, Time};

/// A queue discipline.
///
/// `now` never goes backwards between calls. Nothing is dropped silently: every packet that a call drops, the arriving
/// one or others, is appended to `dropped`. The caller empties and reuses that vector, so nothing is allocated.
pub trait Queue<T>: Send {
    /// Takes in `packet`, which arrives.
    fn enqueue(&mut self, now: Time, packet: Packet<T>, dropped: &mut Vec<Dropped<T>>);

    /// Returns the next packet to send, with the time it spent in the queue: the link is free.
    fn dequeue(&mut self, now: Time, dropped: &mut Vec<Dropped<T>>) -> Option<(Packet<T>, Span)>;

    /// Returns the queue's counters and its contents.
    fn statistics(&self) -> &Statistics;

    /// Returns the packets and bytes that wait.
    fn backlog(&self) -> Backlog {
        self.statistics().backlog()
    }

    /// Returns the bucket of a flow now; none of queues without buckets.
    fn bucket(&self, _flow: u32) -> Option<usize> {
        None
    }

    /// Notes the hosts of a flow, for queues that keep hosts apart.
    fn note_hosts(&mut self, _flow: u32, _hosts: Hosts) {}

    /// Returns when a queue with a shaper releases the next packet, if it holds one back: until then [`dequeue`](Self::dequeue)
    /// returns none. None of all other queues.
    fn held_until(&self) -> Option<Time> {
        None
    }
}
