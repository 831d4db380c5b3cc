//! Copies of packets, with what they point to.

use super::Net;
use crate::packet::{Body, Packet, NO_SACK};

impl Net<'_> {
    /// Returns a copy of `packet` that owns what it points to, as the original does.
    pub(super) fn copy_of(&mut self, packet: &Packet) -> Packet {
        let body = match packet.body {
            Body::Ack { cumulative, tsecr, one_way_delay, sack, epoch, flags } if sack != NO_SACK => {
                let copy = self.sacks[sack as usize];
                let sack = self.sacks.insert(copy) as u32;
                Body::Ack { cumulative, tsecr, one_way_delay, sack, epoch, flags }
            }
            Body::Utp { head, payload, epoch } => Body::Utp { head: self.heads.copy(head), payload, epoch },
            Body::Whole { bytes, number, came_low, came_high } => {
                Body::Whole { bytes: self.heads.copy(bytes), number, came_low, came_high }
            }
            body => body,
        };
        Packet { body, ..*packet }
    }
}
