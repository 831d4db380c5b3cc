//! Packets and transmissions as the scoreboard keeps them. A thousand flows with large windows stay small.

use crate::delivery::Stamp;
use afteryou_base::Time;

pub(super) const SACKED: u8 = 1;
pub(super) const LOST: u8 = 2;
/// The newest transmission, or the lost one that it repeats, was known to be missing and taken for lost.
pub(super) const DECLARED: u8 = 4;
/// Overtaken by enough packets to have left the network, but out of reach of the receiver's report: it has arrived or is lost.
pub(super) const OVERTAKEN: u8 = 8;
/// Taken for lost because the retransmission timer expired.
pub(super) const TIMED_OUT: u8 = 16;

/// A packet that was sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segment {
    /// Low bits of the number of its newest transmission.
    pub number: u32,
    /// Payload, bytes.
    pub len: u16,
    /// [`SACKED`], [`LOST`], [`OVERTAKEN`], none of them: in flight; [`DECLARED`].
    pub state: u8,
    /// Transmissions so far, at most 127.
    pub transmissions: u8,
}

impl Segment {
    pub fn is_in_flight(&self) -> bool {
        self.state & (SACKED | LOST | OVERTAKEN) == 0
    }

    /// Returns whether it was sent once and is in flight.
    #[inline]
    pub fn is_plain(&self) -> bool {
        (self.state, self.transmissions) == (0, 1)
    }
}

/// A transmission whose packet has not arrived, or a later one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Transmission {
    pub sent_at: Time,
    /// Low bits of the packet's number.
    pub seq: u32,
    pub app_limited: bool,
}

const _: () = assert!(size_of::<Segment>() == 8 && size_of::<Transmission>() == 16);

/// One transmission of a packet, and the sender's state when it left.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Flight {
    /// Its number: the first transmission of the connection is 0, each later one has the next number.
    pub number: u64,
    /// Which packet of the connection it carries.
    pub seq: u64,
    /// Payload, bytes.
    pub bytes: u64,
    /// When it left.
    pub sent_at: Time,
    /// The application limited the sender: it may not widen the window.
    pub app_limited: bool,
    /// The sender's state when it left; zeros unless the scoreboard keeps stamps.
    pub stamp: Stamp,
}
