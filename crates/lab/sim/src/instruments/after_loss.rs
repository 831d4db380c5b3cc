//! The events after a lost packet, in the order of transmission (`record = ["losses"]`): D_p(N) and R_p(N) of Alsaadi
//! and But (2017), fig. 4.
//!
//! Every transmission of a data packet has an ordinal in its connection, from 1. New packets are numbered in the order of their
//! first transmissions, so the ordinal of such a one is its number plus the retransmissions before it: memory is needed for
//! retransmissions and losses alone.
//!
//! A packet is lost where a queue or a link drops it, or the scenario's script. Where a packet has been sent several times, the
//! oldest transmission that is not known to be lost is taken for the one that was dropped, in uTP, whose packets do not say which one
//! they are. A copy that a link made counts as the packet itself.

use crate::packet::{Body, Packet, CWR};
use afteryou_base::Time;
use afteryou_scenario::outcome::{round, AfterLoss};
use std::collections::{BTreeMap, BTreeSet};

/// Followers that are looked at.
const FOLLOWERS: u64 = 40;

/// The order in which all connections send, and what is lost.
#[derive(Debug, Default)]
pub struct LossOrder {
    /// By connection, its flow and its course.
    open: BTreeMap<u32, (usize, Course)>,
    closed: Vec<(usize, Course)>,
}

/// One connection.
#[derive(Debug, Default)]
struct Course {
    epoch: u16,
    /// Transmissions so far.
    sent: u64,
    /// Highest number so far.
    highest: u64,
    /// Ordinal and number of each retransmission.
    retransmissions: Vec<(u64, u64)>,
    /// By number, the ordinals of its retransmissions.
    repeated: BTreeMap<u64, Vec<u64>>,
    /// Ordinal and number of each lost packet, and when it was lost.
    lost: Vec<(u64, u64, Time)>,
    is_lost: BTreeSet<u64>,
}

impl LossOrder {
    /// Notes that a connection of the flow `owner` is opened.
    pub fn opened(&mut self, connection: usize, owner: usize) {
        let before = self.open.insert(connection as u32, (owner, Course::default()));
        self.closed.extend(before.filter(|(_, course)| !course.lost.is_empty()));
    }

    /// Notes that a connection sends the data packet with this number, from 1.
    pub fn sent(&mut self, packet: &Packet, number: u64) {
        let Some((_, course)) = self.open.get_mut(&packet.flow) else { return };
        match packet.body {
            Body::Data { epoch, .. } | Body::Utp { epoch, .. } => course.epoch = epoch,
            Body::Whole { .. } => {}
            _ => return,
        }
        course.sent(number);
    }

    /// Notes that a packet is lost on the forward path; `sequence` returns the sequence number in a uTP header.
    pub fn lost(&mut self, now: Time, packet: &Packet, sequence: impl FnOnce(u32) -> u16) {
        let Some((_, course)) = self.open.get_mut(&packet.flow) else { return };
        match packet.body {
            Body::Data { seq, epoch, transmission, .. } if epoch == course.epoch => {
                // Numbers begin with 1, segments with 0.
                let low = seq.wrapping_add(1);
                let number = near(course.highest, low.wrapping_sub(course.highest as u32) as i32);
                course.lost(now, number, Some(transmission & !CWR));
            }
            Body::Utp { head, payload: 1.., epoch } if epoch == course.epoch => {
                let low = sequence(head);
                let number = near(course.highest, (low.wrapping_sub(course.highest as u16) as i16).into());
                course.lost(now, number, None);
            }
            Body::Whole { number: number @ 1.., .. } => {
                let number = near(course.highest, number.wrapping_sub(course.highest as u32) as i32);
                course.lost(now, number, None);
            }
            _ => {}
        }
    }

    /// Returns what followed the packets that the flows of a set lost in `[from, to)`.
    pub fn figures(&self, flows: &[usize], (from, to): (Time, Time)) -> AfterLoss {
        let courses = self.open.values().chain(&self.closed).filter(|(owner, _)| flows.contains(owner));
        let mut counts = Counts::default();
        courses.for_each(|(_, course)| course.count((from, to), &mut counts));
        let part = |of: [u64; FOLLOWERS as usize]| {
            let parts = of.iter().zip(counts.followed);
            parts.map(|(of, all)| round(*of as f64 / all.max(1) as f64, 6)).collect()
        };
        AfterLoss {
            lost: counts.lost,
            dropped: part(counts.dropped),
            retransmitted: part(counts.retransmitted),
        }
    }
}

/// Returns the number whose low bits are this far from those of `highest`.
fn near(highest: u64, distance: i32) -> u64 {
    highest.wrapping_add_signed(distance.into())
}

/// Counts for each follower.
struct Counts {
    lost: u64,
    followed: [u64; FOLLOWERS as usize],
    dropped: [u64; FOLLOWERS as usize],
    retransmitted: [u64; FOLLOWERS as usize],
}

impl Default for Counts {
    fn default() -> Counts {
        let none = [0; FOLLOWERS as usize];
        Counts { lost: 0, followed: none, dropped: none, retransmitted: none }
    }
}

impl Course {
    fn sent(&mut self, number: u64) {
        self.sent += 1;
        if number > self.highest {
            self.highest = number;
            return;
        }
        self.retransmissions.push((self.sent, number));
        self.repeated.entry(number).or_default().push(self.sent);
    }

    /// Returns the ordinal of the first transmission of a packet.
    fn first(&self, number: u64) -> u64 {
        // New packets sent before a retransmission grow with its place, so the first one after the packet is found by halving.
        let (mut low, mut high) = (0, self.retransmissions.len());
        while low < high {
            let middle = (low + high) / 2;
            match self.retransmissions[middle].0 - 1 - (middle as u64) < number {
                true => low = middle + 1,
                false => high = middle,
            }
        }
        number + low as u64
    }

    /// Notes that a transmission of a packet is lost: the `transmission`-th, from 1, or the oldest that is not known to be
    /// lost.
    fn lost(&mut self, now: Time, number: u64, transmission: Option<u8>) {
        let first = self.first(number);
        let again = self.repeated.get(&number).map_or(&[][..], Vec::as_slice);
        let mut all = std::iter::once(first).chain(again.iter().copied());
        let ordinal = match transmission {
            Some(transmission) => all.nth(usize::from(transmission).saturating_sub(1)),
            None => all.find(|ordinal| !self.is_lost.contains(ordinal)),
        };
        // Of a copy that is lost after the packet itself nothing follows that has not followed before.
        let Some(ordinal) = ordinal.filter(|ordinal| !self.is_lost.contains(ordinal)) else { return };
        self.is_lost.insert(ordinal);
        self.lost.push((ordinal, number, now));
    }

    fn count(&self, (from, to): (Time, Time), counts: &mut Counts) {
        for (ordinal, number, at) in &self.lost {
            if !(from..to).contains(at) {
                continue;
            }
            counts.lost += 1;
            let again =
                self.repeated.get(number).and_then(|again| again.iter().find(|again| *again > ordinal));
            for i in 0..FOLLOWERS.min(self.sent - ordinal) {
                let follower = ordinal + i + 1;
                counts.followed[i as usize] += 1;
                counts.dropped[i as usize] += u64::from(self.is_lost.contains(&follower));
                counts.retransmitted[i as usize] += u64::from(again == Some(&follower));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Packets 1 to 6, of which 2 and 4 are lost; then 2 again, 7, 4 again, which is lost once more, 8 and 4 for the third time.
    ///
    /// | ordinal | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11 |
    /// |---|---|---|---|---|---|---|---|---|---|---|---|
    /// | packet | 1 | 2 | 3 | 4 | 5 | 6 | 2 | 7 | 4 | 8 | 4 |
    /// | lost |  | × |  | × |  |  |  |  | × |  |  |
    #[test]
    fn followers_are_counted_in_the_order_of_transmission() {
        let now = Time::from_millis(1000);
        let mut course = Course::default();
        (1..=6).for_each(|number| course.sent(number));
        course.lost(now, 2, Some(1));
        course.lost(now, 4, None);
        [2, 7, 4].into_iter().for_each(|number| course.sent(number));
        course.lost(now, 4, None);
        [8, 4].into_iter().for_each(|number| course.sent(number));
        assert_eq!(course.lost.iter().map(|lost| lost.0).collect::<Vec<_>>(), [2, 4, 9]);
        let order = LossOrder { open: [(0, (0, course))].into(), closed: Vec::new() };
        let figures = order.figures(&[0], (now, now + afteryou_base::Span(1)));
        assert_eq!(figures.lost, 3);
        // Followers of 2: 4 (lost), 9 (lost), its retransmission is the 5th. Of 4: the 5th is lost and its retransmission. Of 9:
        // two followers, the 2nd is its retransmission.
        let (half, third) = (0.5, 0.333333);
        assert_eq!(figures.dropped[..9], [0.0, third, 0.0, 0.0, half, 0.0, half, 0.0, 0.0]);
        assert_eq!(figures.retransmitted[..9], [0.0, third, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0]);
        assert_eq!(order.figures(&[1], (now, now + afteryou_base::Span(1))).lost, 0);
        assert_eq!(order.figures(&[0], (Time::ZERO, now)).lost, 0, "the window ends before");
    }

    #[test]
    fn the_ordinal_of_a_packet_counts_the_retransmissions_before_it() {
        let mut course = Course::default();
        for number in [1, 2, 1, 3, 2, 1, 4, 5] {
            course.sent(number);
        }
        assert_eq!([1, 2, 3, 4, 5].map(|number| course.first(number)), [1, 2, 4, 7, 8]);
        assert_eq!([near(70_000, -3), near(5, 2)], [69_997, 7]);
    }
}
