//! One clock for all connections of the process, so that controllers may be compared and may share a window.

use afteryou_base::{Span, Time};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

static EPOCH: LazyLock<Instant> = LazyLock::new(Instant::now);

/// Begins the clock, if nothing has yet.
pub(crate) fn begin() {
    LazyLock::force(&EPOCH);
}

/// Returns the time now.
pub fn now() -> Time {
    time_of(Instant::now())
}

/// Returns the instant of a time.
pub(crate) fn instant_of(time: Time) -> Instant {
    *EPOCH + Duration::from_nanos(time.0)
}

/// Returns the time of an instant.
pub(crate) fn time_of(instant: Instant) -> Time {
    Time(Span::from(instant.saturating_duration_since(*EPOCH)).0)
}
