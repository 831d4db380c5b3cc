//! CoDel: drop from the head once packets have waited too long for too long.
//!
//! # Model
//! A good queue absorbs a burst and empties within a round trip; a bad one is a standing queue. The difference shows in
//! the *smallest* time that packets spend in it over a round trip. Once that has stayed above TARGET for INTERVAL, the
//! packet at the head is dropped. The next ones follow ever sooner, until the smallest time is below TARGET again:
//!
//! ```text
//!   next drop = last drop + INTERVAL / √count
//! ```
//! The square root makes a Reno sender's rate fall in proportion to time, since its rate is proportional to 1/√(drop
//! rate).
//!
//! # States
//! ```text
//!            sojourn ≥ TARGET for INTERVAL, and more than a packet left: drop, count = 1
//!   waiting ──────────────────────────────────────────────────────────────────────────────▶ dropping ──due: drop, count += 1
//!      ▲                                                                                       │
//!      └──────────────────── sojourn < TARGET, or at most a packet left ───────────────────────┘
//! ```
//! A queue that drops again within sixteen intervals continues from its last count, minus the count at its start.
//!
//! # Constants
//! | name | default | why |
//! |---|---|---|
//! | TARGET | 5 ms | §4.4: 5 to 10 % of INTERVAL |
//! | INTERVAL | 100 ms | §4.3: a round trip of most paths, so that a sender can react before the next drop |
//! | MTU | 1514 B | §5.4: with a packet or less left there is no queue worth a drop |
//!
//! # Source
//! RFC 8289 (January 2018) §4, §5. ECN-capable packets are marked instead if `ecn` is on; a marked packet is
//! delivered.
//!
//! # Not implemented
//! Linux's `ce_threshold`. Linux drops strictly after the interval, the RFC at its end, as here.
//!
//! # Slow links
//! Below 2.4 Mbit/s a packet of 1500 B takes longer than the TARGET of 5 ms. Each packet that waits for another is then above it, and a
//! SYN may be the packet that is dropped: its connection begins a second late. `handshake_timeouts` counts those. sqm-scripts raise TARGET
//! to the time of one packet and CAKE to one and a half, and INTERVAL by as much, as `slow_link` does.
//!
//! # Known bad cases
//! Senders that do not react: the drop rate rises slowly. Rates at which a packet takes longer than TARGET: TARGET must
//! be raised there. `slow_link` does so like CAKE, to one and a half packets' time, and INTERVAL by as much.

use crate::backlog::Limit;
use crate::dropped::{DropReason, Dropped};
use crate::error::Error;
use crate::fifo::{Fifo, Source};
use crate::packet::Packet;
use crate::queue::Queue;
use crate::site::Site;
use crate::statistics::Statistics;
use afteryou_base::param::{Key, Preset, Settings, Value};
use afteryou_base::params;
use afteryou_base::{Span, Time};
use rand_core::Rng;

/// If dropping resumes within this many intervals, it continues with the old count (§5.5).
const REMEMBERED_INTERVALS: u64 = 16;

params! {
    /// Parameters.
    pub table PARAMS;

    pub const TARGET: Key<Span> = Key::millis("target", 5, (1, 1000))
        .explained("acceptable standing delay of the queue", "RFC 8289 §4.4");
    pub const INTERVAL: Key<Span> = Key::millis("interval", 100, (1, 10_000))
        .explained("for how long it must have been exceeded", "RFC 8289 §4.3");
    pub const MTU: Key<u64> = Key::bytes("mtu", 1514, (1, 65_535))
        .explained("with so little left nothing is dropped", "RFC 8289 §5.4");
    pub const ECN: Key<bool> = Key::flag("ecn", false)
        .explained("mark packets that understand ECN instead of dropping them", "RFC 8289 §5.4");
    pub const SLOW_LINK: Key<bool> = Key::flag("slow_link", false)
        .explained(
            "raise target and interval where a packet takes longer than the target",
            "Linux sch_cake.c",
        );
}

/// None.
pub const PRESETS: &[Preset] = &[];

/// The control law and its state.
#[derive(Clone, Copy, Debug)]
pub struct Law {
    target: Span,
    interval: Span,
    mtu: u64,
    ecn: bool,
    /// When the sojourn time will have been too long for an interval.
    first_above: Option<Time>,
    /// A queue that is found empty keeps that time.
    keeps_time_when_empty: bool,
    dropping: bool,
    drop_next: Time,
    pub(crate) count: u64,
    /// The count when dropping last began.
    last_count: u64,
}

impl Law {
    /// Creates the law from the values of [`PARAMS`].
    pub fn new(settings: &Settings<'_>) -> Law {
        Law::with(settings.get(&TARGET), settings.get(&INTERVAL), settings)
    }

    /// Creates the law with times of its own; the rest comes from the values of [`PARAMS`].
    pub fn with(target: Span, interval: Span, settings: &Settings<'_>) -> Law {
        Law {
            target,
            interval,
            mtu: settings.get(&MTU),
            ecn: settings.get(&ECN),
            first_above: None,
            keeps_time_when_empty: false,
            dropping: false,
            drop_next: Time::ZERO,
            count: 0,
            last_count: 0,
        }
    }

    /// Returns the same law, except that a queue that is found empty still counts as a standing queue. Linux'
    /// `codel_dequeue` returns before it looks at the time. Only a short wait, or a drop that empties the queue, ends that.
    pub fn keeping_time_when_empty(self) -> Law {
        Law { keeps_time_when_empty: true, ..self }
    }

    /// Counts packets dropped because the buffer was full: when dropping is next due, it continues from a higher count.
    pub fn count_drops(&mut self, packets: u64) {
        self.count += packets;
    }

    /// Returns when the drop after one at `at` is due (§5.3).
    fn next_drop(&self, at: Time) -> Time {
        at + Span((self.interval.0 as f64 / (self.count.max(1) as f64).sqrt()) as u64)
    }

    /// Takes a packet from `source` (§5.6); the flag is whether it may be dropped.
    // As a call it would copy the packet once more, and reading a copy waits until all of its parts are written.
    #[inline(always)]
    fn pop<T>(&mut self, now: Time, source: &mut impl Source<T>) -> Option<(Packet<T>, Span, bool)> {
        let Some((packet, sojourn)) = source.pop(now) else {
            self.first_above = None;
            return None;
        };
        if sojourn < self.target || source.backlog().bytes <= self.mtu {
            self.first_above = None;
            return Some((packet, sojourn, false));
        }
        let due = *self.first_above.get_or_insert(now + self.interval);
        Some((packet, sojourn, now >= due))
    }

    /// Returns the next packet of `source` (§5.5); what must go goes to `dropped` or is marked.
    pub fn dequeue<T>(
        &mut self,
        now: Time,
        source: &mut impl Source<T>,
        statistics: &mut Statistics,
        dropped: &mut Vec<Dropped<T>>,
    ) -> Option<(Packet<T>, Span)> {
        let first_above = self.first_above.filter(|_| self.keeps_time_when_empty);
        let Some((mut packet, mut sojourn, may_drop)) = self.pop(now, source) else {
            (self.dropping, self.first_above) = (false, first_above);
            return None;
        };
        self.dropping &= may_drop;
        if !self.dropping && may_drop {
            self.enter(now);
            if self.mark(&mut packet, statistics) {
                return Some((packet, sojourn));
            }
            statistics.remove(packet, DropReason::Head, dropped);
            // What follows the first drop is delivered in any case.
            return self.pop(now, source).map(|(packet, sojourn, _)| (packet, sojourn));
        }
        while self.dropping && now >= self.drop_next {
            self.count += 1;
            if self.mark(&mut packet, statistics) {
                self.drop_next = self.next_drop(self.drop_next);
                break;
            }
            statistics.remove(packet, DropReason::Head, dropped);
            let Some(next) = self.pop(now, source) else {
                self.dropping = false;
                return None;
            };
            (packet, sojourn, self.dropping) = next;
            if self.dropping {
                self.drop_next = self.next_drop(self.drop_next);
            }
        }
        Some((packet, sojourn))
    }

    /// Enters the dropping state (§5.5).
    fn enter(&mut self, now: Time) {
        self.dropping = true;
        let went_on_for = self.count.saturating_sub(self.last_count);
        let is_recent = now.since(self.drop_next) < self.interval * REMEMBERED_INTERVALS;
        self.count = if went_on_for > 1 && is_recent { went_on_for } else { 1 };
        self.last_count = self.count;
        self.drop_next = self.next_drop(now);
    }

    /// Marks the packet instead, if both sides understand it.
    fn mark<T>(&self, packet: &mut Packet<T>, statistics: &mut Statistics) -> bool {
        self.ecn && statistics.mark(packet)
    }
}

/// Returns target and interval for a link on which a packet of `mtu` bytes may take longer than `target`. A queue of one
/// packet must not count as a standing queue. CAKE's rule, for the rate of each of its tins.
pub fn on_slow_link(target: Span, interval: Span, mtu: u64, bits_per_second: u64) -> (Span, Span) {
    let packet = Span::of_bytes(8 * mtu, bits_per_second).min(Span::from_secs(3600));
    let raised = target.max(packet + packet / 2);
    (raised, (interval + (raised - target)).max(raised * 2))
}

/// A CoDel queue.
#[derive(Clone, Debug)]
pub struct Codel<T> {
    limit: Limit,
    fifo: Fifo<T>,
    law: Law,
    statistics: Statistics,
}

/// Refuses an interval of a CoDel in which its target does not fit.
pub(crate) fn check_times(
    settings: &Settings<'_>,
    target: &Key<Span>,
    interval: &Key<Span>,
) -> Result<(), Error> {
    let (short, long) = (settings.get(target), settings.get(interval));
    if short <= long {
        return Ok(());
    }
    Err(Error::Together {
        name: target.name(),
        value: Value::Time(short),
        other: format!("{} = {}", interval.name(), Value::Time(long)),
        valid: format!("at most {}", Value::Time(long)),
    })
}

impl<T> Codel<T> {
    /// Creates an empty queue.
    ///
    /// # Errors
    /// A target longer than the interval.
    pub fn new(settings: &Settings<'_>, site: Site<impl Rng>) -> Result<Codel<T>, Error> {
        check_times(settings, &TARGET, &INTERVAL)?;
        let (mut target, mut interval) = (settings.get(&TARGET), settings.get(&INTERVAL));
        if settings.get(&SLOW_LINK) {
            (target, interval) = on_slow_link(target, interval, settings.get(&MTU), site.bits_per_second);
        }
        Ok(Codel {
            limit: site.limit.resolved(),
            fifo: Fifo::new(),
            law: Law::with(target, interval, settings),
            statistics: Statistics::default(),
        })
    }
}

impl<T: Send> Queue<T> for Codel<T> {
    fn enqueue(&mut self, now: Time, packet: Packet<T>, dropped: &mut Vec<Dropped<T>>) {
        if !self.limit.admits(self.fifo.backlog(), packet.size) {
            self.statistics.refuse(packet, DropReason::Full, dropped);
            return;
        }
        self.statistics.accept(&packet);
        self.fifo.push(now, packet);
    }

    fn dequeue(&mut self, now: Time, dropped: &mut Vec<Dropped<T>>) -> Option<(Packet<T>, Span)> {
        let (packet, sojourn) = self.law.dequeue(now, &mut self.fifo, &mut self.statistics, dropped)?;
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
    use crate::packet::{Class, Ecn};

    fn micros(us: u64) -> Time {
        Time::from_micros(us)
    }

    /// A law and a queue of packets of 1000 B.
    struct Bench {
        law: Law,
        fifo: Fifo<()>,
        statistics: Statistics,
        dropped: Vec<Dropped<()>>,
    }

    impl Bench {
        /// Returns a bench with `n` packets that arrived at time zero.
        fn standing(n: usize, ecn: bool) -> Bench {
            let settings = [("ecn", Value::Flag(ecn))];
            let law = Law::new(&Settings::new(PARAMS, &settings).unwrap());
            let (fifo, statistics) = (Fifo::new(), Statistics::default());
            let mut bench = Bench { law, fifo, statistics, dropped: Vec::new() };
            bench.arrive(n, Time::ZERO, if ecn { Ecn::Ect0 } else { Ecn::NotEct });
            bench
        }

        fn arrive(&mut self, n: usize, at: Time, ecn: Ecn) {
            let packet = Packet { ecn, ..Packet::from_tos(1000, 0, 0, ()) };
            (0..n).for_each(|_| {
                self.statistics.accept(&packet);
                self.fifo.push(at, packet);
            });
        }

        fn dequeue(&mut self, us: u64) -> Option<Packet<()>> {
            let Bench { law, fifo, statistics, dropped } = self;
            law.dequeue(micros(us), fifo, statistics, dropped).map(|(packet, _)| packet)
        }
    }

    #[test]
    fn drops_follow_the_square_root_of_their_count() {
        let mut bench = Bench::standing(200_000, false);
        let mut drops_ms = Vec::new();
        // A dequeue every 10 µs from 5 ms of waiting on: the first sees 5 ms, so that 100 ms later are 105.
        for us in (5_000..610_000).step_by(10) {
            bench.dequeue(us);
            drops_ms.extend(bench.dropped.drain(..).map(|_| us as f64 / 1000.0 - 5.0));
        }
        let expected = [100.0, 200.0, 270.711, 328.446, 378.446, 423.167, 463.992, 501.788];
        for (drop, expected) in drops_ms.iter().zip(expected) {
            assert!((0.0..0.011).contains(&(drop - expected)), "{drop} for {expected}");
        }
        assert!(drops_ms.len() >= expected.len());
    }

    #[test]
    fn one_short_wait_or_a_last_packet_starts_the_interval_anew() {
        let mut bench = Bench::standing(1, false);
        bench.arrive(9, Time::ZERO, Ecn::NotEct);
        bench.dequeue(5_000);
        assert!(bench.law.first_above.is_some());
        bench.fifo = Fifo::new();
        bench.arrive(10, micros(95_100), Ecn::NotEct);
        bench.dequeue(100_000);
        assert_eq!((bench.law.first_above, bench.dropped.len()), (None, 0), "4.9 ms");
        // 50 ms in the queue, but at most a packet is left behind it.
        let mut short = Bench::standing(2, false);
        for us in [50_000, 250_000] {
            short.dequeue(us);
            assert_eq!((short.law.first_above, short.dropped.len()), (None, 0));
        }
    }

    #[test]
    fn a_queue_that_is_found_empty_forgets_when_it_was_too_long_but_not_in_linux() {
        for linux in [false, true] {
            let mut bench = Bench::standing(3, false);
            if linux {
                bench.law = bench.law.keeping_time_when_empty();
            }
            bench.dequeue(5_000);
            let since = bench.law.first_above;
            assert!(since.is_some());
            bench.fifo = Fifo::new();
            let next =
                bench.law.dequeue(micros(6_000), &mut bench.fifo, &mut bench.statistics, &mut bench.dropped);
            assert!(next.is_none());
            assert_eq!(bench.law.first_above, since.filter(|_| linux));
        }
    }

    #[test]
    fn dropping_again_soon_goes_on_with_the_old_count() {
        for (since_ms, expected) in [(300, 5), (1700, 1)] {
            let now = Time::from_millis(5000);
            let drop_next = Time::from_millis(5000 - since_ms);
            let plain = Law::new(&Settings::defaults(PARAMS));
            let mut law = Law { count: 8, last_count: 3, drop_next, ..plain };
            law.enter(now);
            assert_eq!(law.count, expected, "{since_ms} ms");
        }
    }

    #[test]
    fn packets_that_understand_it_are_marked_instead_and_delivered() {
        let mut bench = Bench::standing(100_000, true);
        let mut marks = 0;
        for us in (5_000..610_000).step_by(10) {
            marks += u64::from(bench.dequeue(us).unwrap().ecn == Ecn::Ce);
        }
        let counted = bench.statistics.of(Class::BestEffort).marked;
        assert!(bench.dropped.is_empty() && marks == counted && marks >= 8, "{marks}");
    }

    #[test]
    fn on_a_slow_link_target_and_interval_are_those_of_cake() {
        // CAKE's bulk tin at 10 Mbit/s: a sixteenth.
        let (target, interval) = (Span::from_millis(5), Span::from_millis(100));
        let at = |bits_per_second| on_slow_link(target, interval, 1514, bits_per_second);
        let ms = |(target, interval): (Span, Span)| [target, interval].map(|span| span.as_nanos() / 1000);
        assert_eq!(Span::of_bytes(8 * 1514, 625_000).as_nanos() / 1000, 19_379);
        assert_eq!(ms(at(625_000)), [29_068, 124_068], "29.069 and 124.069 ms, rounded down");
        assert_eq!(ms(at(100_000)), [181_680, 363_360], "twice the target is more");
        assert_eq!(at(10_000_000), (target, interval));
        let slow = [("slow_link", Value::Flag(true))];
        let site = Site { bits_per_second: 625_000, ..Site::test(Limit::Packets(10)) };
        let queue: Codel<()> = Codel::new(&Settings::new(PARAMS, &slow).unwrap(), site).unwrap();
        assert_eq!((queue.law.target, queue.law.interval), at(625_000));
    }

    #[test]
    fn a_target_beyond_the_interval_is_refused() {
        let settings = [("target", Value::Time(Span::from_millis(500)))];
        let settings = Settings::new(PARAMS, &settings).unwrap();
        let error = Codel::<()>::new(&settings, Site::test(Limit::Packets(9))).unwrap_err().to_string();
        assert!(error.contains("target = 500 ms does not go with interval = 100 ms"), "{error}");
    }

    #[test]
    fn a_queue_that_is_too_long_for_too_long_drops_at_its_head() {
        let site = Site::test(Limit::Packets(100));
        let mut queue = Codel::new(&Settings::defaults(PARAMS), site).unwrap();
        let mut dropped = Vec::new();
        for ms in 0..3000u64 {
            queue.enqueue(Time::from_millis(ms), Packet::from_tos(1000, 0, 0, ms), &mut dropped);
            if ms % 2 == 0 {
                queue.dequeue(Time::from_millis(ms), &mut dropped);
            }
        }
        let statistics = queue.statistics().of(Class::BestEffort);
        assert_eq!(statistics.dropped_full + statistics.dropped_head, dropped.len() as u64);
        assert!(statistics.dropped_head > 10);
    }

    proptest::proptest! {
        #[test]
        fn whatever_the_interval_drops_keep_to_its_square_root_law(interval_ms in 10u64..500, gap_us in 100u64..900) {
            let mut bench = Bench::standing(100_000, false);
            bench.law.interval = Span::from_millis(interval_ms);
            let begins = 1000 * interval_ms; // far beyond the target
            let (mut due_ms, mut number) = (interval_ms as f64, 0u64);
            for us in (begins..begins + 8_000 * interval_ms).step_by(gap_us as usize) {
                bench.dequeue(us);
                for _ in bench.dropped.drain(..) {
                    let late_ms = (us - begins) as f64 / 1000.0 - due_ms;
                    // At the first departure once it is due.
                    proptest::prop_assert!((-1e-3..gap_us as f64 / 1000.0 + 1e-3).contains(&late_ms), "drop {number}: {late_ms}");
                    number += 1;
                    // The first one starts the clock: what is due next follows from when it happened.
                    due_ms = if number == 1 { (us - begins) as f64 / 1000.0 } else { due_ms };
                    due_ms += interval_ms as f64 / (number as f64).sqrt();
                }
            }
            proptest::prop_assert!(number >= 10, "{number} drops");
        }
    }
}
