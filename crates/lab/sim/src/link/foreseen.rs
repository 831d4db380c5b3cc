//! A link with DropTail, a constant rate and no elements: when a packet arrives it is known when it will have been sent.
//!
//! The packet goes onto the wire at once, and the link needs no event when it is free again: two of five events of a swarm. The
//! places of packets in the queue are taken later, many at a time, and always before somebody reads the link's measures.
//! A tap gets a packet when it arrives, with the time at which the link will begin to send it. The record of lengths counts
//! packets as they leave the queue: where it is taken, there is an event for each departure, and the places are taken then.
//! Neither changes what happens to any packet, nor when.

use super::{Link, Store};
use crate::packet::Packet;
use afteryou_aqm::foreseen::{Foreseen, QueuePlace};
use afteryou_aqm::{Class, Limit};
use afteryou_base::{Span, Time};
use std::collections::VecDeque;

/// When a link will send a packet.
#[derive(Clone, Copy)]
pub struct Sending {
    /// When it will begin.
    pub begins: Time,
    /// When the packet will have been sent, and goes onto the wire.
    pub ends: Time,
}

/// Packets that have gone ahead, and their places.
// In this order: what every packet needs comes first.
#[repr(C)]
pub(super) struct Ahead {
    pub(super) queue: Foreseen,
    /// When all packets will have been sent.
    sent_at: Time,
    /// The packets themselves, where each departure is noted.
    #[expect(
        clippy::box_collection,
        reason = "most links have none, and what follows in the link is to be near"
    )]
    noted: Option<Box<VecDeque<Packet>>>,
}

impl Ahead {
    /// Creates the queue without a packet; `is_noted`: each departure is to be noted.
    pub(super) fn new(limit: Limit, is_noted: bool) -> Ahead {
        Ahead { queue: Foreseen::new(limit), sent_at: Time::ZERO, noted: is_noted.then(Box::default) }
    }

    /// Takes a packet for which there is room, and which takes `time` to send.
    #[inline(always)]
    fn enqueue(&mut self, now: Time, packet: &Packet, time: Span) -> Sending {
        let begins = self.sent_at.max(now);
        if begins == now && self.queue.is_empty() && self.noted.is_none() {
            self.queue.pass_at_once(packet);
        } else {
            self.queue.enqueue(now, begins, packet);
        }
        self.sent_at = begins + time;
        Sending { begins, ends: self.sent_at }
    }

    /// Returns packets × time up to `now` of what is in the queue, by the index of a class.
    pub(super) fn area(&self, now: Time, index: impl Fn(&QueuePlace) -> usize) -> [u128; 2] {
        let mut area = [0; 2];
        for place in self.queue.waiting() {
            area[index(place)] += u128::from(now.since(place.arrived).0);
        }
        area
    }
}

impl Link {
    /// Returns whether the end of a packet's transmission is known as soon as the packet arrives.
    #[inline]
    pub fn is_foreseen(&self) -> bool {
        matches!(self.store, Store::Ahead(_)) && !self.is_queued_elsewhere
    }

    /// Takes a packet that arrives at such a link. Returns when it will be sent; `None` if the queue drops it: then
    /// [`take_dropped`](Self::take_dropped) has it.
    #[inline(always)]
    pub fn foresee(&mut self, now: Time, packet: &Packet) -> Option<Sending> {
        self.books.arrived.add(packet);
        let time = self.time_to_send(packet.size);
        let Store::Ahead(ahead) = &mut self.store else { return None };
        if ahead.queue.is_behind(packet.size) && !self.makes_room(now, packet) {
            return None;
        }
        let Store::Ahead(ahead) = &mut self.store else { return None };
        let sending = ahead.enqueue(now, packet, time);
        if sending.begins == now {
            self.busy_until = sending.ends;
        }
        Some(sending)
    }

    /// Takes the places of packets that the link has begun to send by now. Returns whether there is room for `packet` then, which the
    /// queue drops otherwise.
    #[inline(never)]
    fn makes_room(&mut self, now: Time, packet: &Packet) -> bool {
        self.catch_up(now);
        let Store::Ahead(ahead) = &mut self.store else { return false };
        let has_room = ahead.queue.has_room(packet.size);
        if !has_room {
            ahead.queue.refuse(packet, &mut self.dropped);
        }
        has_room
    }

    /// Counts the packets that the link has begun to send by now, but for those whose departures are [noted](Self::next_begun).
    pub fn catch_up(&mut self, now: Time) {
        let Link { meter, store: Store::Ahead(Ahead { queue, noted: None, .. }), .. } = self else { return };
        let (passed, last) = queue.take_all_begun(now, |class, sojourn| meter.delays(class, sojourn));
        for (class, passed) in Class::BOTH.into_iter().zip(&passed) {
            meter.passes(class, passed);
            self.begun += passed.bytes;
        }
        if let Some(QueuePlace { begins, size, .. }) = last {
            self.transmit(begins, size);
        }
    }

    #[inline]
    fn count_begun(&mut self, place: &QueuePlace) {
        let sojourn = place.sojourn();
        self.meter.waited(place.class, sojourn);
        self.meter.departs(place.class, sojourn);
        self.begun += u64::from(place.size);
    }

    /// Notes a packet that has been foreseen: its departure is to be noted if all are.
    pub fn note_foreseen(&mut self, packet: &Packet) {
        if let Store::Ahead(Ahead { noted: Some(packets), .. }) = &mut self.store {
            packets.push_back(*packet);
        }
    }

    /// Returns the next packet that the link has begun to send by now, and when, where departures are noted.
    #[inline]
    pub fn next_begun(&mut self, now: Time) -> Option<(Time, Packet)> {
        let Store::Ahead(Ahead { queue, noted: Some(packets), .. }) = &mut self.store else { return None };
        let place = queue.take_begun(now)?;
        let packet = packets.pop_front()?;
        self.count_begun(&place);
        self.transmit(place.begins, place.size);
        Some((place.begins, packet))
    }

    /// Returns when the link begins to send the next packet whose departure is to be noted.
    #[inline]
    pub fn next_begins(&self) -> Option<Time> {
        let Store::Ahead(Ahead { queue, noted: Some(_), .. }) = &self.store else { return None };
        queue.waiting().next().map(|place| place.begins)
    }
}
