//! Two queues, one of them for lower effort, which is served only when the other is empty.
//!
//! # Model
//! A delay-based background flow yields because it measures the queue that it shares. An AQM keeps that queue short and
//! a fair queue hides it, so that the flow takes a full share. Instead, packets can be marked as allowed to wait.
//! Packets with the DSCP of lower effort (RFC 8622) go into a separate queue, behind all others.
//!
//! ```text
//!   best effort ──▶ [ CoDel, target 5 ms    ] ──▶ whenever it has a packet
//!   lower effort ─▶ [ CoDel, target 100 ms  ] ──▶ else; and one packet as the guard says
//! ```
//! Best effort is treated as if the other queue did not exist. It has the whole buffer, and an arriving packet pushes
//! lower effort out, oldest first, if there is no room. Lower effort gets the rest of the buffer, up to its own limit.
//! With the [guard](crate::guard) off, best effort leaves at exactly the same times as without lower effort. With it,
//! best effort gives away one packet in `guard_packets` and one per `guard_time`.
//!
//! # Constants
//! | name | default | why |
//! |---|---|---|
//! | target, interval | 5, 100 ms | those of CoDel |
//! | lower effort's target | 100 ms | LEDBAT's own: lower effort may wait, but not indefinitely |
//! | lower effort's interval | 200 ms | twice the target: CAKE's rule for slow classes |
//! | lower effort's limit | 200 ms of the link | twice the target, so that CoDel acts first; one packet at least |
//! | guard | 1000 packets, 100 ms | 0.1 % of a fast link, a packet or two per round trip on a slow one |
//!
//! # Source
//! Own proposal, after the strict priority that RFC 8622 §3 calls ideal.
//!
//! # Not implemented
//! Policing: packets that are marked as best effort are best effort.
//!
//! # Known bad cases
//! On slow links the guard is a considerable share: up to 5 %, below 2.4 Mbit/s with packets of 1500 B. Lower-effort
//! flows share one queue: among themselves they are as fair as their controllers are.

use crate::backlog::Limit;
use crate::codel::{self, check_times, Law};
use crate::dropped::{DropReason, Dropped};
use crate::error::Error;
use crate::fifo::Fifo;
use crate::fq_codel::{ECN, MTU};
use crate::guard::{Guard, GUARD_PACKETS, GUARD_TIME};
use crate::packet::{Class, Packet};
use crate::queue::Queue;
use crate::site::Site;
use crate::statistics::Statistics;
use afteryou_base::param::{Key, Preset, Settings};
use afteryou_base::params;
use afteryou_base::{Span, Time};
use rand_core::Rng;

params! {
    /// Parameters.
    pub table PARAMS;

    const HAS_CODEL: Key<bool> = Key::choice("best_effort", &["codel", "droptail"], &[true, false])
        .explained("how best effort is kept short", "RFC 8289; a plain queue");
    const TARGET: Key<Span> =
        codel::TARGET.explained("acceptable standing delay of best effort's queue", "RFC 8289 §4.4");
    const INTERVAL: Key<Span> =
        codel::INTERVAL.explained("for how long it must have been exceeded", "RFC 8289 §4.3");
    pub(crate) const LE_TARGET: Key<Span> = Key::millis("le_target", 100, (1, 10_000))
        .explained("acceptable standing delay of a lower-effort queue", "own proposal; LEDBAT's TARGET");
    pub(crate) const LE_INTERVAL: Key<Span> = Key::millis("le_interval", 200, (1, 10_000))
        .explained("for how long it must have been exceeded", "own proposal; CAKE: twice the target");
    const LE_LIMIT: Key<Span> = Key::millis("le_limit", 200, (1, 60_000))
        .explained("what lower effort's queue may hold, as time of the link", "own proposal");
    use MTU, ECN, GUARD_PACKETS, GUARD_TIME;
}

/// None.
pub const PRESETS: &[Preset] = &[];

/// The two queues.
#[derive(Clone, Debug)]
pub struct LeTwoQueues<T> {
    limit: Limit,
    best_effort: Fifo<T>,
    /// None if it is a plain queue.
    best_effort_law: Option<Law>,
    lower_effort: Fifo<T>,
    lower_effort_law: Law,
    lower_effort_limit: Limit,
    guard: Guard,
    statistics: Statistics,
}

impl<T> LeTwoQueues<T> {
    /// Creates empty queues.
    ///
    /// # Errors
    /// A target longer than its interval, or than what lower effort's queue holds.
    pub fn new(settings: &Settings<'_>, site: Site<impl Rng>) -> Result<LeTwoQueues<T>, Error> {
        check_times(settings, &TARGET, &INTERVAL)?;
        check_times(settings, &LE_TARGET, &LE_INTERVAL)?;
        // Or CoDel could never act.
        check_times(settings, &LE_TARGET, &LE_LIMIT)?;
        let law = Law::new(settings);
        let lower_effort_limit =
            Limit::Time { time: settings.get(&LE_LIMIT), bytes_per_second: site.bits_per_second / 8 };
        Ok(LeTwoQueues {
            limit: site.limit.resolved(),
            best_effort: Fifo::new(),
            best_effort_law: settings.get(&HAS_CODEL).then_some(law),
            lower_effort: Fifo::new(),
            lower_effort_law: Law::with(settings.get(&LE_TARGET), settings.get(&LE_INTERVAL), settings),
            lower_effort_limit: lower_effort_limit.resolved(),
            guard: Guard::new(settings),
            statistics: Statistics::default(),
        })
    }

    /// Returns whether there is room for a packet of that class, if best effort may take lower effort's.
    fn has_room(&self, class: Class, size: u32) -> bool {
        let (ours, theirs) = (self.lower_effort.backlog(), self.best_effort.backlog());
        match class {
            Class::BestEffort => self.limit.admits(theirs, size),
            Class::LowerEffort => {
                // A packet may wait whatever the limit is, or a slow link would never carry one.
                let fits = ours.packets == 0 || self.lower_effort_limit.admits(ours, size);
                fits && self.limit.admits(ours + theirs, size)
            }
        }
    }

    fn dequeue_best_effort(&mut self, now: Time, dropped: &mut Vec<Dropped<T>>) -> Option<(Packet<T>, Span)> {
        let next = match &mut self.best_effort_law {
            Some(law) => law.dequeue(now, &mut self.best_effort, &mut self.statistics, dropped),
            None => self.best_effort.pop(now),
        };
        self.guard.pass_by();
        next
    }

    fn dequeue_lower_effort(
        &mut self,
        now: Time,
        dropped: &mut Vec<Dropped<T>>,
    ) -> Option<(Packet<T>, Span)> {
        self.guard.serve(now);
        self.lower_effort_law.dequeue(now, &mut self.lower_effort, &mut self.statistics, dropped)
    }
}

impl<T: Send> Queue<T> for LeTwoQueues<T> {
    fn enqueue(&mut self, now: Time, packet: Packet<T>, dropped: &mut Vec<Dropped<T>>) {
        let class = packet.class();
        if !self.has_room(class, packet.size) {
            self.statistics.refuse(packet, DropReason::Full, dropped);
            return;
        }
        while !self.limit.admits(self.statistics.backlog(), packet.size) {
            let Some((pushed_out, _)) = self.lower_effort.pop(now) else { break };
            self.statistics.remove(pushed_out, DropReason::Full, dropped);
        }
        self.statistics.accept(&packet);
        match class {
            Class::BestEffort => self.best_effort.push(now, packet),
            Class::LowerEffort => self.lower_effort.push(now, packet),
        }
    }

    fn dequeue(&mut self, now: Time, dropped: &mut Vec<Dropped<T>>) -> Option<(Packet<T>, Span)> {
        let is_due = self.guard.is_due(now, self.lower_effort.backlog().packets > 0);
        let guarded = if is_due { self.dequeue_lower_effort(now, dropped) } else { None };
        let next = guarded
            .or_else(|| self.dequeue_best_effort(now, dropped))
            .or_else(|| self.dequeue_lower_effort(now, dropped));
        let (packet, sojourn) = next?;
        self.statistics.deliver(&packet, sojourn);
        Some((packet, sojourn))
    }

    fn statistics(&self) -> &Statistics {
        &self.statistics
    }
}
