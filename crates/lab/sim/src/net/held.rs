//! Packets that wait for their own time: those that the script or a flow's element holds back before a link, and those that
//! may be overtaken behind one.

use super::Net;
use crate::calendar::{Kind, Slot};
use crate::element::{Batch, Entry, Exit};
use crate::link::Amount;
use crate::packet::Packet;
use afteryou_base::Time;

/// A packet that waits, and for what.
#[derive(Clone, Copy, Debug)]
pub(super) enum Held {
    /// The packet enters the link of its hop.
    Ahead(Packet),
    /// The packet has been sent and goes onto the wire with this index.
    Sent(Packet, u32),
    /// The batch of acknowledgements with this number before this link continues.
    Batch(u32, u64),
}

impl Net<'_> {
    pub(super) fn hold(&mut self, until: Time, held: Held) {
        let slot = self.held.insert(held);
        self.calendar.push(until, Slot::new(Kind::Held, slot));
    }

    /// Releases a packet that was held back.
    pub fn release(&mut self, now: Time, index: usize) {
        match self.held.remove(index) {
            Held::Ahead(packet) => self.enter(now, packet),
            Held::Batch(link, number) => {
                let batch = self.links[link as usize].aggregate().map(|waiting| waiting.take_batch(number));
                self.go_on_together(now, link as usize, batch.unwrap_or_default());
            }
            Held::Sent(packet, line) => self.lines.put(&mut self.calendar, line, now, &packet),
        }
    }

    /// Lets a data packet meet the elements of its flow. Copies are made before the first link, where both arrive.
    pub(super) fn meet_elements(&mut self, now: Time, owner: usize, packet: Packet) {
        let Some(elements) = &mut self.of_flows[owner] else { return };
        let first = self.hops.of(&packet).link as usize;
        match elements.entry(false) {
            Entry::Once => self.go_on(now, owner, packet),
            Entry::Twice => {
                let copy = self.copy_of(&packet);
                self.go_on(now, owner, packet);
                self.go_on(now, owner, copy);
            }
            Entry::Lost | Entry::Waits => self.lose(now, first, packet),
        }
    }

    /// Lets a data packet leave the elements of its flow now or later.
    fn go_on(&mut self, now: Time, owner: usize, packet: Packet) {
        let Some(elements) = &mut self.of_flows[owner] else { return };
        match elements.exit(now) {
            Exit::InOrder(at) | Exit::Alone(at) if at > now => self.hold(at, Held::Ahead(packet)),
            _ => self.enter(now, packet),
        }
    }

    /// Lets an acknowledgement wait before a link for others.
    pub(super) fn aggregate(&mut self, now: Time, link: usize, packet: Packet) {
        let Some(waiting) = self.links[link].aggregate() else { return };
        match waiting.add(packet) {
            Batch::Complete => {
                let batch = waiting.take();
                self.go_on_together(now, link, batch);
            }
            Batch::Began(number, after) => self.hold(now + after, Held::Batch(link as u32, number)),
            Batch::Waits => {}
        }
    }

    fn go_on_together(&mut self, now: Time, link: usize, batch: Vec<Packet>) {
        for packet in batch {
            let entry = self.links[link].entry(false);
            self.meet_link(now, link, packet, entry);
        }
    }

    /// Loses a packet that a link has sent.
    pub(super) fn lose_sent(&mut self, now: Time, index: usize, packet: Packet) {
        let (link, mut discard) = self.at(now, index);
        link.lose(packet, &mut discard);
    }

    /// Adds the packets that this link has sent and that wait to go onto a wire.
    pub(super) fn held_behind(&self, link: usize, wires: &mut Amount) {
        for (_, held) in &self.held {
            match held {
                Held::Sent(packet, line) if self.lines.link_before(*line as usize) == link => {
                    wires.add(packet);
                }
                _ => {}
            }
        }
    }
}
