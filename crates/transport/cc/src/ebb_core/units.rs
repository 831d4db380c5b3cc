//! Products of rates, times and ratios in `u64`.

/// Microseconds in a second.
const SECOND_US: u64 = 1_000_000;

/// A ratio with 16 fractional bits.
pub type Ratio16 = u64;

/// Returns `ratio × 2^16`, rounded.
pub const fn ratio(ratio: f64) -> Ratio16 {
    (ratio * 65536.0 + 0.5) as u64
}

/// Returns that part of a value below 2^44; a ratio is below 2^20.
#[inline]
pub const fn part(value: u64, ratio: Ratio16) -> u64 {
    value.saturating_mul(ratio) >> 16
}

/// Returns the bytes that `rate` bytes per second deliver in `us` µs.
#[inline]
pub const fn bytes_in(rate: u64, us: u64) -> u64 {
    rate.saturating_mul(us) / SECOND_US
}

/// Returns the time that `bytes` take at `rate` bytes per second, µs; without a rate [`FOR_EVER_US`].
#[inline]
pub const fn time_of(bytes: u64, rate: u64) -> u64 {
    match bytes.saturating_mul(SECOND_US).checked_div(rate) {
        Some(us) => us,
        None => FOR_EVER_US,
    }
}

/// Returns the rate of `bytes` in `us` µs, bytes per second.
#[inline]
pub const fn rate_of(bytes: u64, us: u64) -> u64 {
    match bytes.saturating_mul(SECOND_US).checked_div(us) {
        Some(rate) => rate,
        None => 0,
    }
}

/// Returns a time in 32 bits, µs: 71 minutes at most.
#[inline]
pub const fn saturated(us: u64) -> u32 {
    if us > u32::MAX as u64 {
        return u32::MAX;
    }
    us as u32
}

/// Longer than every time of a path, and small enough to be multiplied.
pub const FOR_EVER_US: u64 = 1 << 40;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_a_time_and_bytes_are_one_equation() {
        for (rate, us) in [(125_000, 40_000), (1_250_000_000, 600_000), (1, 1_000_000)] {
            let bytes = bytes_in(rate, us);
            assert_eq!((rate_of(bytes, us), time_of(bytes, rate)), (rate, us));
        }
        assert_eq!((time_of(1500, 0), rate_of(1500, 0)), (FOR_EVER_US, 0));
        assert_eq!(part(1000, ratio(0.3)), 300);
        assert_eq!((saturated(4_000_000_000), saturated(5_000_000_000)), (4_000_000_000, u32::MAX));
    }
}
