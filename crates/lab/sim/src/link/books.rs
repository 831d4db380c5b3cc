//! The books of a link: packets that have come, and their fates.

use crate::packet::Packet;
use afteryou_scenario::outcome::{Ledger, Packets};

/// Bytes and packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amount {
    /// Bytes.
    pub bytes: u64,
    /// Packets.
    pub packets: u64,
}

impl Amount {
    /// Adds one more packet.
    #[inline]
    pub fn add(&mut self, packet: &Packet) {
        self.bytes += u64::from(packet.size);
        self.packets += 1;
    }

    /// Subtracts one packet.
    pub fn subtract(&mut self, packet: &Packet) {
        self.bytes -= u64::from(packet.size);
        self.packets -= 1;
    }
}

/// Counts of arrivals and of their fates, each taken where it happens. [Wires](super::Lines) count what they deliver.
#[derive(Clone, Copy, Debug, Default)]
// In this order: what every packet changes comes first.
#[repr(C)]
pub(super) struct Books {
    pub(super) arrived: Amount,
    pub(super) dropped: Amount,
    pub(super) lost: Amount,
    pub(super) duplicated: Amount,
}

impl Books {
    /// Returns the ledger of every byte, with those in the queue, on wires and delivered by them.
    pub(super) fn ledger(&self, queued: Amount, in_flight: Amount, delivered: Amount) -> Ledger {
        Ledger {
            arrived: self.arrived.bytes,
            delivered: delivered.bytes,
            dropped: self.dropped.bytes,
            lost: self.lost.bytes,
            queued: queued.bytes,
            in_flight: in_flight.bytes,
            duplicated: self.duplicated.bytes,
        }
    }

    /// Returns the count of every packet, with `unfinished` that are queued or on wires, and those delivered by wires.
    pub(super) fn packets(&self, unfinished: u64, delivered: Amount) -> Packets {
        Packets {
            arrived: self.arrived.packets,
            delivered: delivered.packets,
            dropped: self.dropped.packets,
            lost: self.lost.packets,
            unfinished,
            duplicated: self.duplicated.packets,
        }
    }
}
