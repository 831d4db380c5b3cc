//! DualPI2: a shallow queue for scalable senders beside a classic one, coupled so that both have their share.
//!
//! # Model
//! Packets of senders that react a little to each mark (L4S: ECT(1), or CE already) go to the L queue, all others to
//! the C queue. One controller steers a base probability p' from the longer of the two delays:
//!
//! ```text
//!   p'   += α·(delay − target) + β·(delay − delay at the last update)      every tupdate
//!   p_C   = p'²          drops, or marks of ECT(0), in the C queue
//!   p_CL  = k·p'         marks in the L queue
//! ```
//! A classic sender's rate is proportional to 1/√p, a scalable one's to 1/p. The square couples both to the same p',
//! and k = 2 makes their rates equal at equal round trips. L packets that have waited for more than a step are marked
//! in any case.
//!
//! The L queue goes first, but for a credit that leaves the C queue its `classic_weight` while both have packets.
//! Decisions are taken when a packet leaves, by its sojourn time.
//!
//! # Time
//! There is no timer. Updates are due at 0, tupdate, 2·tupdate …; each arrival and departure first makes the overdue
//! ones, with the delays of their time. Updates that could change nothing are skipped.
//!
//! # States
//! ```text
//!   normal ──k·p' > 1──▶ overload: with `overload = "drop"` both queues drop with p'², marks notwithstanding,
//!      ▲                  │        and all L packets that stay are marked
//!      └────k·p' ≤ 1──────┘        with `overload = "mark"` p' ends at 1/k: nothing but the buffer drops ECN packets
//! ```
//!
//! # Constants
//! | name | default | why |
//! |---|---|---|
//! | target | 15 ms | RFC 9332 App. A: what classic senders need at common round trips |
//! | tupdate | 16 ms | about the target |
//! | α, β | 0.16, 3.2 Hz | stable up to round trips of 100 ms |
//! | k | 2 | equal rates at equal round trips |
//! | step | 1 ms | Linux; the RFC's ramp goes from 0.8 to 1.2 ms |
//! | classic weight | 10 % | Linux: the C queue does not starve; 1 to 99 %, so that neither does |
//! | spared | 2 packets of 1514 B in all | Linux: less is not a queue |
//!
//! # Source
//! RFC 9332 (January 2023) App. A as its draft 13 has it, and Linux `sch_dualpi2.c` (6.17), which is followed where
//! they differ. The longer delay steers the controller (in the RFC, the C queue's). Linux has a step in place of a
//! ramp, random decisions in place of a running sum, and a credit in place of a time-shifted scheduler. The classes of
//! RFC 8622 are ignored.
//!
//! # Not implemented
//! Decisions on arrival; classification by anything but ECN bits; the RFC's ramp; Linux's step in packets and its memory limit.
//!
//! # Known bad cases
//! At low rates a single packet takes longer than the step, so that all L packets are marked. Raise `step`, or let the
//! step begin with a longer queue (`step_packets`). Senders that set ECT(1) but do not react to marks fill the L queue
//! until it is overloaded. Packets of one flow with different ECN bits overtake each other.

use crate::backlog::Limit;
use crate::dropped::{DropReason, Dropped};
use crate::error::Error;
use crate::fifo::Fifo;
use crate::packet::{Ecn, Packet};
use crate::queue::Queue;
use crate::site::{uniform, Site};
use crate::statistics::Statistics;
use afteryou_base::param::{Key, Preset, Settings, Value};
use afteryou_base::params;
use afteryou_base::{Span, Time};
use rand_core::Rng;

/// With two packets of this size waiting in all nothing is dropped or marked by chance.
const MTU: u64 = 1514;
/// Weights count in millionths: decimal fractions stay exact, and the credit stays an integer.
const WEIGHTS: i64 = 1_000_000;

params! {
    /// Parameters.
    pub table PARAMS;

    const TARGET: Key<Span> = Key::millis("target", 15, (1, 1000))
        .explained(
            "delay that p' is steered to: the longer one of the two queues",
            "RFC 9332 App. A, Linux sch_dualpi2",
        );
    const TUPDATE: Key<Span> = Key::millis("tupdate", 16, (1, 1000))
        .explained("time between updates of p'", "RFC 9332 App. A");
    const ALPHA: Key<f64> = Key::number("alpha", "Hz", 0.16, (0.001, 100.0))
        .explained("gain of the distance from the target", "RFC 9332 App. A");
    const BETA: Key<f64> = Key::number("beta", "Hz", 3.2, (0.0, 100.0))
        .explained("gain of the change of the delay", "RFC 9332 App. A");
    const COUPLING: Key<f64> = Key::number("coupling", "", 2.0, (1.0, 255.0))
        .explained("k: marks of the L queue per p'", "RFC 9332 App. A");
    const STEP: Key<Span> = Key::millis("step", 1, (0, 1000))
        .explained("L packets that waited longer are marked", "Linux sch_dualpi2");
    const STEP_PACKETS: Key<u64> = Key::count("step_packets", "packets", 0, (0, 10_000))
        .explained("packets in the L queue from which the step applies", "Linux sch_dualpi2");
    const CLASSIC_WEIGHT: Key<f64> = Key::number("classic_weight", "", 0.1, (0.01, 0.99))
        .explained("share of the C queue while both have packets", "Linux sch_dualpi2");
    const DROPS_ON_OVERLOAD: Key<bool> = Key::choice("overload", &["drop", "mark"], &[true, false])
        .explained(
            "drop ECN packets, too, once k·p' exceeds 1, or mark them until the buffer is full",
            "RFC 9332 §4.2",
        );
}

/// None: the RFC's and Linux's numbers are the same.
pub const PRESETS: &[Preset] = &[];

/// The controller of p'.
#[derive(Clone, Copy, Debug)]
struct Controller {
    target: Span,
    tupdate: Span,
    alpha: f64,
    beta: f64,
    /// The largest p'.
    most: f64,
    p: f64,
    old_delay: Span,
    next_update: Time,
}

impl Controller {
    fn update(&mut self, delay: Span) {
        let (delay_s, old_s) = (delay.as_secs_f64(), self.old_delay.as_secs_f64());
        let step = self.alpha * (delay_s - self.target.as_secs_f64()) + self.beta * (delay_s - old_s);
        self.p = (self.p + step).clamp(0.0, self.most);
        self.old_delay = delay;
    }

    /// Returns whether no update can change p' before a packet arrives or leaves. Delays only grow until then.
    fn is_settled(&self, is_empty: bool) -> bool {
        match is_empty {
            true => self.p == 0.0 && self.old_delay == Span::ZERO,
            false => self.p == self.most && self.old_delay >= self.target,
        }
    }

    /// Does all updates that were due by `now`, with the oldest packet having come at `oldest`.
    #[cold]
    fn catch_up(&mut self, now: Time, oldest: Option<Time>) {
        let delay_at = |at: Time| oldest.map_or(Span::ZERO, |arrived| at.since(arrived));
        while now >= self.next_update {
            self.update(delay_at(self.next_update));
            let last = self.next_update;
            self.next_update += self.tupdate;
            if now >= self.next_update && self.is_settled(oldest.is_none()) {
                let missed = now.since(last).0 / self.tupdate.0;
                self.old_delay = delay_at(last + self.tupdate * missed);
                self.next_update = last + self.tupdate * (missed + 1);
                return;
            }
        }
    }
}

/// The decision on a leaving packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Pass,
    Mark,
    Drop,
}

/// A DualPI2 queue.
#[derive(Clone, Debug)]
pub struct DualPi2<T, R> {
    limit: Limit,
    controller: Controller,
    coupling: f64,
    step: Span,
    step_packets: u64,
    /// Weights of the two queues, of [`WEIGHTS`].
    classic_weight: i64,
    scalable_weight: i64,
    drops_on_overload: bool,
    /// The L queue goes first as long as this is not positive.
    credit: i64,
    /// With each L packet, whether the step holds for it.
    scalable: Fifo<(bool, T)>,
    classic: Fifo<T>,
    random: R,
    statistics: Statistics,
}

impl<T, R: Rng> DualPi2<T, R> {
    /// Creates an empty queue.
    ///
    /// # Errors
    /// A step above the target: the L queue would be the slower one.
    pub fn new(settings: &Settings<'_>, site: Site<R>) -> Result<DualPi2<T, R>, Error> {
        let (target, step) = (settings.get(&TARGET), settings.get(&STEP));
        if step > target {
            return Err(Error::Together {
                name: "step",
                value: Value::Time(step),
                other: format!("target = {}", Value::Time(target)),
                valid: format!("0 ms to {}", Value::Time(target)),
            });
        }
        let tupdate = settings.get(&TUPDATE);
        let coupling = settings.get(&COUPLING);
        let drops_on_overload = settings.get(&DROPS_ON_OVERLOAD);
        let classic_weight = (settings.get(&CLASSIC_WEIGHT) * WEIGHTS as f64 + 0.5) as i64;
        let mut queue = DualPi2 {
            limit: site.limit.resolved(),
            controller: Controller {
                target,
                tupdate,
                alpha: settings.get(&ALPHA),
                beta: settings.get(&BETA),
                most: if drops_on_overload { 1.0 } else { 1.0 / coupling },
                p: 0.0,
                old_delay: Span::ZERO,
                next_update: Time::ZERO + tupdate,
            },
            coupling,
            step,
            step_packets: settings.get(&STEP_PACKETS),
            classic_weight,
            scalable_weight: WEIGHTS - classic_weight,
            drops_on_overload,
            credit: 0,
            scalable: Fifo::new(),
            classic: Fifo::new(),
            random: site.random,
            statistics: Statistics::default(),
        };
        queue.reset_credit();
        Ok(queue)
    }

    /// Resets the credit so that the queue of the larger weight goes first.
    fn reset_credit(&mut self) {
        self.credit = MTU as i64 * (self.classic_weight - self.scalable_weight);
    }

    fn catch_up(&mut self, now: Time) {
        if now < self.controller.next_update {
            return;
        }
        let oldest = match (self.scalable.oldest(), self.classic.oldest()) {
            (Some(l), Some(c)) => Some(l.min(c)),
            (l, c) => l.or(c),
        };
        self.controller.catch_up(now, oldest);
    }

    /// Returns `true` with probability p'; no random number is drawn for nothing.
    fn hits(&mut self, p: f64) -> bool {
        p > 0.0 && uniform(&mut self.random) < p
    }

    /// Returns whether both of two draws hit, p_C = p'²; the second is rarely needed.
    fn hits_twice(&mut self) -> bool {
        let p = self.controller.p;
        self.hits(p) && self.hits(p)
    }

    /// Returns the random decision on a packet. Two packets' worth is no queue.
    fn classic_verdict(&mut self, ecn: Ecn) -> Verdict {
        let is_overloaded = self.coupling * self.controller.p > 1.0;
        match self.waits() && self.hits_twice() {
            false => Verdict::Pass,
            true if is_overloaded || ecn == Ecn::NotEct => Verdict::Drop,
            true => Verdict::Mark,
        }
    }

    fn scalable_verdict(&mut self, sojourn: Span, step_holds: bool) -> Verdict {
        let p_cl = self.coupling * self.controller.p;
        let waits = self.waits();
        if waits && p_cl > 1.0 && self.drops_on_overload && self.hits_twice() {
            return Verdict::Drop;
        }
        if waits && self.hits(p_cl) || step_holds && sojourn > self.step {
            return Verdict::Mark;
        }
        Verdict::Pass
    }

    fn waits(&self) -> bool {
        self.scalable.backlog().bytes + self.classic.backlog().bytes >= 2 * MTU
    }

    /// Takes the next packet with its verdict, and what it does to the credit.
    #[inline]
    fn pop(&mut self, now: Time) -> Option<(Packet<T>, Span, Verdict, i64)> {
        let (l, c) = (self.scalable.backlog().packets, self.classic.backlog().packets);
        if l > 0 && (c == 0 || self.credit <= 0) {
            let (packet, sojourn) = self.scalable.pop(now)?;
            let cost = if c > 0 { self.classic_weight * i64::from(packet.size) } else { 0 };
            let Packet { size, flow, dscp, ecn, label, body: (step_holds, body) } = packet;
            let verdict = self.scalable_verdict(sojourn, step_holds);
            return Some((Packet { size, flow, dscp, ecn, label, body }, sojourn, verdict, cost));
        }
        let Some((packet, sojourn)) = self.classic.pop(now) else {
            self.reset_credit();
            return None;
        };
        let cost = if l > 0 { -self.scalable_weight * i64::from(packet.size) } else { 0 };
        let verdict = self.classic_verdict(packet.ecn);
        Some((packet, sojourn, verdict, cost))
    }
}

impl<T: Send, R: Rng + Send> Queue<T> for DualPi2<T, R> {
    fn enqueue(&mut self, now: Time, packet: Packet<T>, dropped: &mut Vec<Dropped<T>>) {
        self.catch_up(now);
        if !self.limit.admits(self.statistics.backlog(), packet.size) {
            self.statistics.refuse(packet, DropReason::Full, dropped);
            return;
        }
        self.statistics.accept(&packet);
        if !matches!(packet.ecn, Ecn::Ect1 | Ecn::Ce) {
            self.classic.push(now, packet);
            return;
        }
        let step_holds = self.scalable.backlog().packets >= self.step_packets;
        let Packet { size, flow, dscp, ecn, label, body } = packet;
        self.scalable.push(now, Packet { size, flow, dscp, ecn, label, body: (step_holds, body) });
    }

    fn dequeue(&mut self, now: Time, dropped: &mut Vec<Dropped<T>>) -> Option<(Packet<T>, Span)> {
        self.catch_up(now);
        loop {
            let (mut packet, sojourn, verdict, cost) = self.pop(now)?;
            if verdict == Verdict::Drop {
                self.statistics.remove(packet, DropReason::Head, dropped);
                continue;
            }
            if verdict == Verdict::Mark {
                self.statistics.mark(&mut packet);
            }
            self.credit += cost;
            self.statistics.deliver(&packet, sojourn);
            return Some((packet, sojourn));
        }
    }

    fn statistics(&self) -> &Statistics {
        &self.statistics
    }
}

#[cfg(test)]
mod tests;
