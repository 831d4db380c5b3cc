//! The longest queue that the buffer allows: half of the largest one seen when it overflowed.

use super::units::{part, ratio, Ratio16};

const HALF: Ratio16 = ratio(0.5);
/// Least cap: µs, and packets' times.
const LEAST_US: u64 = 500;
const LEAST_PACKETS: Ratio16 = ratio(0.75);
/// It grows by a fiftieth a second.
const GROWS_BY: u64 = 50;
/// Buffers beyond that are no limit, µs.
const GONE_US: u64 = 200_000;
const SECOND_US: u64 = 1_000_000;

/// A cap that grows with time.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cap {
    since: u64,
    us: u32,
    peak_us: u32,
}

impl Cap {
    /// No cap.
    pub const NONE: Cap = Cap { since: 0, us: GONE_US as u32, peak_us: 0 };

    /// Takes note of the largest queue at a loss, µs.
    pub fn saw(&mut self, queue_us: u64) {
        self.peak_us = queue_us.min(GONE_US) as u32;
    }

    /// Forgets the queue at a loss that was none of the buffer's.
    pub fn forget_peak(&mut self) {
        self.peak_us = 0;
    }

    /// Takes note that the loss was congestion.
    pub fn congested(&mut self, now: u64, packet_us: u64) {
        if self.peak_us == 0 {
            return;
        }
        let least = LEAST_US.max(part(packet_us, LEAST_PACKETS)).min(GONE_US);
        *self = Cap { since: now, us: part(self.peak_us.into(), HALF).max(least) as u32, peak_us: 0 };
    }

    /// Returns the cap, µs.
    pub fn get(&self, now: u64) -> u64 {
        let us = u64::from(self.us);
        let seconds = now.saturating_sub(self.since) / SECOND_US;
        let grown = us + us * seconds.min(10_000) / GROWS_BY;
        if grown >= GONE_US {
            return u64::MAX >> 20;
        }
        grown
    }
}
