//! Receivers of a [line](crate::line): an honest one, and those that lie.

use afteryou_base::{Span, Time};
use afteryou_cc::Ack;

/// What became of a packet.
#[derive(Clone, Copy, Debug)]
pub struct Passage {
    pub sent: Time,
    /// Queue of the link that it met.
    pub queue: Span,
    /// When its ack arrives if the receiver is honest; none: it was dropped.
    pub acked: Option<Time>,
    /// Round-trip time of the path without a queue.
    pub base: Span,
    /// It was marked Congestion Experienced.
    pub marked: bool,
}

/// Pieces of an ack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pieces {
    /// One ack for a packet.
    Whole,
    /// So many acks for a packet, each of a part of it.
    Divided(u64),
    /// So many acks for a packet; all but the last one have no news.
    Copied(u64),
}

impl Pieces {
    /// Returns the number of acks for a packet.
    pub fn count(self) -> u64 {
        match self {
            Pieces::Whole => 1,
            Pieces::Divided(count) | Pieces::Copied(count) => count,
        }
    }

    /// Returns the bytes that each but the last one acknowledges, of a packet of `bytes`.
    pub fn bytes(self, bytes: u64) -> u64 {
        match self {
            Pieces::Divided(count) => bytes / count,
            Pieces::Whole | Pieces::Copied(_) => 0,
        }
    }
}

type When = Box<dyn FnMut(&Passage) -> Option<Time>>;
type Says = Box<dyn FnMut(&mut Ack, &Passage)>;

/// What a receiver makes of the truth.
pub struct Receiver {
    /// Returns when the ack of a packet arrives.
    pub when: When,
    /// Changes its reports.
    pub says: Says,
    pub pieces: Pieces,
}

impl Default for Receiver {
    fn default() -> Receiver {
        Receiver { when: Box::new(|packet| packet.acked), says: Box::new(|_, _| {}), pieces: Pieces::Whole }
    }
}

impl Receiver {
    /// Returns a receiver that acknowledges at other times.
    pub fn acks(when: impl FnMut(&Passage) -> Option<Time> + 'static) -> Receiver {
        Receiver { when: Box::new(when), ..Receiver::default() }
    }

    /// Returns a receiver that acknowledges in time, and says something else.
    pub fn says(says: impl FnMut(&mut Ack, &Passage) + 'static) -> Receiver {
        Receiver { says: Box::new(says), ..Receiver::default() }
    }
}
