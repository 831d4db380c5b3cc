//! Instants and spans of time as whole nanoseconds.
//!
//! A controller never reads a clock. Its caller decides what time is: a real clock, a simulator's
//! event queue, a test. `u64` nanoseconds reach 584 years.
//!
//! All of it is `#[inline]`: every crate calculates with times, and Clippy in the compiler's place inlines nothing across crates by itself.

use core::fmt;
use core::ops::{Add, AddAssign, Div, Mul, Sub};
use core::time::Duration;

/// An instant: nanoseconds since an epoch of the caller's choosing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub u64);

/// A span of time in nanoseconds.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(pub u64);

impl Time {
    /// The epoch itself.
    pub const ZERO: Time = Time(0);
    /// Later than every instant in use.
    pub const NEVER: Time = Time(u64::MAX);

    /// Returns the instant `ms` milliseconds after the epoch.
    #[inline]
    pub const fn from_millis(ms: u64) -> Time {
        Time(ms * 1_000_000)
    }

    /// Returns the instant `us` microseconds after the epoch.
    #[inline]
    pub const fn from_micros(us: u64) -> Time {
        Time(us * 1_000)
    }

    /// Returns the nanoseconds since the epoch.
    #[inline]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Returns whole microseconds since the epoch.
    #[inline]
    pub const fn as_micros(self) -> u64 {
        self.0 / 1_000
    }

    /// Returns the microseconds since the epoch on a clock that runs `skew_ppm` parts in a million fast.
    #[inline]
    pub const fn as_micros_on_clock(self, skew_ppm: i32) -> u64 {
        let (us, ppm) = (self.as_micros(), skew_ppm as i64);
        if ppm == 0 {
            return us;
        }
        // Each whole second gains `ppm` whole microseconds: only the rest needs a division, and no product is too large.
        let (seconds, rest) = ((us / 1_000_000) as i64, (us % 1_000_000) as i64);
        let gained = seconds.wrapping_mul(ppm).wrapping_add((rest * ppm).div_euclid(1_000_000));
        us.wrapping_add_signed(gained)
    }

    /// Returns the seconds since the epoch.
    #[inline]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// Returns the span since `earlier`; zero if `earlier` is in fact later.
    #[inline]
    pub const fn since(self, earlier: Time) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Span {
    /// No time at all.
    pub const ZERO: Span = Span(0);
    /// Longer than every span in use.
    pub const MAX: Span = Span(u64::MAX);

    /// Returns the span, or `None` if it is zero: parameters write "never" as zero.
    pub fn nonzero(self) -> Option<Span> {
        (self != Span::ZERO).then_some(self)
    }

    /// Returns `s` seconds.
    #[inline]
    pub const fn from_secs(s: u64) -> Span {
        Span(s * 1_000_000_000)
    }

    /// Returns `ms` milliseconds.
    #[inline]
    pub const fn from_millis(ms: u64) -> Span {
        Span(ms * 1_000_000)
    }

    /// Returns `us` microseconds.
    #[inline]
    pub const fn from_micros(us: u64) -> Span {
        Span(us * 1_000)
    }

    /// Returns `s` seconds, rounded to a nanosecond; negative and NaN become zero.
    #[inline]
    pub fn from_secs_f64(s: f64) -> Span {
        Span((s * 1e9 + 0.5) as u64)
    }

    /// Returns the span in nanoseconds.
    #[inline]
    pub const fn as_nanos(self) -> u64 {
        self.0
    }

    /// Returns the span in whole microseconds.
    #[inline]
    pub const fn as_micros(self) -> u64 {
        self.0 / 1_000
    }

    /// Returns the span in milliseconds.
    #[inline]
    pub fn as_millis_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// Returns the span in seconds.
    #[inline]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// Returns `self - other`, not below zero.
    #[inline]
    pub const fn saturating_sub(self, other: Span) -> Span {
        Span(self.0.saturating_sub(other.0))
    }

    /// Returns the time that `bytes` take at `bytes_per_second`; [`Span::MAX`] at rate zero.
    #[inline]
    pub fn of_bytes(bytes: u64, bytes_per_second: u64) -> Span {
        if bytes_per_second == 0 {
            return Span::MAX;
        }
        let nanos = u128::from(bytes) * 1_000_000_000 / u128::from(bytes_per_second);
        Span(u64::try_from(nanos).unwrap_or(u64::MAX))
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ms", self.as_millis_f64())
    }
}

impl Add<Span> for Time {
    type Output = Time;
    #[inline]
    fn add(self, span: Span) -> Time {
        Time(self.0.saturating_add(span.0))
    }
}

impl AddAssign<Span> for Time {
    #[inline]
    fn add_assign(&mut self, span: Span) {
        *self = *self + span;
    }
}

impl Sub<Time> for Time {
    type Output = Span;
    #[inline]
    fn sub(self, earlier: Time) -> Span {
        self.since(earlier)
    }
}

impl Add for Span {
    type Output = Span;
    #[inline]
    fn add(self, other: Span) -> Span {
        Span(self.0.saturating_add(other.0))
    }
}

impl Sub for Span {
    type Output = Span;
    #[inline]
    fn sub(self, other: Span) -> Span {
        self.saturating_sub(other)
    }
}

impl Mul<u64> for Span {
    type Output = Span;
    #[inline]
    fn mul(self, factor: u64) -> Span {
        Span(self.0.saturating_mul(factor))
    }
}

impl Div<u64> for Span {
    type Output = Span;
    #[inline]
    fn div(self, divisor: u64) -> Span {
        Span(self.0 / divisor)
    }
}

impl From<Duration> for Span {
    #[inline]
    fn from(duration: Duration) -> Span {
        Span(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
    }
}

impl From<Span> for Duration {
    #[inline]
    fn from(span: Span) -> Duration {
        Duration::from_nanos(span.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skewed_clock_gains_or_loses_so_many_parts_in_a_million() {
        let shows = |us, ppm| Time::from_micros(us).as_micros_on_clock(ppm);
        assert_eq!((shows(60_000_000, 200), shows(60_000_000, -200)), (60_012_000, 59_988_000));
        assert_eq!((shows(4_999, 200), shows(5_000, 200), shows(10_000, 200)), (4_999, 5_001, 10_002));
        assert_eq!((shows(5_000, -200), shows(5_001, -200)), (4_999, 4_999));
        assert_eq!(shows(123_456_789, 0), 123_456_789);
    }

    #[test]
    fn a_skewed_clock_never_goes_back_and_overflows_nowhere() {
        for ppm in [-1_000, -7, 3, 1_000] {
            let shown = (0..200_000).map(|us| Time::from_micros(us + 900_000).as_micros_on_clock(ppm));
            assert!(shown.collect::<Vec<_>>().is_sorted());
        }
        for ppm in [i32::MIN, i32::MAX] {
            Time::NEVER.as_micros_on_clock(ppm);
        }
    }
}
