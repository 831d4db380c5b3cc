//! Which flow goes into which bucket.

use rand_core::Rng;

/// A hash of flows into a number of buckets, salted so that which flows share one differs from queue to queue.
///
/// With `n` buckets a flow shares its own with none of `k` others with probability (1 − 1/n)ᵏ (RFC 8290 §5.3).
#[derive(Clone, Copy, Debug)]
pub struct Buckets {
    buckets: u32,
    salt: u64,
}

impl Buckets {
    /// Creates that many buckets, with a salt from `random`.
    pub fn new(buckets: u32, random: &mut impl Rng) -> Buckets {
        Buckets { buckets, salt: random.next_u64() }
    }

    /// Returns the bucket of a flow.
    pub fn of(&self, flow: u32) -> usize {
        let hash = mix(self.salt, flow.into());
        // The high half times the number of buckets is spread as evenly as the hash is, and needs no division.
        (((hash >> 32) * u64::from(self.buckets)) >> 32) as usize
    }

    /// Returns the number of buckets.
    pub fn count(&self) -> usize {
        self.buckets as usize
    }
}

/// Returns a hash of a number with a salt.
#[inline]
pub(crate) fn mix(salt: u64, number: u64) -> u64 {
    // The finaliser of splitmix64: every bit of the number and of the salt reaches every bit of the result.
    let mut hash = (number ^ salt).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    hash = (hash ^ (hash >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    hash = (hash ^ (hash >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    hash ^ (hash >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_pcg::Pcg64;

    /// Returns the part of `salts` hashes in which no two of `flows` flows share a bucket.
    fn without_collision(flows: u32, buckets: u32, salts: u32) -> f64 {
        let mut random = Pcg64::new(1, 2);
        let free = (0..salts).filter(|_| {
            let hash = Buckets::new(buckets, &mut random);
            let mut taken = vec![false; buckets as usize];
            (0..flows).all(|flow| !std::mem::replace(&mut taken[hash.of(flow)], true))
        });
        free.count() as f64 / f64::from(salts)
    }

    #[test]
    fn ten_flows_in_sixteen_buckets_nearly_always_share_one() {
        let exact: f64 = (0..10).map(|i| 1.0 - f64::from(i) / 16.0).product();
        assert!((exact - 0.0264).abs() < 0.00005, "{exact}");
        // 40 000 draws: four standard deviations are 0.0032.
        let seen = without_collision(10, 16, 40_000);
        assert!((seen - exact).abs() < 0.0032, "{seen}");
    }

    #[test]
    fn a_flow_among_a_hundred_has_its_bucket_to_itself_with_91_percent() {
        let mut random = Pcg64::new(3, 4);
        let alone = (0..20_000).filter(|_| {
            let hash = Buckets::new(1024, &mut random);
            (1..100).all(|other| hash.of(other) != hash.of(0))
        });
        let exact: f64 = (0..99).map(|_| 1.0 - 1.0 / 1024.0).product();
        let seen = alone.count() as f64 / 20_000.0;
        assert!((exact - 0.9078).abs() < 0.00005 && (seen - exact).abs() < 0.0082, "{seen}, {exact}");
    }

    #[test]
    fn buckets_are_filled_evenly() {
        let hash = Buckets::new(100, &mut Pcg64::new(5, 6));
        let mut counts = [0u32; 100];
        (0..100_000).for_each(|flow| counts[hash.of(flow)] += 1);
        assert!(counts.iter().all(|count| (870..1130).contains(count)), "{counts:?}");
    }
}
