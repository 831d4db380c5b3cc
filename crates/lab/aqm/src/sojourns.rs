//! A histogram of times in the queue that costs a few instructions a packet and never allocates.
//!
//! Bins are 1.024 µs wide below 16 of them. Above, each doubling has sixteen, so a bin is at most 1/16 of its value
//! wide. The last one takes everything from half an hour on.

use afteryou_base::Span;

/// Bins to each doubling, as a power of two.
const SUB_BITS: u32 = 4;
const SUB: usize = 1 << SUB_BITS;
/// Nanoseconds are counted in units of two to this power: 1.024 µs.
const UNIT_BITS: u32 = 10;
/// Doublings above the linear part: up to 2⁴¹ ns, which is 37 min.
const OCTAVES: usize = 27;
const BINS: usize = SUB * (OCTAVES + 1);

/// A histogram of times.
#[derive(Clone, PartialEq, Eq)]
// In this order, the sum is beside the counters before it, which every packet changes, too.
#[repr(C)]
pub struct Sojourns {
    sum_ns: u64,
    bins: [u64; BINS],
}

impl Sojourns {
    /// Counts one.
    #[inline]
    pub fn record(&mut self, sojourn: Span) {
        self.count_one(sojourn);
        self.sum_ns = self.sum_ns.saturating_add(sojourn.0);
    }

    /// Counts one without adding it to the sum.
    #[inline]
    pub(crate) fn count_one(&mut self, sojourn: Span) {
        self.bins[Sojourns::bin(sojourn)] += 1;
    }

    /// Counts `zeros` sojourns of zero, and adds `sum` of others that are counted one by one.
    pub(crate) fn add(&mut self, zeros: u64, sum: Span) {
        self.bins[0] += zeros;
        self.sum_ns = self.sum_ns.saturating_add(sum.0);
    }

    #[inline]
    fn bin(sojourn: Span) -> usize {
        let units = sojourn.0 >> UNIT_BITS;
        // The position of the highest bit gives the doubling, the next bits give the bin of it.
        let octave = (u64::BITS - (units | (SUB as u64 - 1)).leading_zeros() - SUB_BITS) as usize;
        let bin = match octave {
            0 => units as usize,
            _ => SUB * octave + (units >> (octave - 1)) as usize - SUB,
        };
        bin.min(BINS - 1)
    }

    /// Returns the shortest time that goes into a bin.
    fn lower(bin: usize) -> Span {
        let (octave, within) = (bin / SUB, (bin % SUB) as u64);
        let units = if octave == 0 { within } else { (within + SUB as u64) << (octave - 1) };
        Span(units << UNIT_BITS)
    }

    /// Returns the number of counted times.
    pub fn count(&self) -> u64 {
        self.bins.iter().sum()
    }

    /// Returns the mean of all; `None` of nothing. It is exact, not from the bins.
    pub fn mean(&self) -> Option<Span> {
        self.sum_ns.checked_div(self.count()).map(Span)
    }

    /// Returns the `p`-th percentile by nearest rank, to the middle of its bin; `None` of nothing.
    pub fn percentile(&self, p: u64) -> Option<Span> {
        let rank = (self.count() * p).div_ceil(100).max(1);
        let mut seen = 0;
        let bin = self.bins.iter().position(|count| {
            seen += count;
            seen >= rank
        })?;
        Some((Sojourns::lower(bin) + Sojourns::lower(bin + 1)) / 2)
    }

    /// Returns the bins that are not empty: from, to (exclusive) and count.
    pub fn bins(&self) -> impl Iterator<Item = (Span, Span, u64)> + '_ {
        let counted = self.bins.iter().enumerate().filter(|(_, count)| **count > 0);
        counted.map(|(bin, count)| (Sojourns::lower(bin), Sojourns::lower(bin + 1), *count))
    }
}

impl Default for Sojourns {
    fn default() -> Sojourns {
        Sojourns { bins: [0; BINS], sum_ns: 0 }
    }
}

impl std::fmt::Debug for Sojourns {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.bins()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_time_is_in_its_bin_and_bins_are_a_sixteenth_wide() {
        let mut times: Vec<u64> = (0..3000).map(|i| i * 337).collect();
        times.extend((0..41).flat_map(|shift| [(1u64 << shift) - 1, 1 << shift, (1 << shift) + 1]));
        for ns in times {
            let bin = Sojourns::bin(Span(ns));
            let (from, to) = (Sojourns::lower(bin).0, Sojourns::lower(bin + 1).0);
            assert!((from..to).contains(&ns), "{ns} in {from}..{to}");
            assert!((to - from) as f64 <= (from as f64 / 16.0).max(1024.0), "{from}..{to}");
        }
        assert_eq!(Sojourns::bin(Span::MAX), BINS - 1);
    }

    #[test]
    fn mean_and_percentiles_are_those_of_what_was_counted() {
        let mut sojourns = Sojourns::default();
        assert_eq!((sojourns.mean(), sojourns.percentile(95)), (None, None));
        (1..=100).for_each(|ms| sojourns.record(Span::from_millis(ms)));
        assert_eq!((sojourns.count(), sojourns.mean()), (100, Some(Span::from_micros(50_500))));
        for p in [1, 50, 95, 100] {
            let ms = sojourns.percentile(p).unwrap().as_millis_f64();
            assert!((ms / p as f64 - 1.0).abs() < 1.0 / 16.0, "p{p} = {ms}");
        }
        assert_eq!(sojourns.bins().map(|(_, _, count)| count).sum::<u64>(), 100);
    }
}
