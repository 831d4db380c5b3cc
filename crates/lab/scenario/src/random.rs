//! Random numbers by name: each part of an experiment draws from its own stream. So one more draw somewhere does not
//! change the draws of any other part.

use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;

/// Returns the stream of random numbers that belongs to `name` in the experiment with this `seed`.
pub fn stream(seed: u64, name: &str) -> Pcg64 {
    let mut hasher = blake3::Hasher::new_derive_key("afteryou random stream");
    hasher.update(&seed.to_le_bytes());
    hasher.update(name.as_bytes());
    Pcg64::from_seed(*hasher.finalize().as_bytes())
}

/// Returns the seed of `name` in the experiment with this `seed`, for a caller with a generator of its own.
pub fn seed_of(seed: u64, name: &str) -> u64 {
    stream(seed, name).next_u64()
}

/// Draws a number in [0, 1), a multiple of 2⁻⁵³.
pub fn uniform(random: &mut Pcg64) -> f64 {
    (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

/// Returns `true` with `probability`, a ratio; takes one number from `random` whatever the probability.
pub fn happens(random: &mut Pcg64, probability: f64) -> bool {
    uniform(random) < probability
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first(seed: u64, name: &str) -> u64 {
        stream(seed, name).next_u64()
    }

    #[test]
    fn a_stream_is_told_by_its_seed_and_its_name() {
        assert_eq!(first(1, "loss"), first(1, "loss"));
        assert_ne!(first(1, "loss"), first(2, "loss"));
        assert_ne!(first(1, "loss"), first(1, "jitter"));
    }

    #[test]
    fn things_happen_as_often_as_they_should() {
        let mut random = stream(7, "test");
        let count = (0..100_000).filter(|_| happens(&mut random, 0.05)).count();
        assert!((4_700..5_300).contains(&count), "{count}");
        assert!(!happens(&mut random, 0.0) && happens(&mut random, 1.0));
    }
}
