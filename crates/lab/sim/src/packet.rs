//! Packets as the simulator carries them: by value, without payload, 32 bytes.

use afteryou_aqm::Packet as Queued;
use afteryou_utp::SeqNr;
use slab::Slab;

/// A packet in flight. Its label is the number of its hop.
pub type Packet = Queued<Body>;

/// A packet's contents. Sequence numbers count segments, not bytes, and are the low 32 bits of the real ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Body {
    /// Opens a TCP connection.
    Syn {
        /// Sender's clock when it left, µs.
        tsval: u32,
        /// Which connection of its number.
        epoch: u16,
    },
    /// Answers a SYN.
    SynAck {
        /// Receiver's clock when it left, µs.
        tsval: u32,
        /// The SYN's `tsval`.
        tsecr: u32,
        /// Window that the receiver announces, bytes, or [`NO_WINDOW`].
        window: u32,
        /// Which connection of its number.
        epoch: u16,
    },
    /// A segment of data.
    Data {
        /// The segment's number.
        seq: u32,
        /// Sender's clock when it left, µs.
        tsval: u32,
        /// The newest clock of the receiver that has arrived, µs (RFC 7323 §4.3).
        tsecr: u32,
        /// Payload, bytes.
        len: u16,
        /// Which connection of its number.
        epoch: u16,
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
        /// Slot of the SACK blocks and the announced window, or [`NO_SACK`].
        sack: u32,
        /// Which connection of its number.
        epoch: u16,
        /// [`ECE`] or nothing.
        flags: u8,
    },
    /// A uTP datagram.
    Utp {
        /// Slot of its header.
        head: u32,
        /// Payload, bytes.
        payload: u32,
        /// Which connection of its number.
        epoch: u16,
    },
    /// A datagram of constant-rate traffic.
    Cbr {
        /// When it left: low half of the ns.
        sent_low: u32,
        /// High half.
        sent_high: u32,
    },
    /// A packet of somebody else, all of it.
    Whole {
        /// Slot of its bytes.
        bytes: u32,
        /// Its number among its connection's data packets, from 1; 0 of packets without data.
        number: u32,
        /// When it came: low half of the ns.
        came_low: u32,
        /// High half.
        came_high: u32,
    },
}

impl Body {
    /// Returns whether it carries data of a sender with a window.
    pub fn is_data(&self) -> bool {
        matches!(self, Body::Data { .. } | Body::Utp { payload: 1.., .. } | Body::Whole { number: 1.., .. })
    }
}

/// The ack has no SACK blocks, and announces no other window than before.
pub const NO_SACK: u32 = u32::MAX;
/// The window stays as it was.
pub const NO_WINDOW: u32 = u32::MAX;
/// Flag of an ack: congestion experienced (RFC 3168).
pub const ECE: u8 = 1;
/// In `transmission`: congestion window reduced (RFC 3168).
pub const CWR: u8 = 0x80;

const _: () = assert!(std::mem::size_of::<Packet>() <= 32, "packets are copied often");

/// Most blocks in an ack that carries timestamps (RFC 2018 §3).
pub const SACK_BLOCKS: usize = 3;

/// SACK blocks: first segment and the one after the last, low 32 bits each. The announced window is beside them, since few
/// acknowledgements have one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sack {
    /// The blocks. The first one holds the newest segment, or the one that came twice (RFC 2883): that is below the
    /// cumulative acknowledgement or within the second block.
    pub blocks: [(u32, u32); SACK_BLOCKS],
    /// The number of blocks.
    pub count: u8,
    /// Window that the receiver announces, bytes, or [`NO_WINDOW`].
    pub window: u32,
}

impl Default for Sack {
    fn default() -> Sack {
        Sack { blocks: Default::default(), count: 0, window: NO_WINDOW }
    }
}

impl Sack {
    /// Returns the option's blocks.
    pub fn blocks(&self) -> &[(u32, u32)] {
        &self.blocks[..usize::from(self.count)]
    }
}

/// Headers that uTP datagrams point to. Their buffers are used again: a datagram costs no allocation, and a run over uTP 0.5 %
/// more instructions than with slots that keep their buffers. A buffer taken for each datagram, sent or not, costs 1 %.
#[derive(Debug, Default)]
pub struct Heads {
    live: Slab<Vec<u8>>,
    spare: Vec<Vec<u8>>,
    /// The next header to be kept.
    next: Vec<u8>,
}

impl Heads {
    /// Returns an empty buffer for the next header.
    pub fn next(&mut self) -> &mut Vec<u8> {
        self.next.clear();
        &mut self.next
    }

    /// Keeps the next header, and returns its slot.
    pub fn keep(&mut self) -> u32 {
        let spare = self.spare.pop().unwrap_or_default();
        self.live.insert(std::mem::replace(&mut self.next, spare)) as u32
    }

    /// Returns the header in a slot.
    pub fn get(&self, slot: u32) -> &[u8] {
        &self.live[slot as usize]
    }

    /// Keeps a copy of the header in a slot, and returns the copy's slot.
    pub fn copy(&mut self, slot: u32) -> u32 {
        let mut copy = self.spare.pop().unwrap_or_default();
        copy.clear();
        copy.extend_from_slice(self.get(slot));
        self.live.insert(copy) as u32
    }

    /// Returns the header in a slot, which becomes free.
    pub fn remove(&mut self, slot: u32) -> Vec<u8> {
        self.live.remove(slot as usize)
    }

    /// Takes a buffer back.
    pub fn recycle(&mut self, buffer: Vec<u8>) {
        self.spare.push(buffer);
    }
}

/// First sequence number of a uTP connection: any will do, and the same one every time.
pub const FIRST_SEQ: SeqNr = SeqNr(1);

/// Returns the low bits of a data packet's number, from 1, as its header has it.
pub fn number_in(head: &[u8]) -> u16 {
    let seq_nr = head.get(16..18).map_or(0, |seq| u16::from_be_bytes([seq[0], seq[1]]));
    SeqNr(seq_nr).since(FIRST_SEQ) // the first data packet follows the SYN's number
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_taken_back_is_empty_and_the_next_header_allocates_nothing() {
        let mut heads = Heads::default();
        heads.next().extend([7; 20]);
        let place = heads.next.as_ptr();
        let slot = heads.keep();
        let first = heads.remove(slot);
        assert_eq!(first, [7; 20]);
        heads.recycle(first);
        assert_eq!(heads.keep(), slot);
        assert!(heads.next().is_empty() && heads.next.as_ptr() == place);
    }
}
