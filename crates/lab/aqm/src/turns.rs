//! Buckets of packets that take turns, round robin, each with a credit of bytes.

use crate::packet::Packet;
use crate::store::Store;
use afteryou_base::{Span, Time};
use std::collections::VecDeque;

/// Buckets that take turns.
#[derive(Clone, Debug)]
pub(crate) struct Turns<T> {
    pub(crate) store: Store<T>,
    /// Buckets with packets, in order of their turns.
    active: VecDeque<u32>,
    /// The bytes that each active bucket may still send in its turn; negative if it has sent too much.
    credits: Vec<i64>,
}

impl<T> Turns<T> {
    /// Creates empty buckets, of which at most `most_active` have packets at a time.
    pub(crate) fn new(buckets: usize, most_active: usize) -> Turns<T> {
        Turns {
            store: Store::new(buckets),
            active: VecDeque::with_capacity(most_active),
            credits: vec![0; buckets],
        }
    }

    /// Returns the packets in a bucket.
    pub(crate) fn held(&self, bucket: usize) -> u64 {
        self.store.backlog_of(bucket).packets
    }

    /// Returns the buckets with packets, in order of their turns.
    pub(crate) fn active(&self) -> impl ExactSizeIterator<Item = usize> + '_ {
        self.active.iter().map(|bucket| *bucket as usize)
    }

    /// Returns the bucket whose turn it is.
    pub(crate) fn first(&self) -> Option<usize> {
        self.active.front().map(|bucket| *bucket as usize)
    }

    /// Returns the bytes that a bucket may still send in its turn.
    pub(crate) fn credit(&mut self, bucket: usize) -> &mut i64 {
        &mut self.credits[bucket]
    }

    /// Appends a packet that came at `arrived`. A bucket that was empty gets the last turn, with a credit of `quantum` bytes.
    pub(crate) fn push(&mut self, arrived: Time, bucket: usize, packet: Packet<T>, quantum: i64) {
        if self.held(bucket) == 0 {
            self.active.push_back(bucket as u32);
            self.credits[bucket] = quantum;
        }
        self.store.push(arrived, bucket, packet);
    }

    /// Takes the oldest packet of the bucket whose turn it is. An emptied bucket takes no more turns.
    pub(crate) fn pop(&mut self, now: Time) -> Option<(Packet<T>, Span)> {
        let bucket = self.first()?;
        let popped = self.store.pop_front(now, bucket)?;
        if self.held(bucket) == 0 {
            self.active.pop_front();
        }
        Some(popped)
    }

    /// Ends the turn of the bucket whose turn it is.
    pub(crate) fn pass(&mut self) {
        self.active.rotate_left(1);
    }

    /// Takes the oldest or the newest packet out of a bucket, in any turn.
    pub(crate) fn lose(&mut self, now: Time, bucket: usize, oldest: bool) -> Option<Packet<T>> {
        let lost = match oldest {
            true => self.store.pop_front(now, bucket),
            false => self.store.pop_back(now, bucket),
        };
        if self.held(bucket) == 0 {
            self.active.retain(|active| *active as usize != bucket);
        }
        lost.map(|(packet, _)| packet)
    }

    /// Moves all packets to `out`, bucket by bucket, each with the time that it has waited.
    pub(crate) fn drain(&mut self, now: Time, out: &mut Vec<(Packet<T>, Span)>) {
        for bucket in self.active.drain(..) {
            out.extend(std::iter::from_fn(|| self.store.pop_front(now, bucket as usize)));
        }
    }
}
