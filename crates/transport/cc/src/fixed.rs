//! Bytes with 16 fractional bits: the arithmetic of the LEDBAT family.
//!
//! Integers give the same bits on every machine, and a kernel without floating point can run the same rule line by
//! line. So the code uses `u64` operations only: no 128-bit product, no signed division.

/// A window or an increment in bytes with 16 fractional bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bytes16(pub u64);

impl Bytes16 {
    /// Nothing.
    pub const ZERO: Bytes16 = Bytes16(0);
    /// 2^40 bytes, the largest window any rule keeps: beyond every path, and far from overflow.
    pub const MAX: Bytes16 = Bytes16(1 << 56);

    /// Converts from whole bytes.
    pub const fn from_bytes(bytes: u64) -> Bytes16 {
        if bytes >= 1 << 40 {
            return Bytes16::MAX;
        }
        Bytes16(bytes << 16)
    }

    /// Returns the whole bytes, the fraction cut off.
    pub const fn to_bytes(self) -> u64 {
        self.0 >> 16
    }

    /// Returns the bytes with their fraction.
    pub fn to_f64(self) -> f64 {
        self.0 as f64 / 65536.0
    }

    /// Returns `self + other`, at most [`Bytes16::MAX`].
    pub fn plus(self, other: Bytes16) -> Bytes16 {
        Bytes16(self.0.saturating_add(other.0)).min(Bytes16::MAX)
    }

    /// Returns `self - other`, at least zero.
    pub fn minus(self, other: Bytes16) -> Bytes16 {
        Bytes16(self.0.saturating_sub(other.0))
    }

    /// Returns `self × numerator / denominator`, rounded down.
    pub fn times(self, numerator: u64, denominator: u64) -> Bytes16 {
        Bytes16(mul_div(self.0, numerator, denominator)).min(Bytes16::MAX)
    }
}

/// Returns a ratio with 16 fractional bits, rounded.
pub fn to_16(ratio: f64) -> u64 {
    (ratio * 65536.0 + 0.5) as u64
}

/// Returns `a × b / c`, rounded down, in `u64` only.
///
/// Exact while the product fits. Otherwise the larger factor and `c` both lose the excess bits. With windows, packets
/// and microseconds (`c` ≥ 2^30 whenever that happens) the relative error stays below 2^-12. `c = 0` gives the largest
/// value.
pub fn mul_div(a: u64, b: u64, c: u64) -> u64 {
    if c == 0 {
        return u64::MAX;
    }
    if let Some(product) = a.checked_mul(b) {
        return product / c;
    }
    let shift = 64 - a.leading_zeros() - b.leading_zeros();
    let (large, small) = if a > b { (a, b) } else { (b, a) };
    match (large.checked_shr(shift), c.checked_shr(shift)) {
        (Some(large), Some(c)) if c > 0 => large * small / c,
        _ => u64::MAX,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_product_that_fits_is_exact() {
        assert_eq!(mul_div(1500 << 16, 1500 << 16, 15000 << 16), 150 << 16);
        assert_eq!(mul_div(7, 3, 2), 10);
        assert_eq!(mul_div(1, 1, 0), u64::MAX);
    }

    proptest! {
        #[test]
        fn mul_div_is_close_to_the_exact_quotient(a in 0u64..1 << 46, b in 0u64..1 << 40, c in 1u64 << 34..1 << 46) {
            let exact = u128::from(a) * u128::from(b) / u128::from(c);
            let error = exact.abs_diff(u128::from(mul_div(a, b, c)));
            prop_assert!(error <= exact / 4096 + 1, "{a} * {b} / {c}: off by {error} of {exact}");
        }

        #[test]
        fn mul_div_never_panics(a: u64, b: u64, c: u64) {
            mul_div(a, b, c);
        }
    }
}
