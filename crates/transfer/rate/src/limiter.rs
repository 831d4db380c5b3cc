//! Keeps a writer to a rate that may change at any time: a token bucket without a clock.
//!
//! # Model
//! Tokens are bytes. They come in at the rate and are kept up to the burst; who writes takes them out first:
//!
//! ```text
//!   tokens = min(burst, tokens + rate · time)        burst = max(rate · 20 ms, 16 KiB)
//!   granted over any time t ≤ rate · t + burst
//! ```
//!
//! A grant may be smaller than what was asked for, never larger than the burst. Asked for more than half a burst, the
//! limiter answers once half a burst is there. A writer that comes up to half a burst late loses nothing, and none is
//! woken for a handful of bytes.
//!
//! While it is paused or unlimited no tokens come in, so nothing is caught up with afterwards. A new rate counts from the
//! moment at which it is set.
//!
//! # Constants
//! | name | value | why |
//! |---|---|---|
//! | burst | 20 ms of the rate | several times what timers are late by, and less than a queue that anybody notices |
//! | least burst | 16 KiB | one record of TLS, so that slow rates do not cut it up |
//!
//! # Source
//! The token bucket as in RFC 2697 (§3, with one bucket). Tokens are counted in bytes × nanoseconds, in integers: no
//! fraction is lost however often somebody asks.
//!
//! # Not implemented
//! Fairness between several writers of one limiter: who asks first is first.
//!
//! # Known bad cases
//! At rates of a few bytes per second a large request waits until 8 KiB have come together.

use crate::rate::Rate;
use std::time::{Duration, Instant};

/// The burst as time at the rate.
const BURST: Duration = Duration::from_millis(20);
/// The least burst, bytes.
const LEAST_BURST: u64 = 16 << 10;
const NANOS: u128 = 1_000_000_000;

/// A writer's limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WriterPace {
    /// As fast as it can.
    Unlimited,
    /// At most this fast.
    At(Rate),
    /// Not at all.
    Paused,
}

/// No limit where there is no rate, as in timetables.
impl From<Option<Rate>> for WriterPace {
    fn from(rate: Option<Rate>) -> WriterPace {
        rate.map_or(WriterPace::Unlimited, WriterPace::At)
    }
}

/// The answer to a writer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grant {
    /// It may write this number of bytes now, at least one.
    Bytes(u64),
    /// It is to ask again after so long, or when the pace has changed.
    Wait(Duration),
    /// It is to ask again when the pace has changed.
    Paused,
}

/// Keeps a writer to a [`WriterPace`].
#[derive(Clone, Debug)]
pub struct Limiter {
    pace: WriterPace,
    /// Bytes × nanoseconds.
    tokens: u128,
    /// Up to when tokens have come in.
    counted_to: Instant,
}

impl Limiter {
    /// Creates a limiter whose bucket is full.
    pub fn new(pace: WriterPace, now: Instant) -> Limiter {
        let mut limiter = Limiter { pace, tokens: u128::MAX, counted_to: now };
        limiter.settle(now);
        limiter
    }

    /// Returns how fast the writer may go.
    pub fn pace(&self) -> WriterPace {
        self.pace
    }

    /// Changes the pace from now on. A writer that waits must ask again.
    pub fn set_pace(&mut self, pace: WriterPace, now: Instant) {
        self.settle(now);
        self.pace = pace;
        self.settle(now);
    }

    /// Asks to write up to `bytes` now; what is granted is taken.
    pub fn take(&mut self, bytes: u64, now: Instant) -> Grant {
        self.settle(now);
        let rate = match self.pace {
            WriterPace::Paused => return Grant::Paused,
            WriterPace::Unlimited => return Grant::Bytes(bytes.max(1)),
            WriterPace::At(rate) => rate,
        };
        let bytes = bytes.max(1);
        let enough = u128::from(bytes.min(burst(rate) / 2)) * NANOS;
        if self.tokens < enough {
            return Grant::Wait(time_for(enough - self.tokens, rate));
        }
        let granted = u128::from(bytes).min(self.tokens / NANOS);
        self.tokens -= granted * NANOS;
        Grant::Bytes(granted as u64)
    }

    /// Gives back what was granted and not written.
    pub fn give_back(&mut self, bytes: u64) {
        self.tokens = self.tokens.saturating_add(u128::from(bytes) * NANOS);
        self.settle(self.counted_to);
    }

    /// Lets the tokens in that have come since the last time. A clock that goes back brings none.
    fn settle(&mut self, now: Instant) {
        let passed = now.saturating_duration_since(self.counted_to);
        self.counted_to = self.counted_to.max(now);
        let WriterPace::At(rate) = self.pace else { return };
        let come_in = passed.as_nanos().saturating_mul(rate.bytes_per_second().into());
        self.tokens = self.tokens.saturating_add(come_in).min(u128::from(burst(rate)) * NANOS);
    }
}

/// Returns the most bytes at once.
fn burst(rate: Rate) -> u64 {
    (rate.bytes_per_second() / 1000).saturating_mul(BURST.as_millis() as u64).max(LEAST_BURST)
}

/// Returns the time until `tokens` (bytes × nanoseconds) come in, rounded up.
fn time_for(tokens: u128, rate: Rate) -> Duration {
    let nanos = tokens.div_ceil(rate.bytes_per_second().into());
    Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns some instant: there is no other way to make one.
    #[allow(clippy::disallowed_methods)]
    fn begin() -> Instant {
        Instant::now()
    }

    fn at(bytes_per_second: u64) -> WriterPace {
        Rate::from_bytes_per_second(bytes_per_second).map_or(WriterPace::Paused, WriterPace::At)
    }

    /// Returns the bytes granted until the limiter makes somebody wait.
    fn drain(limiter: &mut Limiter, now: Instant) -> u64 {
        let mut sum = 0;
        while let Grant::Bytes(bytes) = limiter.take(1 << 20, now) {
            sum += bytes;
        }
        sum
    }

    #[test]
    fn without_a_limit_everything_goes_and_paused_nothing() {
        let now = begin();
        let mut limiter = Limiter::new(None.into(), now);
        assert_eq!(limiter.take(1 << 40, now), Grant::Bytes(1 << 40));
        limiter.set_pace(WriterPace::Paused, now);
        assert_eq!(limiter.take(1, now), Grant::Paused);
    }

    #[test]
    fn a_burst_is_20_ms_of_the_rate_or_16_kib() {
        let now = begin();
        assert_eq!(drain(&mut Limiter::new(at(10_000_000), now), now), 200_000);
        assert_eq!(drain(&mut Limiter::new(at(1_000), now), now), 16 << 10);
    }

    #[test]
    fn nothing_is_caught_up_with_after_idle_time_a_pause_or_a_time_without_limit() {
        let mut now = begin();
        let hour = Duration::from_secs(3600);
        let mut limiter = Limiter::new(at(10_000_000), now);
        drain(&mut limiter, now);
        now += hour;
        assert_eq!(drain(&mut limiter, now), 200_000, "idle");
        for pace in [WriterPace::Paused, WriterPace::Unlimited] {
            limiter.set_pace(pace, now);
            now += hour;
            limiter.set_pace(at(10_000_000), now);
            assert_eq!(drain(&mut limiter, now), 0, "{pace:?}");
        }
    }

    #[test]
    fn who_waits_as_long_as_told_gets_its_bytes() {
        let mut now = begin();
        let mut limiter = Limiter::new(at(1_000_000), now);
        drain(&mut limiter, now);
        let Grant::Wait(wait) = limiter.take(1000, now) else { panic!("the bucket is empty") };
        assert_eq!(wait, Duration::from_millis(1));
        now += wait;
        assert_eq!(limiter.take(1000, now), Grant::Bytes(1000));
    }

    #[test]
    fn what_was_not_written_is_given_back_up_to_the_burst() {
        let now = begin();
        let mut limiter = Limiter::new(at(1_000_000), now);
        assert_eq!(limiter.take(20_000, now), Grant::Bytes(20_000));
        limiter.give_back(15_000);
        assert_eq!(limiter.take(15_000, now), Grant::Bytes(15_000));
        limiter.give_back(u64::MAX);
        assert_eq!(drain(&mut limiter, now), 20_000);
    }

    fn rate() -> impl Strategy<Value = u64> {
        prop_oneof![1..100u64, 1_000..10_000_000u64, 1_000_000_000..100_000_000_000u64]
    }

    proptest! {
        #[test]
        fn over_any_time_it_grants_at_most_rate_and_burst(
            rate in rate(),
            asks in proptest::collection::vec((0..200_000_000u64, 1..1_000_000u64), 1..200),
        ) {
            let mut now = begin();
            let mut limiter = Limiter::new(at(rate), now);
            let start = now;
            let burst = u128::from((rate / 50).max(16 << 10));
            let mut grants: Vec<(Duration, u128)> = Vec::new();
            for (pause, bytes) in asks {
                now += Duration::from_nanos(pause);
                match limiter.take(bytes, now) {
                    Grant::Bytes(granted) => {
                        prop_assert!(granted >= 1 && granted <= bytes);
                        grants.push((now - start, granted.into()));
                    }
                    Grant::Wait(wait) => prop_assert!(wait > Duration::ZERO),
                    Grant::Paused => prop_assert!(false, "nobody paused it"),
                }
            }
            for first in 0..grants.len() {
                let mut sum = 0;
                for (when, granted) in &grants[first..] {
                    sum += granted;
                    let most = (*when - grants[first].0).as_nanos() * u128::from(rate) / NANOS + burst;
                    prop_assert!(sum <= most, "{sum} of {most} bytes");
                }
            }
        }

        #[test]
        fn changes_of_the_pace_make_no_tokens(
            steps in proptest::collection::vec((0..3u8, 1..50_000_000u64, 0..20_000_000u64), 1..100),
        ) {
            let mut now = begin();
            let mut limiter = Limiter::new(at(1_000_000), now);
            let (mut granted, mut earned, mut most_burst) = (0u128, 0u128, 20_000u128);
            let mut rate = 1_000_000u128;
            for (what, new, pause) in steps {
                now += Duration::from_nanos(pause);
                earned += rate * u128::from(pause);
                match what {
                    0 => {
                        limiter.set_pace(at(new), now);
                        rate = new.into();
                        most_burst = most_burst.max(u128::from(burst(Rate::from_bytes_per_second(new).unwrap())));
                    }
                    1 => {
                        limiter.set_pace(WriterPace::Paused, now);
                        rate = 0;
                    }
                    _ => granted += u128::from(drain(&mut limiter, now)),
                }
                prop_assert!(granted <= earned / NANOS + most_burst);
            }
        }

        #[test]
        fn a_writer_that_asks_on_time_gets_the_rate(
            rate in 10_000..1_000_000_000u64,
            chunk in 100..200_000u64,
            late_us in 0..2_000u64,
        ) {
            let start = begin();
            let (mut now, mut sum) = (start, 0u128);
            let mut limiter = Limiter::new(at(rate), now);
            drain(&mut limiter, now);
            for _ in 0..2_000 {
                match limiter.take(chunk, now) {
                    Grant::Bytes(granted) => sum += u128::from(granted),
                    Grant::Wait(wait) => now += wait + Duration::from_micros(late_us),
                    Grant::Paused => prop_assert!(false, "nobody paused it"),
                }
            }
            let earned = (now - start).as_nanos() * u128::from(rate) / NANOS;
            let in_the_bucket = u128::from(burst(Rate::from_bytes_per_second(rate).unwrap()));
            prop_assert!(sum + in_the_bucket >= earned * 99 / 100, "{sum} of {earned} bytes");
        }
    }
}
