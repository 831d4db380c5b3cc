//! Packets as the simulator carries them: by value, without payload, 32 bytes.

use afteryou_aqm::Packet as Queued;

/// A packet on its way.
pub type Packet = Queued<Body>;

/// What a packet says. Sequence numbers count segments, not bytes, and are the low 32 bits of the real ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    /// Opens a TCP connection.
    Syn {
        /// Which connection of the flow.
        epoch: u8,
    },
    /// Answers a SYN.
    SynAck {
        /// Which connection of the flow.
        epoch: u8,
    },
    /// A segment of data.
    Data {
        /// Its number.
        seq: u32,
        /// Sender's clock when it left, µs.
        tsval: u32,
        /// Payload, bytes.
        len: u16,
        /// Which connection of the flow.
        epoch: u8,
        /// Which transmission of this segment it is, from 1, at most 127; the top bit says CWR (RFC 3168).
        transmission: u8,
    },
    /// A TCP acknowledgement.
    Ack {
        /// Every segment below this has arrived.
        cumulative: u32,
        /// The echoed `tsval` (RFC 7323 §4).
        tsecr: u32,
        /// Receiver's clock minus the echoed one, µs.
        one_way_delay: u32,
        /// Slot of the SACK blocks, or [`NO_SACK`].
        sack: u32,
        /// Which connection of the flow.
        epoch: u8,
        /// [`ECE`] and [`DSACK`].
        flags: u8,
    },
    /// A uTP datagram.
    Utp {
        /// Slot of its header.
        head: u32,
        /// Payload, bytes.
        payload: u32,
        /// Which connection of the flow.
        epoch: u8,
    },
    /// A datagram of constant-rate traffic.
    Cbr {
        /// When it left: low half of the ns.
        sent_low: u32,
        /// High half.
        sent_high: u32,
    },
}

/// The ack has no SACK blocks.
pub const NO_SACK: u32 = u32::MAX;
/// Flag of an ack: congestion experienced (RFC 3168).
pub const ECE: u8 = 1;
/// Flag of an ack: a segment came twice (RFC 2883).
pub const DSACK: u8 = 2;
/// In `transmission`: congestion window reduced (RFC 3168).
pub const CWR: u8 = 0x80;

const _: () = assert!(std::mem::size_of::<Packet>() <= 32, "packets are copied often");

/// Most blocks in an ack that carries timestamps (RFC 2018 §3).
pub const SACK_BLOCKS: usize = 3;

/// SACK blocks: first segment and the one after the last, low 32 bits each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sack {
    /// The blocks; the first one holds the newest segment.
    pub blocks: [(u32, u32); SACK_BLOCKS],
    /// How many.
    pub count: u8,
}

impl Sack {
    /// Its blocks.
    pub fn blocks(&self) -> &[(u32, u32)] {
        &self.blocks[..usize::from(self.count)]
    }
}

/// Values that packets refer to by number.
#[derive(Debug, Default)]
pub struct Slab<T> {
    values: Vec<T>,
    free: Vec<u32>,
}

impl<T: Default> Slab<T> {
    /// A slot, with whatever its last user left in it.
    pub fn take(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.values.push(T::default());
            self.values.len() as u32 - 1
        })
    }

    /// The value in a slot.
    pub fn get(&self, slot: u32) -> &T {
        &self.values[slot as usize]
    }

    /// The value in a slot.
    pub fn get_mut(&mut self, slot: u32) -> &mut T {
        &mut self.values[slot as usize]
    }

    /// Gives a slot back.
    pub fn give(&mut self, slot: u32) {
        self.free.push(slot);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slot_given_back_is_taken_again() {
        let mut slab = Slab::<u32>::default();
        let first = slab.take();
        *slab.get_mut(first) = 7;
        let second = slab.take();
        assert_ne!(first, second);
        slab.give(first);
        assert_eq!(slab.take(), first);
        assert_eq!(*slab.get(first), 7);
    }
}
