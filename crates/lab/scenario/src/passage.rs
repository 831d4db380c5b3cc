//! Packets at links: what a capture at the transmitter of each link shows.
//!
//! An engine that looks at single packets reports one [`Passage`] for each packet at each link: when it begins to be sent, or
//! when it is dropped. It does so as soon as that is certain, which may be before the time. Formats for other programs are made
//! from these words alone, so they work with any such engine.

pub use afteryou_aqm::{DropReason, Ecn};
pub use afteryou_base::{Dscp as CodePoint, Time};

/// A packet at a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Passage<'a> {
    /// When the engine reports this: not after `at`, and nothing that it reports later has an earlier `at`. Early reports of
    /// one link come in the order of time.
    pub known: Time,
    /// The instant.
    pub at: Time,
    /// Index of the link in [`Network::links`](crate::Network::links).
    pub link: usize,
    /// Index of the flow in the scenario.
    pub flow: usize,
    /// A number that identifies the flow's connection.
    pub connection: u32,
    /// It goes from the receiver of the flow to its sender.
    pub is_reply: bool,
    /// Bytes that it takes on the link.
    pub size: u32,
    /// Its code point.
    pub dscp: CodePoint,
    /// Its ECN field, after the queue of this link.
    pub ecn: Ecn,
    /// The packet's outcome here.
    pub fate: Fate,
    /// The packet's contents.
    pub content: Content<'a>,
}

/// A packet's outcome at a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The link begins to send it.
    Sent,
    /// The queue dropped it.
    Dropped(DropReason),
    /// It was lost on the link: at random, or by the scenario's script.
    Lost,
}

/// A packet's contents. TCP's sequence numbers count segments; they are the low 32 bits of the real ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Content<'a> {
    /// Opens a TCP connection.
    Syn {
        /// The sender's clock, µs. It echoes none: nothing has arrived.
        tsval: u32,
    },
    /// Answers that.
    SynAck {
        /// The receiver's clock, µs.
        tsval: u32,
        /// The sender's clock that it echoes, µs.
        tsecr: u32,
    },
    /// A TCP segment.
    Segment {
        /// Its number, from 0.
        number: u32,
        /// Payload, bytes.
        payload: u16,
        /// The sender's clock, µs.
        tsval: u32,
        /// The receiver's clock that it echoes, µs: the newest that has arrived (RFC 7323 §4.3).
        tsecr: u32,
        /// Which transmission of it this is, from 1.
        transmission: u8,
        /// Congestion window reduced (RFC 3168).
        cwr: bool,
    },
    /// A TCP acknowledgement.
    Ack {
        /// Every segment below this has arrived.
        cumulative: u32,
        /// The receiver's clock, µs.
        tsval: u32,
        /// The sender's clock that it echoes, µs.
        tsecr: u32,
        /// SACK blocks: the first segment, and the one after the last.
        blocks: &'a [(u32, u32)],
        /// A mark is echoed (RFC 3168).
        ece: bool,
    },
    /// A uTP datagram.
    Utp {
        /// Its header with all extensions, as on the wire.
        head: &'a [u8],
        /// Payload, bytes.
        payload: u32,
    },
    /// A datagram of constant-rate traffic.
    Datagram {
        /// When it left its sender.
        sent: Time,
    },
    /// A real packet, which nobody here has made.
    Whole {
        /// From its IP header on, as it came to the link.
        packet: &'a [u8],
    },
}
