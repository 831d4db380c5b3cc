//! CAKE: the queue of home routers. A shaper, tins by code point, and in each tin fairness to hosts and to their flows.
//!
//! # Model
//! A packet goes into a tin by its code point, and in the tin into the queue of its flow:
//!
//! ```text
//!              ┌ voice        ┐    ┌ queue of a flow: COBALT ┐
//!   packet ──▶ ├ (video)      ├──▶ ├ …                       ├──▶ DRR++ ──▶ tins by threshold ──▶ (shaper) ──▶ link
//!              ├ best effort  │    └ up to 1024              ┘
//!              └ bulk: LE, CS1┘
//! ```
//! - **Tins** have a threshold, a part of the rate. The link takes the highest tin that is below its threshold. A tin above it gets what
//!   the others leave. So Voice goes first as long as it is little, and Bulk, which is above its sixteenth as soon as
//!   it sends more, yields to best effort.
//! - **Flows** have a queue each. A set-associative hash gives a flow one of eight places, so that flows hardly ever share. The
//!   queues of a tin take turns by DRR++, sparse ones first. With isolation of hosts a turn is divided among the flows of a host.
//! - **COBALT** is the law of each queue. Its CoDel acts on senders that react, and its count falls as it rose. Its BLUE
//!   drops ever more packets of a queue at whose cost the buffer overflows.
//! - Without room, the queue with most bytes loses its oldest packet.
//! - **The shaper** holds packets back, so that they wait here and not in the modem behind. It counts what the line adds
//!   to them.
//!
//! For a low-priority sender this is the one common queue in which its mark counts. Its delay, its losses and its share depend
//! on the tin. With the mark it has a sixteenth beside best effort and what that leaves, without it a fair share.
//!
//! # Rate and shaper
//! A router's CAKE shapes to a rate below its modem's. Here the link has the rate already. So without `bandwidth` the
//! link is the shaper: thresholds and times follow its rate, and nothing is held back. With `bandwidth` CAKE holds packets
//! back to that rate, as before a modem; the link's rate then is the modem's. `unlimited` is a CAKE that has not been
//! given a rate: tins take turns by weight, and times are those of a fast link.
//!
//! # Hosts
//! The simulator names a flow's host from its key `host`. An end of a flow without a name is a host of its own. So
//! without that key all isolations with flows are the same.
//!
//! # Constants
//! | name | default | why |
//! |---|---|---|
//! | rtt | 100 ms | INTERVAL: the longest usual round trip; TARGET is a twentieth, and 1.5 packets' time at least |
//! | Bulk, Video, Voice | 1/16, 1/2, 1/4 | thresholds, and weights where the rate is unknown |
//! | queues of a tin | 1024, sets of 8 | of 100 flows one in 800 000 shares its queue; with a plain hash it is one in eleven |
//! | quantum | 300 to 1514 B | 1/4096 s at the tin's rate: on a slow link small packets go between full ones |
//! | least queue | 4 packets | no packet is dropped that waited for less than four take at the tin's rate |
//! | BLUE | + 1/256, − 1/4096 | at most once in TARGET: on overflow, and when the queue is found empty |
//!
//! | tins | Bulk | Video | Voice |
//! |---|---|---|---|
//! | diffserv3 | LE, CS1 | none | CS6, CS7, EF, VA (44), 4 |
//! | diffserv4 | LE, CS1 | CS2, CS3, AF2x, AF3x, AF4x, 4 | CS4, CS5, CS6, CS7, EF, VA |
//! | besteffort | none | none | none |
//!
//! # Source
//! Høiland-Jørgensen, Täht and Morton, "Piece of CAKE", 2018; `man tc-cake`; Linux 6.1 `sch_cake.c`. LE is in Bulk since Linux
//! 5.9; before it was best effort. Linux counts the 14 B of Ethernet's header unless `overhead` is given; here a packet is
//! counted from its IP header on. The buffer is the link's; Linux has four times the rate times `rtt`, and at least 4 MB.
//!
//! # Not implemented
//! `ack-filter` (a queue does not look into packets), `autorate-ingress`, `wash`, `nat`, `fwmark`; the tins of `diffserv8` and
//! `precedence`. Without room Linux finds the fattest queue in a heap; here all active queues are compared.
//!
//! # Known bad cases
//! A sender marked LE beside best effort on a slow link: at 2 Mbit/s its tin has 125 kbit/s, and a packet of its own may
//! wait 0.4 s before it counts as late. With `triple-isolate`, flows from one server to several machines are divided by the server's
//! flows: fairness to the machines is lost. A host with many addresses gets a part for each.

mod chains;
mod cobalt;
mod hosts;
mod isolation;
mod shaper;
#[cfg(test)]
mod tests;
mod tin;
mod ways;

use crate::backlog::{Backlog, Limit};
use crate::dropped::{DropReason, Dropped};
use crate::error::Error;
use crate::packet::{Hosts, Packet};
use crate::queue::Queue;
use crate::site::Site;
use crate::statistics::Statistics;
use crate::store::Store;
use afteryou_base::param::{Key, Preset, Settings, Value};
use afteryou_base::{params, Dscp, Span, Time};
use isolation::{Directory, Isolation};
use rand_core::Rng;
use shaper::{Coding, Framing, Shaper};
use tin::{Tin, QUEUES};

params! {
    /// Parameters.
    pub table PARAMS;

    const TINS: Key<Tins> = Key::choice("tins", &["diffserv3", "diffserv4", "besteffort"], &[Tins::Three, Tins::Four, Tins::One])
        .explained("which tins there are", "man tc-cake; Linux sch_cake.c");
    const ISOLATION: Key<Isolation> = Key::choice("isolation", Isolation::WORDS, Isolation::MEANINGS)
        .explained("what is kept apart: flows, sources, destinations or several of them", "man tc-cake");
    const RTT: Key<Span> = Key::millis("rtt", 100, (1, 10_000))
        .explained("round trips that the queue is made for: interval, and twenty times the target", "man tc-cake");
    const BANDWIDTH: Key<f64> = Key::number("bandwidth", "Mbit/s", 0.0, (0.0, 1_000_000.0))
        .explained("rate of the shaper; 0 for none before the link's own rate", "man tc-cake");
    const UNLIMITED: Key<bool> = Key::flag("unlimited", false)
        .explained("do not know the rate: tins take turns by weight", "man tc-cake");
    const OVERHEAD: Key<u64> = Key::bytes("overhead", 0, (0, 256))
        .explained("bytes that the line adds to each packet; they count for the shaper, for tins and turns", "man tc-cake");
    const MPU: Key<u64> = Key::bytes("mpu", 0, (0, 256))
        .explained("least bytes of a packet on the line", "man tc-cake");
    const CODING: Key<Coding> = Key::choice("atm", Coding::WORDS, Coding::MEANINGS)
        .explained("cells of ATM, or a byte more for 64 of PTM", "man tc-cake");
    const INGRESS: Key<bool> = Key::flag("ingress", false)
        .explained("count packets dropped here: they have crossed the bottleneck before", "man tc-cake");
    const ECN: Key<bool> = Key::flag("ecn", true)
        .explained("mark packets that understand ECN instead of dropping them", "Linux sch_cake.c: always");
}

/// None.
pub const PRESETS: &[Preset] = &[];

/// Which tins there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tins {
    One,
    Three,
    Four,
}

/// Indices of tins; a higher one goes first, as far as both are below their thresholds.
const BEST_EFFORT: usize = 0;
const BULK: usize = 1;

impl Tins {
    /// Returns each tin's part of the rate, as a divisor, and its weight.
    fn parts(self) -> &'static [(u64, i64)] {
        match self {
            Tins::One => &[(1, 65_535)],
            Tins::Three => &[(1, 1024), (16, 64), (4, 256)],
            Tins::Four => &[(1, 1024), (16, 64), (2, 512), (4, 256)],
        }
    }

    /// Returns the tin of a code point.
    fn of(self, dscp: Dscp) -> usize {
        match (self, dscp.bits()) {
            (Tins::One, _) => BEST_EFFORT,
            (_, 1 | 8) => BULK,
            (Tins::Three, 4 | 44 | 46 | 48 | 56) => 2,
            (Tins::Four, 4 | 16 | 18 | 20 | 22 | 24 | 26 | 28 | 30 | 34 | 36 | 38) => 2,
            (Tins::Four, 32 | 40 | 44 | 46 | 48 | 56) => 3,
            _ => BEST_EFFORT,
        }
    }
}

/// A CAKE queue.
#[derive(Clone, Debug)]
pub struct Cake<T, R> {
    limit: Limit,
    directory: Directory,
    kinds: Tins,
    tins: Vec<Tin>,
    /// Where the rate is not known, the tin whose turn it is.
    by_weight: Option<usize>,
    /// The queues of all tins.
    store: Store<T>,
    shaper: Option<Shaper>,
    framing: Framing,
    counts_drops: bool,
    ecn: bool,
    random: R,
    statistics: Statistics,
}

/// The result of a queue's turn.
enum Pulled<T> {
    Packet(Packet<T>, Span),
    /// It was empty.
    Nothing,
    /// A packet was dropped, which counts: somebody else may be due.
    Dropped,
}

impl<T, R: Rng> Cake<T, R> {
    /// Creates an empty queue.
    ///
    /// # Errors
    /// A rate for a queue that is not to know it.
    pub fn new(settings: &Settings<'_>, mut site: Site<R>) -> Result<Cake<T, R>, Error> {
        let (mbit, is_unlimited) = (settings.get(&BANDWIDTH), settings.get(&UNLIMITED));
        let bandwidth = (mbit > 0.0).then_some((mbit * 1e6) as u64);
        if is_unlimited && bandwidth.is_some() {
            return Err(Error::Together {
                name: UNLIMITED.name(),
                value: Value::Flag(true),
                other: format!("{} = {mbit} Mbit/s", BANDWIDTH.name()),
                valid: "one of them".to_owned(),
            });
        }
        let rate = (!is_unlimited).then_some(bandwidth.unwrap_or(site.bits_per_second).max(1));
        let (kinds, isolation) = (settings.get(&TINS), settings.get(&ISOLATION));
        let tin = |(part, weight): &(u64, i64)| {
            Tin::new(isolation, settings.get(&RTT), rate.map(|rate| (rate / part).max(1)), *weight)
        };
        let tins: Vec<Tin> = kinds.parts().iter().map(tin).collect();
        Ok(Cake {
            limit: site.limit.resolved(),
            directory: Directory::new(isolation, site.random.next_u64()),
            kinds,
            store: Store::new(tins.len() * QUEUES),
            tins,
            by_weight: is_unlimited.then_some(BEST_EFFORT),
            shaper: bandwidth.map(Shaper::new),
            framing: Framing {
                overhead: settings.get(&OVERHEAD),
                least: settings.get(&MPU),
                coding: settings.get(&CODING),
            },
            counts_drops: settings.get(&INGRESS),
            ecn: settings.get(&ECN),
            random: site.random,
            statistics: Statistics::default(),
        })
    }

    /// Forgets the time in which a tin, or all of them, had nothing to send.
    fn catch_up(&mut self, now: Time, tin: usize) {
        if self.tins[tin].packets == 0 {
            self.tins[tin].schedule.catch_up(now);
        }
        if self.store.backlog().packets == 0 {
            self.shaper.iter_mut().for_each(|shaper| shaper.catch_up(now));
        }
    }

    /// Counts the bytes of a packet for its tin's threshold and for the shaper.
    fn advance(&mut self, now: Time, tin: usize, bytes: u64, is_dropped: bool) {
        self.tins[tin].schedule.charge(now, bytes);
        self.shaper.iter_mut().for_each(|shaper| shaper.charge(bytes, is_dropped));
    }

    /// Drops the oldest packet of the queue with most bytes until all fit.
    fn make_room(&mut self, now: Time, dropped: &mut Vec<Dropped<T>>) {
        while !self.limit.holds(self.store.backlog()) {
            let fattest = self.store.fattest(active(&self.tins), |backlog| backlog.bytes);
            let Some(fattest) = fattest else { return };
            let Some((packet, _)) = self.store.pop_front(now, fattest) else { return };
            let tin = fattest / QUEUES;
            self.tins[tin].packets -= 1;
            let (law, times) = self.tins[tin].law(fattest % QUEUES);
            law.overflowed(now, times);
            if self.counts_drops {
                self.advance(now, tin, self.framing.bytes(packet.size), true);
            }
            self.statistics.remove(packet, DropReason::Full, dropped);
        }
    }

    /// Returns whether the shaper holds all packets back.
    fn is_held(&self, now: Time) -> bool {
        self.shaper.is_some_and(|shaper| shaper.next() > now)
    }

    /// Returns the tin that sends next.
    fn choose(&mut self, now: Time) -> Option<usize> {
        match self.by_weight {
            Some(current) => {
                let chosen = self.next_by_weight(current);
                self.by_weight = chosen.or(self.by_weight);
                chosen
            }
            None => self.next_by_threshold(now),
        }
    }

    /// Returns the highest tin that is due by its threshold, or else the one that is due first.
    fn next_by_threshold(&self, now: Time) -> Option<usize> {
        let mut best: Option<(usize, Time)> = None;
        for (index, tin) in self.tins.iter().enumerate().filter(|(_, tin)| tin.is_active()) {
            let next = tin.schedule.next();
            if next <= now || best.is_none_or(|(_, at)| next <= at) {
                best = Some((index, next));
            }
        }
        best.map(|(index, _)| index)
    }

    /// Returns the tin whose turn it is, from `current` on.
    fn next_by_weight(&mut self, mut current: usize) -> Option<usize> {
        if !self.tins.iter().any(Tin::is_active) {
            return None;
        }
        loop {
            let tin = &mut self.tins[current];
            if tin.is_active() && tin.credit >= 0 {
                return Some(current);
            }
            if tin.credit <= 0 {
                tin.credit += tin.weight;
            }
            current = (current + 1) % self.tins.len();
        }
    }

    /// Serves a tin until a packet leaves it or a queue was empty.
    fn serve(
        &mut self,
        now: Time,
        tin: usize,
        is_first: &mut bool,
        dropped: &mut Vec<Dropped<T>>,
    ) -> Option<(Packet<T>, Span)> {
        loop {
            let Cake { tins, store, random, .. } = self;
            let is_empty = |queue: usize| store.backlog_of(tin * QUEUES + queue).packets == 0;
            let queue = tins[tin].turn(std::mem::take(is_first), is_empty, random)?;
            match self.pull(now, tin, queue, dropped) {
                Pulled::Packet(packet, sojourn) => return Some((packet, sojourn)),
                Pulled::Dropped => {}
                Pulled::Nothing => {
                    self.tins[tin].emptied(now, queue);
                    return None;
                }
            }
        }
    }

    /// Takes the next packet of a queue that its law does not drop; the last one is not dropped.
    fn pull(&mut self, now: Time, tin: usize, queue: usize, dropped: &mut Vec<Dropped<T>>) -> Pulled<T> {
        let place = tin * QUEUES + queue;
        while let Some((mut packet, sojourn)) = self.store.pop_front(now, place) {
            self.tins[tin].packets -= 1;
            let bytes = self.framing.bytes(packet.size);
            let drops = self.drops(now, (tin, queue), &mut packet, sojourn);
            let leaves = !drops || self.store.backlog_of(place).packets == 0;
            if leaves || self.counts_drops {
                self.advance(now, tin, bytes, !leaves);
                self.tins[tin].charge(queue, bytes);
            }
            if leaves {
                return Pulled::Packet(packet, sojourn);
            }
            self.statistics.remove(packet, DropReason::Head, dropped);
            if self.counts_drops {
                return Pulled::Dropped;
            }
        }
        Pulled::Nothing
    }

    /// Returns whether a queue's law drops a packet, which it may mark instead.
    fn drops(
        &mut self,
        now: Time,
        (tin, queue): (usize, usize),
        packet: &mut Packet<T>,
        sojourn: Span,
    ) -> bool {
        let Cake { tins, statistics, random, ecn, counts_drops, .. } = self;
        let bulk = if *counts_drops { tins[tin].bulk() } else { 0 };
        let (law, times) = tins[tin].law(queue);
        law.drops(now, sojourn, (times, bulk), || *ecn && statistics.mark(packet), random)
    }
}

/// Returns the places in the store of the queues that may have packets.
fn active(tins: &[Tin]) -> impl Iterator<Item = usize> + '_ {
    tins.iter().enumerate().flat_map(|(tin, of)| of.active().map(move |queue| tin * QUEUES + queue))
}

impl<T: Send, R: Rng + Send> Queue<T> for Cake<T, R> {
    fn enqueue(&mut self, now: Time, packet: Packet<T>, dropped: &mut Vec<Dropped<T>>) {
        // What does not fit even into the empty buffer must not push all others out.
        if !self.limit.admits(Backlog::default(), packet.size) {
            self.statistics.refuse(packet, DropReason::Full, dropped);
            return;
        }
        let tin = self.kinds.of(packet.dscp);
        let queue = self.tins[tin].take(&self.directory.of(packet.flow));
        self.catch_up(now, tin);
        self.statistics.accept(&packet);
        self.store.push(now, tin * QUEUES + queue, packet);
        self.tins[tin].packets += 1;
        self.tins[tin].activate(queue);
        self.make_room(now, dropped);
    }

    fn dequeue(&mut self, now: Time, dropped: &mut Vec<Dropped<T>>) -> Option<(Packet<T>, Span)> {
        // One decaying queue is looked at for each packet.
        let mut is_first = true;
        while self.store.backlog().packets > 0 && !self.is_held(now) {
            let tin = self.choose(now)?;
            if let Some((packet, sojourn)) = self.serve(now, tin, &mut is_first, dropped) {
                self.statistics.deliver(&packet, sojourn);
                return Some((packet, sojourn));
            }
        }
        None
    }

    fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    fn bucket(&self, flow: u32) -> Option<usize> {
        let hashes = self.directory.of(flow);
        let of_tin = |(i, tin): (usize, &Tin)| tin.own(&hashes).map(|queue| i * QUEUES + queue);
        self.tins.iter().enumerate().find_map(of_tin)
    }

    fn note_hosts(&mut self, flow: u32, hosts: Hosts) {
        self.directory.note(flow, hosts);
    }

    fn held_until(&self) -> Option<Time> {
        self.shaper.filter(|_| self.store.backlog().packets > 0).map(|shaper| shaper.next())
    }
}
