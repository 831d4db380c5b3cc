//! Differentiated services code points: the six upper bits of the TOS or traffic-class byte (RFC 2474).

/// The class that packets claim in their IP headers.
///
/// ```
/// use afteryou_base::Dscp;
///
/// assert_eq!(Dscp::new(1), Some(Dscp::LE));
/// assert_eq!(Dscp::new(64), None, "seven bits");
/// // ECT(0) in the two bits below.
/// assert_eq!(Dscp::LE.tos(0b10), 0b000001_10);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Dscp(u8);

impl Dscp {
    /// Best effort, the default (RFC 2474 §4.1).
    pub const DEFAULT: Dscp = Dscp(0);
    /// Lower effort: yields to all other traffic where the network supports it (RFC 8622).
    pub const LE: Dscp = Dscp(0b00_0001);
    /// Class selector 1, which background traffic used before there was a class for it (RFC 3662).
    pub const CS1: Dscp = Dscp(0b00_1000);
    /// The largest code point.
    pub const MAX: Dscp = Dscp(0b11_1111);

    /// Code points that have a name in scenarios and on the command line.
    pub const NAMES: [(&'static str, Dscp); 3] =
        [("default", Dscp::DEFAULT), ("le", Dscp::LE), ("cs1", Dscp::CS1)];

    /// Returns the code point of these six bits; none if there are more.
    pub const fn new(bits: u8) -> Option<Dscp> {
        match bits <= Dscp::MAX.0 {
            true => Some(Dscp(bits)),
            false => None,
        }
    }

    /// Returns the code point in a TOS or traffic-class byte.
    pub const fn of_tos(tos: u8) -> Dscp {
        Dscp(tos >> 2)
    }

    /// Returns the six bits.
    pub const fn bits(self) -> u8 {
        self.0
    }

    /// Returns the TOS or traffic-class byte with these two ECN bits.
    pub const fn tos(self, ecn: u8) -> u8 {
        self.0 << 2 | ecn & 0b11
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_byte_is_a_code_point_and_two_bits() {
        for tos in 0..=255 {
            assert_eq!(Dscp::of_tos(tos).tos(tos & 0b11), tos);
            assert_eq!(Dscp::new(tos).map(Dscp::bits), (tos < 64).then_some(tos));
        }
    }
}
