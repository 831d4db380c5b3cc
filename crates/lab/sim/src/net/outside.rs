//! Links whose queue is elsewhere, such as the kernel's: a packet that reaches such a link is handed out, and comes back
//! when that queue has sent it on.
//!
//! The link's other elements stay here: losses, duplication, propagation, jitter. A packet that the queue drops never comes
//! back. It is forgotten after a while, and the queue's owner reports how many these were.

use super::Net;
use crate::element::Exit;
use crate::packet::{Body, Packet};
use afteryou_aqm::Ecn;
use afteryou_base::{Span, Time};
use std::collections::{BTreeMap, VecDeque};

/// A packet that has not come back for so long was dropped.
const LONGEST: Span = Span::from_secs(60);

/// Packets in queues elsewhere.
#[derive(Debug, Default)]
pub struct Outside {
    /// By their serial numbers, which ascend with time.
    waiting: BTreeMap<u64, Waiting>,
    next: u64,
    /// Packets that are still to be handed out.
    leaving: VecDeque<u64>,
}

#[derive(Debug)]
struct Waiting {
    link: usize,
    packet: Packet,
    came: Time,
}

/// A packet for a queue elsewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handed<'b> {
    /// The link.
    pub link: usize,
    /// The number under which it comes back.
    pub serial: u64,
    /// The packet's TOS byte.
    pub tos: u8,
    /// The packet itself.
    pub bytes: &'b [u8],
}

impl Net<'_> {
    /// Notes that the queue of a link is elsewhere.
    pub fn queue_elsewhere(&mut self, link: usize) {
        self.links[link].queue_elsewhere();
        self.outside.get_or_insert_default();
    }

    /// Accepts a packet at the queue of such a link.
    pub(super) fn accept_elsewhere(&mut self, now: Time, link: usize, packet: Packet) {
        self.links[link].arrives_elsewhere(&packet);
        let outside = self.outside.get_or_insert_default();
        let serial = outside.next;
        outside.next += 1;
        outside.waiting.insert(serial, Waiting { link, packet, came: now });
        outside.leaving.push_back(serial);
        while let Some(oldest) = outside.waiting.first_entry() {
            if now.since(oldest.get().came) < LONGEST {
                break;
            }
            let Waiting { packet, .. } = oldest.remove();
            super::free(&mut self.sacks, &mut self.heads, packet);
        }
    }

    /// Hands out the packets that have reached such links.
    pub fn hand_out(&mut self, take: &mut dyn FnMut(Handed<'_>)) {
        let Some(outside) = &mut self.outside else { return };
        while let Some(serial) = outside.leaving.pop_front() {
            let Some(Waiting { link, packet, .. }) = outside.waiting.get(&serial) else { continue };
            let Body::Whole { bytes, .. } = packet.body else { continue };
            let bytes = self.heads.get(bytes);
            take(Handed { link: *link, serial, tos: packet.tos(), bytes });
        }
    }

    /// Takes a packet that comes back, with the ECN bits of this TOS byte. One that was forgotten is ignored.
    pub fn come_back(&mut self, now: Time, serial: u64, tos: u8) {
        let waiting = self.outside.as_mut().and_then(|outside| outside.waiting.remove(&serial));
        let Some(Waiting { link, mut packet, came }) = waiting else { return };
        packet.ecn = Ecn::from_bits(tos);
        self.links[link].departs_elsewhere(&packet, now.since(came));
        self.show_sent(now, now, link, &packet);
        let line = self.hops.of(&packet).line;
        match self.links[link].exit(now) {
            Exit::InOrder(at) => self.lines.put(&mut self.calendar, line, at, &packet),
            Exit::Alone(at) => self.hold(at, super::held::Held::Sent(packet, line)),
            Exit::Lost => self.lose_sent(now, link, packet),
        }
    }
}
