//! A longer route (ours, off by default): a delay that has risen and does not move is believed sooner than the history
//! would.
//!
//! After a change to a longer route the base delay is wrong for as long as the history lasts, ten minutes. The sender
//! takes the difference for a queue; if it is more than the target, the sender sits at its floor for no reason. RFC
//! 6817 accepts that. Queues that others keep move all the time; the length of a route does not. So:
//!
//! ```text
//!   the window has been at its floor for 10 s, and all samples of that time lie within 2 ms
//!       ──▶ the smallest of them becomes the base
//! ```
//!
//! Source: none; our own option. Known bad case: a standing queue is taken for a route. Such a queue is a buffer kept
//! full by constant traffic, or another LEDBAT at its target. This flow then puts a target of its own on top, as a
//! latecomer does.

use crate::base_delay::difference;
use afteryou_base::param::Key;
use afteryou_base::units::{Span, Time};

/// The time for which the delay must have been steady.
pub const STEADY_FOR: Span = Span::from_secs(10);
/// How far the samples may lie apart, µs.
pub const STEADY_WITHIN_US: i32 = 2_000;

/// The parameter `route_change`.
pub const ROUTE_CHANGE: Key<bool> = Key::flag("route_change", false).explained(
    "accept a longer delay once it has been constant for 10 s with the window at its floor",
    "afteryou",
);

/// A stretch of time with the window at its floor and all delays close together.
#[derive(Clone, Copy, Debug)]
struct Steady {
    since: Time,
    smallest: u32,
    largest: u32,
}

/// Watches the delays of a flow at its floor.
#[derive(Clone, Copy, Debug, Default)]
pub struct RouteChange {
    steady: Option<Steady>,
}

impl RouteChange {
    /// Takes in a delay sample over a base of `base_us`; `at_floor`: the window is at its floor. Returns the new base, µs, once
    /// the delay has been steady.
    pub fn update(&mut self, now: Time, delay_us: u32, at_floor: bool, base_us: Option<u32>) -> Option<u32> {
        if !at_floor {
            self.steady = None;
            return None;
        }
        let fresh = Steady { since: now, smallest: delay_us, largest: delay_us };
        let mut steady = self.steady.unwrap_or(fresh);
        if difference(delay_us, steady.smallest) < 0 {
            steady.smallest = delay_us;
        }
        if difference(delay_us, steady.largest) > 0 {
            steady.largest = delay_us;
        }
        if difference(steady.largest, steady.smallest) > STEADY_WITHIN_US {
            steady = fresh;
        }
        self.steady = Some(steady);
        let has_risen = difference(steady.smallest, base_us?) > STEADY_WITHIN_US;
        (has_risen && now.since(steady.since) >= STEADY_FOR).then_some(steady.smallest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base_delay::BaseDelay;

    /// Returns the base delay, ms, after 20 s at the floor with delays of 50 ms, then `delay(ms)` µs every 100 ms for 30 s.
    fn base_after(delay: impl Fn(u64) -> u32, at_floor: bool) -> u32 {
        let (mut base, mut route) = (BaseDelay::new(10), RouteChange::default());
        for tick in 0..500u64 {
            let delay_us = if tick < 200 { 50_000 } else { delay(tick * 100) };
            let now = Time::from_millis(tick * 100);
            base.update(now, delay_us);
            if let Some(new_base) = route.update(now, delay_us, at_floor, base.get()) {
                base.clear();
                base.update(now, new_base);
            }
        }
        base.get().unwrap() / 1000
    }

    #[test]
    fn a_delay_that_stands_still_at_the_floor_becomes_the_base() {
        assert_eq!(base_after(|_| 130_000, true), 130);
        assert_eq!(base_after(|ms| 130_000 + (ms % 3) as u32 * 900, true), 130, "2 ms of jitter");
    }

    #[test]
    fn a_queue_that_moves_does_not() {
        assert_eq!(base_after(|ms| 130_000 + (ms % 5000) as u32 * 10, true), 50);
    }

    #[test]
    fn nor_does_one_that_the_flow_may_have_made_itself() {
        assert_eq!(base_after(|_| 130_000, false), 50);
    }
}
