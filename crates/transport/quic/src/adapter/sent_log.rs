//! Which packet was sent when: quinn names packets by their send time only, our controllers by number, too.
//!
//! Numbers count what left on this path, from 1; quinn's own would start again in each of its three packet number spaces.
//! One entry represents everything that quinn sent at the same instant, which it acknowledges and loses by that instant. The
//! log is bounded: a time older than all entries gets the number 0, "before everything known".

use afteryou_base::{Span, Time};
use afteryou_sender::delivery::Stamp;
use std::collections::VecDeque;

/// Most entries: two round trips of 250 ms at 1 Gbit/s in batches of ten packets need 4000. They are forgotten earlier on
/// paths that need less.
const MOST_ENTRIES: usize = 4096;

#[derive(Clone, Copy, Debug)]
struct Entry {
    at: Time,
    /// The next one of them to be acknowledged, if they arrive in their order.
    next_number: u64,
    last_number: u64,
    /// The sender's state when the last of them left.
    stamp: Stamp,
}

/// Send times and packet numbers.
#[derive(Debug, Default)]
pub(super) struct SentLog {
    entries: VecDeque<Entry>,
    last_number: u64,
}

impl SentLog {
    /// Notes that the next packet leaves, and the sender's state is `stamp`; returns its number.
    pub(super) fn push(&mut self, at: Time, stamp: Stamp) -> u64 {
        self.last_number += 1;
        match self.entries.back_mut() {
            // Time does not go backwards; if it does, the numbers still increase.
            Some(entry) if at <= entry.at => (entry.last_number, entry.stamp) = (self.last_number, stamp),
            _ => {
                let number = self.last_number;
                self.entries.push_back(Entry { at, next_number: number, last_number: number, stamp });
            }
        }
        if self.entries.len() > MOST_ENTRIES {
            self.entries.pop_front();
        }
        self.last_number
    }

    /// Returns the number of the newest packet sent.
    pub(super) fn last_number(&self) -> u64 {
        self.last_number
    }

    /// Returns the number of the last packet that left at `sent_at` or before.
    pub(super) fn number_at(&self, sent_at: Time) -> u64 {
        self.entry_at(sent_at).map_or(0, |entry| entry.last_number)
    }

    /// Returns the number of a packet that left at `sent_at` and has arrived. Those that left together are taken to arrive
    /// in their order, since quinn does not report which of them has.
    pub(super) fn arrived(&mut self, sent_at: Time) -> u64 {
        let after = self.entries.partition_point(|entry| entry.at <= sent_at);
        let Some(entry) = after.checked_sub(1).and_then(|place| self.entries.get_mut(place)) else {
            return 0;
        };
        let number = entry.next_number.min(entry.last_number);
        entry.next_number = number + 1;
        number
    }

    /// Returns the same number, and the sender's state when that packet left.
    pub(super) fn newest_at(&self, sent_at: Time) -> Option<(u64, Stamp)> {
        self.entry_at(sent_at).map(|entry| (entry.last_number, entry.stamp))
    }

    fn entry_at(&self, sent_at: Time) -> Option<&Entry> {
        let after = self.entries.partition_point(|entry| entry.at <= sent_at);
        self.entries.get(after.checked_sub(1)?)
    }

    /// Forgets what left more than `span` before `newest_acked`: it is acknowledged or lost by now.
    pub(super) fn forget_before(&mut self, newest_acked: Time, span: Span) {
        while self.entries.front().is_some_and(|entry| newest_acked.since(entry.at) > span) {
            self.entries.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_is_known_by_its_last_number() {
        let mut log = SentLog::default();
        [5, 5, 5, 9].into_iter().for_each(|ms| _ = log.push(Time::from_millis(ms), Stamp::default()));
        let number = |ms| log.number_at(Time::from_millis(ms));
        assert_eq!([4, 5, 8, 9, 50].map(number), [0, 3, 3, 4, 4]);
    }

    #[test]
    fn packets_of_a_batch_arrive_under_numbers_of_their_own() {
        let mut log = SentLog::default();
        [5, 5, 5, 9].into_iter().for_each(|ms| _ = log.push(Time::from_millis(ms), Stamp::default()));
        let numbers = [5, 5, 9, 5, 5, 4].map(|ms| log.arrived(Time::from_millis(ms)));
        assert_eq!(numbers, [1, 2, 4, 3, 3, 0], "more than were sent have the last number");
    }

    #[test]
    fn the_log_is_bounded_and_forgets_the_oldest_first() {
        let mut log = SentLog::default();
        (1..=10_000).for_each(|ms| assert_eq!(log.push(Time::from_millis(ms), Stamp::default()), ms));
        assert_eq!(log.entries.len(), MOST_ENTRIES);
        assert_eq!(
            (log.number_at(Time::from_millis(9_000)), log.number_at(Time::from_millis(1))),
            (9_000, 0)
        );
        log.forget_before(Time::from_millis(10_000), Span::from_millis(100));
        assert_eq!((log.entries.len(), log.last_number()), (101, 10_000));
    }

    #[test]
    fn a_clock_that_goes_backwards_does_no_harm() {
        let mut log = SentLog::default();
        [7, 3, 8].into_iter().for_each(|ms| _ = log.push(Time::from_millis(ms), Stamp::default()));
        let number = |ms| log.number_at(Time::from_millis(ms));
        assert_eq!([3, 7, 8].map(number), [0, 2, 3]);
    }
}
