//! RED: drops at random before the queue is full, more often with a longer average queue.
//!
//! # Model
//! Each arrival moves an average of the queue's length, which lets bursts pass and detects standing queues. Below
//! `min_th` nothing is dropped; above, each packet may be, with a probability that rises with the average. Drops at
//! random hit flows in proportion to their share and do not make all of them back off at once.
//!
//! ```text
//!   average += weight · (length − average)          in idle times as if mean packets had come to an empty queue
//!
//!   p_b = 0                                           average < min_th
//!       = max_p · (average − min_th)/(max_th − min_th)  average < max_th
//!       = max_p + (1 − max_p) · (average − max_th)/max_th   average < 2 max_th and gentle
//!       = 1, a forced drop                           otherwise
//!
//!   p_a = 0 while count · p_b < 1, then p_b/(2 − count · p_b)     wait: 1/p_b to 2/p_b packets from drop to drop
//!       = p_b/(1 − count · p_b)                                  not wait: 1 to 1/p_b packets
//! ```
//! `count` is the number of packets since the last drop. With `drop_by_size` it counts bytes in mean packets, and p_a goes with
//! the size of the packet. The first packet that finds the average above `min_th`, and any that finds at most one packet in
//! the queue, is let in.
//!
//! Adaptive RED moves max_p twice a second, up by at most 0.01 and down by a tenth. It does so until the average stays in
//! the middle fifth between the thresholds.
//!
//! # Presets
//! | name | whose | min_th, max_th | weight | otherwise |
//! |---|---|---|---|---|
//! | automatic | later ns-2 (thresholds since December 2001, bytes since October 2004); the default | 2.5 ms of packets but at least 5; three times that | 1 − e^(−1/packets per second) | gentle, in bytes |
//! | adaptive | the same with `adaptive_` | | | max_p moves |
//! | classic | ns-2 before April 2001 | 5, 15 packets | 0.002 | in packets, not gentle |
//! | gentle | ns-2 from April to December 2001 | 5, 15 packets | 0.002 | in packets |
//! | linux | `tc … red min 30000 max 90000 probability 0.1 avpkt 1000` | 30 kB, 90 kB | 1/32, by tc's rule | lengths in bytes, not gentle, not wait |
//!
//! # Constants
//! | name | default | why |
//! |---|---|---|
//! | max_p | 0.1 | ns-2 `linterm_` 10 |
//! | mean_packet | 1500 B | a full packet. ns-2 has 500 B: thresholds of 2 and 6 full packets at 10 Mbit/s, and averages that fall three times as fast in idle times |
//! | target_delay | 5 ms | ns-2 `targetdelay_` |
//! | step up, factor down, interval | 0.01, 0.9, 500 ms | ns-2 `alpha_`, `beta_`, `interval_` |
//! | largest, smallest adapted max_p | 0.5, 0.01 or 80 kbit/s of the rate | ns-2 `top_`, `bottom_` 0: a loss per window of 100 ms |
//!
//! # Source
//! Floyd and Jacobson, Random Early Detection Gateways for Congestion Avoidance, 1993; Floyd, Gummadi and Shenker, Adaptive RED,
//! 2001; as ns-2.35 has them (`queue/red.cc`, `ns-default.tcl`). As there, every kind of drop starts the count anew (ns-3:
//! not the forced ones). The weight of the linux preset is `tc_red_eval_ewma`'s of iproute2.
//!
//! # Different here
//! - A queue has the rate but not the delay of its link. The automatic weight assumes a round trip of 100 ms, or three
//!   packets' time.
//! - A link that sends no further request is idle from the end of its last packet, computed from the rate. ns-2 and
//!   Linux take the same time from the link's next request.
//! - `count` in bytes keeps fractions of a packet, and "at most one packet" is one packet in bytes, too. ns-2 rounds
//!   the former down and takes one byte for the latter.
//! - The gentle slope follows an adapted max_p; ns-2 leaves it where it was, with a jump at `max_th`.
//! - Linux draws one number after each drop and drops once count · p_b exceeds it. That is not `wait`'s distribution but the
//!   other one, so the preset has it. Linux counts from the second packet above `min_th`, here from the first.
//! - Marks: at random only. A forced drop is a drop, as with Linux' `harddrop`; Linux' default marks.
//!
//! # Not implemented
//! Marking with another packet than the arriving one (`drop_rand_`, `drop_front_`), `cautious_`, `mark_p_`, Feng's adaptation,
//! Linux' `nodrop`. Linux' adaptation, by a timer instead of by arrivals, has the same steps.
//!
//! # Known bad cases
//! The best parameters depend on the rate and on the number of flows. Too small a max_p ends in forced drops, too large
//! a one in an idle link. It controls the queue's length, not its delay: at another rate than the parameters are for,
//! the delay is different. A short burst after a long quiet passes unnoticed, since the average is slow. A queue that
//! has just drained still has drops. LEDBAT's target is never reached behind it, so LEDBAT competes like TCP.

pub(crate) mod law;
pub mod setup;

use crate::backlog::Limit;
use crate::dropped::{DropReason, Dropped};
use crate::error::Error;
use crate::fifo::Fifo;
use crate::packet::Packet;
use crate::queue::Queue;
use crate::site::Site;
use crate::statistics::Statistics;
use afteryou_base::param::{Key, Preset, Settings, Value};
use afteryou_base::params;
use afteryou_base::{Span, Time};
use law::{Law, Shape, Spacing, Verdict};
use rand_core::Rng;
use setup::{ECN, MAX_P, MAX_TH, MEAN_PACKET, MIN_TH, QUEUE_WEIGHT, TARGET_DELAY, WAIT, WEIGHT_OF_TC};

params! {
    /// Parameters.
    pub table PARAMS;

    const PRESET: Key<&'static str> =
        Key::word("preset", &["automatic", "adaptive", "classic", "gentle", "linux"])
        .explained("whose values are the defaults", "ns-2, tc");
    use MIN_TH, MAX_TH, MAX_P;
    const GENTLE: Key<bool> = Key::flag("gentle", true)
        .explained("the probability rises to 1 at twice max_th instead of jumping at max_th", "ns-2 gentle_");
    use QUEUE_WEIGHT, WEIGHT_OF_TC, WAIT, MEAN_PACKET, TARGET_DELAY;
    const QUEUE_IN_BYTES: Key<bool> = Key::flag("queue_in_bytes", true)
        .explained("measure the queue in bytes, thresholds in mean packets", "ns-2 queue_in_bytes_");
    const DROP_BY_SIZE: Key<bool> = Key::flag("drop_by_size", true)
        .explained("drop in proportion to the size of packets", "ns-2 bytes_");
    const ADAPTIVE: Key<bool> = Key::flag("adaptive", false)
        .explained("move max_p until the average stays between the thresholds", "ns-2 adaptive_");
    use ECN;
}

/// Defaults of ns-2 and of tc.
pub const PRESETS: &[Preset] = &[
    Preset { name: "automatic", help: "later ns-2: thresholds and weight by the link's rate", rows: &[] },
    Preset {
        name: "adaptive",
        help: "Adaptive RED: the same, and max_p moves",
        rows: &[("adaptive", Value::Flag(true))],
    },
    Preset {
        name: "classic",
        help: "ns-2 before April 2001: 5 and 15 packets",
        rows: &[
            ("min_th", Value::Number(5.0)),
            ("max_th", Value::Number(15.0)),
            ("queue_weight", Value::Number(0.002)),
            ("gentle", Value::Flag(false)),
            ("queue_in_bytes", Value::Flag(false)),
            ("drop_by_size", Value::Flag(false)),
        ],
    },
    Preset {
        name: "gentle",
        help: "classic, with a probability that rises to 1 at 30 packets",
        rows: &[
            ("min_th", Value::Number(5.0)),
            ("max_th", Value::Number(15.0)),
            ("queue_weight", Value::Number(0.002)),
            ("queue_in_bytes", Value::Flag(false)),
            ("drop_by_size", Value::Flag(false)),
        ],
    },
    Preset {
        name: "linux",
        help: "Linux with tc's min 30000 max 90000 probability 0.1 avpkt 1000",
        rows: &[
            ("min_th", Value::Number(30.0)),
            ("max_th", Value::Number(90.0)),
            ("gentle", Value::Flag(false)),
            ("queue_weight_rule", Value::Choice("tc")),
            ("wait", Value::Flag(false)),
            ("mean_packet", Value::Bytes(1000)),
            ("drop_by_size", Value::Flag(false)),
        ],
    },
];

/// A RED queue.
#[derive(Clone, Debug)]
pub struct Red<T, R> {
    limit: Limit,
    pub(crate) fifo: Fifo<T>,
    pub(crate) law: Law<R>,
    spacing: Spacing,
    ecn: bool,
    pub(crate) statistics: Statistics,
}

impl<T, R: Rng> Red<T, R> {
    /// Creates an empty queue.
    ///
    /// # Errors
    /// Thresholds in the wrong order, or such that tc's rule finds no weight.
    pub fn new(settings: &Settings<'_>, site: Site<R>) -> Result<Red<T, R>, Error> {
        let shape = Shape {
            gentle: settings.get(&GENTLE),
            in_bytes: settings.get(&QUEUE_IN_BYTES),
            by_size: settings.get(&DROP_BY_SIZE),
            adaptive: settings.get(&ADAPTIVE),
            ..setup::shape(settings, &site)?
        };
        Ok(Red::of_shape(&shape, settings.get(&ECN), site))
    }

    /// Creates an empty queue with a law of this shape; `ecn`: it marks packets instead of dropping them at random.
    pub(crate) fn of_shape(shape: &Shape, ecn: bool, site: Site<R>) -> Red<T, R> {
        Red {
            limit: site.limit.resolved(),
            fifo: Fifo::new(),
            law: Law::new(shape, site.random),
            spacing: Spacing::default(),
            ecn,
            statistics: Statistics::default(),
        }
    }

    /// Takes in `packet`, whose drops are spaced by `spacing` or by the queue's own, and whose probability counts `weight`
    /// times.
    pub(crate) fn enqueue_weighted(
        &mut self,
        now: Time,
        packet: Packet<T>,
        weight: f64,
        spacing: Option<&mut Spacing>,
        dropped: &mut Vec<Dropped<T>>,
    ) {
        self.law.arrive(now, self.fifo.backlog());
        self.decide(now, packet, weight, spacing, dropped);
    }

    /// Does the same after the arrival has moved the average.
    // Called instead, it copies the packet once more right after that was written: a packet costs half as much again.
    #[inline(always)]
    pub(crate) fn decide(
        &mut self,
        now: Time,
        mut packet: Packet<T>,
        weight: f64,
        spacing: Option<&mut Spacing>,
        dropped: &mut Vec<Dropped<T>>,
    ) {
        let backlog = self.fifo.backlog();
        let is_full = !self.limit.admits(backlog, packet.size);
        let spacing = spacing.unwrap_or(&mut self.spacing);
        let reason = match self.law.decide(spacing, backlog, packet.size, weight, is_full) {
            Verdict::Accept => None,
            Verdict::Early if self.ecn && self.statistics.mark(&mut packet) => None,
            Verdict::Early | Verdict::Forced => Some(DropReason::Early),
            Verdict::Full => Some(DropReason::Full),
        };
        if let Some(reason) = reason {
            self.statistics.refuse(packet, reason, dropped);
            return;
        }
        self.statistics.accept(&packet);
        self.fifo.push(now, packet);
    }
}

impl<T: Send, R: Rng + Send> Queue<T> for Red<T, R> {
    fn enqueue(&mut self, now: Time, packet: Packet<T>, dropped: &mut Vec<Dropped<T>>) {
        self.enqueue_weighted(now, packet, 1.0, None, dropped);
    }

    fn dequeue(&mut self, now: Time, _dropped: &mut Vec<Dropped<T>>) -> Option<(Packet<T>, Span)> {
        let (packet, sojourn) = self.fifo.pop(now)?;
        self.law.depart(now, packet.size);
        self.statistics.deliver(&packet, sojourn);
        Some((packet, sojourn))
    }

    fn statistics(&self) -> &Statistics {
        &self.statistics
    }
}

#[cfg(test)]
mod tests;
