//! Acknowledgements of packets without a history: each was sent once, in order, and is in flight. Most are such, and cost little.

use super::taken::{Arrived, Taken, Timing};
use super::{AckProgress, Board, SPARE};
use crate::delivery::Stamp;
use crate::expand;

/// Packets without a history that an acknowledgement has delivered in order.
struct Run {
    bytes: u64,
    packets: u64,
    newest: Arrived,
    /// The newest one's, if stamps are kept.
    stamp: Option<Stamp>,
    /// A later packet had arrived before.
    is_late: bool,
}

impl Board {
    /// Takes in an acknowledgement without SACK blocks while no outstanding packet has a history. Returns its changes; none if it
    /// is another one, or has no news, or its packets are needed one by one: that is for [`begin_ack`](Board::begin_ack).
    #[inline]
    pub fn acknowledge_plain(&mut self, cumulative: u64, timing: &Timing) -> Option<AckProgress> {
        let is_news = (self.una + 1..=self.next_seq()).contains(&cumulative);
        if !is_news || self.una < self.plain_from || self.lists {
            return None;
        }
        let now = timing.now;
        let Run { bytes, packets, newest, stamp, is_late } = self.take_run(cumulative)?;
        let Arrived { number, sent_at, app_limited } = newest;
        self.late.clear();
        self.repaired.clear();
        self.delivery.finish_ack(now, Some(sent_at));
        let delivery = stamp.and_then(|stamp| self.delivery.rate(sent_at, &stamp, timing.min_rtt));
        let rtt = now.since(sent_at);
        if self.rack.is_none_or(|(newest, _)| newest < number) {
            self.rack = Some((number, rtt));
        }
        if self.segments.is_empty() {
            self.segments.shrink_to(SPARE);
            self.sent.shrink_to(SPARE);
            self.stamps.shrink_to(SPARE);
        }
        Some(AckProgress {
            newly_acked: bytes,
            packets,
            advanced: true,
            newest: (number, sent_at),
            rtt: Some(rtt),
            delivery,
            app_limited,
            reordered: is_late,
            ..AckProgress::default()
        })
    }

    /// Books packets below `cumulative` from the oldest on, up to the first with a history.
    #[inline]
    pub(super) fn deliver_plain(&mut self, cumulative: u64, taken: &mut Taken) {
        if self.keeps_stamps {
            return;
        }
        let Some(Run { bytes, packets, newest, is_late, .. }) = self.take_run(cumulative) else { return };
        taken.progress.newly_acked += bytes;
        taken.progress.packets += packets;
        taken.progress.reordered |= is_late;
        taken.note(newest);
    }

    /// Takes packets without a history from the scoreboard that are below `cumulative`, from the oldest on.
    #[inline(always)]
    fn take_run(&mut self, cumulative: u64) -> Option<Run> {
        let (first, mut bytes, mut newest, mut stamp) = (self.una, 0, None, None);
        while self.una < cumulative {
            let Some(segment) = self.segments.front().filter(|segment| segment.is_plain()) else { break };
            bytes += u64::from(segment.len);
            let number = segment.number;
            self.segments.pop_front();
            self.una += 1;
            // Without a gap before it, its transmission is the oldest that is kept.
            if number == self.first_number as u32 {
                newest = self.sent.pop_front().map(|sent| Arrived::of(self.first_number, &sent));
                self.first_number += 1;
                // Empty, unless stamps are kept.
                stamp = self.stamps.pop_front();
            } else {
                stamp = self.stamp(number);
                newest = self.transmission(number).map(|(number, sent)| Arrived::of(number, &sent));
            }
        }
        let newest = newest?;
        self.outstanding -= bytes;
        self.in_flight -= bytes;
        self.delivery.deliver(bytes);
        let is_late = first < self.highest;
        self.highest = self.highest.max(self.una);
        Some(Run { bytes, packets: self.una - first, newest, stamp, is_late })
    }

    /// Returns the stamp of the transmission with these low bits.
    fn stamp(&self, low: u32) -> Option<Stamp> {
        let index = expand(self.first_number, low).checked_sub(self.first_number)?;
        self.stamps.get(index as usize).copied()
    }

    /// Notes that an outstanding packet gets a history, or one that was sent before all that have none.
    #[inline]
    pub(super) fn note_history(&mut self) {
        self.plain_from = self.next_seq();
    }
}
