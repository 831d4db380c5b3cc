/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The delivery rate of the last moments: an eighth to a quarter of a round trip, at least 10 ms and eight packets. As `recent.rs` of
 * afteryou-cc's ebb_core.
 */
#ifndef AFTERYOU_EBB_RECENT_H
#define AFTERYOU_EBB_RECENT_H

#include "ebb/units.h"

#define RECENT_LEAST_US 10000
#define RECENT_LEAST_PACKETS 8
/* Part of a round trip. */
#define RECENT_DIVISOR 8

/* Bytes delivered in two spans, one after the other. */
struct ebb_recent {
    u64 began;
    u64 bytes;
    u64 before_bytes;
    /* How long the span before lasted, us; zero: there is none. */
    u32 before_us;
    u32 packets;
};

/* Takes in what an ack delivers. */
INLINE void ebb_recent_delivered(struct ebb_recent *self, u64 now, u64 bytes, u32 packets, u64 rtt_us)
{
    self->bytes = saturating_add(self->bytes, bytes);
    self->packets = add_u32(self->packets, packets);
    u64 us = saturating_sub(now, self->began);
    if (self->packets < RECENT_LEAST_PACKETS || us < max_u64(RECENT_LEAST_US, rtt_us / RECENT_DIVISOR))
        return;
    /* Nobody knows when the first span began. */
    self->before_us = self->began == 0 ? 0 : saturated(us);
    self->before_bytes = self->bytes;
    self->began = now;
    self->bytes = 0;
    self->packets = 0;
}

/* Returns the rate, bytes per second; zero before there is one. */
INLINE u64 ebb_recent_rate(const struct ebb_recent *self, u64 now)
{
    if (self->before_us == 0)
        return 0;
    u64 us = saturating_add(saturating_sub(now, self->began), self->before_us);
    return rate_of(saturating_add(self->before_bytes, self->bytes), us);
}

#endif
