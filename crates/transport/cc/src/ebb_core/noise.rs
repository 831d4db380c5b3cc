//! n: by how much a delay differs from the one before it although no queue has changed.
//!
//! Queues move slowly, jitter does not. So the mean difference of successive samples is jitter's, times 1.5. Below 1.2 ms, or 1.5 packets,
//! the own packets explain it.

use super::units::{part, ratio, saturated, Ratio16};

/// Samples that are averaged quickly.
const FIRST: u32 = 32;
const FIRST_WEIGHT: Ratio16 = ratio(0.1);
const WEIGHT: Ratio16 = ratio(0.004);
const FACTOR: Ratio16 = ratio(1.5);
const LEAST_US: u64 = 1_200;
const LEAST_PACKETS: Ratio16 = ratio(1.5);

/// The mean difference of successive delays.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Noise {
    /// µs, with 16 fractional bits.
    mean16: u64,
    last_us: u32,
    samples: u32,
}

impl Noise {
    /// Takes in the queue that a sample shows, µs.
    pub fn update(&mut self, queue_us: u64) {
        let queue_us = saturated(queue_us);
        if self.samples > 0 {
            let difference16 = u64::from(queue_us.abs_diff(self.last_us)) << 16;
            let weight = if self.samples <= FIRST { FIRST_WEIGHT } else { WEIGHT };
            self.mean16 = self.mean16 - part(self.mean16, weight) + part(difference16, weight);
        }
        self.last_us = queue_us;
        self.samples = self.samples.saturating_add(1);
    }

    /// Returns the noise on a link on which a packet takes `packet_us`, µs; zero where there is none to speak of.
    pub fn get(&self, packet_us: u64) -> u64 {
        let noise = part(self.mean16, FACTOR) >> 16;
        if noise < LEAST_US.max(part(packet_us, LEAST_PACKETS)) {
            return 0;
        }
        noise
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_that_grows_and_shrinks_is_no_noise_and_jitter_is() {
        let (mut queue, mut jitter) = (Noise::default(), Noise::default());
        for i in 0..2000u64 {
            queue.update((i % 400).min(400 - i % 400) * 50);
            jitter.update(i.wrapping_mul(2_654_435_761) % 20_000);
        }
        assert_eq!(queue.get(100), 0);
        assert!((6_000..14_000).contains(&jitter.get(100)), "{}", jitter.get(100));
        assert_eq!(jitter.get(20_000), 0, "a slow link's packets");
    }
}
