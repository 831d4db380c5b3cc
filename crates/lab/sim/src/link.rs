//! A link: a queue, a transmitter, and a wire for each propagation delay behind it.
//!
//! A packet that arrives may be lost or duplicated, then meets the queue discipline, waits, is sent at the link's rate, and
//! comes out of the delay line of its hop. When it begins to be sent it is known when it will come out, so it goes onto the
//! line at once; the link needs an event of its own only while somebody waits behind it, and with DropTail
//! [none at all](foreseen). Every byte is counted where it
//! enters and where it leaves, independently, so that the ledger at the end proves that none was lost by the simulator
//! itself.

mod books;
mod foreseen;
mod lines;

use crate::calendar::{Kind, Slot};
use crate::element::{Aggregate, Bucket, Elements, Entry, Exit, VaryingRate};
use crate::instruments::Meter;
use crate::packet::{Body, Packet};
use afteryou_aqm::{Backlog, Class, Dropped, Hosts, Queue, Statistics};
use afteryou_base::{Span, Time};
use afteryou_scenario::network::OneWay;
use afteryou_scenario::outcome::{ClassCounts, LinkTotals};
use afteryou_scenario::passage::Fate;
use afteryou_scenario::{discipline, Error};
pub use books::Amount;
use books::Books;
use foreseen::Ahead;
pub use foreseen::Sending;
pub use lines::Lines;
use std::borrow::Cow;

/// Packets from this size on are large, bytes.
const LARGE: u32 = 256;

/// A link in one direction.
// In this order: two lines of the cache hold what a packet needs where its departure is foreseen. A swarm has two links for each
// peer, and a packet comes to each of them when the cache has lost it.
#[repr(C, align(64))]
pub struct Link {
    is_plain: bool,
    is_queued_elsewhere: bool,
    /// The link's event is scheduled.
    is_scheduled: bool,
    slot: Slot,
    /// Size and time, ns, of the packets sent last, a small one and a large one: most are acknowledgements or full. Times that do not
    /// go into 32 bits are not kept.
    last_sizes: [(u32, u32); 2],
    store: Store,
    books: Books,
    /// Until when a packet is being sent.
    busy_until: Time,
    /// Bytes of all packets that were begun.
    begun: u64,
    bits_per_second: u64,
    /// Until when the queue's shaper holds packets back, if that is when the link can begin the next packet.
    held_until: Time,
    dropped: Vec<Dropped<Body>>,
    elements: Option<Box<Elements>>,
    /// The measures taken here.
    pub meter: Meter,
    name: String,
    discipline: &'static str,
}

/// Where a link's packets wait.
enum Store {
    /// In a queue.
    Queue(Box<dyn Queue<Body>>),
    /// On the wire already; the queue has their places.
    Ahead(Ahead),
}

/// Takes packets that go no further, with the reason.
pub type Discard<'a> = &'a mut dyn FnMut(Packet, Fate);

impl Link {
    /// Creates the link of `spec`, with this index among all.
    pub fn new(spec: &OneWay, index: usize, seed: u64, meter: Meter) -> Result<Link, Error> {
        let elements = Elements::new(spec, seed);
        let discipline = discipline(&spec.link.queue)?.0.name;
        let store = match discipline {
            "droptail" if elements.is_none() => {
                Store::Ahead(Ahead::new(spec.link.limit(), meter.lengths.is_some()))
            }
            _ => Store::Queue(spec.build_queue(seed)?),
        };
        Ok(Link {
            is_plain: elements.is_none() && meter.lengths.is_none(),
            meter,
            name: spec.name.clone(),
            store,
            discipline,
            bits_per_second: spec.link.rate.bits_per_second(),
            elements,
            is_queued_elsewhere: false,
            slot: Slot::new(Kind::Link, index),
            busy_until: Time::ZERO,
            held_until: Time::ZERO,
            is_scheduled: false,
            begun: 0,
            dropped: Vec::new(),
            books: Books::default(),
            last_sizes: [(0, 0); 2],
        })
    }

    /// Returns whether it has only a queue and a transmitter, and no observer of single packets.
    #[inline]
    pub fn is_plain(&self) -> bool {
        self.is_plain
    }

    /// Notes that from now on somebody looks at its packets.
    pub fn is_looked_at(&mut self) {
        self.is_plain = false;
    }

    /// Notes that from now on its queue and its transmitter are elsewhere.
    pub fn queue_elsewhere(&mut self) {
        (self.is_plain, self.is_queued_elsewhere) = (false, true);
    }

    /// Returns whether its queue and its transmitter are elsewhere.
    pub fn is_queued_elsewhere(&self) -> bool {
        self.is_queued_elsewhere
    }

    /// Counts a packet that goes into the queue elsewhere.
    pub fn arrives_elsewhere(&mut self, packet: &Packet) {
        self.books.arrived.add(packet);
    }

    /// Counts a packet that comes out of the queue elsewhere, where it was for `sojourn`.
    pub fn departs_elsewhere(&mut self, packet: &Packet, sojourn: Span) {
        self.departs(packet, sojourn);
        self.meter.waited(packet.class(), sojourn);
    }

    /// Decides when and whether a packet that has been sent goes onto the wire.
    pub fn exit(&mut self, done: Time) -> Exit {
        self.elements.as_mut().map_or(Exit::InOrder(done), |elements| elements.exit(done))
    }

    /// Notes a packet that is about to be offered, for the record of the queue's length.
    pub fn note_arrival(&mut self, now: Time, packet: &Packet) {
        if let Some(lengths) = &mut self.meter.lengths {
            lengths.arrived(now, packet.flow);
        }
    }

    /// Notes a packet that has left the queue, for the same record.
    pub fn note_departure(&mut self, now: Time, packet: &Packet) {
        if let Some(lengths) = &mut self.meter.lengths {
            lengths.left(now, packet.flow, packet.size);
        }
    }

    /// Returns the outcome for the next packet that arrives.
    pub fn entry(&mut self, is_reply: bool) -> Entry {
        self.elements.as_mut().map_or(Entry::Once, |elements| elements.entry(is_reply))
    }

    /// Returns the acknowledgements that wait before it.
    pub fn aggregate(&mut self) -> Option<&mut Aggregate> {
        self.elements.as_mut().and_then(|elements| elements.aggregate.as_mut())
    }

    /// Counts a copy of a packet that is about to be offered.
    pub fn duplicated(&mut self, packet: &Packet) {
        // What is offered counts as arrived.
        self.books.arrived.subtract(packet);
        self.books.duplicated.add(packet);
    }

    /// Offers a packet that arrives. Afterwards [`take_dropped`](Self::take_dropped) has what the queue dropped, it or
    /// others.
    #[inline]
    pub fn offer(&mut self, now: Time, packet: Packet) {
        self.books.arrived.add(&packet);
        if let Store::Queue(queue) = &mut self.store {
            queue.enqueue(now, packet, &mut self.dropped);
        }
        // On a free link the packet does not wait: it is taken out at this very instant.
        if self.busy_until > now {
            self.measure_queue(now);
        }
    }

    fn measure_queue(&mut self, now: Time) {
        // The counters of the two classes are far apart in memory.
        let queued = match self.meter.is_mixed() {
            true => Class::BOTH.map(|class| self.statistics().of(class).backlog.packets),
            false => [self.backlog().packets, 0],
        };
        self.meter.queue_changed(now, queued);
    }

    /// Returns the queue's counters.
    fn statistics(&self) -> Cow<'_, Statistics> {
        match &self.store {
            Store::Queue(queue) => Cow::Borrowed(queue.statistics()),
            Store::Ahead(ahead) => Cow::Owned(ahead.queue.statistics()),
        }
    }

    fn backlog(&self) -> Backlog {
        match &self.store {
            Store::Queue(queue) => queue.backlog(),
            Store::Ahead(ahead) => ahead.queue.backlog(),
        }
    }

    /// Loses a packet that arrived, before the queue or behind it.
    pub fn lose(&mut self, packet: Packet, discard: Discard<'_>) {
        self.books.lost.add(&packet);
        discard(packet, Fate::Lost);
    }

    /// Takes in a packet that arrives and is lost.
    pub fn offer_lost(&mut self, packet: Packet, discard: Discard<'_>) {
        self.books.arrived.add(&packet);
        self.lose(packet, discard);
    }

    /// Returns whether the queue has dropped packets that [`take_dropped`](Self::take_dropped) has not taken yet.
    #[inline]
    pub fn has_dropped(&self) -> bool {
        !self.dropped.is_empty()
    }

    /// Counts what the queue has dropped and hands it to `discard`.
    // Apart from the check, which is in the simulator's inner loop.
    #[cold]
    #[inline(never)]
    pub fn take_dropped(&mut self, now: Time, discard: Discard<'_>) {
        for dropped in self.dropped.drain(..) {
            self.meter.drops(now, &dropped.packet);
            self.books.dropped.add(&dropped.packet);
            discard(dropped.packet, Fate::Dropped(dropped.reason));
        }
    }

    /// Returns when the link can begin the next packet.
    pub fn busy_until(&self) -> Time {
        self.busy_until
    }

    /// Returns true if the link's event has to be scheduled, for [`busy_until`](Self::busy_until).
    pub fn wants_event(&mut self) -> bool {
        !std::mem::replace(&mut self.is_scheduled, true)
    }

    /// Returns when the link's event comes again, if packets are waiting: it has come now.
    pub fn next_event(&mut self) -> Option<Time> {
        self.is_scheduled = self.queued_packets() > 0;
        self.is_scheduled.then(|| self.next_begins().unwrap_or(self.busy_until))
    }

    /// Begins to send the next packet, if there is one; the link must be free.
    /// Afterwards [`take_dropped`](Self::take_dropped) has what the queue dropped.
    // A packet is 32 bytes, which a call would copy twice: 2 % of a run of one flow.
    #[inline(always)]
    pub fn send_next(&mut self, now: Time) -> Option<(Packet, Span)> {
        let Store::Queue(queue) = &mut self.store else { return None };
        let next = queue.dequeue(now, &mut self.dropped);
        // Where nothing waited before, nothing waits now: the packet came to a free link.
        if self.meter.holds_packets() {
            self.measure_queue(now);
        }
        next
    }

    /// Waits until the queue's shaper releases a packet, if it holds one back; the link must be free. Returns when the link's event
    /// has to be scheduled, if it has to be.
    // Apart from the inner loop, in which a queue is found empty only where its law has dropped all of it.
    #[cold]
    #[inline(never)]
    pub fn hold(&mut self, now: Time) -> Option<Time> {
        let Store::Queue(queue) = &self.store else { return None };
        let until = queue.held_until()?;
        (self.busy_until, self.held_until) = (until, until);
        // The packet came to a free link and waits.
        self.measure_queue(now);
        self.wants_event().then_some(until)
    }

    /// Notes the hosts of a connection, for a queue that keeps hosts apart.
    pub fn note_hosts(&mut self, connection: usize, hosts: Hosts) {
        if let Store::Queue(queue) = &mut self.store {
            queue.note_hosts(connection as u32, hosts);
        }
    }

    /// Counts a packet that leaves the queue, in which it was for `sojourn`.
    #[inline]
    pub fn departs(&mut self, packet: &Packet, sojourn: Span) {
        self.meter.departs(packet.class(), sojourn);
        self.begun += u64::from(packet.size);
    }

    /// Sends a packet of `size` bytes at the link's rate; returns when it will have been sent and goes onto the wire.
    #[inline]
    pub fn transmit(&mut self, now: Time, size: u32) -> Time {
        self.busy_until = now + self.time_to_send(size);
        self.busy_until
    }

    /// Transmits a packet through the link's elements, which decide when and whether it goes onto the wire.
    pub fn transmit_through_elements(&mut self, now: Time, size: u32) -> Exit {
        if let Some((done, exit)) = self.elements.as_mut().and_then(|elements| elements.send(now, size)) {
            self.busy_until = done;
            return exit;
        }
        let done = self.transmit(now, size);
        self.exit(done)
    }

    /// Begins and ends windows here.
    pub fn at_edge(&mut self, now: Time) {
        let left = self.left(now);
        let Link { meter, store, .. } = self;
        match store {
            Store::Queue(queue) => meter.at_edge(now, left, [0; 2], |connection| queue.bucket(connection)),
            Store::Ahead(ahead) => {
                let area = ahead.area(now, |place| meter.index_of(place.class));
                meter.at_edge(now, left, area, |_| None);
            }
        }
    }

    /// Returns the bytes that have left the link by now, of the packet being sent the part that has. A window may be shorter
    /// than the time of a packet, or of a byte.
    fn left(&self, now: Time) -> f64 {
        let unsent = match self.varying_rate().filter(|_| self.bucket().is_none()) {
            Some(rate) => rate.unsent(now) as f64,
            None if self.held_until == self.busy_until => 0.0,
            None => self.busy_until.since(now).0 as f64 * self.bits_per_second as f64 / 8e9,
        };
        (self.begun as f64 - unsent).max(0.0)
    }

    fn bucket(&self) -> Option<&Bucket> {
        self.elements.as_ref().and_then(|elements| elements.transmitter.bucket.as_ref())
    }

    /// Notes that windows begin at these times, as the link sees them: its bucket's contents are part of what it can send in
    /// them.
    pub fn note_edges(&mut self, times: Vec<Time>) {
        if let Some(bucket) = self.elements.as_mut().and_then(|elements| elements.transmitter.bucket.as_mut())
        {
            bucket.note_at(times);
        }
    }

    fn varying_rate(&self) -> Option<&VaryingRate> {
        self.elements.as_ref().and_then(|elements| elements.transmitter.rate.as_ref())
    }

    /// Returns the mean rate at which it could have sent between two times, bit/s. The content of its bucket at the first
    /// one can leave at once. That is known for times that are [noted](Self::note_edges).
    pub fn capacity(&self, from: Time, to: Time) -> f64 {
        if let Some(bucket) = self.bucket() {
            let at_once = bucket.contents(from).as_secs_f64() / to.since(from).max(Span(1)).as_secs_f64();
            return self.bits_per_second as f64 * (1.0 + at_once);
        }
        self.varying_rate().map_or(self.bits_per_second as f64, |rate| rate.mean(from, to))
    }

    /// Returns the time that `size` bytes take.
    #[inline]
    fn time_to_send(&mut self, size: u32) -> Span {
        let last = &mut self.last_sizes[usize::from(size >= LARGE)];
        if last.0 == size {
            return Span(last.1.into());
        }
        // Never no time at all, or a run might not get on.
        let nanos = nanos_to_send(size, self.bits_per_second.max(1)).max(1);
        if let Ok(nanos) = nanos.try_into() {
            *last = (size, nanos);
        }
        Span(nanos)
    }

    /// Returns the number of packets waiting, the one being sent not counted.
    pub fn queued_packets(&self) -> u64 {
        self.backlog().packets
    }

    /// Returns the link's slot in the calendar.
    pub fn slot(&self) -> Slot {
        self.slot
    }

    /// Returns the totals of the whole run, every byte accounted for; `wires` is what the wires behind it hold.
    pub fn totals(&self, mut wires: Amount, delivered: Amount) -> LinkTotals {
        let Backlog { packets, bytes } = self.backlog();
        if self.is_foreseen() {
            wires.bytes -= bytes;
            wires.packets -= packets;
        }
        let ledger = self.books.ledger(Amount { bytes, packets }, wires, delivered);
        LinkTotals {
            link: self.name.clone(),
            capacity_bit_s: self.bits_per_second as f64,
            discipline: self.discipline.to_owned(),
            packets: Some(self.books.packets(packets + wires.packets, delivered)),
            // What a queue elsewhere has dropped and holds is not known here.
            ledger: (!self.is_queued_elsewhere).then_some(ledger),
            classes: ClassCounts::of(&self.statistics()),
            queued_by: None,
        }
    }
}

/// Returns the time that `size` bytes take at a rate, ns.
fn nanos_to_send(size: u32, bits_per_second: u64) -> u64 {
    match u64::from(size).checked_mul(8_000_000_000) {
        Some(bits) => bits / bits_per_second,
        None => {
            (u128::from(size) * 8_000_000_000 / u128::from(bits_per_second)).try_into().unwrap_or(u64::MAX)
        }
    }
}
