//! FQ-CoDel with lower effort: lower-effort flows are served after all others.
//!
//! # Model
//! [FQ-CoDel](crate::fq_codel) gives every flow the same share, even a background flow: it measures only its own delay,
//! so it does not yield. Here packets with the DSCP of lower effort (RFC 8622) go into separate queues, with separate
//! lists. Their turn comes only when no best-effort queue has a packet, or as the [guard](crate::guard) allows. Among
//! themselves lower-effort flows share as in FQ-CoDel.
//!
//! ```text
//!   best effort ──▶ FQ-CoDel, target 5 ms    ──▶ whenever it has a packet
//!   lower effort ─▶ FQ-CoDel, target 100 ms  ──▶ else; and one packet as the guard says
//! ```
//! Best effort is treated as if the rest did not exist: it has the whole buffer, with FQ-CoDel's rule if it fills it
//! alone. In all other overflows, the fattest lower-effort queue loses packets by the same rule. A flow with packets of
//! both classes is two flows here, so it keeps its order within each class.
//!
//! # Constants
//! Those of FQ-CoDel for best effort, with RFC 8289's rule of a queue's last packet and a quantum of 1514 B. For lower
//! effort's target and interval and for the guard see [`le_two_queues`](crate::le_two_queues). Each class has `flows`
//! queues.
//!
//! # Source
//! Own proposal: RFC 8290 within each class, the strict priority that RFC 8622 §3 calls ideal between them.
//!
//! # Not implemented
//! A separate limit for lower effort: it may use the rest of the buffer.
//!
//! # Known bad cases
//! Those of FQ-CoDel. On slow links the guard is a considerable share: up to 5 %, below 2.4 Mbit/s with packets of 1500
//! B. After a long starvation the waiting packets are old; CoDel sends them nevertheless, apart from some drops.

use crate::backlog::{Backlog, Limit};
use crate::codel::{self, check_times, Law};
use crate::dropped::{DropReason, Dropped};
use crate::error::Error;
use crate::fq_codel::{self, Flows, COUNT_DROPS, DROP_BATCH, ECN, FLOWS, LISTS, MTU};
use crate::guard::{Guard, GUARD_PACKETS, GUARD_TIME};
use crate::le_two_queues::{LE_INTERVAL, LE_TARGET};
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

    use FLOWS;
    // Some first turns of two packets, where FQ-CoDel has one: with 1500 B five flows keep 94 % beside five of lower effort.
    const QUANTUM: Key<u64> =
        fq_codel::QUANTUM.with_default(1514).explained("bytes in a turn", "RFC 8290 §5.2; Linux: at least 256");
    const TARGET: Key<Span> =
        codel::TARGET.explained("acceptable standing delay of a best-effort queue", "RFC 8290 §5.2");
    const INTERVAL: Key<Span> =
        codel::INTERVAL.explained("for how long it must have been exceeded", "RFC 8290 §5.2");
    use LE_TARGET, LE_INTERVAL, MTU, ECN, DROP_BATCH, LISTS, COUNT_DROPS;
    // Linux' rule costs best effort the last packets of its queues, which lower effort would take the place of.
    const CODEL_OF_LINUX: Key<bool> = Key::choice("codel", &["rfc8289", "linux"], &[false, true])
        .explained(
            "what must exceed the mtu: the bytes of a packet's own queue, or of all queues of its class",
            "RFC 8289 §5.6; Linux sch_fq_codel.c",
        );
    use GUARD_PACKETS, GUARD_TIME;
}

/// None.
pub const PRESETS: &[Preset] = &[];

/// An FQ-CoDel for each class.
#[derive(Clone, Debug)]
pub struct LeFqCodel<T> {
    limit: Limit,
    best_effort: Flows<T>,
    lower_effort: Flows<T>,
    guard: Guard,
    statistics: Statistics,
}

impl<T> LeFqCodel<T> {
    /// Creates empty queues.
    ///
    /// # Errors
    /// A target longer than its interval.
    pub fn new(settings: &Settings<'_>, mut site: Site<impl Rng>) -> Result<LeFqCodel<T>, Error> {
        check_times(settings, &TARGET, &INTERVAL)?;
        check_times(settings, &LE_TARGET, &LE_INTERVAL)?;
        let patient = Law::with(settings.get(&LE_TARGET), settings.get(&LE_INTERVAL), settings);
        Ok(LeFqCodel {
            limit: site.limit.resolved(),
            best_effort: Flows::new(settings, Law::new(settings), &mut site.random),
            lower_effort: Flows::new(settings, patient, &mut site.random),
            guard: Guard::new(settings),
            statistics: Statistics::default(),
        })
    }

    /// Drops until the buffer's limit is kept: lower effort, unless best effort alone exceeds it.
    fn make_room(&mut self, now: Time, dropped: &mut Vec<Dropped<T>>) {
        let LeFqCodel { limit, best_effort, lower_effort, statistics, .. } = self;
        while !limit.holds(best_effort.backlog()) && best_effort.drop_fattest(now, statistics, dropped) {}
        while !limit.holds(best_effort.backlog() + lower_effort.backlog())
            && lower_effort.drop_fattest(now, statistics, dropped)
        {}
    }

    fn dequeue_best_effort(&mut self, now: Time, dropped: &mut Vec<Dropped<T>>) -> Option<(Packet<T>, Span)> {
        self.guard.pass_by();
        self.best_effort.dequeue(now, &mut self.statistics, dropped)
    }

    fn dequeue_lower_effort(
        &mut self,
        now: Time,
        dropped: &mut Vec<Dropped<T>>,
    ) -> Option<(Packet<T>, Span)> {
        self.guard.serve(now);
        self.lower_effort.dequeue(now, &mut self.statistics, dropped)
    }
}

impl<T: Send> Queue<T> for LeFqCodel<T> {
    fn enqueue(&mut self, now: Time, packet: Packet<T>, dropped: &mut Vec<Dropped<T>>) {
        let class = packet.class();
        // What does not fit even beside nothing of its own class must not push all others out.
        let beside = match class {
            Class::BestEffort => Backlog::default(),
            Class::LowerEffort => self.best_effort.backlog(),
        };
        if !self.limit.admits(beside, packet.size) {
            self.statistics.refuse(packet, DropReason::Full, dropped);
            return;
        }
        self.statistics.accept(&packet);
        match class {
            Class::BestEffort => self.best_effort.push(now, packet),
            Class::LowerEffort => self.lower_effort.push(now, packet),
        }
        self.make_room(now, dropped);
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
