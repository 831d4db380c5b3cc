//! Copies of packets, with what they point to.

use super::Net;
use crate::packet::{Body, Packet, NO_SACK};

impl Net {
    /// A copy of `packet` that owns what it points to, as the original does.
    pub(super) fn copy_of(&mut self, packet: &Packet) -> Packet {
        let body = match packet.body {
            Body::Ack { cumulative, tsecr, one_way_delay, sack, epoch, flags } if sack != NO_SACK => {
                let copy = self.sacks.take();
                *self.sacks.get_mut(copy) = *self.sacks.get(sack);
                Body::Ack { cumulative, tsecr, one_way_delay, sack: copy, epoch, flags }
            }
            Body::Utp { head, payload, epoch } => {
                let copy = self.heads.take();
                let bytes = self.heads.get(head).clone();
                *self.heads.get_mut(copy) = bytes;
                Body::Utp { head: copy, payload, epoch }
            }
            body => body,
        };
        Packet { body, ..*packet }
    }
}
