//! Which packet was sent when: quinn names packets by their send time only, our controllers by number, too.
//!
//! Numbers count what left on this path, from 1; quinn's own would start again in each of its three packet number spaces.
//! quinn acknowledges and loses packets by the instant at which it built them. One entry represents those of an instant, or one
//! batch of them if the socket reports when it left. Names are by quinn's instant, measurements by the departure. The log is
//! bounded: a time older than all entries gets the number 0, "before everything known".

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
    /// When they left, if the socket reported it.
    left: Option<Time>,
}

/// A packet that was acknowledged or lost.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Found {
    pub(super) number: u64,
    pub(super) stamp: Stamp,
    /// When it left: quinn's time of building it, unless the socket reported a later one.
    pub(super) left: Time,
}

impl Entry {
    /// Returns packet `number` of this entry; quinn names it by `sent_at`, which is not in the log if it had no entry.
    fn found(&self, number: u64, sent_at: Time) -> Found {
        let left = self.left.filter(|_| self.at == sent_at);
        Found { number, stamp: self.stamp, left: left.unwrap_or(sent_at).max(sent_at) }
    }
}

/// Send times and packet numbers.
#[derive(Debug, Default)]
pub(super) struct SentLog {
    entries: VecDeque<Entry>,
    last_number: u64,
    /// The place of the packet that arrived last: the next one is mostly of the same batch.
    arriving: usize,
}

impl SentLog {
    /// Notes that the next packet leaves, and the sender's state is `stamp`; returns its number.
    pub(super) fn push(&mut self, at: Time, stamp: Stamp) -> u64 {
        self.last_number += 1;
        // Time does not go backwards; if it does, the numbers still increase.
        let at = self.entries.back().map_or(at, |entry| entry.at.max(at));
        match self.entries.back_mut() {
            Some(entry) if at == entry.at && entry.left.is_none() => {
                (entry.last_number, entry.stamp) = (self.last_number, stamp);
            }
            _ => {
                let number = self.last_number;
                let entry = Entry { at, next_number: number, last_number: number, stamp, left: None };
                self.entries.push_back(entry);
            }
        }
        if self.entries.len() > MOST_ENTRIES {
            self.forget_first();
        }
        self.last_number
    }

    /// Notes that the newest packets left at `at`.
    pub(super) fn left(&mut self, at: Time) {
        if let Some(entry) = self.entries.back_mut() {
            entry.left.get_or_insert(at);
        }
    }

    /// Returns the number of the newest packet sent.
    pub(super) fn last_number(&self) -> u64 {
        self.last_number
    }

    /// Returns the number of the last packet that left at `sent_at` or before.
    pub(super) fn number_at(&self, sent_at: Time) -> u64 {
        self.entry_at(sent_at).map_or(0, |entry| entry.last_number)
    }

    /// Returns a packet that quinn sent at `sent_at` and that has arrived. Those of one instant are taken to arrive
    /// in their order, since quinn does not report which of them has.
    pub(super) fn arrived(&mut self, sent_at: Time) -> Found {
        let unknown = Found { left: sent_at, ..Found::default() };
        let is_next = |entry: &Entry| entry.at == sent_at && entry.next_number <= entry.last_number;
        if !self.entries.get(self.arriving).is_some_and(is_next) {
            let Some(place) = self.first_unarrived(sent_at) else { return unknown };
            self.arriving = place;
        }
        let Some(entry) = self.entries.get_mut(self.arriving) else { return unknown };
        let number = entry.next_number.min(entry.last_number);
        entry.next_number = number + 1;
        entry.found(number, sent_at)
    }

    /// Returns the place of the first batch of this instant with packets that have not arrived; else of its last one.
    fn first_unarrived(&self, sent_at: Time) -> Option<usize> {
        let last = self.place_at(sent_at)?;
        let at = self.entries.get(last)?.at;
        let batches = self.entries.range(..=last).rev().take_while(|entry| entry.at == at);
        let unarrived = batches.enumerate().filter(|(_, entry)| entry.next_number <= entry.last_number);
        Some(last - unarrived.last().map_or(0, |(back, _)| back))
    }

    /// Returns the last packet that quinn sent at `sent_at` or before.
    pub(super) fn newest_at(&self, sent_at: Time) -> Option<Found> {
        self.entry_at(sent_at).map(|entry| entry.found(entry.last_number, sent_at))
    }

    fn entry_at(&self, sent_at: Time) -> Option<&Entry> {
        self.entries.get(self.place_at(sent_at)?)
    }

    fn place_at(&self, sent_at: Time) -> Option<usize> {
        self.entries.partition_point(|entry| entry.at <= sent_at).checked_sub(1)
    }

    fn forget_first(&mut self) {
        self.entries.pop_front();
        self.arriving = self.arriving.saturating_sub(1);
    }

    /// Forgets what left more than `span` before `newest_acked`: it is acknowledged or lost by now.
    pub(super) fn forget_before(&mut self, newest_acked: Time, span: Span) {
        while self.entries.front().is_some_and(|entry| newest_acked.since(entry.at) > span) {
            self.forget_first();
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
        let numbers = [5, 5, 9, 5, 5, 4].map(|ms| log.arrived(Time::from_millis(ms)).number);
        assert_eq!(numbers, [1, 2, 4, 3, 3, 0], "more than were sent have the last number");
    }

    #[test]
    fn batches_of_one_instant_are_measured_from_their_own_departures() {
        let mut log = SentLog::default();
        for left_ms in [6, 9] {
            (0..2).for_each(|_| _ = log.push(Time::from_millis(5), Stamp::default()));
            log.left(Time::from_millis(left_ms));
            log.left(Time::from_millis(50));
        }
        log.push(Time::from_millis(5), Stamp::default());
        let arrived = [(); 5].map(|()| log.arrived(Time::from_millis(5)));
        let left = arrived.map(|found| found.left.as_micros() / 1000);
        assert_eq!(arrived.map(|found| found.number), [1, 2, 3, 4, 5]);
        assert_eq!(left, [6, 6, 9, 9, 5], "nobody has reported the last one's");
        assert_eq!(log.number_at(Time::from_millis(5)), 5);
        let probe = log.arrived(Time::from_millis(8));
        assert_eq!(probe.left, Time::from_millis(8), "of what is not in the log quinn's time counts");
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
