//! The delivery rate of the last moments: an eighth to a quarter of a round trip, at least 10 ms and eight packets.
//!
//! A rate over a whole round trip is late. In a queue that has just begun to grow it is that of the time before.

use super::units::rate_of;

const LEAST_US: u64 = 10_000;
const LEAST_PACKETS: u32 = 8;
/// Part of a round trip.
const DIVISOR: u64 = 8;

/// Bytes delivered in two spans, one after the other.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Recent {
    began: u64,
    before_began: u64,
    bytes: u64,
    before_bytes: u64,
    packets: u32,
    before_packets: u32,
}

impl Recent {
    /// Takes in what an ack delivers.
    pub fn delivered(&mut self, now: u64, bytes: u64, packets: u32, rtt_us: u64) {
        self.bytes = self.bytes.saturating_add(bytes);
        self.packets = self.packets.saturating_add(packets);
        if self.packets >= LEAST_PACKETS && now.saturating_sub(self.began) >= LEAST_US.max(rtt_us / DIVISOR) {
            (self.before_began, self.before_bytes, self.before_packets) =
                (self.began, self.bytes, self.packets);
            (self.began, self.bytes, self.packets) = (now, 0, 0);
        }
    }

    /// Returns the rate, bytes per second; zero before there is one.
    pub fn rate(&self, now: u64) -> u64 {
        if self.before_packets == 0 || self.before_began == 0 {
            return 0;
        }
        rate_of(self.before_bytes.saturating_add(self.bytes), now.saturating_sub(self.before_began))
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
