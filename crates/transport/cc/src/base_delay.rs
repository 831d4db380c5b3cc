//! The base delay: the smallest sample of the last minutes.
//!
//! One bin per minute of the clock holds that minute's minimum; the base delay is the minimum of the bins. A lower
//! base is believed at once, a higher one (a new route) after the old bins have gone. Bins also bound the harm of a
//! clock that runs fast or slow: 100 ppm are 6 ms a minute.
//!
//! Samples are µs modulo 2^32. One-way delays carry the unknown offset of two clocks and wrap, so they are compared by
//! their difference, as sequence numbers are. Round-trip times fit the same arithmetic.
//!
//! Source: RFC 6817 §2.4.2 (`update_base_delay`), §2.5 (BASE_HISTORY). LEDBAT++ takes the same bins over round-trip
//! times (draft-irtf-iccrg-ledbat-plus-plus-01 §3.3).
//!
//! Known bad case: a standing queue that is older than the whole history becomes the base (latency drift).

pub use crate::ledbat_core::delay::difference;

use crate::ledbat_core::delay::take_minimum;
use afteryou_base::units::{Span, Time};

/// Bins kept by default: ten minutes (RFC 6817 §2.5, SHOULD).
pub const BASE_HISTORY: usize = 10;
/// The most bins that can be asked for.
pub const MAX_BINS: usize = 16;
const MINUTE: Span = Span::from_secs(60);

/// Per-minute minima.
#[derive(Clone, Debug)]
pub struct BaseDelay {
    /// The smallest sample of each minute and all later ones (see [`crate::ledbat_core::delay`]); the newest is last.
    since: [u32; MAX_BINS],
    len: usize,
    is_known: bool,
    step: Step,
}

/// When a new bin begins.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// With each minute of the clock (RFC 6817 §2.4.2); the newest bin's.
    Clock(u64),
    /// With the first sample more than 60 s after the last began, as libutp has it.
    Elapsed(Time),
}

impl BaseDelay {
    /// Creates an empty history of `bins` minutes, 1 to [`MAX_BINS`].
    pub fn new(bins: usize) -> BaseDelay {
        let len = bins.clamp(1, MAX_BINS);
        BaseDelay { since: [0; MAX_BINS], len, is_known: false, step: Step::Clock(0) }
    }

    /// Creates an empty history whose bins begin when they are needed, as libutp's: minutes without samples forget nothing.
    pub fn by_elapsed_minutes(bins: usize) -> BaseDelay {
        BaseDelay { step: Step::Elapsed(Time::ZERO), ..BaseDelay::new(bins) }
    }

    /// Takes in a sample of `delay_us` µs.
    pub fn update(&mut self, now: Time, delay_us: u32) {
        let new_bins = self.new_bins(now);
        take_minimum(&mut self.since, new_bins, delay_us);
        self.is_known = true;
    }

    /// Returns the number of bins that begin with a sample at `now`.
    fn new_bins(&mut self, now: Time) -> u64 {
        let is_first = !self.is_known;
        match &mut self.step {
            Step::Clock(last) => {
                // §2.4.2: the step is at the minute of the clock, not 60 s after the last one; every minute without
                // samples pushes an empty bin, so that ten idle minutes forget everything.
                let minute = now.0 / MINUTE.0;
                let newest = if is_first { minute } else { minute.max(*last) };
                let passed = newest - core::mem::replace(last, newest).min(newest);
                if is_first {
                    MAX_BINS as u64
                } else {
                    passed
                }
            }
            Step::Elapsed(began) => {
                let is_over = is_first || now.since(*began) > MINUTE;
                if is_over {
                    *began = now;
                }
                if is_first {
                    MAX_BINS as u64
                } else {
                    u64::from(is_over)
                }
            }
        }
    }

    /// Returns the base delay in µs (modulo 2^32), if there was a sample within the history.
    pub fn get(&self) -> Option<u32> {
        self.is_known.then(|| self.since[MAX_BINS - self.len])
    }

    /// Raises all that is remembered by `us` µs: the clock that the samples come from has gained that much.
    pub fn shift(&mut self, us: u32) {
        self.since.iter_mut().for_each(|bin| *bin = bin.wrapping_add(us));
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.is_known = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(s: u64) -> Time {
        Time::from_millis(s * 1000)
    }

    #[test]
    fn bins_follow_the_minute_of_the_clock_and_old_ones_leave() {
        let mut base = BaseDelay::new(BASE_HISTORY);
        base.update(at(0), 50_000);
        base.update(at(30), 45_000);
        base.update(at(61), 70_000);
        assert_eq!((base.get(), base.since[MAX_BINS - 1]), (Some(45_000), 70_000));
        for minute in 2..12 {
            base.update(at(minute * 60 + 1), 80_000);
        }
        assert_eq!(base.get(), Some(80_000));
    }

    #[test]
    fn ten_idle_minutes_forget_the_base() {
        let mut base = BaseDelay::new(BASE_HISTORY);
        base.update(at(0), 50_000);
        base.update(at(599), 90_000);
        assert_eq!(base.get(), Some(50_000));
        base.update(at(1260), 90_000);
        assert_eq!(base.get(), Some(90_000));
    }

    #[test]
    fn with_elapsed_minutes_idle_time_forgets_nothing_and_thirteen_bins_last_that_long() {
        let mut base = BaseDelay::by_elapsed_minutes(13);
        base.update(at(30), 50_000);
        base.update(at(90), 60_000); // exactly 60 s: the same bin
        assert_eq!(base.since, [50_000; MAX_BINS]);
        base.update(at(91), 70_000);
        assert_eq!(base.since[MAX_BINS - 2..], [50_000, 70_000]);
        base.update(at(7200), 80_000);
        assert_eq!(base.get(), Some(50_000), "two hours of silence are one step");
        (0..11).for_each(|i| base.update(at(7261 + 61 * i), 90_000));
        assert_eq!(base.get(), Some(70_000));
    }

    #[test]
    fn an_hour_in_either_direction_is_survived() {
        let mut base = BaseDelay::new(BASE_HISTORY);
        base.update(at(7200), 50_000);
        base.update(at(3600), 60_000);
        base.update(at(10800), 70_000);
        assert_eq!(base.get(), Some(70_000));
    }

    #[test]
    fn the_smaller_delay_is_found_across_the_wrap() {
        let mut base = BaseDelay::new(BASE_HISTORY);
        base.update(at(0), 0xFFFF_FFF0);
        base.update(at(1), 0x0000_0010);
        assert_eq!(base.get(), Some(0xFFFF_FFF0));
        assert_eq!(difference(0x0000_0010, 0xFFFF_FFF0), 32);
    }
}
