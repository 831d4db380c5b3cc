//! Numbers of the wire that wrap around: of packets, of connections, of clocks.

/// Number of a packet, modulo 2^16.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SeqNr(pub u16);

impl SeqNr {
    /// Returns the number of the packet after this one.
    #[inline]
    pub const fn next(self) -> SeqNr {
        self.plus(1)
    }

    /// Returns the number of the packet before this one.
    #[inline]
    pub const fn prev(self) -> SeqNr {
        self.minus(1)
    }

    /// Returns the number `packets` later.
    #[inline]
    pub const fn plus(self, packets: u16) -> SeqNr {
        SeqNr(self.0.wrapping_add(packets))
    }

    /// Returns the number `packets` earlier.
    #[inline]
    pub const fn minus(self, packets: u16) -> SeqNr {
        SeqNr(self.0.wrapping_sub(packets))
    }

    /// Returns how many packets this one is after `other`, forward around the circle.
    #[inline]
    pub const fn since(self, other: SeqNr) -> u16 {
        self.0.wrapping_sub(other.0)
    }
}

/// Id of a connection in one direction, modulo 2^16. That of the other direction is next to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ConnectionId(pub u16);

impl ConnectionId {
    /// Returns the id after this one.
    #[inline]
    pub const fn next(self) -> ConnectionId {
        ConnectionId(self.0.wrapping_add(1))
    }

    /// Returns the id before this one.
    #[inline]
    pub const fn prev(self) -> ConnectionId {
        ConnectionId(self.0.wrapping_sub(1))
    }
}

/// A clock's reading, or the difference of two, in µs modulo 2^32.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Micros(pub u32);

impl Micros {
    /// Returns the sum, around the circle.
    #[inline]
    pub const fn plus(self, other: Micros) -> Micros {
        Micros(self.0.wrapping_add(other.0))
    }

    /// Returns the difference, around the circle.
    #[inline]
    pub const fn minus(self, other: Micros) -> Micros {
        Micros(self.0.wrapping_sub(other.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_wrap_around() {
        assert_eq!((SeqNr(u16::MAX).next(), SeqNr(0).prev()), (SeqNr(0), SeqNr(u16::MAX)));
        assert_eq!((SeqNr(2).since(SeqNr(65_534)), ConnectionId(0).prev().next()), (4, ConnectionId(0)));
        assert_eq!(Micros(5).minus(Micros(u32::MAX)).plus(Micros(4)), Micros(10));
    }
}
