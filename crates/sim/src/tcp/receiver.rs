//! The receiving end: the segments that have arrived, and the acknowledgements for the sender.
//!
//! Acknowledges every second full segment or after a delay, and at once a segment that is out of order or fills a gap
//! (RFC 5681 §4.2). Reports up to three SACK blocks of which the first holds the newest segment (RFC 2018 §4), and
//! D-SACK for duplicates (RFC 2883, as a flag). Also sends an echoed timestamp (RFC 7323 §4.3) and ECN-Echo (RFC 3168
//! §6.1.3). The application reads at once, so the advertised window is the receive window all the time.

use crate::packet::{Sack, CWR, DSACK, ECE, SACK_BLOCKS};
use afteryou_base::Time;
use afteryou_scenario::transport::Acking;
use afteryou_sender::ranges::Ranges;

/// A segment as it arrives.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// Its number.
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
    /// [`ECE`] and [`DSACK`].
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
    duplicate: bool,
    waiting: Ranges,
    /// Newest out-of-order segments, newest first: the blocks around them are reported.
    recent: [u64; SACK_BLOCKS],
}

impl Receiver {
    /// An end that has received nothing.
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
            duplicate: false,
            received: 0,
        }
    }

    /// A segment arrives.
    pub fn on_data(&mut self, now: Time, arrival: Arrival) {
        self.note_marks(&arrival);
        if arrival.seq <= self.last_ack_sent {
            self.ts_recent = arrival.tsval; // RFC 7323 §4.3: the oldest segment that waits for its ack
        }
        let is_next = arrival.seq == self.next;
        if !is_next && (arrival.seq < self.next || self.waiting.contains(arrival.seq)) {
            self.duplicate = true;
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

    /// When an acknowledgement is due; [`Time::NEVER`] if none is.
    pub fn ack_at(&self) -> Time {
        self.ack_at
    }

    /// The acknowledgement that is sent now.
    pub fn acknowledge(&mut self) -> Acknowledgement {
        self.ack_at = Time::NEVER;
        self.unacknowledged = 0;
        self.last_ack_sent = self.next;
        let flags = if self.echo { ECE } else { 0 } | if self.duplicate { DSACK } else { 0 };
        self.duplicate = false;
        let sack = (!self.waiting.is_empty()).then(|| self.blocks());
        Acknowledgement { cumulative: self.next, tsecr: self.ts_recent, sack, flags }
    }

    /// The block of the newest segment first, then those reported most recently.
    fn blocks(&self) -> Sack {
        let mut sack = Sack::default();
        for seq in self.recent {
            let Some((start, end)) = self.waiting.around(seq) else { continue };
            self.add_block(&mut sack, start, end);
        }
        // Blocks that were told together with one that has vanished since: the highest ones fill the rest.
        for (start, end) in self.waiting.iter().rev().take(SACK_BLOCKS) {
            self.add_block(&mut sack, start, end);
        }
        sack
    }

    fn add_block(&self, sack: &mut Sack, start: u64, end: u64) {
        let block = (start as u32, end as u32);
        let count = usize::from(sack.count);
        if count < SACK_BLOCKS && !sack.blocks[..count].contains(&block) {
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
    fn what_comes_twice_is_told_and_not_counted_twice() {
        let mut receiver = receiver(2);
        for seq in [0, 1, 1, 3, 3] {
            arrive(&mut receiver, 0, seq);
        }
        assert_eq!(receiver.received, 3000);
        assert_eq!(receiver.acknowledge().flags, DSACK);
        assert_eq!(receiver.acknowledge().flags, 0);
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
