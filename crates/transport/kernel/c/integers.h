/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Integers of fixed width, for eBPF and for any C compiler: no libc, no kernel headers.
 *
 * Restrictions of every header here: no floating point, no signed division, no 128-bit product, and an index into a state is a
 * constant once its loop is unrolled. The verifier of eBPF accepts nothing else in a socket's private data.
 */
#ifndef AFTERYOU_INTEGERS_H
#define AFTERYOU_INTEGERS_H

typedef unsigned long long u64;
typedef unsigned int u32;
typedef unsigned short u16;
typedef int s32;
typedef _Bool bool;

#define U64_MAX (~0ULL)
#define U32_MAX (~0U)

/* eBPF passes five arguments at most to a function that is not inlined. */
#define INLINE static inline __attribute__((always_inline))

#ifdef __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

INLINE u64 min_u64(u64 a, u64 b) { return a < b ? a : b; }

INLINE u64 max_u64(u64 a, u64 b) { return a > b ? a : b; }

INLINE s32 min_s32(s32 a, s32 b) { return a < b ? a : b; }

INLINE u64 saturating_add(u64 a, u64 b) { return a > U64_MAX - b ? U64_MAX : a + b; }

INLINE u64 saturating_sub(u64 a, u64 b) { return a > b ? a - b : 0; }

/* `b` is a constant or a small number, not zero. */
INLINE u64 saturating_mul(u64 a, u64 b) { return a > U64_MAX / b ? U64_MAX : a * b; }

#endif
