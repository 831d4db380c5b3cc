//! uTP's scoreboard: the sender's [`Board`] with payloads, sequence numbers of 16 bits and bitmaps.
//!
//! Losses are found in the order of *transmissions*, not of sequence numbers: each transmission has a packet number of
//! its own. A packet is lost once one sent [`PACKET_THRESHOLD`] transmissions later has arrived, or one sent later at
//! all and enough time has passed. Where packets were seen to overtake one another only time counts. A retransmission that is lost is found the same way one round trip later, so a
//! window with 1 500 losses needs no timeout (RFC 9002 §6.1, RFC 8985; seed of the idea for uTP: the "maxTA" rule of
//! libutp-mod). A packet is judged only if the bitmap reaches it: what lies beyond a short bitmap may well have
//! arrived.
//!
//! That is [`Recovery::Modern`]. The other ways of recovery find losses by a scan of each bitmap, see `libutp_scan.rs`.

mod libutp_scan;
mod losses;
mod probes;
mod sending;

use super::bit_ring::BitRing;
use crate::numbers::SeqNr;
use crate::recovery::Recovery;
use crate::sack::Sack;
use afteryou_base::{Span, Time};
use afteryou_cc::Needs;
use afteryou_sender::board::{Taken, Timing};
use afteryou_sender::{Board, Congestion, Flight};
use libutp_scan::Scan;
use probes::Probe;
use std::collections::{BTreeSet, VecDeque};

/// Transmissions that may overtake one another before a packet counts as lost (RFC 9002 §6.1.1).
pub const PACKET_THRESHOLD: u64 = 3;

/// Places for payloads that stay when nothing is outstanding.
const SPARE_BODIES: usize = 64;
/// Overhead of a payload in memory, bytes.
const OVERHEAD: usize = 64;

/// A packet's content.
#[derive(Debug)]
pub enum Body {
    /// Payload.
    Data(Vec<u8>),
    /// Payload of this many zeros.
    Zeros(u32),
    /// The end of the direction.
    Fin,
}

/// A packet found lost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LostPacket {
    /// The lost transmission.
    pub flight: Flight,
    /// The controller is to take it for a sign of congestion.
    pub is_signal: bool,
}

/// The next packet to send again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NextLost {
    /// Payload, bytes.
    pub bytes: u64,
    /// The condition that it waits for.
    pub release: Release,
}

/// The condition for sending a packet again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Release {
    /// Room in the window, and its turn.
    Window,
    /// Its turn, when packets are spread over the round trip.
    Pacing,
    /// Nothing.
    Now,
}

/// Packets from the oldest unacknowledged one on. Within, a packet is named by its index in the connection's life.
#[derive(Debug)]
pub struct Scoreboard {
    board: Board,
    /// Payload of each packet on the board.
    bodies: VecDeque<Body>,
    /// Payloads that have left the board, until [`take_arrived`](Scoreboard::take_arrived).
    arrived: Vec<Vec<u8>>,
    /// Sequence number of the front.
    first_seq: SeqNr,
    /// Lost packets that go at once.
    urgent: BTreeSet<u64>,
    /// Packets that were acknowledged out of order.
    sacked: BitRing,
    /// Probes of which it is not known yet whether they repaired a loss.
    probes: Vec<Probe>,
    /// How losses are found, if not by the order of transmissions.
    scan: Option<Scan>,
    /// The newest bitmap reaches packets below this index.
    visible_until: u64,
    /// A list that [`detect_losses`](Scoreboard::detect_losses) fills, kept for its memory.
    found: Vec<Flight>,
}

impl Body {
    /// Returns the length of the payload, bytes.
    pub fn payload_len(&self) -> u64 {
        match self {
            Body::Data(payload) => payload.len() as u64,
            Body::Zeros(len) => u64::from(*len),
            Body::Fin => 0,
        }
    }
}

impl Scoreboard {
    /// Creates an empty scoreboard whose first packet will have number `first_seq`, for a
    /// controller with these needs.
    pub fn new(first_seq: SeqNr, recovery: Recovery, needs: Needs) -> Scoreboard {
        Scoreboard {
            board: Board::new(needs),
            bodies: VecDeque::new(),
            arrived: Vec::new(),
            first_seq,
            urgent: BTreeSet::new(),
            sacked: BitRing::default(),
            probes: Vec::new(),
            scan: Scan::of(recovery),
            visible_until: 0,
            found: Vec::new(),
        }
    }

    /// Returns the sender's scoreboard.
    pub fn board(&self) -> &Board {
        &self.board
    }

    /// Notes that the window has room that is not used.
    pub(super) fn note_unused_window(&mut self, congestion: &Congestion) {
        congestion.note_unused_window(&mut self.board);
    }

    /// Returns the number of the next new packet.
    pub fn next_seq(&self) -> SeqNr {
        self.first_seq.plus(self.bodies.len() as u16)
    }

    /// Returns the packet with this number that was sent last, in the connection's life.
    pub fn index_of(&self, seq_nr: SeqNr) -> u64 {
        self.board.una() + u64::from(seq_nr.since(self.first_seq))
    }

    /// Returns the number of packets sent and not acknowledged in order.
    pub fn packets(&self) -> usize {
        self.bodies.len()
    }

    /// Returns whether nothing is unacknowledged.
    pub fn is_empty(&self) -> bool {
        self.bodies.is_empty()
    }

    /// Returns the memory in use, bytes, as far as it grows with what is outstanding.
    pub fn memory(&self) -> u64 {
        let bodies = self.bodies.capacity() * (size_of::<Body>() + OVERHEAD);
        self.board.outstanding() + (bodies + self.board.memory()) as u64
    }

    /// Gives back what is kept for packets to come, if nothing is outstanding.
    pub fn release_memory(&mut self) {
        if !self.is_empty() {
            return;
        }
        self.board.release_memory();
        (self.bodies, self.arrived, self.found) = (VecDeque::new(), Vec::new(), Vec::new());
        self.sacked = BitRing::default();
        self.probes.shrink_to_fit();
    }

    /// Returns the content of the outstanding packet with this number.
    pub fn body(&self, seq_nr: SeqNr) -> Option<&Body> {
        self.bodies.get(usize::from(seq_nr.since(self.first_seq)))
    }

    /// Returns the packet to send next if anything is lost.
    #[inline]
    pub fn next_lost(&mut self) -> Option<NextLost> {
        // Every packet asks, and few find something: what is urgent is lost, too.
        if !self.board.has_lost() {
            return None;
        }
        self.oldest_lost()
    }

    fn oldest_lost(&mut self) -> Option<NextLost> {
        if let Some(index) = self.urgent.first() {
            return Some(NextLost { bytes: self.payload_len(*index), release: Release::Now });
        }
        let (index, bytes) = self.board.next_lost()?;
        let release = match &self.scan {
            // RFC 9937 §6.2 forces the first retransmission: with a short bitmap much of what seems to be in flight has
            // long arrived, and only the oldest packet can show it.
            None if index == self.board.una() => Release::Pacing,
            _ => Release::Window,
        };
        Some(NextLost { bytes: bytes.into(), release })
    }

    fn payload_len(&self, index: u64) -> u64 {
        let at = usize::try_from(index.wrapping_sub(self.board.una())).unwrap_or(usize::MAX);
        self.bodies.get(at).map_or(0, Body::payload_len)
    }

    /// Returns whether the peer could have sent `ack_nr`, with `slack` packets of reordering.
    pub fn accepts(&self, ack_nr: SeqNr, slack: u16) -> bool {
        let newest = self.next_seq().prev();
        let behind = newest.since(ack_nr);
        behind <= (self.bodies.len() as u16).saturating_add(slack)
    }

    /// Returns whether `ack_nr` ends right before the oldest unacknowledged packet.
    pub fn is_newest_ack(&self, ack_nr: SeqNr) -> bool {
        ack_nr == self.first_seq.prev()
    }

    /// Begins an acknowledgement, which [`acknowledge`](Self::acknowledge) takes in. Nothing that left after
    /// `answered_until` has arrived by then.
    #[inline]
    pub fn begin_ack(&mut self, now: Time, min_rtt: Option<Span>, answered_until: Option<Time>) -> Taken {
        // Without time stamps a loss is taken back by half the smallest round-trip time: a lone retransmission may beat packets
        // that were acknowledged in pairs.
        let undo_within = min_rtt.map(|min| Span(min.0.div_ceil(2)));
        self.board.begin_ack(Timing { now, echoed: None, min_rtt, undo_within, answered_until })
    }

    /// Takes in an acknowledgement that [`accepts`](Self::accepts) has let through. Its progress stays in `taken`: a copy
    /// would wait for the parts that were written a moment ago.
    ///
    /// `covers` is the number of packets beyond `ack_nr` of which it reports whether they arrived, none if it does not report that.
    pub fn acknowledge(
        &mut self,
        ack_nr: SeqNr,
        sack: Option<Sack<'_>>,
        covers: Option<usize>,
        taken: &mut Taken,
    ) {
        let in_order = usize::from(ack_nr.next().since(self.first_seq));
        if in_order > 0 && in_order <= self.bodies.len() {
            self.take_oldest(in_order, taken);
        }
        // A bitmap counts from its own ack_nr, which is older than ours if the packet was overtaken.
        let overtaken = self.first_seq.prev().since(ack_nr);
        if let (0, Some(covers)) = (overtaken, covers) {
            self.visible_until = self.board.una().saturating_add(covers as u64);
        }
        // Any acknowledgement shows that the packet after its ack_nr is missing.
        self.visible_until = self.visible_until.max(self.board.una() + 1);
        if let Some(sack) = sack {
            let first = self.board.una().wrapping_add(1).wrapping_sub(u64::from(overtaken));
            self.take_bitmap(first, sack, taken);
        }
        self.read_bitmap(overtaken, sack);
        self.board.finish_ack(taken);
    }

    /// Takes in a bitmap that begins at packet `first`.
    fn take_bitmap(&mut self, first: u64, sack: Sack<'_>, taken: &mut Taken) {
        let mut at = 0;
        while let Some((ahead, mut new)) = self.next_news(first.wrapping_add(64 * at), sack, at as usize) {
            at += ahead;
            while new != 0 {
                let from = new.trailing_zeros();
                let count = (new >> from).trailing_ones();
                let begin = first.wrapping_add(64 * at + u64::from(from));
                self.take_sacked(begin, u64::from(count), taken);
                new &= u64::MAX.checked_shl(from + count).unwrap_or(0);
            }
            at += 1;
        }
    }

    /// Looks for 64 packets of which the bitmap shows some for the first time, from its word `at` on, which begins at packet
    /// `first`. Returns how many words ahead they are, and which.
    fn next_news(&self, first: u64, sack: Sack<'_>, at: usize) -> Option<(u64, u64)> {
        let words = sack.words().skip(at).zip(self.sacked.words(first));
        (0..).zip(words.map(|(word, known)| word & !known)).find(|(_, new)| *new != 0)
    }

    /// Takes the payloads that the latest acknowledgement has taken off the board.
    pub fn take_arrived(&mut self) -> impl Iterator<Item = Vec<u8>> + '_ {
        self.arrived.drain(..)
    }

    /// Takes in that the oldest packets have arrived.
    fn take_oldest(&mut self, packets: usize, taken: &mut Taken) {
        let una = self.board.una();
        let end = una + packets as u64;
        self.watch_probes(una..end, taken);
        if self.board.sacked_segments() > 0 {
            (una..end).for_each(|index| self.sacked.remove(index));
        }
        while self.urgent.first().is_some_and(|index| *index < end) {
            self.urgent.pop_first();
        }
        self.arrived.extend(self.bodies.drain(..packets).filter_map(|body| match body {
            Body::Data(payload) => Some(payload),
            Body::Zeros(_) | Body::Fin => None,
        }));
        if self.bodies.is_empty() {
            self.bodies.shrink_to(SPARE_BODIES);
        }
        self.first_seq = self.first_seq.plus(packets as u16);
        self.board.advance(end, taken);
    }

    /// Takes in the bitmap's news of `count` packets from `first` on, if they are ours at all.
    fn take_sacked(&mut self, first: u64, count: u64, taken: &mut Taken) {
        let (first, end) =
            (first.max(self.board.una()), first.saturating_add(count).min(self.board.next_seq()));
        if first >= end {
            return;
        }
        self.watch_probes(first..end, taken);
        for index in first..end {
            self.sacked.insert(index);
            self.urgent.remove(&index);
        }
        self.board.sack(first, end, taken);
    }
}

#[cfg(test)]
mod tests;
