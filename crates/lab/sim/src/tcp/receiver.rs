//! The receiving end: the segments that have arrived, and the acknowledgements for the sender.
//!
//! Acknowledges every second full segment or after a delay, and at once a segment that is out of order or fills a gap
//! (RFC 5681 §4.2). Reports up to three SACK blocks of which the first holds the newest segment (RFC 2018 §4), and
//! a D-SACK block ahead of them for a segment that came twice (RFC 2883 §4). Also sends an echoed timestamp (RFC 7323 §4.3) and ECN-Echo (RFC 3168
//! §6.1.3). The application reads at once, so the advertised window is the receive window all the time.

use crate::packet::{Sack, CWR, ECE, SACK_BLOCKS};
use afteryou_base::Time;
use afteryou_scenario::transport::Acking;
use afteryou_sender::ranges::Ranges;

/// A segment as it arrives.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// The segment's number.
    pub seq: u64,
    /// Payload, bytes.
    pub len: u16,
    /// Sender's clock when it left, µs.
    pub tsval: u32,
    /// Transmission and [`CWR`].
    pub transmission: u8,
    /// The network has marked it.
    pub marked: bool,
}

/// The fields of an acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Acknowledgement {
    /// Every segment below this has arrived.
    pub cumulative: u64,
    /// Echoed clock, µs.
    pub tsecr: u32,
    /// SACK blocks, if there are any.
    pub sack: Option<Sack>,
    /// [`ECE`] or nothing.
    pub flags: u8,
}

/// The receiving end.
#[derive(Debug)]
// In this order: one line of the cache holds what every segment needs.
#[repr(C)]
pub struct Receiver {
    next: u64,
    ack_at: Time,
    /// Payload that arrived, each byte once.
    pub received: u64,
    /// The cumulative number of the last acknowledgement sent, and the `tsval` to echo (TS.Recent).
    last_ack_sent: u64,
    ts_recent: u32,
    /// Segments that no acknowledgement covers yet.
    unacknowledged: u32,
    acking: Acking,
    echo: bool,
    /// The segment that came twice since the last acknowledgement.
    duplicate: Option<u64>,
    waiting: Ranges,
    /// Newest out-of-order segments, newest first: the blocks around them are reported.
    recent: [u64; SACK_BLOCKS],
}

impl Receiver {
    /// Creates an end that has received nothing.
    pub fn new(acking: Acking) -> Receiver {
        Receiver {
            next: 0,
            waiting: Ranges::default(),
            acking,
            unacknowledged: 0,
            ack_at: Time::NEVER,
            ts_recent: 0,
            last_ack_sent: 0,
            recent: [u64::MAX; SACK_BLOCKS],
            echo: false,
            duplicate: None,
            received: 0,
        }
    }

    /// Takes in a SYN with this clock, which acks echo until a segment has arrived in order (RFC 7323 §3.2).
    pub fn on_syn(&mut self, tsval: u32) {
        if self.received == 0 {
            self.ts_recent = tsval;
        }
    }

    /// Takes in a segment.
    pub fn on_data(&mut self, now: Time, arrival: Arrival) {
        self.note_marks(&arrival);
        let is_next = arrival.seq == self.next;
        // RFC 7323 §4.3: the oldest segment that waits for its ack, and no copy that is older.
        if arrival.seq <= self.last_ack_sent && (is_next || !self.is_older(arrival.tsval)) {
            self.ts_recent = arrival.tsval;
        }
        if !is_next && (arrival.seq < self.next || self.waiting.contains(arrival.seq)) {
            self.duplicate = Some(arrival.seq);
            self.ack_at = now;
            return;
        }
        self.received += u64::from(arrival.len);
        self.unacknowledged += 1;
        let had_gap = !self.waiting.is_empty();
        if !is_next {
            self.keep(arrival.seq);
            self.ack_at = now;
            return;
        }
        self.next += 1;
        if had_gap {
            self.close_gap();
        }
        let at_once = had_gap || self.unacknowledged >= self.acking.every;
        self.ack_at = if at_once { now } else { self.ack_at.min(now + self.acking.delay) };
    }

    /// Returns whether a segment with this clock left before the one whose clock is echoed.
    fn is_older(&self, tsval: u32) -> bool {
        (tsval.wrapping_sub(self.ts_recent) as i32) < 0
    }

    fn note_marks(&mut self, arrival: &Arrival) {
        if arrival.transmission & CWR != 0 {
            self.echo = false;
        }
        self.echo |= arrival.marked;
    }

    fn keep(&mut self, seq: u64) {
        self.waiting.insert(seq, seq + 1, &mut |_, _| {});
        self.recent.rotate_right(1);
        self.recent[0] = seq;
    }

    fn close_gap(&mut self) {
        if let Some((_, end)) = self.waiting.around(self.next) {
            self.next = end;
            self.waiting.remove_below(end);
        }
    }

    /// Returns the number below which every segment has arrived.
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Returns when an acknowledgement is due; [`Time::NEVER`] if none is.
    pub fn ack_at(&self) -> Time {
        self.ack_at
    }

    /// Returns the acknowledgement that is sent now.
    pub fn acknowledge(&mut self) -> Acknowledgement {
        self.ack_at = Time::NEVER;
        self.unacknowledged = 0;
        self.last_ack_sent = self.next;
        let flags = if self.echo { ECE } else { 0 };
        let duplicate = self.duplicate.take();
        let sack = (duplicate.is_some() || !self.waiting.is_empty()).then(|| self.blocks(duplicate));
        Acknowledgement { cumulative: self.next, tsecr: self.ts_recent, sack, flags }
    }

    /// Returns the segment that came twice and the block around it (RFC 2883 §4), then the block of the newest segment and
    /// those reported most recently.
    fn blocks(&self, duplicate: Option<u64>) -> Sack {
        let mut sack = Sack::default();
        if let Some(seq) = duplicate {
            sack.blocks[0] = (seq as u32, seq as u32 + 1);
            sack.count = 1;
        }
        let twice = usize::from(sack.count);
        for seq in duplicate.into_iter().chain(self.recent) {
            let Some((start, end)) = self.waiting.around(seq) else { continue };
            Self::add_block(&mut sack, twice, start, end);
        }
        // Blocks that were reported together with one that has vanished since: the highest ones fill the rest.
        for (start, end) in self.waiting.iter().rev().take(SACK_BLOCKS) {
            Self::add_block(&mut sack, twice, start, end);
        }
        sack
    }

    /// Adds a block, unless it is there behind the first `twice`.
    fn add_block(sack: &mut Sack, twice: usize, start: u64, end: u64) {
        let block = (start as u32, end as u32);
        let count = usize::from(sack.count);
        if count < SACK_BLOCKS && !sack.blocks[twice..count].contains(&block) {
            sack.blocks[count] = block;
            sack.count += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use afteryou_base::Span;

    fn receiver(every: u32) -> Receiver {
        Receiver::new(Acking { every, delay: Span::from_millis(40) })
    }

    fn arrive(receiver: &mut Receiver, ms: u64, seq: u64) {
        let arrival = Arrival { seq, len: 1000, tsval: ms as u32, transmission: 1, marked: false };
        receiver.on_data(Time::from_millis(ms), arrival);
    }

    fn blocks(acknowledgement: &Acknowledgement) -> Vec<(u32, u32)> {
        acknowledgement.sack.iter().flat_map(|sack| sack.blocks[..sack.count.into()].to_vec()).collect()
    }

    #[test]
    fn every_second_segment_is_acknowledged_and_a_lone_one_after_the_delay() {
        let mut receiver = receiver(2);
        arrive(&mut receiver, 0, 0);
        assert_eq!(receiver.ack_at(), Time::from_millis(40));
        arrive(&mut receiver, 3, 1);
        assert_eq!(receiver.ack_at(), Time::from_millis(3));
        let acknowledgement = receiver.acknowledge();
        // The timestamp of the first of the two, since it waited for the second.
        assert_eq!((acknowledgement.cumulative, acknowledgement.tsecr), (2, 0));
        assert_eq!(receiver.ack_at(), Time::NEVER);
    }

    #[test]
    fn the_first_block_holds_the_newest_segment() {
        let mut receiver = receiver(1);
        arrive(&mut receiver, 0, 0);
        receiver.acknowledge();
        for (seq, expected) in [
            (2, vec![(2, 3)]),
            (6, vec![(6, 7), (2, 3)]),
            (4, vec![(4, 5), (6, 7), (2, 3)]),
            (3, vec![(2, 5), (6, 7)]),
        ] {
            arrive(&mut receiver, 1, seq);
            let acknowledgement = receiver.acknowledge();
            assert_eq!((acknowledgement.cumulative, blocks(&acknowledgement)), (1, expected));
        }
        arrive(&mut receiver, 2, 1);
        let acknowledgement = receiver.acknowledge();
        assert_eq!((acknowledgement.cumulative, blocks(&acknowledgement)), (5, vec![(6, 7)]));
    }

    #[test]
    fn a_segment_that_comes_twice_has_a_block_ahead_of_the_others_once_and_is_counted_once() {
        // RFC 2883 §4.1 to §4.3: below the cumulative acknowledgement; a block of its own; within a larger block.
        let mut receiver = receiver(1);
        for (seq, cumulative, expected) in [
            (0, 1, vec![]),
            (0, 1, vec![(0, 1)]),
            (3, 1, vec![(3, 4)]),
            (0, 1, vec![(0, 1), (3, 4)]),
            (3, 1, vec![(3, 4), (3, 4)]),
            (4, 1, vec![(3, 5)]),
            (6, 1, vec![(6, 7), (3, 5)]),
            (8, 1, vec![(8, 9), (6, 7), (3, 5)]),
            (4, 1, vec![(4, 5), (3, 5), (8, 9)]),
            (1, 2, vec![(8, 9), (6, 7), (3, 5)]),
        ] {
            arrive(&mut receiver, 0, seq);
            let acknowledgement = receiver.acknowledge();
            assert_eq!((acknowledgement.cumulative, blocks(&acknowledgement)), (cumulative, expected));
        }
        assert_eq!(receiver.received, 6000);
    }

    #[test]
    fn a_copy_that_comes_late_does_not_turn_the_echoed_clock_back() {
        let mut receiver = receiver(1);
        let mut echo = |seq, tsval| {
            receiver.on_data(Time::ZERO, Arrival { seq, len: 1000, tsval, transmission: 1, marked: false });
            receiver.acknowledge().tsecr
        };
        assert_eq!([echo(0, 10), echo(1, 20), echo(0, 10), echo(1, 30), echo(3, 25)], [10, 20, 20, 30, 30]);
        assert_eq!(echo(2, 15), 15, "a segment that is new is the oldest one that waits");
    }

    #[test]
    fn before_the_first_segment_in_order_the_clock_of_the_syn_is_echoed() {
        let mut receiver = receiver(1);
        receiver.on_syn(3_000_000_000);
        let mut echo = |seq, tsval| {
            receiver.on_data(Time::ZERO, Arrival { seq, len: 1000, tsval, transmission: 1, marked: false });
            receiver.acknowledge().tsecr
        };
        let echoed = [echo(1, 3_000_000_100), echo(2, 3_000_000_110), echo(0, 3_000_000_200)];
        assert_eq!(echoed, [3_000_000_000, 3_000_000_000, 3_000_000_200]);
        receiver.on_syn(3_000_000_000);
        receiver.on_data(
            Time::ZERO,
            Arrival { seq: 5, len: 1000, tsval: 3_000_000_300, transmission: 1, marked: false },
        );
        assert_eq!(receiver.acknowledge().tsecr, 3_000_000_200, "a late copy of the SYN changes nothing");
    }

    #[test]
    fn a_mark_is_echoed_until_the_sender_says_that_it_has_reacted() {
        let mut receiver = receiver(1);
        let mut ece = |seq, marked, transmission| {
            receiver.on_data(Time::ZERO, Arrival { seq, len: 1, tsval: 0, transmission, marked });
            receiver.acknowledge().flags & ECE != 0
        };
        let echoed =
            [ece(0, false, 1), ece(1, true, 1), ece(2, false, 1), ece(3, false, 1 | CWR), ece(4, false, 1)];
        assert_eq!(echoed, [false, true, true, false, false]);
    }
}
