//! A link: a queue, a transmitter, and a wire for each round-trip time.
//!
//! A packet that arrives may be lost at random, then meets the queue discipline, waits, is sent at the link's rate, and
//! comes out of its flow's delay line. Every byte is counted where it enters and where it leaves, independently, so that
//! the ledger at the end proves that none was lost by the simulator itself.

use crate::calendar::{Calendar, Kind, Slot};
use crate::packet::{Body, Packet};
use afteryou_aqm::{Dropped, Queue};
use afteryou_cc::{Span, Time};
use afteryou_scenario::outcome::{Ledger, Packets};
use afteryou_scenario::{random, Error, Link as Spec};
use rand_pcg::Pcg64;
use std::collections::VecDeque;

/// Which way a packet goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// From senders to receivers: the bottleneck that is measured.
    Forward,
    /// Back.
    Reverse,
}

/// A link in one direction.
pub struct Link {
    queue: Box<dyn Queue<Body>>,
    bits_per_second: u64,
    loss: f64,
    random: Pcg64,
    slot: Slot,
    /// The packet that is being sent, and how long it was queued.
    sending: Option<Packet>,
    dropped: Vec<Dropped<Body>>,
    counts: Counts,
    /// Size and time of the packet sent last: most have the same size.
    last_size: (u32, Span),
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    arrived: u64,
    delivered: u64,
    dropped: u64,
    lost: u64,
    packets: Packets,
}

/// What became of the link when it could take the next packet.
pub struct Departure {
    /// How long the packet that now begins to be sent was queued.
    pub sojourn: Span,
    /// Its size, bytes.
    pub size: u32,
    /// When it will have been sent.
    pub done: Time,
}

impl Link {
    /// The link of `spec`; `name` names its random stream.
    pub fn new(spec: &Spec, way: Way, seed: u64) -> Result<Link, Error> {
        let (entry, overrides) = spec.queue.queue()?;
        let queue = entry
            .build(&overrides, spec.buffer.limit(spec.rate))
            .map_err(|error| Error::Parameter { of: entry.name.to_owned(), reason: error.to_string() })?;
        Ok(Link {
            queue,
            bits_per_second: spec.rate.bits_per_second(),
            loss: spec.loss.ratio(),
            random: random::stream(seed, way.stream()),
            slot: Slot::new(Kind::Link, way as usize),
            sending: None,
            dropped: Vec::new(),
            counts: Counts::default(),
            last_size: (0, Span::ZERO),
        })
    }

    /// A packet arrives. What is dropped, it or another, is told to `discard`.
    pub fn offer(&mut self, now: Time, packet: Packet, discard: &mut dyn FnMut(Packet)) {
        self.counts.arrived += u64::from(packet.size);
        self.counts.packets.arrived += 1;
        if self.loss > 0.0 && random::happens(&mut self.random, self.loss) {
            return self.lose(packet, discard);
        }
        self.queue.enqueue(now, packet, &mut self.dropped);
        if !self.dropped.is_empty() {
            self.count_dropped(discard);
        }
    }

    /// A packet that arrived is lost, at random or because the script says so.
    fn lose(&mut self, packet: Packet, discard: &mut dyn FnMut(Packet)) {
        self.counts.lost += u64::from(packet.size);
        self.counts.packets.lost += 1;
        discard(packet);
    }

    /// A packet that the script drops: it has arrived and is lost.
    pub fn offer_lost(&mut self, packet: Packet, discard: &mut dyn FnMut(Packet)) {
        self.counts.arrived += u64::from(packet.size);
        self.counts.packets.arrived += 1;
        self.lose(packet, discard);
    }

    fn count_dropped(&mut self, discard: &mut dyn FnMut(Packet)) {
        for dropped in self.dropped.drain(..) {
            self.counts.dropped += u64::from(dropped.packet.size);
            self.counts.packets.dropped += 1;
            discard(dropped.packet);
        }
    }

    /// Is nothing being sent?
    pub fn is_idle(&self) -> bool {
        self.sending.is_none()
    }

    /// Begins to send the next packet, if the link is free and there is one.
    pub fn send_next(&mut self, now: Time, discard: &mut dyn FnMut(Packet)) -> Option<Departure> {
        let next = self.queue.dequeue(now, &mut self.dropped);
        if !self.dropped.is_empty() {
            self.count_dropped(discard);
        }
        let (packet, sojourn) = next?;
        let size = packet.size;
        self.sending = Some(packet);
        Some(Departure { sojourn, size, done: now + self.time_to_send(size) })
    }

    /// Time that `size` bytes take.
    pub fn time_to_send(&mut self, size: u32) -> Span {
        if self.last_size.0 != size {
            let nanos = u128::from(size) * 8_000_000_000 / u128::from(self.bits_per_second.max(1));
            self.last_size = (size, Span(u64::try_from(nanos).unwrap_or(u64::MAX)));
        }
        self.last_size.1
    }

    /// The packet that was being sent is out.
    pub fn sent(&mut self) -> Option<Packet> {
        self.sending.take()
    }

    /// A packet has come out at the far end.
    pub fn delivered(&mut self, packet: &Packet) {
        self.counts.delivered += u64::from(packet.size);
        self.counts.packets.delivered += 1;
    }

    /// Packets waiting, the one being sent not counted.
    pub fn queued_packets(&self) -> u64 {
        self.queue.backlog().packets
    }

    /// The link's slot in the calendar.
    pub fn slot(&self) -> Slot {
        self.slot
    }

    /// Every byte accounted for; `wires` is what the delay lines of this direction hold.
    pub fn ledger(&self, way: Way, wires: Held) -> (Ledger, Packets) {
        let backlog = self.queue.backlog();
        let sending =
            self.sending.map_or(Held::default(), |packet| Held { bytes: packet.size.into(), packets: 1 });
        let ledger = Ledger {
            link: way.name().to_owned(),
            arrived: self.counts.arrived,
            delivered: self.counts.delivered,
            dropped: self.counts.dropped,
            lost: self.counts.lost,
            queued: backlog.bytes,
            in_flight: wires.bytes + sending.bytes,
        };
        let unfinished = backlog.packets + wires.packets + sending.packets;
        (ledger, Packets { unfinished, ..self.counts.packets })
    }
}

impl Way {
    /// Both.
    pub const BOTH: [Way; 2] = [Way::Forward, Way::Reverse];

    /// In results.
    pub fn name(self) -> &'static str {
        match self {
            Way::Forward => "bottleneck",
            Way::Reverse => "way back",
        }
    }

    fn stream(self) -> &'static str {
        match self {
            Way::Forward => "link forward loss",
            Way::Reverse => "link reverse loss",
        }
    }
}

/// What something holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// Bytes.
    pub bytes: u64,
    /// Packets.
    pub packets: u64,
}

/// A wire: what goes in comes out after a constant time, in the same order.
#[derive(Debug)]
pub struct Line {
    /// Time from one end to the other.
    pub delay: Span,
    /// Direction.
    pub way: Way,
    packets: VecDeque<(Time, Packet)>,
    slot: Slot,
}

impl Line {
    /// An empty wire with this index among all.
    pub fn new(way: Way, delay: Span, index: usize) -> Line {
        Line { delay, way, packets: VecDeque::new(), slot: Slot::new(Kind::Line, index) }
    }

    /// A packet goes in.
    pub fn put(&mut self, calendar: &mut Calendar, now: Time, packet: Packet) {
        let at = now + self.delay;
        if self.packets.is_empty() {
            calendar.push(at, self.slot);
        }
        self.packets.push_back((at, packet));
    }

    /// The packet that comes out now, and when the next one does.
    pub fn take(&mut self) -> Option<(Packet, Option<Time>)> {
        let (_, packet) = self.packets.pop_front()?;
        Some((packet, self.packets.front().map(|(at, _)| *at)))
    }

    /// What is on it.
    pub fn held(&self) -> Held {
        let bytes = self.packets.iter().map(|(_, packet)| u64::from(packet.size)).sum();
        Held { bytes, packets: self.packets.len() as u64 }
    }
}
