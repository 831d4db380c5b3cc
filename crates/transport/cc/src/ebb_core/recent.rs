//! The delivery rate of the last moments: an eighth to a quarter of a round trip, at least 10 ms and eight packets.
//!
//! A rate over a whole round trip is late. In a queue that has just begun to grow it is that of the time before.

use super::units::{rate_of, saturated};

const LEAST_US: u64 = 10_000;
const LEAST_PACKETS: u32 = 8;
/// Part of a round trip.
const DIVISOR: u64 = 8;

/// Bytes delivered in two spans, one after the other.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recent {
    began: u64,
    bytes: u64,
    before_bytes: u64,
    /// How long the span before lasted, µs; zero: there is none.
    before_us: u32,
    packets: u32,
}

impl Recent {
    /// Takes in what an ack delivers.
    pub fn delivered(&mut self, now: u64, bytes: u64, packets: u32, rtt_us: u64) {
        self.bytes = self.bytes.saturating_add(bytes);
        self.packets = self.packets.saturating_add(packets);
        let us = now.saturating_sub(self.began);
        if self.packets >= LEAST_PACKETS && us >= LEAST_US.max(rtt_us / DIVISOR) {
            // Nobody knows when the first span began.
            let before_us = if self.began == 0 { 0 } else { saturated(us) };
            *self = Recent { began: now, bytes: 0, before_bytes: self.bytes, before_us, packets: 0 };
        }
    }

    /// Returns the rate, bytes per second; zero before there is one.
    pub fn rate(&self, now: u64) -> u64 {
        if self.before_us == 0 {
            return 0;
        }
        let us = now.saturating_sub(self.began).saturating_add(self.before_us.into());
        rate_of(self.before_bytes.saturating_add(self.bytes), us)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_of_rate_is_seen_within_half_a_round_trip() {
        let mut recent = Recent::default();
        let (mut now, rtt_us) = (1_000_000, 200_000);
        let mut feed = |recent: &mut Recent, us: u64, packets: u32| {
            for _ in 0..packets {
                now += us;
                recent.delivered(now, 1000, 1, rtt_us);
            }
            recent.rate(now)
        };
        assert!(feed(&mut recent, 1000, 500).abs_diff(1_000_000) < 20_000);
        assert!(feed(&mut recent, 2000, 50).abs_diff(500_000) < 20_000);
    }
}
