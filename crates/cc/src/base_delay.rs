//! The delay of the empty path: the smallest sample of the last minutes.
//!
//! One bin per minute of the clock holds that minute's minimum; the base delay is the minimum of the bins. A lower
//! base is believed at once, a higher one (a new route) after the old bins have gone. Bins also bound the harm of a
//! clock that runs fast or slow: 100 ppm are 6 ms a minute.
//!
//! Samples are µs modulo 2^32: one-way delays carry the unknown offset of two clocks and wrap, so they are compared
//! by their difference, as sequence numbers are. Round-trip times fit the same arithmetic.
//!
//! Source: RFC 6817 §2.4.2 (`update_base_delay`), §2.5 (BASE_HISTORY). LEDBAT++ takes the same bins over round-trip
//! times (draft-irtf-iccrg-ledbat-plus-plus-01 §3.3).
//!
//! Known bad case: a queue that stands for longer than the whole history becomes the base (latency drift).

use crate::units::{Span, Time};

/// Bins kept by default: ten minutes (RFC 6817 §2.5, SHOULD).
pub const BASE_HISTORY: usize = 10;
/// The most bins that can be asked for.
pub const MAX_BINS: usize = 16;
const MINUTE: Span = Span::from_secs(60);

/// Per-minute minima, newest last.
#[derive(Clone, Debug)]
pub struct BaseDelay {
    /// Each minute's smallest sample, and when it was taken.
    bins: [Option<(Time, u32)>; MAX_BINS],
    len: usize,
    step: Step,
    /// The smallest of the bins: it is asked for with every ack, and changes its bin once a minute.
    min: Option<u32>,
}

/// When a new bin begins.
#[derive(Clone, Copy, Debug)]
enum Step {
    /// With each minute of the clock (RFC 6817 §2.4.2); the newest bin's.
    Clock(Option<u64>),
    /// With the first sample more than 60 s after the last began, as libutp has it.
    Elapsed(Option<Time>),
}

/// `a - b` on the circle of 2^32 µs: negative if `a` is the smaller delay.
pub fn difference(a: u32, b: u32) -> i32 {
    a.wrapping_sub(b) as i32
}

impl BaseDelay {
    /// An empty history of `bins` minutes, 1 to [`MAX_BINS`].
    pub fn new(bins: usize) -> BaseDelay {
        BaseDelay { bins: [None; MAX_BINS], len: bins.clamp(1, MAX_BINS), step: Step::Clock(None), min: None }
    }

    /// An empty history whose bins begin when they are needed, as libutp's: minutes without samples forget nothing.
    pub fn by_elapsed_minutes(bins: usize) -> BaseDelay {
        BaseDelay { step: Step::Elapsed(None), ..BaseDelay::new(bins) }
    }

    /// Takes in a sample of `delay_us` µs.
    pub fn update(&mut self, now: Time, delay_us: u32) {
        let new_bins = self.new_bins(now).min(self.len as u64);
        for _ in 0..new_bins {
            self.bins[..self.len].rotate_left(1);
            self.bins[self.len - 1] = None;
        }
        if new_bins > 0 {
            self.min = self.smallest();
        }
        let is_smaller = |than: u32| difference(delay_us, than) < 0;
        let newest = &mut self.bins[self.len - 1];
        if newest.is_none_or(|(_, min)| is_smaller(min)) {
            *newest = Some((now, delay_us));
        }
        if self.min.is_none_or(is_smaller) {
            self.min = Some(delay_us);
        }
    }

    fn smallest(&self) -> Option<u32> {
        self.bins[..self.len].iter().flatten().map(|(_, us)| *us).reduce(smaller)
    }

    /// How many bins begin with a sample at `now`.
    fn new_bins(&mut self, now: Time) -> u64 {
        match &mut self.step {
            Step::Clock(last) => {
                // §2.4.2: the step is at the minute of the clock, not 60 s after the last one; every minute without
                // samples pushes an empty bin, so that ten idle minutes forget everything.
                let minute = now.0 / MINUTE.0;
                let skipped = last.map_or(1, |last| minute.saturating_sub(last));
                *last = Some(minute.max(last.unwrap_or(0)));
                skipped
            }
            Step::Elapsed(began) => {
                let is_over = began.is_none_or(|began| now.since(began) > MINUTE);
                if is_over {
                    *began = Some(now);
                }
                u64::from(is_over)
            }
        }
    }

    /// The base delay in µs (modulo 2^32), if there was a sample within the history.
    pub fn get(&self) -> Option<u32> {
        self.min
    }

    /// Raises all that is remembered by `us` µs: the clock that the samples come from has gained that much.
    pub fn shift(&mut self, us: u32) {
        self.shift_by_age(Time::ZERO, |_| us);
    }

    /// Raises what is remembered by `us` of its age at `now`, modulo 2^32: what a clock has gained since.
    pub fn shift_by_age(&mut self, now: Time, us: impl Fn(Span) -> u32) {
        for (at, bin) in self.bins.iter_mut().flatten() {
            *bin = bin.wrapping_add(us(now.since(*at)));
        }
        self.min = self.smallest();
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        let step = match self.step {
            Step::Clock(_) => Step::Clock(None),
            Step::Elapsed(_) => Step::Elapsed(None),
        };
        *self = BaseDelay { step, ..BaseDelay::new(self.len) };
    }
}

fn smaller(a: u32, b: u32) -> u32 {
    if difference(b, a) < 0 {
        b
    } else {
        a
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
        assert_eq!(base.bins[8..10], [Some((at(30), 45_000)), Some((at(61), 70_000))]);
        assert_eq!(base.get(), Some(45_000));
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
        assert_eq!(base.bins[..13].iter().flatten().count(), 1);
        base.update(at(91), 70_000);
        assert_eq!(base.bins[11..13], [Some((at(30), 50_000)), Some((at(91), 70_000))]);
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
    fn what_a_clock_has_gained_raises_the_older_minutes_more() {
        let mut base = BaseDelay::new(BASE_HISTORY);
        base.update(at(10), 50_000);
        base.update(at(130), 60_000);
        let per_minute = |us: i64| move |age: Span| (age.as_micros() as i64 / 60_000_000 * us) as u32;
        base.shift_by_age(at(130), per_minute(4_000));
        assert_eq!(base.get(), Some(58_000));
        base.shift_by_age(at(130), per_minute(2_000));
        assert_eq!(base.get(), Some(60_000), "the younger one is the smaller now");
        base.shift_by_age(at(130), per_minute(-10_000));
        assert_eq!(base.get(), Some(42_000));
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
