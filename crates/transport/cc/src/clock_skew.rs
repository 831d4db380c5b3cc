//! Two clocks that do not run alike, and what can be done about it.
//!
//! One-way delays are differences of two clocks. A constant offset cancels in "now less base"; a difference in speed
//! does not. If the peer's clock runs 100 ppm fast, the measured delays rise by 6 ms a minute, which looks like a queue
//! that nobody can drain. If it runs slow they fall, and the base follows by itself.
//!
//! # By the slope of the reverse path's delays (ours, the default)
//! See [`crate::clock_drift`]: an estimate over minutes, for clocks that run fast and for such that run slow.
//!
//! Round-trip times are read from one clock, and it is tempting to take `RTT − base RTT` for an upper bound of the queuing
//! delay. It is none: with a reverse queue in the base RTT that has gone since, the bound is too small by that queue.
//!
//! # By the reverse direction (libutp)
//! The two directions drift in opposite ways. When the smallest delay of the *reverse* direction falls, the peer's
//! clock gains on ours by as much. So the forward base is raised by the same amount:
//!
//! ```text
//!   reverse base falls by d ≤ 10 ms:  base += d          more than 10 ms at once is a new route, not a drift
//! ```
//!
//! # Penalty
//! A receiver that pretends to see less and less delay would make its sender ever more aggressive. The mean of the
//! samples is taken every 5 s. Where it falls faster than 200 ms in 5 s (40 000 ppm, which no real clock does), the
//! excess is added to the queuing delay:
//!
//! ```text
//!   drift += (mean now − mean before − drift) / 8
//!   drift < −200 ms:  queuing delay += (−drift − 200 ms) / 7
//! ```
//!
//! Source: libutp 2b364cb, `utp_internal.cpp` (read for facts). RFC 6817 §A.2 names the problem and leaves the cure open.
//!
//! Known bad cases of libutp's. It does not help against a peer's clock that runs slow under a queue that never
//! empties. Delays fall, the base follows, and the queue grows by the clock's loss (12 ms a minute at 200 ppm) until it
//! empties once. A reverse queue that drains slowly looks like a drift, and all of it is added to the base.

use crate::base_delay::{difference, BaseDelay};
use crate::event::Ack;
use afteryou_base::param::Key;
use afteryou_base::units::{Span, Time};

/// A fall of the reverse base by more than this is no drift, µs (libutp).
pub const MAX_STEP_US: i32 = 10_000;
/// Time over which samples are averaged for the penalty (libutp).
pub const SLOT: Span = Span::from_secs(5);
/// A fall of the mean by less than this in a slot goes unpunished, µs (libutp).
pub const TOLERATED_US: i32 = 200_000;
/// The penalty is the excess divided by this (libutp).
pub const PENALTY_DIVISOR: i32 = 7;

/// The parameter `clock_skew`.
pub const CLOCK_SKEW: Key<Correction> =
    Key::choice("clock_skew", &["estimated", "libutp", "none"], &[Correction::Slope, Correction::Fall, Correction::None])
    .explained(
        "what keeps a receiver's clock that runs fast or slow from looking like a queue: the slope of the reverse path's \
         delays, the fall of their minimum, or nothing",
        "afteryou; libutp 2b364cb; RFC 6817 §A.2",
    );

/// The correction that keeps clocks of different rates from looking like a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Correction {
    /// The slope of the reverse path's delays: [`crate::clock_drift`].
    Slope,
    /// The fall of the reverse path's base delay, as libutp corrects it.
    Fall,
    /// Nothing.
    None,
}

/// Raises the base delay as the receiver's clock gains on ours.
#[derive(Clone, Debug)]
pub struct ClockSkew {
    reverse: BaseDelay,
}

impl ClockSkew {
    /// Creates a correction with an empty history, whose reverse base is kept in `reverse`.
    pub fn new(reverse: BaseDelay) -> ClockSkew {
        ClockSkew { reverse }
    }

    /// Takes in the ack's own delay. Returns what is to be added to the base before the ack's sample, which has the drift in it
    /// already, goes into it, µs.
    pub fn gained(&mut self, ack: &Ack) -> u32 {
        let Some(delay) = ack.reverse_delay else { return 0 };
        let before = self.reverse.get();
        self.reverse.update(ack.now, delay);
        let (Some(before), Some(after)) = (before, self.reverse.get()) else { return 0 };
        let fall = difference(before, after);
        if (1..=MAX_STEP_US).contains(&fall) {
            return fall as u32;
        }
        0
    }
}

/// Notices delays that fall faster than clocks drift.
#[derive(Clone, Copy, Debug, Default)]
pub struct DriftPenalty {
    /// Delay that the sums count from.
    origin: Option<u32>,
    slot_ends: Time,
    sum_us: i64,
    samples: i64,
    /// Mean of the slot before, relative to `origin`.
    mean_us: Option<i32>,
    drift_us: i32,
}

impl DriftPenalty {
    /// Takes in a delay sample of `delay_us` µs.
    pub fn update(&mut self, now: Time, delay_us: u32) {
        let Some(origin) = self.origin else {
            (self.origin, self.slot_ends) = (Some(delay_us), now + SLOT);
            return;
        };
        self.sum_us += i64::from(difference(delay_us, origin));
        self.samples += 1;
        if now < self.slot_ends {
            return;
        }
        let mean_us = (self.sum_us / self.samples) as i32;
        if let Some(before) = self.mean_us {
            let step = i64::from(mean_us) - i64::from(before);
            self.drift_us = ((i64::from(self.drift_us) * 7 + step) / 8) as i32;
        }
        // Counting starts again at this mean, so that the sums never reach half of the circle.
        self.origin = Some(origin.wrapping_add_signed(mean_us));
        (self.mean_us, self.sum_us, self.samples) = (Some(0), 0, 0);
        self.slot_ends = now + SLOT;
    }

    /// Returns the correction to add to the queuing delay, µs.
    pub fn us(&self) -> u32 {
        (-self.drift_us.max(-i32::MAX)).saturating_sub(TOLERATED_US).max(0) as u32 / PENALTY_DIVISOR as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the queuing delays, µs, once a second, of a flow alone on its path whose peer's clock runs `ppm` fast.
    fn errors(ppm: i64, seconds: u64, corrected: bool) -> Vec<i32> {
        let mut base = BaseDelay::new(10);
        let mut skew = ClockSkew::new(BaseDelay::new(10));
        (0..seconds)
            .map(|s| {
                let now = Time::from_millis(1000 * s);
                let gained = (ppm * s as i64) as u32;
                let (forward, reverse) = (20_000u32.wrapping_add(gained), 20_000u32.wrapping_sub(gained));
                if corrected {
                    let ack = Ack { now, reverse_delay: Some(reverse), ..Ack::for_tests() };
                    base.shift(skew.gained(&ack));
                }
                base.update(now, forward);
                difference(forward, base.get().unwrap())
            })
            .collect()
    }

    #[test]
    fn a_fast_far_clock_looks_like_a_queue_unless_it_is_corrected() {
        let naive = errors(200, 1200, false);
        assert!((108_000..=120_000).contains(naive.iter().max().unwrap()), "{:?}", naive.iter().max());
        let corrected = errors(200, 1200, true);
        assert!(corrected.iter().all(|error| (0..=200).contains(error)));
    }

    #[test]
    fn a_slow_far_clock_needs_no_correction() {
        for corrected in [false, true] {
            assert!(errors(-200, 1200, corrected).iter().all(|error| *error == 0));
        }
    }

    #[test]
    fn a_route_that_gets_shorter_is_no_drift() {
        let mut base = BaseDelay::new(10);
        base.update(Time::ZERO, 20_000);
        let mut skew = ClockSkew::new(BaseDelay::new(10));
        for reverse in [40_000, 29_999, 19_999] {
            base.shift(skew.gained(&Ack { reverse_delay: Some(reverse), ..Ack::for_tests() }));
        }
        // The first fall is 10.001 ms, the second 10 ms.
        assert_eq!(base.get(), Some(30_000));
    }

    #[test]
    fn delays_that_fall_faster_than_any_clock_drifts_are_punished() {
        let punished_after = |fall_us_per_s: u32| {
            let mut penalty = DriftPenalty::default();
            (0..600).for_each(|s| {
                penalty.update(Time::from_millis(1000 * s), 0u32.wrapping_sub(fall_us_per_s * s as u32))
            });
            penalty.us()
        };
        assert_eq!(punished_after(200), 0, "200 ppm");
        assert_eq!(punished_after(39_000), 0, "195 ms in 5 s");
        // 500 ms in 5 s: 300 ms too many, a seventh of them.
        assert!((42_000..=42_900).contains(&punished_after(100_000)), "{}", punished_after(100_000));
    }
}
