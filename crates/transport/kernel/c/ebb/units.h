/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Products of rates, times and ratios. As `units.rs` of afteryou-cc's ebb_core.
 */
#ifndef AFTERYOU_EBB_UNITS_H
#define AFTERYOU_EBB_UNITS_H

#include "integers.h"

#define SECOND_US 1000000ULL
/* Longer than every time of a path, and small enough to be multiplied. */
#define FOR_EVER_US (1ULL << 40)
#define U16_MAX 0xffff

/* A ratio with 16 fractional bits. */
typedef u64 ratio16;

/* Returns n / d, rounded. */
#define RATIO(n, d) ((((u64)(n) << 16) + (d) / 2) / (d))

INLINE u64 clamp_u64(u64 value, u64 least, u64 most) { return min_u64(max_u64(value, least), most); }

INLINE u64 distance_of(u64 a, u64 b) { return a > b ? a - b : b - a; }

/* Adds up to the largest u32 and the largest u16. */
INLINE u32 add_u32(u32 a, u32 b) { return min_u64((u64)a + b, U32_MAX); }
INLINE u16 add_u16(u16 a, u16 b) { return min_u64((u64)a + b, U16_MAX); }

/* Returns that part of a value below 2^44; a ratio is below 2^20. */
INLINE u64 part(u64 value, ratio16 ratio) { return saturating_mul(value, ratio) >> 16; }

/* Returns the bytes that `rate` bytes per second deliver in `us` us. */
INLINE u64 bytes_in(u64 rate, u64 us) { return saturating_mul(rate, us) / SECOND_US; }

/* Returns the time that `bytes` take at `rate` bytes per second, us; without a rate FOR_EVER_US. */
INLINE u64 time_of(u64 bytes, u64 rate) { return rate ? saturating_mul(bytes, SECOND_US) / rate : FOR_EVER_US; }

/* Returns the rate of `bytes` in `us` us, bytes per second. */
INLINE u64 rate_of(u64 bytes, u64 us) { return us ? saturating_mul(bytes, SECOND_US) / us : 0; }

/* Returns a time in 32 bits, us: 71 minutes at most. */
INLINE u32 saturated(u64 us) { return min_u64(us, U32_MAX); }

#endif
