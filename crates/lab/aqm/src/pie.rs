//! PIE: drops on arrival with a probability that a controller steers so that the delay stays at a target.
//!
//! # Model
//! Every `tupdate` the drop probability takes a step that follows the delay's distance from its target and its change:
//!
//! ```text
//!   p += α·(delay − target) + β·(delay − delay at the last update)
//! ```
//! The step is divided by up to 2048 while p is small, since a sender's rate is proportional to 1/√p and the same step
//! is a larger change there. With no queue at all p decays by 2 % per update. The rest limits harm. A burst may pass
//! untouched after a quiet time, and a short queue loses nothing. Once p is large it rises by at most 2 % at a time,
//! and drops are spread (de-randomisation).
//!
//! # Time
//! There is no timer. Updates are due at 0, tupdate, 2·tupdate …; each arrival and departure first makes the overdue
//! ones, with the state of their time. Once an update changes nothing, no further one can, so a long silence costs
//! nothing. From p = 1 down to 0 it is some 350 updates with the RFC's values. With values for which it would be more
//! than 16 384, the steps beyond are estimated in ever longer strides.
//!
//! # States
//! ```text
//!   quiet ──p > 0, or a delay of half the target──▶ burst allowance runs out (150 ms) ──▶ dropping
//!     ▲                                                                                      │
//!     └──────────────────────── p = 0 and both delays below half the target ─────────────────┘
//! ```
//! With `on_off` there is one more: asleep, until a third of the buffer is full.
//!
//! # Constants
//! | name | default | why |
//! |---|---|---|
//! | target | 15 ms | §4.2: enough to fill a link with common senders |
//! | tupdate | 15 ms | §4.2: a few updates per round trip |
//! | α, β | 0.125, 1.25 Hz | §4.2: stable up to round trips of 100 ms and more |
//! | burst | 150 ms | §4.4: a burst of one round trip or two |
//! | cap, from | 2 %, 10 % | §5.5 |
//! | spared | p < 20 % and delay < target / 2, or two packets waiting | §4.1 |
//! | de-randomisation | none below Σp = 0.85, one at 8.5 | §5.4 |
//! | threshold, weight | 16 KiB, 1/4 | §5.2 |
//! | mean packet | 1500 B | the RFC leaves it open |
//!
//! # Source
//! RFC 8033 (February 2017) §4, §5, Appendices A and B; draft-pan-aqm-pie-00; Linux `sch_pie.c` as of 3.17 and now; FreeBSD
//! `dn_aqm_pie.c`. Where the RFC contradicts itself:
//!
//! | question | the sources | here |
//! |---|---|---|
//! | when p decays | both delays 0 (§4.2, App. A); below half the target (App. B) | `decay_below`, 0 by default, as Linux and FreeBSD |
//! | when it falls asleep | p = 0, both delays below half the target (§5.3) or 0 (App. B) | §5.3, and less than a third of the buffer full: a rate not yet known looks like no delay |
//! | the end of a measurement | for every packet below the threshold (§5.2, never ends one); at the threshold (App. B) | App. B |
//! | accumulated probability after a mark | kept in one branch, reset in the other (App. B) | reset: a mark is a signal like a drop |
//! | delay of an empty queue | not said | 0, as Linux and FreeBSD |
//! | delay from the departure rate | at each departure (App. B); at each update (§4.2) | at each update, where it is used |
//!
//! A difference in more than a number is chosen by `form`:
//!
//! | | rfc8033 | freebsd | linux |
//! |---|---|---|---|
//! | burst allowance falls | by tupdate per update | the same | by the time between departures, or that of a measurement |
//! | and comes back | as a packet arrives | the same | at an update, with everything measured forgotten |
//! | the delay that spares a packet | that of the last update | the same | the newest |
//! | two packets waiting | nothing is dropped | the same | that may be dropped |
//! | marks at the threshold itself | no | no | yes |
//! | departures | time per threshold | the first cycle is a packet longer | bytes per second |
//! | decay | as `decay_below` says | the same | not while the rate is unknown and packets wait |
//!
//! # Not implemented
//! Linux's byte mode (off by default); Linux's first update half a second after the queue is made. Linux and FreeBSD compute
//! in integers, here it is floating point, so that the last digits differ. After a forced mark Linux keeps the accumulated
//! probability and so marks all that follow.
//!
//! # Slow links
//! Below 0.8 Mbit/s a packet of 1500 B takes longer than the target of 15 ms. The delay is then above it whenever a packet waits for
//! another, and the probability rises with a queue of one packet. sqm-scripts raise the target of PIE, too, to the time of one packet: at
//! 0.5 Mbit/s `target = "24 ms"`.
//!
//! # Known bad cases
//! Few or slow senders: p must change by orders of magnitude. Senders that do not react. Short flows pay for the delay
//! of long ones. Without timestamps a delay is unknown until a threshold has waited: at low load nothing is dropped.

pub mod departures;
pub mod form;
pub mod law;
pub mod params;

use crate::backlog::{Backlog, Limit};
use crate::dropped::{DropReason, Dropped};
use crate::error::Error;
use crate::fifo::Fifo;
use crate::packet::Packet;
use crate::queue::Queue;
use crate::site::Site;
use crate::statistics::Statistics;
use afteryou_base::param::Settings;
use afteryou_base::{Span, Time};
use law::{Law, PieState};
pub use params::{PARAMS, PRESETS};
use rand_core::Rng;

/// A PIE queue.
#[derive(Clone, Debug)]
pub struct Pie<T, R> {
    limit: Limit,
    fifo: Fifo<T>,
    law: Law,
    state: PieState,
    random: R,
    statistics: Statistics,
}

impl<T, R: Rng> Pie<T, R> {
    /// Creates an empty queue.
    ///
    /// # Errors
    /// As [`Law::new`].
    pub fn new(settings: &Settings<'_>, site: Site<R>) -> Result<Pie<T, R>, Error> {
        let law = Law::new(settings, site.limit)?;
        Ok(Pie {
            limit: site.limit.resolved(),
            fifo: Fifo::new(),
            law,
            state: law.start(),
            random: site.random,
            statistics: Statistics::default(),
        })
    }

    /// Handles the arrival of `packet`; `signals` is true if its sender should get a congestion signal.
    #[inline]
    pub(crate) fn enqueue_unless(
        &mut self,
        now: Time,
        mut packet: Packet<T>,
        dropped: &mut Vec<Dropped<T>>,
        signals: impl FnOnce(&Law, &mut PieState, Backlog, &mut R) -> bool,
    ) {
        let backlog = self.fifo.backlog();
        self.law.catch_up(&mut self.state, now, backlog);
        if !self.limit.admits(backlog, packet.size) {
            self.state.dropped_full();
            self.statistics.refuse(packet, DropReason::Full, dropped);
            return;
        }
        if signals(&self.law, &mut self.state, backlog, &mut self.random) {
            let marked = self.law.marks(&self.state) && self.statistics.mark(&mut packet);
            if !marked {
                self.statistics.refuse(packet, DropReason::Early, dropped);
                return;
            }
        }
        self.statistics.accept(&packet);
        self.fifo.push(now, packet);
    }
}

impl<T: Send, R: Rng + Send> Queue<T> for Pie<T, R> {
    #[inline]
    fn enqueue(&mut self, now: Time, packet: Packet<T>, dropped: &mut Vec<Dropped<T>>) {
        self.enqueue_unless(now, packet, dropped, |law, state, backlog, random| {
            law.signals(state, now, backlog, random)
        });
    }

    #[inline]
    fn dequeue(&mut self, now: Time, _dropped: &mut Vec<Dropped<T>>) -> Option<(Packet<T>, Span)> {
        self.law.catch_up(&mut self.state, now, self.fifo.backlog());
        let (packet, sojourn) = self.fifo.pop(now)?;
        self.law.departed(&mut self.state, now, packet.size, sojourn, self.fifo.backlog());
        self.statistics.deliver(&packet, sojourn);
        Some((packet, sojourn))
    }

    fn statistics(&self) -> &Statistics {
        &self.statistics
    }
}

#[cfg(test)]
mod tests;
