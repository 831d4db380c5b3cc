//! The interface of all disciplines.

use crate::backlog::Backlog;
use crate::dropped::Dropped;
use crate::packet::{Class, Packet};
use crate::statistics::Statistics;
use afteryou_base::{Span, Time};

/// A queue discipline.
///
/// `now` never goes backwards between calls. Nothing is dropped silently: every packet that a call drops, the arriving
/// one or others, is appended to `dropped`. The caller empties and reuses that vector, so nothing is allocated.
pub trait Queue<T>: Send {
    /// `packet` arrives.
    fn enqueue(&mut self, now: Time, packet: Packet<T>, dropped: &mut Vec<Dropped<T>>);

    /// The link is free: the next packet to send, with the time it spent in the queue.
    fn dequeue(&mut self, now: Time, dropped: &mut Vec<Dropped<T>>) -> Option<(Packet<T>, Span)>;

    /// A packet of `size` bytes arrives while the link is free. Returns true if the packet goes straight onto the link,
    /// counted as if it had been put in and taken out at once. False means that nothing has happened and that the
    /// caller must put it in. A discipline that never passes a packet is correct, only slower.
    fn pass(&mut self, _size: u32, _class: Class) -> bool {
        false
    }

    /// Its counters and its contents.
    fn statistics(&self) -> &Statistics;

    /// Its contents.
    fn backlog(&self) -> Backlog {
        self.statistics().backlog()
    }

    /// Returns the bucket of a flow now; none of queues without buckets.
    fn bucket(&self, _flow: u32) -> Option<usize> {
        None
    }
}
