//! The place of a queue.

use crate::backlog::Limit;
use rand_core::Rng;

/// A queue's surroundings: the values that a discipline needs besides its parameters.
#[derive(Clone, Debug)]
pub struct Site<R> {
    /// How much it may hold.
    pub limit: Limit,
    /// Rate of the link behind it.
    pub bits_per_second: u64,
    /// Its own stream of random numbers.
    pub random: R,
}

/// Draws a number in [0, 1), a multiple of 2⁻⁵³.
pub fn uniform(random: &mut impl Rng) -> f64 {
    (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

#[cfg(test)]
impl Site<rand_pcg::Pcg64> {
    /// Returns a site before 10 Mbit/s, with some random numbers.
    pub fn test(limit: Limit) -> Self {
        Site { limit, bits_per_second: 10_000_000, random: rand_pcg::Pcg64::new(1, 2) }
    }
}
