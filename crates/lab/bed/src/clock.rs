//! The time of a run: nanoseconds since an instant that all its parts share.

use afteryou_base::{Span, Time};
use std::time::{Duration, Instant};

/// The clock of a run. Copies of one clock agree, so times recorded by different threads can be compared.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    epoch: Instant,
}

impl Clock {
    /// Starts a clock whose time zero is now.
    pub fn start() -> Clock {
        Clock { epoch: Instant::now() }
    }

    /// Returns a clock whose time zero is `epoch`.
    pub fn since(epoch: Instant) -> Clock {
        Clock { epoch }
    }

    /// Returns the time.
    pub fn now(&self) -> Time {
        self.time_of(Instant::now())
    }

    /// Returns when `instant` is; zero if it is before the epoch.
    pub fn time_of(&self, instant: Instant) -> Time {
        Time::ZERO + Span::from(instant.saturating_duration_since(self.epoch))
    }

    /// Returns the instant at which this clock shows `time`.
    pub fn instant_of(&self, time: Time) -> Instant {
        self.epoch + Duration::from(time.since(Time::ZERO))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instant_and_its_time_are_the_same_moment() {
        let clock = Clock::start();
        let instant = clock.instant_of(Time::from_millis(1500));
        assert_eq!(clock.time_of(instant), Time::from_millis(1500));
        assert!(clock.now() <= clock.now());
    }

    #[test]
    fn before_the_epoch_it_is_zero() {
        let before = Instant::now();
        let clock = Clock::since(before + std::time::Duration::from_secs(60));
        assert_eq!(clock.time_of(before), Time::ZERO);
    }
}
