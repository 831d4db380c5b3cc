/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Bytes with 16 fractional bits: the arithmetic of the LEDBAT family. As `fixed.rs` of afteryou-cc.
 */
#ifndef AFTERYOU_FIXED_H
#define AFTERYOU_FIXED_H

#include "integers.h"

/* A window or an increment in bytes with 16 fractional bits. */
typedef u64 bytes16;

/* 2^40 bytes, the largest window any rule keeps: beyond every path, and far from overflow. */
#define BYTES16_MAX (1ULL << 56)

/* Ratios have 16 fractional bits, too. */
#define ONE16 (1ULL << 16)

/* Returns the leading zeros of a number that is not zero. Clang 14 cannot compile its own __builtin_clzll for eBPF. */
CHECKED_ALONE u32 leading_zeros(u64 number)
{
    u32 zeros = 0;
    UNROLL
    for (u32 width = 32; width > 0; width /= 2) {
        if (number >> (64 - width))
            continue;
        zeros += width;
        number <<= width;
    }
    return zeros;
}

/*
 * Returns a * b / c, rounded down. Exact while the product fits. Otherwise the larger factor and c both lose the excess bits.
 * c = 0 gives the largest value.
 */
CHECKED_ALONE u64 mul_div(u64 a, u64 b, u64 c)
{
    if (c == 0)
        return U64_MAX;
    if (fits(a, b))
        return a * b / c;
    u32 shift = 64 - leading_zeros(a) - leading_zeros(b);
    if (shift >= 64)
        return U64_MAX;
    u64 large = max_u64(a, b) >> shift, small = min_u64(a, b);
    c >>= shift;
    return c > 0 ? large * small / c : U64_MAX;
}

INLINE bytes16 bytes16_from_bytes(u64 bytes) { return bytes >= 1ULL << 40 ? BYTES16_MAX : bytes << 16; }

/* Returns the whole bytes, the fraction cut off. */
INLINE u64 bytes16_to_bytes(bytes16 self) { return self >> 16; }

INLINE bytes16 bytes16_plus(bytes16 self, bytes16 other) { return min_u64(saturating_add(self, other), BYTES16_MAX); }

INLINE bytes16 bytes16_minus(bytes16 self, bytes16 other) { return saturating_sub(self, other); }

INLINE bytes16 bytes16_times(bytes16 self, u64 numerator, u64 denominator)
{
    return min_u64(mul_div(self, numerator, denominator), BYTES16_MAX);
}

#endif
