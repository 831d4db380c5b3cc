/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * C: the largest delivery rate of the last 200 s, from ten maxima of 20 s each. As `capacity.rs` of afteryou-cc's ebb_core.
 */
#ifndef AFTERYOU_EBB_CAPACITY_H
#define AFTERYOU_EBB_CAPACITY_H

#include "ebb/units.h"

#define RATE_BIN_US 20000000ULL
#define RATE_BINS 10
/* Headers of a packet: IP, TCP and timestamps, bytes. */
#define HEADERS 52

/* The largest rates of the newest bin, of the newest two, ... of all ten, in 256 bytes per second: up to 8.8 Tbit/s. */
struct ebb_capacity {
    u64 began;
    u32 maxima[RATE_BINS];
};

/* Returns a rate in 256 bytes per second. */
INLINE u32 units(u64 rate) { return clamp_u64(rate >> 8, 1, U32_MAX); }

/* Returns C, bytes per second; zero before the first rate. */
INLINE u64 ebb_capacity_get(const struct ebb_capacity *self) { return (u64)self->maxima[RATE_BINS - 1] << 8; }

/* Begins a bin. */
INLINE void ebb_capacity_shift(struct ebb_capacity *self)
{
    NO_UNROLL
    for (u32 i = RATE_BINS - 1; i > 0; i--)
        self->maxima[i] = self->maxima[i - 1];
    self->maxima[0] = 0;
    self->began += RATE_BIN_US;
}

/* Takes in a rate, bytes per second. */
INLINE void ebb_capacity_update(struct ebb_capacity *self, u64 now, u64 rate)
{
    if (self->maxima[RATE_BINS - 1] == 0)
        self->began = now;
    if (saturating_sub(now, self->began) >= RATE_BIN_US * RATE_BINS)
        *self = (struct ebb_capacity){ .began = now };
    NO_UNROLL
    for (u32 i = 0; i < RATE_BINS && saturating_sub(now, self->began) >= RATE_BIN_US; i++)
        ebb_capacity_shift(self);
    NO_UNROLL
    for (u32 i = 0; i < RATE_BINS; i++)
        self->maxima[i] = max_u64(self->maxima[i], units(rate));
}

/* Returns the time that a packet of `mss` bytes of payload takes on the link, us. */
INLINE u64 ebb_capacity_packet_us(const struct ebb_capacity *self, u64 mss)
{
    return min_u64(time_of(mss + HEADERS, ebb_capacity_get(self)), FOR_EVER_US);
}

/* Returns the same with one more rate that is larger than all, bytes per second. */
INLINE u64 packet_us_with(u64 rate, u64 mss) { return time_of(mss + HEADERS, (u64)units(rate) << 8); }

#endif
