/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The longest queue that the buffer allows: half of the largest one seen when it overflowed. As `cap.rs` of afteryou-cc's ebb_core.
 */
#ifndef AFTERYOU_EBB_CAP_H
#define AFTERYOU_EBB_CAP_H

#include "ebb/units.h"

/* Least cap: us, and packets' times. */
#define CAP_LEAST_US 500
#define CAP_LEAST_PACKETS RATIO(3, 4)
/* It grows by a fiftieth a second. */
#define CAP_GROWS_BY 50
/* Buffers beyond that are no limit, us. */
#define CAP_GONE_US 200000

/* A cap that grows with time. */
struct ebb_cap {
    u64 since;
    u32 us;
    u32 peak_us;
};

/* Takes note of the largest queue at a loss, us. */
INLINE void ebb_cap_saw(struct ebb_cap *self, u64 queue_us) { self->peak_us = min_u64(queue_us, CAP_GONE_US); }

/* Forgets the queue at a loss that was none of the buffer's. */
INLINE void ebb_cap_forget_peak(struct ebb_cap *self) { self->peak_us = 0; }

/* Takes note that the loss was congestion. */
INLINE void ebb_cap_congested(struct ebb_cap *self, u64 now, u64 packet_us)
{
    if (self->peak_us == 0)
        return;
    u64 least = min_u64(max_u64(CAP_LEAST_US, part(packet_us, CAP_LEAST_PACKETS)), CAP_GONE_US);
    self->since = now;
    self->us = max_u64(part(self->peak_us, RATIO(1, 2)), least);
    self->peak_us = 0;
}

/* Returns the cap, us. */
INLINE u64 ebb_cap_get(const struct ebb_cap *self, u64 now)
{
    u64 seconds = saturating_sub(now, self->since) / SECOND_US;
    u64 grown = self->us + self->us * min_u64(seconds, 10000) / CAP_GROWS_BY;
    return grown >= CAP_GONE_US ? U64_MAX >> 20 : grown;
}

#endif
