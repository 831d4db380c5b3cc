//! SFQ: stochastic fair queueing, round robin over the buckets of a hash.
//!
//! # Model
//! A hash spreads the flows over slots, each first in, first out, which take turns. A turn is a quantum of bytes
//! (Linux), or a packet (McKenney, ns-2). If there is no room, the slot with most packets loses one, so that no flow
//! gains by sending more. Two flows in one slot share its turns. The hash can be re-salted periodically (`perturb`), so
//! that the same two do not share permanently.
//!
//! # Constants
//! | name | default | why |
//! |---|---|---|
//! | divisor | 1024 | Linux: slots of the hash |
//! | flows | 127 | Linux: slots that may hold packets at a time |
//! | depth | 127 packets | Linux: most that a slot may hold |
//! | quantum | 1514 B | Linux: a full frame; counted in units of 8 B |
//! | perturb | 0 (off) | Linux: a new hash may reorder packets |
//!
//! # Source
//! Linux' `sch_sfq.c`. For the preset `ns2`, ns-2's `sfq.cc`: 16 slots, a packet a turn, and the arriving packet is
//! dropped rather than one of the longest slot. It is dropped if its slot holds half as much as there is room left. It
//! is also dropped if its slot holds more than its share when less than a packet for each slot is left. With 10 flows
//! in 16 slots two of them nearly always (97 %) share one.
//!
//! # Not implemented
//! The RED of each slot that Linux offers. Of several longest slots Linux takes the one that grew last, here it is the
//! one with the lowest number.
//!
//! # Known bad cases
//! A new hash reorders flows with packets in the queue, and drops packets without a slot. Small packets gain or lose up
//! to 7 B each by rounding. A low-priority flow gets the same share as all others.

use crate::backlog::{Backlog, Limit};
use crate::buckets::Buckets;
use crate::dropped::{DropReason, Dropped};
use crate::error::Error;
use crate::packet::Packet;
use crate::queue::Queue;
use crate::site::Site;
use crate::statistics::Statistics;
use crate::turns::Turns;
use afteryou_base::param::{Key, Preset, Settings, Value};
use afteryou_base::params;
use afteryou_base::{Span, Time};
use rand_core::Rng;

/// Linux counts a turn in units of this many bytes, rounded up.
const UNIT_BYTES: u64 = 8;
/// ns-2's size of a packet where the buffer is in bytes.
const PACKET_BYTES: u64 = 1500;

params! {
    /// Parameters.
    pub table PARAMS;

    const PRESET: Key<&'static str> = Key::word("preset", &["linux", "ns2"])
        .explained("whose values", "Linux sch_sfq.c; ns-2 sfq.cc");
    pub const DIVISOR: Key<u64> = Key::count("divisor", "slots", 1024, (1, 65_536))
        .explained("slots that the flows are spread over", "Linux sch_sfq.c; ns-2: 16");
    pub const FLOWS: Key<u64> = Key::count("flows", "slots", 127, (1, 65_536))
        .explained("slots that may hold packets at a time", "Linux sch_sfq.c");
    pub const DEPTH: Key<u64> = Key::count("depth", "packets", 127, (1, 1_000_000))
        .explained("packets that a slot may hold", "Linux sch_sfq.c");
    pub const QUANTUM: Key<u64> = Key::bytes("quantum", 1514, (64, 1 << 18))
        .explained("bytes in a turn", "Linux sch_sfq.c: the MTU");
    const PACKET_BY_PACKET: Key<bool> = Key::choice("turn", &["quantum", "packet"], &[false, true])
        .explained("what a slot may send in its turn", "Linux sch_sfq.c; ns-2 sfq.cc");
    const DROPS_ARRIVING: Key<bool> = Key::choice("overflow", &["longest", "half_of_room"], &[false, true])
        .explained(
            "who loses a packet: the longest slot, or one that would hold half of the room left",
            "Linux sch_sfq.c; ns-2 sfq.cc",
        );
    pub const HEAD_DROP: Key<bool> = Key::flag("head_drop", false)
        .explained("a slot loses its oldest packet, not its newest", "Linux sch_sfq.c");
    pub const PERTURB: Key<Span> = Key::millis("perturb", 0, (0, 3_600_000))
        .explained("how often the hash changes; 0 for never", "Linux sch_sfq.c; tc-sfq(8): 10 s");
}

/// Presets.
pub const PRESETS: &[Preset] = &[
    Preset { name: "linux", help: "the kernel's queue", rows: &[] },
    Preset {
        name: "ns2",
        help: "the queue of the simulator ns-2",
        rows: &[
            ("divisor", Value::Count(16)),
            ("flows", Value::Count(16)),
            ("depth", Value::Count(1_000_000)),
            ("turn", Value::Choice("packet")),
            ("overflow", Value::Choice("half_of_room")),
        ],
    },
];

/// An SFQ queue.
#[derive(Clone, Debug)]
pub struct Sfq<T, R> {
    rules: Rules,
    buckets: Buckets,
    slots: Turns<T>,
    random: R,
    /// When the hash changes.
    perturb_at: Option<Time>,
    /// Packets on their way from slot to slot while it does; kept, so that nothing is allocated each time.
    moving: Vec<(Packet<T>, Span)>,
    statistics: Statistics,
}

#[derive(Clone, Debug)]
struct Rules {
    limit: Limit,
    flows: usize,
    depth: u64,
    quantum: i64,
    is_packet_by_packet: bool,
    drops_arriving: bool,
    drops_oldest: bool,
    perturb: Option<Span>,
}

/// Returns bytes as Linux counts them.
fn rounded(bytes: u64) -> i64 {
    (bytes.div_ceil(UNIT_BYTES) * UNIT_BYTES) as i64
}

impl<T, R: Rng> Sfq<T, R> {
    /// Creates an empty queue.
    ///
    /// # Errors
    /// More active slots than there are.
    pub fn new(settings: &Settings<'_>, site: Site<R>) -> Result<Sfq<T, R>, Error> {
        let (divisor, flows) = (settings.get(&DIVISOR), settings.get(&FLOWS));
        if flows > divisor {
            return Err(Error::Together {
                name: "flows",
                value: Value::Count(flows),
                other: format!("divisor = {divisor}"),
                valid: format!("at most {divisor}"),
            });
        }
        let rules = Rules {
            limit: site.limit.resolved(),
            flows: flows as usize,
            depth: settings.get(&DEPTH),
            quantum: rounded(settings.get(&QUANTUM)),
            is_packet_by_packet: settings.get(&PACKET_BY_PACKET),
            drops_arriving: settings.get(&DROPS_ARRIVING),
            drops_oldest: settings.get(&HEAD_DROP),
            perturb: settings.get(&PERTURB).nonzero(),
        };
        let mut random = site.random;
        Ok(Sfq {
            buckets: Buckets::new(divisor as u32, &mut random),
            slots: Turns::new(divisor as usize, flows as usize + 1),
            rules,
            random,
            perturb_at: None,
            moving: Vec::new(),
            statistics: Statistics::default(),
        })
    }

    /// Puts a packet that came at `arrived` into its slot, if there is a slot for it.
    fn push(&mut self, arrived: Time, slot: usize, packet: Packet<T>) -> Result<(), Packet<T>> {
        if self.slots.held(slot) == 0 && self.slots.active().len() >= self.rules.flows {
            return Err(packet);
        }
        self.slots.push(arrived, slot, packet, self.rules.quantum);
        Ok(())
    }

    /// Drops a packet of a slot.
    fn drop_from(&mut self, now: Time, slot: usize, dropped: &mut Vec<Dropped<T>>) {
        if let Some(packet) = self.slots.lose(now, slot, self.rules.drops_oldest) {
            self.statistics.remove(packet, DropReason::Full, dropped);
        }
    }

    /// Returns the slot with most packets; if all have one, the one whose turn it is (`sfq_drop`).
    fn longest(&self) -> Option<usize> {
        let longest = self.slots.store.fattest(self.slots.active(), |backlog| backlog.packets)?;
        match self.slots.held(longest) {
            1 => self.slots.first(),
            _ => Some(longest),
        }
    }

    /// Returns whether a packet of `size` for `slot` must be dropped by ns-2's rule.
    fn is_beyond_share(&self, slot: usize, size: u32) -> bool {
        let slots = self.buckets.count() as u64;
        let (all, own) = (self.slots.store.backlog(), self.slots.store.backlog_of(slot));
        let (limit, used, left, packet_each) = match self.rules.limit.in_bytes() {
            Some(bytes) => (bytes, own.bytes, bytes - all.bytes, slots * PACKET_BYTES),
            None => {
                let Limit::Packets(packets) = self.rules.limit else { return true };
                (packets, own.packets, packets - all.packets, slots)
            }
        };
        !self.rules.limit.admits(all, size)
            // An empty slot may always have what fits, even the last packet's room.
            || used >= (left / 2).max(1)
            || (left < packet_each && used > limit / slots)
    }

    /// Changes the hash if it is time to (`sfq_perturbation`), slot by slot; what finds no room in its new slot is dropped.
    fn perturb(&mut self, now: Time, dropped: &mut Vec<Dropped<T>>) {
        let Some(period) = self.rules.perturb else { return };
        if now < *self.perturb_at.get_or_insert(now + period) {
            return;
        }
        self.perturb_at = Some(now + period);
        let mut moving = std::mem::take(&mut self.moving);
        self.slots.drain(now, &mut moving);
        self.buckets = Buckets::new(self.buckets.count() as u32, &mut self.random);
        for (packet, sojourn) in moving.drain(..) {
            let slot = self.buckets.of(packet.flow);
            let arrived = Time(now.0 - sojourn.0);
            let is_full = self.slots.held(slot) >= self.rules.depth;
            let homeless = if is_full { Some(packet) } else { self.push(arrived, slot, packet).err() };
            if let Some(packet) = homeless {
                self.statistics.remove(packet, DropReason::Full, dropped);
            }
        }
        self.moving = moving;
    }
}

impl<T: Send, R: Rng + Send> Queue<T> for Sfq<T, R> {
    fn enqueue(&mut self, now: Time, packet: Packet<T>, dropped: &mut Vec<Dropped<T>>) {
        self.perturb(now, dropped);
        let slot = self.buckets.of(packet.flow);
        let held = self.slots.held(slot);
        let refused = !self.rules.limit.admits(Backlog::default(), packet.size)
            || (held == 0 && self.slots.active().len() >= self.rules.flows)
            || (held >= self.rules.depth && !self.rules.drops_oldest)
            || (self.rules.drops_arriving && self.is_beyond_share(slot, packet.size));
        if refused {
            self.statistics.refuse(packet, DropReason::Full, dropped);
            return;
        }
        self.statistics.accept(&packet);
        if self.push(now, slot, packet).is_err() {
            unreachable!("bug: a slot was free");
        }
        if held >= self.rules.depth {
            self.drop_from(now, slot, dropped);
        }
        while !self.rules.limit.holds(self.slots.store.backlog()) {
            let Some(longest) = self.longest() else { break };
            self.drop_from(now, longest, dropped);
        }
    }

    fn dequeue(&mut self, now: Time, dropped: &mut Vec<Dropped<T>>) -> Option<(Packet<T>, Span)> {
        self.perturb(now, dropped);
        loop {
            let slot = self.slots.first()?;
            let allot = self.slots.credit(slot);
            if *allot <= 0 {
                *allot += self.rules.quantum;
                self.slots.pass();
                continue;
            }
            let (packet, sojourn) = self.slots.pop(now)?;
            if self.slots.held(slot) > 0 {
                match self.rules.is_packet_by_packet {
                    true => self.slots.pass(),
                    false => *self.slots.credit(slot) -= rounded(u64::from(packet.size)),
                }
            }
            self.statistics.deliver(&packet, sojourn);
            return Some((packet, sojourn));
        }
    }

    fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    fn bucket(&self, flow: u32) -> Option<usize> {
        Some(self.buckets.of(flow))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_pcg::Pcg64;

    fn queue(limit: Limit, overrides: &[(&'static str, Value)]) -> Sfq<u32, Pcg64> {
        let settings = Settings::new(PARAMS, overrides).unwrap().with_preset(PRESETS);
        Sfq::new(&settings, Site::test(limit)).unwrap()
    }

    /// Lets `n` packets of a flow arrive; returns which were dropped, flow and number.
    fn arrive(queue: &mut Sfq<u32, Pcg64>, flow: u32, n: u32, size: u32) -> Vec<(u32, u32)> {
        let mut dropped = Vec::new();
        (0..n).for_each(|i| queue.enqueue(Time::ZERO, Packet::from_tos(size, flow, 0, i), &mut dropped));
        dropped.iter().map(|dropped| (dropped.packet.flow, dropped.packet.body)).collect()
    }

    fn order(queue: &mut Sfq<u32, Pcg64>) -> String {
        let next = || queue.dequeue(Time::ZERO, &mut Vec::new());
        std::iter::from_fn(next).map(|(packet, _)| (b'A' + packet.flow as u8) as char).collect()
    }

    #[test]
    fn without_room_the_longest_slot_loses_its_newest_packet_or_its_oldest() {
        for (head_drop, lost) in [(false, 2), (true, 0)] {
            let mut queue = queue(Limit::Packets(4), &[("head_drop", Value::Flag(head_drop))]);
            arrive(&mut queue, 0, 3, 1000);
            assert!(arrive(&mut queue, 1, 1, 1000).is_empty());
            assert_eq!(arrive(&mut queue, 1, 1, 1000), [(0, lost)]);
        }
    }

    #[test]
    fn if_all_slots_hold_a_packet_the_next_to_send_loses_it() {
        let mut queue = queue(Limit::Packets(3), &[]);
        (0..3).for_each(|flow| assert!(arrive(&mut queue, flow, 1, 100).is_empty()));
        assert_eq!(arrive(&mut queue, 3, 1, 100), [(0, 0)]);
        assert_eq!(order(&mut queue), "BCD");
    }

    #[test]
    fn a_slot_holds_its_depth_and_only_so_many_slots_hold_anything() {
        let mut tail = queue(Limit::Packets(1000), &[("flows", Value::Count(2)), ("depth", Value::Count(3))]);
        assert_eq!(arrive(&mut tail, 0, 5, 100), [(0, 3), (0, 4)]);
        arrive(&mut tail, 1, 1, 100);
        assert_eq!(arrive(&mut tail, 2, 1, 100), [(2, 0)]);
        let overrides = [("head_drop", Value::Flag(true)), ("depth", Value::Count(3))];
        let mut head = queue(Limit::Packets(1000), &overrides);
        assert_eq!(arrive(&mut head, 0, 5, 100), [(0, 0), (0, 1)]);
    }

    #[test]
    fn turns_are_a_quantum_or_in_ns2_a_packet() {
        // 504 B of 500 count: three packets make a quantum of 1512 B.
        for (turn, expected) in [("quantum", "ABBBABBB"), ("packet", "ABABBBBB")] {
            let overrides = [("turn", Value::Choice(turn)), ("quantum", Value::Bytes(1500))];
            let mut queue = queue(Limit::Packets(100), &overrides);
            arrive(&mut queue, 0, 2, 1500);
            arrive(&mut queue, 1, 6, 500);
            assert_eq!(order(&mut queue), expected, "{turn}");
        }
    }

    #[test]
    fn each_packet_counts_in_whole_units_of_eight_bytes() {
        // 97 B count as 104: the tenth packet ends a turn of 1000 B. With 96 it is the eleventh.
        for (size, turn) in [(96, 11), (97, 10), (104, 10), (105, 9)] {
            let mut queue = queue(Limit::Packets(100), &[("quantum", Value::Bytes(1000))]);
            arrive(&mut queue, 0, 20, size);
            arrive(&mut queue, 1, 1, size);
            assert_eq!(order(&mut queue).find('B'), Some(turn), "{size} B");
        }
    }

    #[test]
    fn ns2_drops_what_arrives_at_a_slot_that_holds_half_of_the_room_left() {
        let mut queue = queue(Limit::Packets(40), &[("preset", Value::Choice("ns2"))]);
        // Room for 40: 13 are held when 27 are left, half of which are 13. More than a packet for each slot.
        assert_eq!(arrive(&mut queue, 0, 20, 1000).first(), Some(&(0, 13)));
        // Of these 27 another may hold 9, half of the 18 left.
        let other = (1..100).find(|flow| queue.buckets.of(*flow) != queue.buckets.of(0)).unwrap();
        assert_eq!(arrive(&mut queue, other, 20, 1000).first(), Some(&(other, 9)));
        let third = (1..100).find(|flow| queue.slots.store.backlog_of(queue.buckets.of(*flow)).packets == 0);
        // Once less than 16 are left, a slot that holds more than its share of 40/16 gets no more.
        assert_eq!(arrive(&mut queue, third.unwrap(), 20, 1000).first(), Some(&(third.unwrap(), 3)));
        // With room for one packet only, somebody can still have it.
        let mut small = self::queue(Limit::Packets(1), &[("preset", Value::Choice("ns2"))]);
        assert_eq!(arrive(&mut small, 0, 2, 1000), [(0, 1)]);
    }

    #[test]
    fn a_new_hash_separates_flows_that_shared_a_slot_and_loses_nothing_that_finds_one() {
        let overrides = [("perturb", Value::Time(Span::from_millis(10_000)))];
        let mut queue = queue(Limit::Packets(1000), &overrides);
        let shared = (1..100_000).find(|flow| queue.buckets.of(*flow) == queue.buckets.of(0)).unwrap();
        arrive(&mut queue, 0, 5, 100);
        arrive(&mut queue, shared, 5, 100);
        assert_eq!(queue.slots.active().len(), 1);
        let mut dropped = Vec::new();
        let now = Time::from_millis(10_000);
        let (first, sojourn) = queue.dequeue(now, &mut dropped).unwrap();
        assert_eq!((first.body, sojourn), (0, Span::from_millis(10_000)), "arrival times stay");
        assert_eq!((queue.slots.active().len(), queue.backlog().packets, dropped.len()), (2, 9, 0));
        // Without slots to go to, packets are dropped.
        queue.rules.flows = 1;
        queue.dequeue(Time::from_millis(20_000), &mut dropped).unwrap();
        assert_eq!(queue.backlog().packets + dropped.len() as u64, 8);
        assert!(!dropped.is_empty());
    }

    #[test]
    fn values_that_make_no_sense_are_refused() {
        let refused = |overrides: &[(&'static str, Value)]| {
            let settings = Settings::new(PARAMS, overrides).map_err(Error::from);
            let built =
                settings.and_then(|settings| Sfq::<(), _>::new(&settings, Site::test(Limit::Packets(1))));
            built.err().map(|error| error.to_string()).unwrap_or_default()
        };
        for (name, value) in [
            ("divisor", Value::Count(0)),
            ("flows", Value::Count(0)),
            ("depth", Value::Count(0)),
            ("quantum", Value::Bytes(0)),
        ] {
            assert!(refused(&[(name, value)]).contains("outside its range"), "{name}");
        }
        assert_eq!(
            refused(&[("divisor", Value::Count(16))]),
            "flows = 127 does not go with divisor = 16: use at most 16"
        );
    }
}
