//! Copies of packets, with what they point to.

use super::Net;
use crate::packet::{Body, Packet, NO_SACK};

impl Net<'_> {
    /// A copy of `packet` that owns what it points to, as the original does.
    pub(super) fn copy_of(&mut self, packet: &Packet) -> Packet {
        let mut copy = *packet;
        match &mut copy.body {
            Body::Ack { sack, .. } if *sack != NO_SACK => {
                let blocks = self.sacks[*sack as usize];
                *sack = self.sacks.insert(blocks) as u32;
            }
            Body::Utp { head, .. } => {
                let bytes = self.heads.get(*head).to_vec();
                self.heads.next().extend_from_slice(&bytes);
                *head = self.heads.keep();
            }
            _ => {}
        }
        copy
    }
}
