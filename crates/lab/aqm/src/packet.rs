//! The fields of a packet that a queue sees.

use afteryou_base::Dscp;

/// The two ECN bits of the IP header (RFC 3168 §5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ecn {
    /// The sender does not understand marks.
    #[default]
    NotEct,
    /// ECN-capable, codepoint 0.
    Ect0,
    /// ECN-capable, codepoint 1 (L4S, RFC 9331).
    Ect1,
    /// Congestion experienced.
    Ce,
}

/// The two classes of low-priority-aware queues (RFC 8622); statistics are kept for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Everything that is not marked as lower effort.
    BestEffort,
    /// DSCP LE.
    LowerEffort,
}

impl Class {
    /// Both.
    pub const BOTH: [Class; 2] = [Class::BestEffort, Class::LowerEffort];
}

/// The hosts between which the packets of a flow travel, by number, as far as they are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hosts {
    /// The host that sends them.
    pub source: Option<u32>,
    /// The host that receives them.
    pub destination: Option<u32>,
}

/// A packet in a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<T> {
    /// Size on the link, bytes.
    pub size: u32,
    /// Which flow it belongs to; only its equality with other packets' counts.
    pub flow: u32,
    /// Differentiated services code point.
    pub dscp: Dscp,
    /// ECN bits.
    pub ecn: Ecn,
    /// A byte of the caller's own, where padding would be; queues keep it and do not read it.
    pub label: u8,
    /// The caller's own.
    pub body: T,
}

impl<T> Packet<T> {
    /// Returns a packet of `size` bytes whose class and ECN bits are those of an IP header's TOS (or traffic class) byte.
    pub fn from_tos(size: u32, flow: u32, tos: u8, body: T) -> Packet<T> {
        Packet { size, flow, dscp: Dscp::of_tos(tos), ecn: Ecn::from_bits(tos), label: 0, body }
    }

    /// Returns the packet's class.
    pub fn class(&self) -> Class {
        match self.dscp {
            Dscp::LE => Class::LowerEffort,
            _ => Class::BestEffort,
        }
    }

    /// Returns the IP header's TOS byte.
    pub fn tos(&self) -> u8 {
        self.dscp.tos(self.ecn.bits())
    }
}

impl Ecn {
    /// Reads the low two bits of `tos`.
    pub fn from_bits(tos: u8) -> Ecn {
        match tos & 3 {
            0 => Ecn::NotEct,
            1 => Ecn::Ect1,
            2 => Ecn::Ect0,
            _ => Ecn::Ce,
        }
    }

    /// Returns the two bits.
    pub fn bits(self) -> u8 {
        match self {
            Ecn::NotEct => 0,
            Ecn::Ect1 => 1,
            Ecn::Ect0 => 2,
            Ecn::Ce => 3,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_tos_byte_survives_and_le_is_0x04() {
        for tos in 0..=255 {
            assert_eq!(Packet::from_tos(1, 0, tos, ()).tos(), tos);
        }
        let le = |ecn| Packet { dscp: Dscp::LE, ecn, ..Packet::from_tos(1, 0, 0, ()) }.tos();
        assert_eq!([le(Ecn::NotEct), le(Ecn::Ect0), le(Ecn::Ce)], [0x04, 0x06, 0x07]);
    }
}
