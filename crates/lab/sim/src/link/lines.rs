//! Wires: what goes into one comes out after a constant time, in the same order.
//!
//! The packets on all wires are in one [arena](crate::arena); a ring of its own for each wire would be written all over.

use super::Amount;
use crate::arena::{Arena, WholeLine, NONE};
use crate::calendar::{Calendar, Kind, Slot};
use crate::packet::Packet;
use afteryou_base::{Span, Time};

/// All wires.
#[derive(Debug, Default)]
pub struct Lines {
    lines: Vec<Line>,
    /// Packets, with the times at which they come out.
    packets: Arena<(Time, Packet), WholeLine>,
}

/// A wire.
#[derive(Debug)]
#[repr(align(64))]
struct Line {
    /// Time from one end to the other.
    delay: Span,
    /// Packets that have come out.
    delivered: Amount,
    slot: Slot,
    /// The link before it.
    link: u32,
    /// The paths of its packets end behind it.
    is_last: bool,
    /// The packet that comes out next, and the one that went in last.
    first: u32,
    last: u32,
    packets: u32,
}

impl Lines {
    /// Adds an empty wire behind `link`; returns its index.
    pub fn add(&mut self, link: usize, is_last: bool, delay: Span) -> u32 {
        let index = self.lines.len();
        let slot = Slot::new(Kind::Line, index);
        self.lines.push(Line {
            delay,
            delivered: Amount::default(),
            slot,
            link: link as u32,
            is_last,
            first: NONE,
            last: NONE,
            packets: 0,
        });
        index as u32
    }

    /// Puts a packet into a wire at `entering`, now or later.
    #[inline(always)]
    pub fn put(&mut self, calendar: &mut Calendar, wire: u32, entering: Time, packet: &Packet) {
        let line = &mut self.lines[wire as usize];
        let at = entering + line.delay;
        let index = self.packets.insert((at, *packet), NONE);
        match line.packets {
            0 => {
                line.first = index;
                calendar.push(at, line.slot);
            }
            _ => self.packets.follow(line.last, index),
        }
        line.last = index;
        line.packets += 1;
    }

    /// Returns the packet that comes out of a wire next.
    #[inline]
    pub fn first(&self, wire: usize) -> Option<&Packet> {
        self.packets.get(self.lines[wire].first).map(|((_, packet), _)| packet)
    }

    /// Delivers that packet. Returns when the next one comes out.
    #[inline]
    pub fn deliver_first(&mut self, wire: usize) -> Option<Time> {
        let line = &mut self.lines[wire];
        if line.packets == 0 {
            return None;
        }
        let ((_, packet), next) = self.packets.remove(line.first);
        line.delivered.add(&packet);
        line.first = next;
        line.packets -= 1;
        self.packets.get(line.first).map(|((at, _), _)| *at)
    }

    /// Returns whether the paths of its packets end behind a wire.
    #[inline]
    pub fn is_last(&self, wire: usize) -> bool {
        self.lines[wire].is_last
    }

    /// Returns the link before a wire.
    pub fn link_before(&self, wire: usize) -> usize {
        self.lines[wire].link as usize
    }

    /// Returns the packets that have come out of the wires behind a link.
    pub fn delivered(&self, link: usize) -> Amount {
        let mut delivered = Amount::default();
        for line in self.lines_behind(link) {
            delivered.bytes += line.delivered.bytes;
            delivered.packets += line.delivered.packets;
        }
        delivered
    }

    fn lines_behind(&self, link: usize) -> impl Iterator<Item = &Line> {
        self.lines.iter().filter(move |line| line.link as usize == link)
    }

    /// Returns the number of packets on all wires.
    pub fn packets(&self) -> u64 {
        self.lines.iter().map(|line| u64::from(line.packets)).sum()
    }

    /// Returns the contents of the wires behind a link.
    pub fn behind(&self, link: usize) -> Amount {
        let mut held = Amount::default();
        for line in self.lines_behind(link) {
            let mut index = line.first;
            while let Some(((_, packet), next)) = self.packets.get(index) {
                held.add(packet);
                index = next;
            }
        }
        held
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Body;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    fn packet(flow: u32) -> Packet {
        Packet::from_tos(1 + flow % 1500, flow, 0, Body::Syn { tsval: 0, epoch: 0 })
    }

    proptest! {
        #[test]
        fn packets_come_out_of_each_wire_as_they_went_in_and_places_are_used_again(
            steps in prop::collection::vec((0usize..4, any::<bool>()), 1..400),
        ) {
            let (mut calendar, mut lines) = (Calendar::default(), Lines::default());
            let mut model: [VecDeque<(Time, u32)>; 4] = Default::default();
            for wire in 0..4 {
                prop_assert_eq!(lines.add(wire, wire % 2 == 0, Span(10 * wire as u64)), wire as u32);
            }
            let (mut most, mut delivered) = (0, [Amount::default(); 4]);
            for (now, (wire, goes_in)) in steps.into_iter().enumerate() {
                let (now, delay) = (now as u64, 10 * wire as u64);
                if goes_in {
                    lines.put(&mut calendar, wire as u32, Time(now), &packet(now as u32));
                    model[wire].push_back((Time(now + delay), now as u32));
                } else {
                    let first = model[wire].pop_front().map(|(_, flow)| packet(flow));
                    first.iter().for_each(|packet| delivered[wire].add(packet));
                    prop_assert_eq!(lines.first(wire).copied(), first);
                    prop_assert_eq!(lines.deliver_first(wire), model[wire].front().map(|(at, _)| *at));
                }
                let packets: usize = model.iter().map(VecDeque::len).sum();
                most = most.max(packets);
                prop_assert_eq!(lines.packets(), packets as u64);
                let bytes = model[wire].iter().map(|(_, flow)| u64::from(packet(*flow).size)).sum();
                prop_assert_eq!(lines.behind(wire), Amount { bytes, packets: model[wire].len() as u64 });
                prop_assert_eq!(lines.delivered(wire), delivered[wire]);
                prop_assert_eq!((lines.link_before(wire), lines.is_last(wire)), (wire, wire % 2 == 0));
            }
            prop_assert_eq!(lines.packets.places(), most);
        }
    }
}
