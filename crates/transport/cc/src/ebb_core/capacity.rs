//! C: the largest delivery rate of the last 200 s, from ten maxima of 20 s each.
//!
//! Shorter memories would take a flow's share of the link for the link.

use super::units::{time_of, FOR_EVER_US};

const BIN_US: u64 = 20_000_000;
const BINS: usize = 10;
/// Headers of a packet: IP, TCP and timestamps, bytes.
const HEADERS: u64 = 52;

/// The largest rates of the newest bin, of the newest two, … of all ten, in 256 bytes per second: up to 8.8 Tbit/s.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Capacity {
    began: u64,
    maxima: [u32; BINS],
}

/// Returns a rate in 256 bytes per second.
fn units(rate: u64) -> u32 {
    (rate >> 8).clamp(1, u32::MAX.into()) as u32
}

impl Capacity {
    /// Returns C, bytes per second; zero before the first rate.
    pub fn get(&self) -> u64 {
        u64::from(self.maxima[BINS - 1]) << 8
    }

    /// Takes in a rate, bytes per second.
    pub fn update(&mut self, now: u64, rate: u64) {
        if self.maxima[BINS - 1] == 0 {
            self.began = now;
        }
        while now.saturating_sub(self.began) >= BIN_US {
            if now - self.began >= BIN_US * BINS as u64 {
                *self = Capacity { began: now, maxima: [0; BINS] };
                break;
            }
            self.maxima.copy_within(..BINS - 1, 1);
            self.maxima[0] = 0;
            self.began += BIN_US;
        }
        self.maxima.iter_mut().for_each(|most| *most = (*most).max(units(rate)));
    }

    /// Returns the time that a packet of `mss` bytes of payload takes on the link, µs.
    pub fn packet_us(&self, mss: u64) -> u64 {
        time_of(mss + HEADERS, self.get()).min(FOR_EVER_US)
    }

    /// Returns the same with one more rate that is larger than all, bytes per second.
    pub fn packet_us_with(&self, rate: u64, mss: u64) -> u64 {
        time_of(mss + HEADERS, u64::from(units(rate)) << 8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_counts_for_180_to_200_seconds() {
        let mut capacity = Capacity::default();
        capacity.update(7, 1_000_000);
        let mut last = 0;
        for s in 1..300 {
            capacity.update(7 + s * 1_000_000, 300_000);
            if capacity.get() > 900_000 {
                last = s;
            }
        }
        assert_eq!(last, 199);
        assert_eq!(capacity.get(), 300_000 >> 8 << 8);
    }

    #[test]
    fn after_a_long_silence_only_the_new_rate_counts() {
        let mut capacity = Capacity::default();
        capacity.update(0, 1_000_000);
        capacity.update(1 << 50, 256_000);
        assert_eq!(capacity.get(), 256_000);
        assert_eq!(capacity.packet_us(1448), 1500 * 1_000_000 / 256_000);
    }
}
