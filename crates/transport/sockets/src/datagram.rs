//! Datagrams and their control messages.

use std::net::{IpAddr, SocketAddr};
use std::time::{Duration, SystemTime};

/// The features that a program requests of its socket. The socket omits those that the kernel does not have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// The socket's own byte: datagrams that name the same one need no control message.
    pub own_tos: Option<u8>,
    /// Report the TOS or traffic-class byte of each datagram received.
    pub tos: bool,
    /// Report the address that each datagram was sent to.
    pub destination: bool,
    /// Report when the kernel received each datagram. Linux turns stamping on a moment after the first socket of the
    /// machine has asked; until then it is the time of the reading.
    pub arrival: bool,
    /// Report how many datagrams the socket has dropped because its buffer was full.
    pub drops: bool,
    /// Receive several datagrams of one peer as one buffer (GRO), which must have room for 64 KiB. Some platforms do so
    /// unasked: read [`Incoming::datagrams`].
    pub batches: bool,
    /// Refuse datagrams larger than the path instead of cutting them into fragments.
    pub whole: bool,
    /// Keep the reports of routers that a datagram was too long: read them with `Control::take_too_big` after each error.
    pub reports: bool,
}

/// A report that a datagram was too long: from a router by ICMP, or from this machine about its own interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooBig {
    /// The peer that the datagram was for.
    pub to: SocketAddr,
    /// The longest IP packet that passes, bytes.
    pub mtu: u32,
}

/// A datagram to send, or several of one size.
#[derive(Clone, Copy, Debug)]
pub struct Outgoing<'a> {
    /// The peer.
    pub to: SocketAddr,
    /// The TOS or traffic-class byte: DSCP in the upper six bits, ECN in the lower two.
    pub tos: u8,
    /// The content; of several datagrams, one after the other.
    pub payload: &'a [u8],
    /// Bytes of each of several datagrams; the last one may be smaller (GSO). None: a single datagram.
    pub segment: Option<usize>,
    /// The address of this machine to send from; none leaves it to the routes.
    pub from: Option<IpAddr>,
}

impl<'a> Outgoing<'a> {
    /// Creates a single unmarked datagram.
    pub fn new(to: SocketAddr, payload: &'a [u8]) -> Outgoing<'a> {
        Outgoing { to, tos: 0, payload, segment: None, from: None }
    }

    /// Returns the size of the parts, if there are several.
    pub(crate) fn parts(&self) -> Option<usize> {
        self.segment.filter(|size| (1..self.payload.len()).contains(size))
    }
}

/// A datagram received, or several of one size from the same peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Incoming {
    /// The peer.
    pub from: SocketAddr,
    /// Bytes in the buffer.
    pub bytes: usize,
    /// Bytes of each datagram in the buffer; the last one may be smaller.
    pub stride: usize,
    /// The TOS or traffic-class byte, where the platform reports it.
    pub tos: Option<u8>,
    /// The two ECN bits, which some platforms report without the rest of the byte.
    pub ecn: Option<u8>,
    /// The address that it was sent to.
    pub to: Option<IpAddr>,
    /// When the kernel received it, by the wall clock.
    pub arrived: Option<SystemTime>,
    /// Datagrams that this socket has dropped since it was opened. It counts on from zero after 2³².
    pub dropped: Option<u32>,
}

impl Incoming {
    /// Returns a single datagram of which nothing more is known.
    pub fn one(from: SocketAddr, bytes: usize) -> Incoming {
        Incoming { from, bytes, stride: bytes, tos: None, ecn: None, to: None, arrived: None, dropped: None }
    }

    /// Returns the datagrams in the buffer that this came with.
    pub fn datagrams<'a>(&self, buffer: &'a [u8]) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        let (whole, stride) = (&buffer[..self.bytes.min(buffer.len())], self.stride);
        // An empty datagram is one, too.
        let count = if stride == 0 { 1 } else { whole.len().div_ceil(stride).max(1) };
        (0..count).map(move |index| {
            let from = index * stride;
            let to = if index + 1 == count { whole.len() } else { from + stride };
            &whole[from..to]
        })
    }

    /// Returns how long ago it arrived. The wall clock may be set at any time: a difference below zero counts as none.
    pub fn age(&self, now: SystemTime) -> Option<Duration> {
        self.arrived.map(|arrived| now.duration_since(arrived).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_datagram_is_in_parts_only_if_it_is_larger_than_one() {
        let to = SocketAddr::from(([127, 0, 0, 1], 9));
        let parts = |segment| Outgoing { segment, ..Outgoing::new(to, &[0; 100]) }.parts();
        assert_eq!(
            [None, Some(0), Some(100), Some(200), Some(99)].map(parts),
            [None, None, None, None, Some(99)]
        );
    }

    #[test]
    fn a_clock_that_was_set_back_makes_no_negative_age() {
        let from = SocketAddr::from(([127, 0, 0, 1], 9));
        let at = SystemTime::UNIX_EPOCH + Duration::from_secs(100);
        let incoming = Incoming { arrived: Some(at), ..Incoming::one(from, 0) };
        assert_eq!(incoming.age(at + Duration::from_millis(3)), Some(Duration::from_millis(3)));
        assert_eq!(incoming.age(at - Duration::from_secs(1)), Some(Duration::ZERO));
        assert_eq!(Incoming { arrived: None, ..incoming }.age(at), None);
    }

    #[test]
    fn a_buffer_holds_datagrams_of_one_size_and_a_smaller_last_one() {
        let from = SocketAddr::from(([127, 0, 0, 1], 9));
        let sizes = |bytes, stride| {
            let incoming = Incoming { stride, ..Incoming::one(from, bytes) };
            incoming.datagrams(&[0; 30]).map(<[u8]>::len).collect::<Vec<_>>()
        };
        assert_eq!(sizes(25, 10), [10, 10, 5]);
        assert_eq!(sizes(20, 10), [10, 10]);
        assert_eq!(sizes(7, 7), [7]);
        assert_eq!(sizes(7, 0), [7]);
        assert_eq!(sizes(0, 0), [0]);
        assert_eq!(sizes(99, 99), [30], "a buffer that was too small");
    }
}
