//! What has arrived beyond a gap and waits for it to be filled.

use super::bit_ring::{BitRing, SPAN};
use crate::sack::{self, MAX_LEN};
use bytes::BytesMut;
use std::collections::VecDeque;

/// Packets that may wait behind a gap. Less than half of the sequence space, so that old and new stay apart.
pub const MAX_REORDER: usize = SPAN;

/// One packet's payload, or how long it was.
#[derive(Debug, PartialEq, Eq)]
pub enum Held {
    /// The payload.
    Kept(BytesMut),
    /// Its length, bytes: nobody is going to read it.
    Counted(u32),
}

impl Held {
    /// Length of the payload.
    pub fn bytes(&self) -> u64 {
        match self {
            Held::Kept(payload) => payload.len() as u64,
            Held::Counted(len) => u64::from(*len),
        }
    }
}

/// Slots from the next packet in order on; empty if nothing is out of order.
#[derive(Debug)]
pub struct Reorder {
    /// The next packet in order, by its index in the connection's life.
    next: u64,
    arrived: BitRing,
    slots: Slots,
}

#[derive(Debug)]
enum Slots {
    Kept(VecDeque<BytesMut>),
    Counted(VecDeque<u32>),
}

impl Reorder {
    /// Keeps payloads, or counts their lengths.
    pub fn new(keep: bool) -> Reorder {
        let slots = if keep { Slots::Kept(VecDeque::new()) } else { Slots::Counted(VecDeque::new()) };
        Reorder { next: 0, arrived: BitRing::default(), slots }
    }

    /// What is held of this payload.
    pub fn hold(&self, payload: &[u8]) -> Held {
        match self.slots {
            Slots::Kept(_) => Held::Kept(BytesMut::from(payload)),
            Slots::Counted(_) => Held::Counted(payload.len() as u32),
        }
    }

    /// Are payloads counted only?
    pub fn only_counts(&self) -> bool {
        matches!(self.slots, Slots::Counted(_))
    }

    /// Is nothing out of order?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Packets from the next one in order to the newest that has arrived.
    pub fn len(&self) -> usize {
        match &self.slots {
            Slots::Kept(slots) => slots.len(),
            Slots::Counted(slots) => slots.len(),
        }
    }

    /// Has the packet arrived that is `ahead` packets beyond the next one?
    pub fn contains(&self, ahead: usize) -> bool {
        ahead < self.len() && self.arrived.contains(self.next + ahead as u64)
    }

    /// Puts a packet into its slot.
    pub fn insert(&mut self, ahead: usize, payload: &[u8]) {
        let slots = self.len().max(ahead + 1);
        match &mut self.slots {
            Slots::Kept(kept) => {
                kept.resize_with(slots, BytesMut::new);
                kept[ahead] = BytesMut::from(payload);
            }
            Slots::Counted(counted) => {
                counted.resize(slots, 0);
                counted[ahead] = payload.len() as u32;
            }
        }
        self.arrived.insert(self.next + ahead as u64);
    }

    /// The next packet came when nothing was out of order: it needs no slot.
    pub fn pass(&mut self) {
        self.next += 1;
    }

    /// Takes the next packet in order, if it is there.
    pub fn pop(&mut self) -> Option<Held> {
        if !self.contains(0) {
            return None;
        }
        self.arrived.remove(self.next);
        self.next += 1;
        match &mut self.slots {
            Slots::Kept(slots) => slots.pop_front().map(Held::Kept),
            Slots::Counted(slots) => slots.pop_front().map(Held::Counted),
        }
    }

    /// Throws everything away and returns how many bytes that was.
    pub fn clear(&mut self) -> u64 {
        self.arrived = BitRing::default();
        match &mut self.slots {
            Slots::Kept(slots) => slots.drain(..).map(|payload| payload.len() as u64).sum(),
            Slots::Counted(slots) => slots.drain(..).map(u64::from).sum(),
        }
    }

    /// Writes the SACK bitmap and returns its length; none if nothing is out of order.
    pub fn sack(&self, mask: &mut [u8; MAX_LEN], long: bool) -> Option<usize> {
        if self.is_empty() {
            return None;
        }
        let word = |k: usize| self.arrived.word(self.next + 1 + k as u64);
        Some(sack::write_words(mask, self.len(), long, word))
    }
}
