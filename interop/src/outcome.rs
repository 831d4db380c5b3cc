//! The outcome of a libutp peer.

use std::collections::BTreeMap;
use std::fmt;

use crate::packet::{Kind, Packet};

/// An error that libutp reported for the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UtpFailure {
    /// The other end refused the connection.
    Refused,
    /// The other end sent a reset.
    Reset,
    /// Nothing was answered for too long.
    TimedOut,
    /// A code that libutp does not document.
    Other(i32),
}

/// Why the peer's loop ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The connection is over: closed on both sides as asked, or failed.
    Done,
    /// [`crate::Job::deadline`] passed first.
    Deadline,
    /// The handle was dropped, its `join` gave up, or `stop` was called.
    Stopped,
}

/// Datagrams in one direction.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// Datagrams that went through.
    pub packets: u64,
    /// Their UDP payload, in bytes.
    pub bytes: u64,
    /// Datagrams thrown away on purpose (see [`crate::Loss`]).
    pub dropped: u64,
    /// Datagrams that the system did not take.
    pub failed: u64,
    /// How many datagrams there were of each uTP type: data, fin, state,
    /// reset, syn.
    pub by_type: [u64; 5],
    /// How many datagrams there were of each UDP payload size in bytes.
    pub by_size: BTreeMap<usize, u64>,
    /// The longest selective ack in them, in bytes; SYNs do not count.
    pub longest_sack: usize,
    /// How far data and FINs were beyond the ack that libutp had sent last, in
    /// packets. libutp throws away what is more than 1024 beyond. Only for
    /// what libutp gets.
    pub furthest_ahead: u16,
}

impl Traffic {
    /// Counts a datagram; `acked` is the ack that its sender can have seen.
    pub(crate) fn count(&mut self, datagram: &[u8], acked: Option<u16>) {
        self.look_into(datagram, acked);
        self.packets += 1;
        self.bytes += datagram.len() as u64;
        *self.by_size.entry(datagram.len()).or_default() += 1;
        let kind = datagram.first().map(|b| usize::from(b >> 4));
        if let Some(n) = kind.and_then(|k| self.by_type.get_mut(k)) {
            *n += 1;
        }
    }

    fn look_into(&mut self, datagram: &[u8], acked: Option<u16>) {
        let Some(packet) = Packet::decode(datagram).filter(|p| p.kind != Kind::Syn) else {
            return;
        };
        self.longest_sack = self.longest_sack.max(packet.sack().map_or(0, <[u8]>::len));
        let Some(acked) = acked.filter(|_| matches!(packet.kind, Kind::Data | Kind::Fin)) else {
            return;
        };
        let ahead = packet.seq_nr.wrapping_sub(acked);
        // The upper half of the numbers is what was acked long ago.
        if ahead < 1 << 15 {
            self.furthest_ahead = self.furthest_ahead.max(ahead);
        }
    }
}

/// The events at one libutp end.
#[derive(Clone, PartialEq, Eq)]
pub struct Outcome {
    /// All bytes that libutp delivered in order.
    pub received: Vec<u8>,
    /// Bytes of [`crate::Job::send`] that libutp took; not all need be acked.
    pub written: usize,
    /// Whether the connection came up. An accepting libutp is up only when the
    /// first data has arrived, not at the SYN.
    pub connected: bool,
    /// Whether the other end's FIN was reached, with everything before it.
    pub got_eof: bool,
    /// Whether libutp let go of the connection by itself after the close: the
    /// other end has acked everything up to our FIN.
    pub closed: bool,
    /// The error that libutp reported, if any.
    pub error: Option<UtpFailure>,
    /// Why the loop ended.
    pub ended: Ended,
    /// Datagrams sent by libutp.
    pub sent: Traffic,
    /// Datagrams handed to libutp.
    pub got: Traffic,
}

impl fmt::Debug for Outcome {
    // Leaves out the received bytes, which can be megabytes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Outcome")
            .field("received_len", &self.received.len())
            .field("written", &self.written)
            .field("connected", &self.connected)
            .field("got_eof", &self.got_eof)
            .field("closed", &self.closed)
            .field("error", &self.error)
            .field("ended", &self.ended)
            .field("sent", &self.sent)
            .field("got", &self.got)
            .finish()
    }
}
