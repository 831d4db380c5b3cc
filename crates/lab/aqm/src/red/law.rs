//! RED's arithmetic: the average, the probability that follows from it, and when the drops that it asks for fall.

use crate::backlog::Backlog;
use crate::site::uniform;
use afteryou_base::{Span, Time};
use rand_core::Rng;

/// An average below this, in packets or bytes, counts as zero: ever smaller ones would only be slow to compute with.
const NEGLIGIBLE: f64 = 1e-6;
/// ns-2 `interval_`: max_p moves at most so often.
const ADAPTATION_INTERVAL: Span = Span::from_millis(500);
/// ns-2 `alpha_`, the largest step up, and `beta_`, the factor down.
const ALPHA: f64 = 0.01;
const BETA: f64 = 0.9;
/// A step up is at most this part of max_p (ns-2 `updateMaxP`).
const LARGEST_RISE: f64 = 0.25;
/// The average shall be in the middle fifth between the thresholds: so far from each (ns-2 `updateMaxP`).
const MARGIN: f64 = 0.4;
/// ns-2 `top_`; max_p rises no more from here on.
const TOP: f64 = 0.5;
/// ns-2 `bottom_`: the lower bound of max_p is one loss in a window of 100 ms in packets of 1000 B, or this if it is
/// less.
const BOTTOM: f64 = 0.01;
const BOTTOM_BITS_PER_SECOND: f64 = 8.0 * 1000.0 / 0.1;

/// Parameters of a law; thresholds in packets of mean size.
#[derive(Clone, Debug)]
pub struct Shape {
    /// The mean queue at which drops begin.
    pub min_th: f64,
    /// The mean queue at which the probability reaches `max_p`.
    pub max_th: f64,
    /// Weight of the newest length in the average.
    pub weight: f64,
    /// The probability at `max_th`.
    pub max_p: f64,
    /// Beyond `max_th` the probability rises to 1 at twice `max_th`, instead of being 1 at once.
    pub gentle: bool,
    /// Drops are 1/p to 2/p packets apart instead of 1 to 1/p.
    pub wait: bool,
    /// The length is measured in bytes.
    pub in_bytes: bool,
    /// The probability goes with the size of the packet.
    pub by_size: bool,
    /// `max_p` moves so that the average stays between the thresholds.
    pub adaptive: bool,
    /// Mean size of a packet, bytes.
    pub mean_packet: u64,
    /// Rate of the link.
    pub bits_per_second: u64,
}

/// The outcome for an arriving packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Into the queue.
    Accept,
    /// Early drop (random); may be replaced by an ECN mark.
    Early,
    /// Dropped since the average is too long.
    Forced,
    /// Dropped since there is no room.
    Full,
}

/// The state of a series of drops.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spacing {
    /// Packets since the last drop, or mean packets' worth of bytes.
    count: f64,
    /// The packet before found the average above `min_th`, too.
    is_above: bool,
}

/// The average queue and what follows from it. Lengths are in packets or bytes.
#[derive(Clone, Debug)]
pub struct Law<R> {
    min_th: f64,
    max_th: f64,
    /// From this average on every packet is dropped.
    forced_th: f64,
    weight: f64,
    /// ln(1 - weight).
    log_keep: f64,
    wait: bool,
    in_bytes: bool,
    /// 1 / mean packet size, if the probability goes with the size.
    per_byte: Option<f64>,
    mean_packets_per_ns: f64,
    ns_per_byte: f64,
    max_p: f64,
    /// dp/d(average) between the thresholds, and beyond `max_th`.
    slope: f64,
    gentle_slope: f64,
    /// Where `max_p` stops falling; none if it does not move.
    bottom: Option<f64>,
    moved_at: Time,
    average: f64,
    /// When the link has sent the last packet that it was given.
    idle_from: Time,
    random: R,
}

impl<R: Rng> Law<R> {
    /// Creates the law of an empty queue.
    pub fn new(shape: &Shape, random: R) -> Law<R> {
        let mean_packet = shape.mean_packet as f64;
        let unit = if shape.in_bytes { mean_packet } else { 1.0 };
        let (min_th, max_th) = (shape.min_th * unit, shape.max_th * unit);
        let bits_per_second = shape.bits_per_second.max(1) as f64;
        let ns_per_byte = 8e9 / bits_per_second;
        let law = Law {
            min_th,
            max_th,
            forced_th: if shape.gentle { 2.0 * max_th } else { max_th },
            weight: shape.weight,
            log_keep: libm::log1p(-shape.weight),
            wait: shape.wait,
            in_bytes: shape.in_bytes,
            per_byte: shape.by_size.then_some(1.0 / mean_packet),
            mean_packets_per_ns: 1.0 / (mean_packet * ns_per_byte),
            ns_per_byte,
            max_p: 0.0,
            slope: 0.0,
            gentle_slope: 0.0,
            bottom: shape.adaptive.then_some(BOTTOM.min(BOTTOM_BITS_PER_SECOND / bits_per_second)),
            moved_at: Time::ZERO,
            average: 0.0,
            idle_from: Time::ZERO,
            random,
        };
        law.with_max_p(shape.max_p)
    }

    fn with_max_p(mut self, max_p: f64) -> Law<R> {
        self.set_max_p(max_p);
        self
    }

    fn set_max_p(&mut self, max_p: f64) {
        self.max_p = max_p;
        self.slope = max_p / (self.max_th - self.min_th);
        self.gentle_slope = (1.0 - max_p) / self.max_th;
    }

    /// Moves the average for a packet that arrives and finds `backlog` (ns-2 `estimator`).
    pub fn arrive(&mut self, now: Time, backlog: Backlog) {
        if backlog.packets == 0 {
            self.decay(now);
        }
        let length = if self.in_bytes { backlog.bytes } else { backlog.packets } as f64;
        self.average += self.weight * (length - self.average);
        if let Some(bottom) = self.bottom {
            self.adapt(now, bottom);
        }
    }

    /// Lets the average fall as if mean packets had arrived at an empty queue all the time that the link was idle.
    fn decay(&mut self, now: Time) {
        let idle = now.since(self.idle_from);
        self.idle_from = self.idle_from.max(now);
        let missed = (idle.0 as f64 * self.mean_packets_per_ns) as u64;
        if missed == 0 || self.average == 0.0 {
            return;
        }
        self.average *= libm::exp(missed as f64 * self.log_keep);
        if self.average < NEGLIGIBLE {
            self.average = 0.0;
        }
    }

    /// Notes that a packet of `size` bytes goes to the link.
    pub fn depart(&mut self, now: Time, size: u32) {
        self.idle_from = now + Span((f64::from(size) * self.ns_per_byte) as u64);
    }

    /// Moves `max_p` if it is time (ns-2 `updateMaxP`).
    fn adapt(&mut self, now: Time, bottom: f64) {
        if now.since(self.moved_at) <= ADAPTATION_INTERVAL {
            return;
        }
        let margin = MARGIN * (self.max_th - self.min_th);
        let max_p = match self.max_p {
            p if self.average < self.min_th + margin && p > bottom => p * BETA,
            p if self.average > self.max_th - margin && p < TOP => p + ALPHA.min(LARGEST_RISE * p),
            _ => return,
        };
        self.set_max_p(max_p);
        self.moved_at = now;
    }

    /// Returns whether the average is above the lower threshold.
    pub fn is_above_min(&self) -> bool {
        self.average > self.min_th
    }

    /// Returns p_b, which follows from the average alone (ns-2 `calculate_p_new`).
    fn base_probability(&self) -> f64 {
        if self.average >= self.forced_th {
            return 1.0;
        }
        if self.average >= self.max_th {
            return self.max_p + (self.average - self.max_th) * self.gentle_slope;
        }
        (self.average - self.min_th).max(0.0) * self.slope
    }

    /// Returns the outcome for an arriving packet of `size` bytes that finds `backlog`, after [`Law::arrive`]; p_b
    /// counts `weight` times (ns-2 `enque`).
    pub fn decide(
        &mut self,
        spacing: &mut Spacing,
        backlog: Backlog,
        size: u32,
        weight: f64,
        is_full: bool,
    ) -> Verdict {
        let share = self.per_byte.map_or(1.0, |per_byte| f64::from(size) * per_byte);
        spacing.count += share;
        let mut verdict = Verdict::Accept;
        if self.average < self.min_th || backlog.packets <= 1 {
            spacing.is_above = false;
        } else if self.average >= self.forced_th {
            verdict = Verdict::Forced;
        } else if !spacing.is_above {
            *spacing = Spacing { count: share, is_above: true };
        } else if self.draws(weighted(self.base_probability(), weight), spacing.count, share) {
            verdict = Verdict::Early;
        }
        if is_full {
            verdict = Verdict::Full;
        }
        if verdict != Verdict::Accept {
            spacing.count = 0.0;
        }
        verdict
    }

    /// Draws whether this packet is dropped. No number is drawn where only one answer is possible.
    fn draws(&mut self, p_b: f64, count: f64, share: f64) -> bool {
        let spaced = spaced(p_b, count, self.wait);
        let p = if spaced < 1.0 { spaced * share } else { 1.0 };
        p >= 1.0 || (p > 0.0 && uniform(&mut self.random) < p)
    }

    /// Draws one of `0..n`.
    pub fn draw_below(&mut self, n: u64) -> usize {
        (uniform(&mut self.random) * n as f64) as usize
    }
}

/// Returns a probability that counts `weight` times.
fn weighted(p: f64, weight: f64) -> f64 {
    (p * weight).min(1.0)
}

/// Returns p_a, which makes distances between drops uniform instead of geometric (ns-2 `modify_p`).
fn spaced(p_b: f64, count: f64, wait: bool) -> f64 {
    let covered = count * p_b;
    let left = if wait { 2.0 - covered } else { 1.0 - covered };
    if wait && covered < 1.0 {
        return 0.0;
    }
    if left <= 0.0 {
        return 1.0;
    }
    (p_b / left).min(1.0)
}

#[cfg(test)]
mod tests;
