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

/*
 * INLINE: eBPF passes five arguments at most to a function that is not inlined. Its lines are not noted in the object, which they would
 * double.
 *
 * CHECKED_ALONE: a function that the verifier of eBPF checks by itself, for any arguments: inlined everywhere its branches would multiply.
 * It returns a number, and a pointer that it gets may be null.
 */
#ifdef __bpf__
#define INLINE static inline __attribute__((always_inline, nodebug))
#define CHECKED_ALONE __attribute__((noinline))
#else
#define INLINE static inline __attribute__((always_inline))
#define CHECKED_ALONE static __attribute__((unused))
#endif

#ifdef __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#define NO_UNROLL _Pragma("clang loop unroll(disable)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#define NO_UNROLL
#endif

INLINE u64 min_u64(u64 a, u64 b) { return a < b ? a : b; }

INLINE u64 max_u64(u64 a, u64 b) { return a > b ? a : b; }

INLINE s32 min_s32(s32 a, s32 b) { return a < b ? a : b; }

INLINE u64 saturating_add(u64 a, u64 b) { return a > U64_MAX - b ? U64_MAX : a + b; }

INLINE u64 saturating_sub(u64 a, u64 b) { return a > b ? a - b : 0; }

/*
 * Returns whether a * b fits. Compilers recognise a comparison with the quotient and make a 128-bit product of it, which eBPF
 * has not; so they do not see where the quotient comes from.
 */
INLINE bool fits(u64 a, u64 b)
{
    if (b == 0)
        return 1;
    u64 most = U64_MAX / b;
    __asm__("" : "+r"(most));
    return a <= most;
}

INLINE u64 saturating_mul(u64 a, u64 b) { return fits(a, b) ? a * b : U64_MAX; }

#endif
