//! The queue ahead: a round-trip time less the base, less the queue on the reverse path.
//!
//! ```text
//!   q = RTT − B − (R − R₀)         B: least RTT of the connection     R: one-way delay of the ack     R₀: its least of 20 to 30 s
//! ```
//! The clocks' offset is in R and in R₀ alike. A skew of 100 ppm shifts their difference by 3 ms at most, because R₀ forgets. While the
//! rule yields it does not forget: a loaded reverse path would become part of it.

/// Length of a bin of reverse delays, µs.
const BIN_US: u64 = 10_000_000;
const BINS: usize = 3;

/// Base delays of a path and the queue ahead, in µs.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Path {
    /// When the newest bin began.
    bin_began: u64,
    /// Base round-trip time, `u32::MAX` before the first sample.
    base_us: u32,
    /// Least reverse delays, modulo 2^32, the newest first.
    reverse_us: [u32; BINS],
    /// Bins in use.
    bins: u32,
    /// Queue ahead by the latest sample.
    pub queue_us: u32,
}

impl Path {
    /// A path of which nothing is known.
    pub const UNKNOWN: Path =
        Path { bin_began: 0, base_us: u32::MAX, reverse_us: [0; BINS], bins: 0, queue_us: 0 };

    /// Returns the base round-trip time, µs; zero before the first sample.
    pub fn base_us(&self) -> u64 {
        if self.base_us == u32::MAX {
            return 0;
        }
        self.base_us.into()
    }

    /// Takes in a round-trip time and, if there is one, the ack's own one-way delay. Returns the queue ahead, µs. `forgets`: bins move.
    pub fn measure(&mut self, now: u64, rtt_us: u32, reverse_us: Option<u32>, forgets: bool) -> u64 {
        self.base_us = self.base_us.min(rtt_us);
        let excess = u64::from(rtt_us - self.base_us);
        let back = reverse_us.map_or(0, |reverse_us| self.back(now, reverse_us, forgets));
        excess.saturating_sub(back)
    }

    /// Returns the queue on the reverse path, µs.
    fn back(&mut self, now: u64, reverse_us: u32, forgets: bool) -> u64 {
        if self.bins == 0 {
            (self.bins, self.bin_began, self.reverse_us[0]) = (1, now, reverse_us);
        } else if forgets && now.saturating_sub(self.bin_began) >= BIN_US {
            self.reverse_us.copy_within(..BINS - 1, 1);
            (self.bin_began, self.reverse_us[0]) = (now, reverse_us);
            self.bins = (self.bins + 1).min(BINS as u32);
        } else if above(reverse_us, self.reverse_us[0]) < 0 {
            self.reverse_us[0] = reverse_us;
        }
        let above_least = |least: &u32| above(reverse_us, *least).max(0) as u64;
        self.reverse_us[..self.bins as usize].iter().map(above_least).max().unwrap_or(0)
    }

    /// Takes a round-trip time that nobody's queue explains for the base: the route has changed.
    pub fn rebase(&mut self, rtt_us: u32) {
        (self.base_us, self.bins) = (rtt_us, 0);
    }
}

/// Returns by how much a delay modulo 2^32 is above another.
fn above(delay_us: u32, other_us: u32) -> i32 {
    delay_us.wrapping_sub(other_us) as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000;

    #[test]
    fn the_queue_is_what_the_way_back_does_not_explain() {
        let mut path = Path::UNKNOWN;
        for offset in [0u32, u32::MAX - 5] {
            path.rebase(50_000);
            assert_eq!(path.measure(0, 50_000, Some(offset), true), 0);
            assert_eq!(
                path.measure(1, 90_000, Some(offset.wrapping_add(40_000)), true),
                0,
                "loaded reverse path"
            );
            assert_eq!(path.measure(2, 97_000, Some(offset.wrapping_add(40_000)), true), 7_000);
            assert_eq!(path.measure(3, 60_000, None, true), 10_000, "no timestamps");
        }
    }

    #[test]
    fn a_skew_shifts_the_queue_by_thirty_seconds_of_it() {
        for ppm in [-100i64, 100] {
            let (mut path, mut most) = (Path::UNKNOWN, 0);
            for ms in 0..86_400 {
                let now = ms * S;
                let queue_us = 5_000;
                let reverse_us = (10_000 - ppm * now as i64 / 1_000_000) as u32;
                path.measure(0, 50_000, None, true);
                let q = path.measure(now, 50_000 + queue_us, Some(reverse_us), true) as i64;
                most = most.max((q - i64::from(queue_us)).abs());
            }
            assert!(most <= 3_100, "{ppm} ppm: {most} µs");
        }
    }

    #[test]
    fn while_it_yields_a_loaded_reverse_path_does_not_become_the_base() {
        let mut path = Path::UNKNOWN;
        path.measure(0, 50_000, Some(1_000), true);
        for s in 1..200 {
            assert_eq!(path.measure(s * S, 150_000, Some(101_000), false), 0);
        }
    }
}
