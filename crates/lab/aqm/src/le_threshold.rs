//! Lower effort below a threshold: one FIFO that accepts lower-effort packets only while it is short.
//!
//! # Model
//! The cheapest of the three ways to carry the LE class (RFC 8622 §2): no separate queue, no scheduler, one comparison.
//! A lower-effort packet that arrives while more than THRESHOLD of work is waiting is dropped. So lower effort uses the
//! capacity that best effort leaves idle, and backs off when best effort arrives. Best effort is treated by the usual
//! discipline:
//!
//! ```text
//!   lower effort ── more than THRESHOLD waiting, or held back? ── yes ──▶ dropped
//!                                │ no
//!   best effort ─────────────────┴──▶ one FIFO, CoDel or DropTail
//! ```
//! With `ecn`, up to twice THRESHOLD marks instead of drops; beyond that a sender that ignores marks would take the buffer.
//! A best-effort packet that finds the buffer full pushes lower effort out, newest first.
//!
//! Held back: when a best-effort packet is dropped, no lower-effort packet is taken until the queue has been below THRESHOLD for
//! HOLD. A drop signals to best effort that the link is full. Lower effort is dropped first, whichever class filled it.
//!
//! Without best effort there is no need to yield, and a threshold of a few packets would waste the link. So the rule
//! applies for PRESENCE after each best-effort packet; after that lower effort has the whole buffer, under the same
//! discipline.
//!
//! # Constants
//! | name | default | why |
//! |---|---|---|
//! | THRESHOLD | 2.5 ms | half of CoDel's target: the delay of lower effort must not make CoDel drop best effort |
//! | HOLD | 100 ms | a round trip, in which best effort cannot have reacted yet |
//! | PRESENCE | 200 ms | two round trips: best effort that waits for an ack is still active |
//!
//! # Source
//! The rule is the third way of RFC 8622 §2. HOLD, PRESENCE and all numbers are our own proposal: no implementation is known.
//!
//! # Not implemented
//! Other disciplines below it. The time waiting is the backlog at the link's nominal rate: with a varying rate, it is
//! inexact.
//!
//! # Known bad cases
//! Sparse best effort, such as a call, keeps the rule active. Lower effort then has THRESHOLD of buffer, with which
//! many senders cannot fill the link. Best effort that arrives less often than PRESENCE meets lower effort's queue:
//! some 10 ms under CoDel, a whole buffer under DropTail. [Two queues](crate::le_two_queues) have neither problem. A
//! permanent best-effort flow starves lower effort, whose timeouts grow to a minute, so it recovers late.

use crate::backlog::Limit;
use crate::codel::{self, check_times, Law};
use crate::dropped::{DropReason, Dropped};
use crate::error::Error;
use crate::fifo::Fifo;
use crate::packet::{Class, Packet};
use crate::queue::Queue;
use crate::site::Site;
use crate::statistics::Statistics;
use afteryou_base::param::{Key, Preset, Settings, Value};
use afteryou_base::params;
use afteryou_base::{Span, Time};
use rand_core::Rng;

params! {
    /// Parameters; those of CoDel follow its own.
    pub table PARAMS;

    const THRESHOLD: Key<Span> = Key::micros("threshold", 2_500, (100, 1_000_000))
        .explained("with more than this waiting, lower effort is dropped", "own, after RFC 8622 §2");
    const HOLD: Key<Span> = Key::millis("hold", 100, (0, 10_000))
        .explained(
            "after a best-effort drop, lower effort waits until the queue was short for this long",
            "own",
        );
    const PRESENCE: Key<Span> = Key::millis("presence", 200, (0, 60_000))
        .explained("for how long after a best-effort packet the rule holds; 0 ms: always", "own");
    const HAS_CODEL: Key<bool> = Key::choice("best_effort", &["codel", "droptail"], &[true, false])
        .explained("what the queue does to everybody", "RFC 8289");
    const TARGET: Key<Span> =
        codel::TARGET.explained("CoDel: acceptable standing delay of the queue", "RFC 8289 §4.4");
    const INTERVAL: Key<Span> =
        codel::INTERVAL.explained("CoDel: for how long it must have been exceeded", "RFC 8289 §4.3");
    const MTU: Key<u64> =
        codel::MTU.explained("CoDel: with so little left nothing is dropped", "RFC 8289 §5.4");
    use codel::ECN;
}

/// None.
pub const PRESETS: &[Preset] = &[];

/// From one to this many thresholds, ECN-capable lower effort is marked.
const MARKS_UP_TO: u64 = 2;

/// The outcome for a lower-effort packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Pass,
    /// Marked if it understands that, else dropped.
    Mark,
    Drop,
}

/// When lower effort is let in.
#[derive(Clone, Copy, Debug)]
struct Gate {
    threshold_bytes: u64,
    hold: Span,
    /// How long the rule holds after a best-effort packet; none if it always does.
    presence: Option<Span>,
    /// When the last best-effort packet arrived.
    best_effort_seen: Option<Time>,
    /// Lower effort is held back until the queue has been short since this time for HOLD; none if it is not.
    held_since: Option<Time>,
}

impl Gate {
    fn new(settings: &Settings<'_>, bits_per_second: u64) -> Gate {
        let bytes = u128::from(settings.get(&THRESHOLD).0) * u128::from(bits_per_second) / 8_000_000_000;
        Gate {
            threshold_bytes: u64::try_from(bytes).unwrap_or(u64::MAX),
            hold: settings.get(&HOLD),
            presence: settings.get(&PRESENCE).nonzero(),
            best_effort_seen: None,
            held_since: None,
        }
    }

    /// Returns the verdict on a lower-effort packet that arrives while `waiting_bytes` wait.
    fn judge(&mut self, now: Time, waiting_bytes: u64) -> Verdict {
        if self.is_alone(now) {
            self.held_since = None;
            return Verdict::Pass;
        }
        let is_short = waiting_bytes <= self.threshold_bytes;
        if let Some(since) = self.held_since {
            // A hold begins anew whenever the queue is not short.
            self.held_since = Some(if is_short { since } else { now });
            if !is_short || now.since(since) < self.hold {
                return Verdict::Drop;
            }
            self.held_since = None;
        }
        match waiting_bytes {
            _ if is_short => Verdict::Pass,
            bytes if bytes <= MARKS_UP_TO * self.threshold_bytes => Verdict::Mark,
            _ => Verdict::Drop,
        }
    }

    /// Returns whether no best effort is about.
    fn is_alone(&self, now: Time) -> bool {
        let Some(presence) = self.presence else { return false };
        self.best_effort_seen.is_none_or(|seen| now.since(seen) >= presence)
    }

    /// Notes packets that the queue has dropped.
    fn dropped<T>(&mut self, now: Time, dropped: &[Dropped<T>]) {
        if dropped.iter().any(|dropped| dropped.packet.class() == Class::BestEffort) {
            self.held_since = Some(now);
        }
    }
}

/// A FIFO that takes lower effort while it is short.
#[derive(Clone, Debug)]
pub struct LeThreshold<T> {
    limit: Limit,
    fifo: Fifo<T>,
    gate: Gate,
    /// None: DropTail.
    law: Option<Law>,
    ecn: bool,
    statistics: Statistics,
}

impl<T> LeThreshold<T> {
    /// Creates an empty queue.
    ///
    /// # Errors
    /// A target longer than the interval; a threshold above CoDel's target: lower effort alone would make it drop.
    pub fn new(settings: &Settings<'_>, site: Site<impl Rng>) -> Result<LeThreshold<T>, Error> {
        check_times(settings, &TARGET, &INTERVAL)?;
        let has_law = settings.get(&HAS_CODEL);
        let (threshold, target) = (settings.get(&THRESHOLD), settings.get(&TARGET));
        if has_law && threshold > target {
            return Err(Error::Together {
                name: "threshold",
                value: Value::Time(threshold),
                other: format!("target = {}", Value::Time(target)),
                valid: format!("0.1 ms to {}", Value::Time(target)),
            });
        }
        Ok(LeThreshold {
            limit: site.limit.resolved(),
            fifo: Fifo::new(),
            gate: Gate::new(settings, site.bits_per_second),
            law: has_law.then(|| Law::new(settings)),
            ecn: settings.get(&codel::ECN),
            statistics: Statistics::default(),
        })
    }
}

impl<T> LeThreshold<T> {
    /// Makes room for a best-effort packet that finds none: lower effort gives way, newest first.
    fn make_room(&mut self, packet: &Packet<T>, dropped: &mut Vec<Dropped<T>>) {
        let room_without_lower_effort =
            self.limit.admits(self.statistics.of(Class::BestEffort).backlog, packet.size);
        while room_without_lower_effort && !self.limit.admits(self.fifo.backlog(), packet.size) {
            let pushed_out = self.fifo.remove_newest(|packet| packet.class() == Class::LowerEffort);
            let Some(pushed_out) = pushed_out else { return };
            self.statistics.remove(pushed_out, DropReason::Full, dropped);
        }
    }
}

impl<T: Send> Queue<T> for LeThreshold<T> {
    fn enqueue(&mut self, now: Time, mut packet: Packet<T>, dropped: &mut Vec<Dropped<T>>) {
        let class = packet.class();
        let verdict = match class {
            Class::BestEffort => {
                self.gate.best_effort_seen = Some(now);
                self.make_room(&packet, dropped);
                Verdict::Pass
            }
            Class::LowerEffort => self.gate.judge(now, self.fifo.backlog().bytes),
        };
        if !self.limit.admits(self.fifo.backlog(), packet.size) {
            self.statistics.refuse(packet, DropReason::Full, dropped);
            return self.gate.dropped(now, &dropped[dropped.len() - 1..]);
        }
        let passes = match verdict {
            Verdict::Pass => true,
            Verdict::Mark => self.ecn && self.statistics.mark(&mut packet),
            Verdict::Drop => false,
        };
        if !passes {
            return self.statistics.refuse(packet, DropReason::Early, dropped);
        }
        self.statistics.accept(&packet);
        self.fifo.push(now, packet);
    }

    fn dequeue(&mut self, now: Time, dropped: &mut Vec<Dropped<T>>) -> Option<(Packet<T>, Span)> {
        let before = dropped.len();
        let (packet, sojourn) = match &mut self.law {
            Some(law) => law.dequeue(now, &mut self.fifo, &mut self.statistics, dropped),
            None => self.fifo.pop(now),
        }?;
        self.gate.dropped(now, &dropped[before..]);
        self.statistics.deliver(&packet, sojourn);
        Some((packet, sojourn))
    }

    fn statistics(&self) -> &Statistics {
        &self.statistics
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codel::Codel;
    use crate::packet::Ecn;
    use afteryou_base::Dscp;

    /// Returns a queue before 10 Mbit/s: a packet of 1250 B is 1 ms.
    fn queue(settings: &[(&'static str, Value)]) -> LeThreshold<u64> {
        let settings = Settings::new(PARAMS, settings).unwrap();
        LeThreshold::new(&settings, Site::test(Limit::Packets(1000))).unwrap()
    }

    fn packet(class: Class) -> Packet<u64> {
        let dscp = if class == Class::LowerEffort { Dscp::LE } else { Dscp::DEFAULT };
        Packet { dscp, ..Packet::from_tos(1250, 0, 0, 0) }
    }

    /// Returns whether a packet of `class` is taken at `ms`.
    fn takes(queue: &mut LeThreshold<u64>, ms: u64, packet: Packet<u64>) -> bool {
        let mut dropped = Vec::new();
        queue.enqueue(Time::from_millis(ms), packet, &mut dropped);
        dropped.is_empty()
    }

    const BEST: Class = Class::BestEffort;
    const LOWER: Class = Class::LowerEffort;
    const THRESHOLD: (&str, Value) = ("threshold", Value::Time(Span::from_millis(5)));

    #[test]
    fn lower_effort_is_taken_below_the_threshold_and_best_effort_always() {
        let mut queue = queue(&[THRESHOLD]);
        (0..4).for_each(|_| assert!(takes(&mut queue, 1000, packet(BEST))));
        assert!(takes(&mut queue, 1000, packet(LOWER)), "4 ms are waiting");
        assert!(takes(&mut queue, 1000, packet(BEST)));
        assert!(!takes(&mut queue, 1000, packet(LOWER)), "6 ms are waiting");
        assert!(takes(&mut queue, 1000, packet(BEST)), "6 ms are waiting");
        assert_eq!(queue.statistics().of(LOWER).dropped_early, 1);
    }

    #[test]
    fn with_no_best_effort_about_lower_effort_has_the_whole_buffer() {
        let mut queue = queue(&[]);
        (0..50).for_each(|_| assert!(takes(&mut queue, 1000, packet(LOWER))));
        assert!(takes(&mut queue, 1000, packet(BEST)));
        assert!(!takes(&mut queue, 1199, packet(LOWER)));
        assert!(takes(&mut queue, 1200, packet(LOWER)), "200 ms after the last best effort");
        let mut always = self::queue(&[("presence", Value::Time(Span::ZERO))]);
        (0..3).for_each(|_| assert!(takes(&mut always, 1000, packet(LOWER))));
        assert!(!takes(&mut always, 1000, packet(LOWER)), "the plain rule");
    }

    #[test]
    fn after_a_best_effort_drop_lower_effort_waits_until_the_queue_was_short_for_a_while() {
        let mut queue = queue(&[THRESHOLD]);
        assert!(takes(&mut queue, 1000, packet(BEST)));
        let drop = Dropped { packet: packet(BEST), reason: DropReason::Head };
        queue.gate.dropped(Time::from_millis(1000), &[drop]);
        assert!(!takes(&mut queue, 1050, packet(LOWER)));
        assert!(takes(&mut queue, 1100, packet(LOWER)), "100 ms later");
        queue.gate.dropped(Time::from_millis(1100), &[drop]);
        (0..5).for_each(|_| assert!(takes(&mut queue, 1110, packet(BEST))));
        assert!(!takes(&mut queue, 1110, packet(LOWER)), "too long: the wait begins anew");
        queue.fifo = Fifo::new();
        assert!(!takes(&mut queue, 1201, packet(LOWER)));
        assert!(takes(&mut queue, 1210, packet(LOWER)));
    }

    #[test]
    fn a_packet_that_understands_marks_is_marked_instead() {
        let mut queue = queue(&[("ecn", Value::Flag(true)), THRESHOLD]);
        (0..6).for_each(|_| assert!(takes(&mut queue, 1000, packet(BEST))));
        let capable = Packet { ecn: Ecn::Ect0, ..packet(LOWER) };
        assert!(takes(&mut queue, 1000, capable), "6 ms are waiting");
        assert!(!takes(&mut queue, 1000, packet(LOWER)));
        assert_eq!((queue.statistics().of(LOWER).marked, queue.statistics().of(BEST).marked), (1, 0));
        (0..4).for_each(|_| assert!(takes(&mut queue, 1000, packet(BEST))));
        assert!(!takes(&mut queue, 1000, capable), "11 ms are more than twice the threshold");
    }

    #[test]
    fn best_effort_pushes_lower_effort_out_of_a_full_buffer() {
        let settings = Settings::new(PARAMS, &[]).unwrap();
        let mut queue: LeThreshold<u64> = LeThreshold::new(&settings, Site::test(Limit::Packets(3))).unwrap();
        let numbered = |class, body| Packet { body, ..packet(class) };
        (0..3).for_each(|number| assert!(takes(&mut queue, 1000, numbered(LOWER, number))));
        let mut dropped = Vec::new();
        queue.enqueue(Time::from_millis(1000), numbered(BEST, 3), &mut dropped);
        assert_eq!(dropped.iter().map(|dropped| dropped.packet.body).collect::<Vec<_>>(), [2], "the newest");
        let left = std::iter::from_fn(|| queue.dequeue(Time::from_millis(1001), &mut dropped));
        assert_eq!(left.map(|(packet, _)| packet.body).collect::<Vec<_>>(), [0, 1, 3]);
    }

    #[test]
    fn a_best_effort_drop_at_tail_or_head_holds_lower_effort_back() {
        let (now, mut dropped) = (Time::from_millis(1000), Vec::new());
        let settings = [THRESHOLD, ("best_effort", Value::Choice("droptail"))];
        let settings = Settings::new(PARAMS, &settings).unwrap();
        let mut tail: LeThreshold<u64> = LeThreshold::new(&settings, Site::test(Limit::Packets(2))).unwrap();
        (0..3).for_each(|_| tail.enqueue(now, packet(BEST), &mut dropped));
        assert_eq!(dropped.len(), 1);
        tail.dequeue(now, &mut dropped);
        assert!(!takes(&mut tail, 1000, packet(LOWER)), "there is room, and 1 ms is waiting");
        assert!(takes(&mut tail, 1100, packet(LOWER)));

        let mut head = queue(&[THRESHOLD]);
        let mut ms = 1000;
        dropped.clear();
        while dropped.is_empty() {
            // Twice what leaves: CoDel drops before long.
            (0..2).for_each(|_| head.enqueue(Time::from_millis(ms), packet(BEST), &mut dropped));
            head.dequeue(Time::from_millis(ms), &mut dropped);
            ms += 1;
        }
        while head.backlog().packets > 2 {
            head.dequeue(Time::from_millis(ms), &mut dropped);
        }
        assert!(!takes(&mut head, ms, packet(LOWER)), "2 ms are waiting");
        assert!(takes(&mut head, ms + 100, packet(LOWER)));
    }

    #[test]
    fn traffic_without_marks_is_treated_exactly_as_by_codel() {
        let site = || Site::test(Limit::Packets(100));
        let settings = Settings::defaults(PARAMS);
        let mut ours: LeThreshold<u64> = LeThreshold::new(&settings, site()).unwrap();
        let mut codel: Codel<u64> = Codel::new(&Settings::defaults(crate::codel::PARAMS), site()).unwrap();
        let run = |queue: &mut dyn Queue<u64>| {
            let (mut out, mut dropped) = (Vec::new(), Vec::new());
            for us in (0..3_000_000u64).step_by(700) {
                let now = Time::from_micros(us);
                queue.enqueue(now, Packet { body: us, ..packet(BEST) }, &mut dropped);
                if us % 1000 < 700 {
                    out.push(
                        queue.dequeue(now, &mut dropped).map(|(packet, sojourn)| (packet.body, sojourn)),
                    );
                }
            }
            (out, dropped)
        };
        let (ours, codel) = (run(&mut ours), run(&mut codel));
        assert!(!codel.1.is_empty());
        assert_eq!(ours, codel);
    }

    #[test]
    fn a_threshold_above_the_target_is_refused() {
        let settings = [("threshold", Value::Time(Span::from_millis(6)))];
        let settings = Settings::new(PARAMS, &settings).unwrap();
        let error = LeThreshold::<()>::new(&settings, Site::test(Limit::Packets(9))).unwrap_err();
        assert_eq!(error.to_string(), "threshold = 6 ms does not go with target = 5 ms: use 0.1 ms to 5 ms");
    }
}
