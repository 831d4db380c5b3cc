//! The receiving side: puts packets in order, decides when to acknowledge, advertises the free buffer.

pub use super::reorder::MAX_REORDER;
use super::reorder::{Held, Reorder, ALLOCATION};
use crate::numbers::SeqNr;
use crate::sack::MAX_LEN;
use afteryou_base::{Span, Time};
use std::collections::VecDeque;

/// Payloads are joined: the buffer counts payload, and a piece of memory for each byte of it would take sixty times as much. A
/// piece is as large as what is there to be read, and no larger than this, bytes.
const LARGEST_PIECE: u64 = 64 << 10;
/// The first packets are acknowledged one by one: a sender that starts with a window of one packet would wait for the
/// delay each time.
pub const QUICK_PACKETS: u32 = 8;
/// A window update is worth a packet of its own once this much of the buffer has been freed…
const UPDATE_FRACTION: u64 = 4;

/// The next packet in order, if it is no longer than this, is taken however little memory is left: a stream that is read
/// continues.
pub const ALWAYS_TAKEN: usize = 2048;
/// Places for pieces that stay when everything has been read.
const SPARE_PIECES: usize = 64;

/// Packets received and not yet read, and what is owed to the sender.
#[derive(Debug)]
pub struct Receiver {
    ack_nr: SeqNr,
    /// Packets that arrived beyond the first gap; slot 0 is `ack_nr + 1`.
    waiting: Reorder,
    readable: VecDeque<Piece>,
    buffered: u64,
    capacity: u64,
    /// Memory of `readable`, bytes.
    readable_memory: u64,
    /// Memory that out-of-order data may take, bytes; all data twice as much.
    share: u64,
    /// Payload of a full packet, ours or the peer's.
    packet: u64,
    /// The peer's FIN, by its number.
    fin: Option<SeqNr>,
    /// Everything up to the FIN has arrived.
    complete: bool,
    unacknowledged: u32,
    /// A packet came again after what is unacknowledged.
    repeated: bool,
    quick: u32,
    ack_at: Option<Time>,
    advertised: u64,
    received: u64,
    arrived: u64,
    duplicates: u64,
}

/// Bytes that can be read.
#[derive(Debug)]
struct Piece {
    bytes: Vec<u8>,
    /// The number of them that have been read.
    read: usize,
}

impl Piece {
    /// Returns the memory that it takes, bytes.
    fn memory(&self) -> u64 {
        (self.bytes.capacity() + size_of::<Piece>()) as u64 + ALLOCATION
    }
}

/// When acknowledgements are sent.
#[derive(Clone, Copy, Debug)]
pub struct AckPolicy {
    /// At the latest after this many packets.
    pub every: u32,
    /// At the latest after this time.
    pub delay: Span,
}

impl Receiver {
    /// Expects packet `ack_nr + 1` next, of up to `packet` bytes as far as is known, and buffers up to `capacity` bytes.
    pub fn new(ack_nr: SeqNr, capacity: u64, packet: u32) -> Receiver {
        Receiver {
            ack_nr,
            waiting: Reorder::new(true),
            readable: VecDeque::new(),
            buffered: 0,
            capacity,
            readable_memory: 0,
            share: u64::MAX,
            packet: u64::from(packet),
            fin: None,
            complete: false,
            unacknowledged: 0,
            repeated: false,
            quick: QUICK_PACKETS,
            ack_at: None,
            advertised: capacity,
            received: 0,
            arrived: 0,
            duplicates: 0,
        }
    }

    /// Counts payloads instead of keeping them, as if an application read each the moment it can be read.
    pub fn only_counting(self) -> Receiver {
        Receiver { waiting: Reorder::new(false), ..self }
    }

    /// Returns the newest packet received in order.
    pub fn ack_nr(&self) -> SeqNr {
        self.ack_nr
    }

    /// Returns the bytes received in order, read or not.
    pub fn received(&self) -> u64 {
        self.received
    }

    /// Returns the bytes received for the first time, in order or not.
    pub fn arrived(&self) -> u64 {
        self.arrived
    }

    /// Returns the number of packets that came more than once.
    pub fn duplicates(&self) -> u64 {
        self.duplicates
    }

    /// Returns the bytes that the sender may send: free buffer, as far as there is memory for it.
    pub fn window(&self) -> u64 {
        // With nothing to be read the next packet is taken in any case, see `has_memory`. libutp never sends one that is larger than
        // the window, so the window must be as large as that packet may be.
        let least = if self.readable.is_empty() { ALWAYS_TAKEN as u64 } else { 0 };
        let memory = self.share.saturating_sub(self.memory()).max(least);
        self.capacity.saturating_sub(self.buffered).min(memory)
    }

    /// Returns the memory in use, bytes.
    pub fn memory(&self) -> u64 {
        self.readable_memory + self.waiting.memory()
    }

    /// Returns the memory of out-of-order data, if some of it has waited for `age` or longer, bytes.
    pub fn stale_memory(&self, now: Time, age: Span) -> Option<u64> {
        let since = self.waiting.held_since()?;
        (now.since(since) >= age).then(|| self.waiting.memory())
    }

    /// Throws out-of-order data away: the connection is over.
    pub fn forget_waiting(&mut self) {
        self.buffered -= self.waiting.clear();
    }

    /// Limits the memory of out-of-order data from here on, bytes; together with what can be read twice as much.
    pub fn set_share(&mut self, share: u64) {
        self.share = share;
    }

    /// Takes in a packet of data (or the FIN).
    pub fn receive(&mut self, now: Time, seq_nr: SeqNr, payload: &[u8], fin: bool, policy: AckPolicy) {
        let ahead = usize::from(seq_nr.prev().since(self.ack_nr));
        let beyond_fin = self.fin.is_some_and(|fin| (seq_nr.since(fin) as i16) > 0);
        if self.complete || beyond_fin || ahead >= MAX_REORDER {
            self.acknowledge_again(now); // old: the sender has missed an ack
            return;
        }
        if self.waiting.contains(ahead) {
            self.acknowledge_again(now);
            return;
        }
        if !self.has_room(ahead, payload.len()) || !self.has_memory(ahead, payload.len()) {
            self.acknowledge_by(now);
            return;
        }
        if fin {
            // The first one remains, as in libutp: a second end elsewhere is a packet like any other.
            self.fin.get_or_insert(seq_nr);
        }
        self.packet = self.packet.max(payload.len() as u64);
        self.buffered += payload.len() as u64;
        self.arrived += payload.len() as u64;
        let had_gap = self.has_gap();
        if ahead == 0 && !had_gap {
            self.waiting.pass();
            self.take_in_order(payload.len() as u64);
            match self.waiting.only_counts() {
                true => self.buffered -= payload.len() as u64,
                false => self.keep(payload),
            }
        } else {
            self.waiting.insert(ahead, payload);
            self.advance();
            self.waiting.note_time(now);
        }
        self.unacknowledged += 1;
        // RFC 5681 §4.2: at once for anything out of order and for whatever fills a gap.
        let at_once =
            had_gap || ahead > 0 || self.complete || self.unacknowledged >= policy.every || self.quick > 0;
        self.quick = self.quick.saturating_sub(1);
        self.acknowledge_by(if at_once { now } else { now + policy.delay });
        if self.waiting.only_counts() {
            self.update_window(now); // as after a read
        }
    }

    /// Returns whether there is room for a packet `ahead` packets beyond the next one.
    ///
    /// The next packet is taken if anything at all is free, and whenever all that fills the buffer waits behind it:
    /// nothing could be read and nothing freed before it came. So one packet may exceed the buffer, no more.
    fn has_room(&self, ahead: usize, len: usize) -> bool {
        let fits = self.buffered + len as u64 <= self.capacity;
        fits || (ahead == 0 && (self.buffered < self.capacity || self.readable.is_empty()))
    }

    /// Returns whether there is memory for it. Out-of-order data is the first to be refused: its sender keeps it, and repeats it when
    /// the gap is filled. Packets that a SACK reported are never dropped, since libutp forgets them at once.
    fn has_memory(&self, ahead: usize, len: usize) -> bool {
        let memory = self.memory();
        match ahead {
            0 if self.readable.is_empty() && len <= ALWAYS_TAKEN => true,
            0 => memory + len as u64 + ALLOCATION <= self.share.saturating_mul(2),
            _ => memory + self.waiting.cost(ahead, len) <= self.share,
        }
    }

    fn advance(&mut self) {
        // Nothing follows the end, even if it came before the end was known.
        while !self.complete {
            let Some(held) = self.waiting.pop() else { break };
            self.take_in_order(held.bytes());
            match held {
                Held::Kept(payload) => self.keep(&payload),
                Held::Counted(len) => self.buffered -= u64::from(len),
            }
        }
        if self.complete {
            self.buffered -= self.waiting.clear();
        }
    }

    fn take_in_order(&mut self, len: u64) {
        self.ack_nr = self.ack_nr.next();
        self.received += len;
        self.complete = self.fin == Some(self.ack_nr);
    }

    /// Appends to what can be read.
    fn keep(&mut self, payload: &[u8]) {
        if payload.is_empty() {
            return;
        }
        match self.readable.back_mut() {
            Some(last) if last.bytes.capacity() - last.bytes.len() >= payload.len() => {
                last.bytes.extend_from_slice(payload);
            }
            _ => {
                let affordable = self.share.saturating_mul(2).saturating_sub(self.memory());
                let room = self.readable_memory.min(LARGEST_PIECE).min(affordable).max(payload.len() as u64);
                let mut bytes = Vec::with_capacity(room as usize);
                bytes.extend_from_slice(payload);
                let piece = Piece { bytes, read: 0 };
                self.readable_memory += piece.memory();
                self.readable.push_back(piece);
            }
        }
    }

    /// Acknowledges a packet that came again. The sender recognises that by an acknowledgement without any news, so it is
    /// not joined with one that has some.
    fn acknowledge_again(&mut self, now: Time) {
        self.duplicates += 1;
        self.repeated |= self.unacknowledged > 0;
        self.acknowledge_by(now);
    }

    fn acknowledge_by(&mut self, by: Time) {
        self.ack_at = Some(self.ack_at.map_or(by, |at| at.min(by)));
    }

    /// Requires an acknowledgement at once.
    pub fn acknowledge_now(&mut self, now: Time) {
        self.acknowledge_by(now);
    }

    /// Returns when an acknowledgement is due.
    pub fn ack_at(&self) -> Option<Time> {
        self.ack_at
    }

    /// Notes that a packet that acknowledges everything is in flight.
    pub fn acknowledged(&mut self) {
        self.ack_at = std::mem::take(&mut self.repeated).then_some(Time::ZERO);
        self.unacknowledged = 0;
        self.advertised = self.window();
    }

    /// Returns whether anything has arrived out of order.
    pub fn has_gap(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Writes the SACK bitmap and returns its length; none if nothing is out of order.
    pub fn sack(&self, mask: &mut [u8; MAX_LEN], long: bool) -> Option<usize> {
        self.waiting.sack(mask, long)
    }

    /// Returns whether [`read`](Self::read) can return bytes, or the end.
    pub fn is_readable(&self) -> bool {
        !self.readable.is_empty() || self.complete
    }

    /// Returns whether everything has arrived and been read.
    pub fn is_finished(&self) -> bool {
        self.complete && self.readable.is_empty()
    }

    /// Returns whether everything up to the peer's FIN has arrived.
    pub fn is_complete(&self) -> bool {
        self.complete
    }

    /// Takes bytes in order into `buf` and returns how many.
    pub fn read(&mut self, now: Time, buf: &mut [u8]) -> usize {
        let mut n = 0;
        while n < buf.len() {
            let Some(front) = self.readable.front_mut() else { break };
            let unread = &front.bytes[front.read..];
            let take = unread.len().min(buf.len() - n);
            buf[n..n + take].copy_from_slice(&unread[..take]);
            n += take;
            front.read += take;
            if front.read == front.bytes.len() {
                self.readable_memory -= front.memory();
                self.readable.pop_front();
            }
        }
        self.shrink();
        self.buffered -= n as u64;
        self.update_window(now);
        n
    }

    /// Throws away what can be read: nobody is going to.
    pub fn discard(&mut self, now: Time) {
        let unread: u64 = self.readable.drain(..).map(|piece| (piece.bytes.len() - piece.read) as u64).sum();
        self.buffered -= unread;
        self.readable_memory = 0;
        self.shrink();
        self.update_window(now);
    }

    /// Gives back what is kept for data to come, as far as nothing is in it.
    pub fn release_memory(&mut self) {
        self.waiting.release_memory();
        if self.readable.is_empty() {
            self.readable = VecDeque::new();
        }
    }

    /// Frees the places of pieces when a slow reader has caught up.
    fn shrink(&mut self) {
        if self.readable.is_empty() {
            self.readable.shrink_to(SPARE_PIECES);
        }
    }

    /// Announces that the window has opened again, in steps worth a packet (RFC 9293 §3.8.6.2.2).
    fn update_window(&mut self, now: Time) {
        let opened = self.window().saturating_sub(self.advertised);
        let step = self.capacity.min(self.share) / UPDATE_FRACTION;
        let by_step = self.advertised < step && opened >= step;
        // A sender whose next packet did not fit waits for exactly that.
        let by_packet = self.advertised < self.packet && self.window() >= self.packet;
        if !self.complete && (by_step || by_packet) {
            self.acknowledge_by(now);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLICY: AckPolicy = AckPolicy { every: 2, delay: Span::from_millis(25) };

    fn receiver() -> Receiver {
        Receiver::new(SeqNr(100), 10_000, 1000)
    }

    fn read_all(receiver: &mut Receiver) -> Vec<u8> {
        let mut buf = [0; 1000];
        let n = receiver.read(Time::ZERO, &mut buf);
        buf[..n].to_vec()
    }

    #[test]
    fn packets_are_put_in_order() {
        let mut receiver = receiver();
        for (seq_nr, payload) in [(103u16, b"c"), (101, b"a"), (102, b"b")] {
            receiver.receive(Time::ZERO, SeqNr(seq_nr), payload, false, POLICY);
        }
        receiver.receive(Time::ZERO, SeqNr(104), b"", true, POLICY);
        assert_eq!(receiver.ack_nr(), SeqNr(104));
        assert_eq!(read_all(&mut receiver), b"abc");
        assert!(receiver.is_finished());
    }

    #[test]
    fn the_first_packets_are_acknowledged_one_by_one() {
        let mut receiver = receiver();
        for i in 0..QUICK_PACKETS {
            receiver.receive(Time::ZERO, SeqNr(101 + i as u16), b"a", false, POLICY);
            assert_eq!(receiver.ack_at(), Some(Time::ZERO));
            receiver.acknowledged();
        }
        receiver.receive(Time::ZERO, SeqNr(109), b"a", false, POLICY);
        assert_eq!(receiver.ack_at(), Some(Time::from_millis(25)));
    }

    #[test]
    fn every_second_packet_is_acknowledged_at_once_and_a_single_one_after_the_delay() {
        let mut receiver = Receiver { quick: 0, ..receiver() };
        receiver.receive(Time::ZERO, SeqNr(101), b"a", false, POLICY);
        assert_eq!(receiver.ack_at(), Some(Time::from_millis(25)));
        receiver.receive(Time::from_millis(1), SeqNr(102), b"b", false, POLICY);
        assert_eq!(receiver.ack_at(), Some(Time::from_millis(1)));
        receiver.acknowledged();
        assert_eq!(receiver.ack_at(), None);
    }

    #[test]
    fn gaps_fillings_and_duplicates_are_acknowledged_at_once() {
        let mut receiver = receiver();
        for seq_nr in [102, 101, 101, 50] {
            receiver.receive(Time::ZERO, SeqNr(seq_nr), b"x", false, POLICY);
            assert_eq!(receiver.ack_at(), Some(Time::ZERO), "{seq_nr}");
            receiver.acknowledged();
        }
        assert_eq!(receiver.duplicates(), 2);
    }

    #[test]
    fn the_bitmap_shows_what_waits_behind_the_gap() {
        let mut receiver = receiver();
        let mut mask = [0; MAX_LEN];
        assert_eq!(receiver.sack(&mut mask, true), None);
        for seq_nr in [102, 103, 105] {
            receiver.receive(Time::ZERO, SeqNr(seq_nr), b"x", false, POLICY);
        }
        assert_eq!(receiver.sack(&mut mask, false), Some(4));
        assert_eq!(mask[..4], [0x0B, 0, 0, 0]);
        assert_eq!(receiver.sack(&mut mask, true), Some(8));
    }

    #[test]
    fn a_full_buffer_refuses_what_is_out_of_order_but_never_the_next_packet() {
        let mut receiver = Receiver::new(SeqNr(100), 1000, 1000);
        receiver.receive(Time::ZERO, SeqNr(102), &[1; 900], false, POLICY);
        receiver.receive(Time::ZERO, SeqNr(103), &[2; 900], false, POLICY);
        assert_eq!(receiver.window(), 100);
        receiver.receive(Time::ZERO, SeqNr(101), &[0; 900], false, POLICY);
        assert_eq!((receiver.ack_nr(), receiver.window()), (SeqNr(102), 0));
    }

    #[test]
    fn without_memory_a_reader_still_gets_the_next_packet_and_its_window_says_so() {
        let mut receiver = Receiver::new(SeqNr(100), 10_000, 1000);
        receiver.set_share(0);
        assert_eq!(receiver.window(), 2048);
        receiver.receive(Time::ZERO, SeqNr(102), &[2; 1400], false, POLICY);
        assert!(!receiver.has_gap(), "out-of-order data is taken");
        receiver.receive(Time::ZERO, SeqNr(101), &[1; 1400], false, POLICY);
        receiver.receive(Time::ZERO, SeqNr(102), &[2; 1400], false, POLICY);
        assert_eq!(
            (receiver.ack_nr(), receiver.window()),
            (SeqNr(101), 0),
            "the second one before the first is read"
        );
        receiver.acknowledged();
        assert_eq!((read_all(&mut receiver).len(), read_all(&mut receiver).len()), (1000, 400));
        assert_eq!((receiver.window(), receiver.ack_at()), (2048, Some(Time::ZERO)));
        assert_eq!(receiver.memory(), 0);
    }

    #[test]
    fn in_order_data_may_take_twice_the_share_and_out_of_order_data_once() {
        for (first, most) in [(102u16, 5_000), (101, 10_000)] {
            let mut receiver = Receiver::new(SeqNr(100), 100_000, 1000);
            receiver.set_share(5_000);
            (first..first + 50)
                .for_each(|seq_nr| receiver.receive(Time::ZERO, SeqNr(seq_nr), &[0; 400], false, POLICY));
            let memory = receiver.memory();
            assert!(
                (most * 6 / 10..=most + 500).contains(&memory),
                "{memory} of {most} bytes from {first} on"
            );
        }
    }

    #[test]
    fn reading_from_a_closed_window_tells_the_sender() {
        let mut receiver = Receiver::new(SeqNr(100), 1000, 1000);
        receiver.receive(Time::ZERO, SeqNr(101), &[0; 1000], false, POLICY);
        receiver.acknowledged();
        assert_eq!(receiver.ack_at(), None);
        read_all(&mut receiver);
        assert_eq!(receiver.ack_at(), Some(Time::ZERO));
    }

    #[test]
    fn what_lies_beyond_the_fin_is_ignored() {
        let mut receiver = receiver();
        receiver.receive(Time::ZERO, SeqNr(102), b"", true, POLICY);
        receiver.receive(Time::ZERO, SeqNr(103), b"z", false, POLICY);
        receiver.receive(Time::ZERO, SeqNr(101), b"a", false, POLICY);
        receiver.receive(Time::ZERO, SeqNr(103), b"z", false, POLICY);
        assert_eq!(read_all(&mut receiver), b"a");
        assert!(receiver.is_finished());
    }

    #[test]
    fn who_only_counts_frees_the_window_as_if_everything_had_been_read() {
        let (mut counting, mut reading) = (receiver().only_counting(), receiver());
        let mut fin_at = 0;
        for (ms, seq_nr) in [101, 103, 104, 103, 106, 102, 107, 105, 90, 108].into_iter().enumerate() {
            let now = Time::from_millis(ms as u64);
            for receiver in [&mut counting, &mut reading] {
                receiver.receive(now, SeqNr(seq_nr), &[0; 1000], false, POLICY);
            }
            reading.discard(now);
            assert_eq!(counting.window(), reading.window(), "{seq_nr}");
            assert_eq!(counting.ack_at(), reading.ack_at(), "{seq_nr}");
            fin_at = fin_at.max(seq_nr + 1);
        }
        counting.receive(Time::ZERO, SeqNr(fin_at), b"", true, POLICY);
        assert!(counting.is_finished());
        assert_eq!((counting.received(), counting.duplicates()), (8000, 2));
    }
}
