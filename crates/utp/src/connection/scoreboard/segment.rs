//! One packet on the scoreboard.

use super::Body;
use afteryou_cc::Time;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Status {
    InFlight,
    /// Overtaken, but too far ahead for the bitmap to tell: it has left the network, by arriving or by getting lost.
    Overtaken,
    Lost,
    Sacked,
}

/// One packet.
#[derive(Debug)]
pub(super) struct Segment {
    pub body: Body,
    pub status: Status,
    /// Its newest transmission, or the one before, was known to be missing and taken for lost.
    pub declared_lost: bool,
    pub transmissions: u32,
    pub newest: Flight,
}

/// One transmission of a packet, and how things stood when it left.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flight {
    pub packet_number: u64,
    pub sent_at: Time,
    pub app_limited: bool,
    pub delivered: u64,
    pub delivered_at: Time,
    pub in_flight: u64,
}

impl Segment {
    /// Neither acknowledged nor declared lost.
    pub fn is_missing(&self) -> bool {
        matches!(self.status, Status::InFlight | Status::Overtaken)
    }
}

/// What is to be known of a packet that has arrived, without what it carries.
#[derive(Clone, Copy, Debug)]
pub(super) struct Delivered {
    pub bytes: u64,
    pub status: Status,
    pub declared_lost: bool,
    pub transmissions: u32,
    pub newest: Flight,
}

impl From<&Segment> for Delivered {
    fn from(segment: &Segment) -> Delivered {
        let Segment { ref body, status, declared_lost, transmissions, newest } = *segment;
        Delivered { bytes: body.payload_len(), status, declared_lost, transmissions, newest }
    }
}
