/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Acks that arrive together have waited for each other: in a busy host, in a frame of a wireless link. The last one has waited least. As
 * `together.rs` of afteryou-cc's ebb_core.
 */
#ifndef AFTERYOU_EBB_TOGETHER_H
#define AFTERYOU_EBB_TOGETHER_H

#include "ebb/units.h"

/* Part of a packet's time in which acks are together, and the most of it, us. */
#define TOGETHER_DIVISOR 4
#define TOGETHER_MOST_US 1000

struct ebb_together {
    u64 began;
    /* Latest delivery rate, and the last one of the acks before these; zero if that was a single one. Bytes per second. */
    u64 rate;
    u64 rate_before;
    /* Least queue, us. */
    u32 least_us;
    u32 acks;
};

/* Takes in an ack on a link on which a packet takes `packet_us`. Returns whether it is the first one. */
INLINE bool ebb_together_ack(struct ebb_together *self, u64 now, u64 packet_us)
{
    if (saturating_sub(now, self->began) <= min_u64(packet_us / TOGETHER_DIVISOR, TOGETHER_MOST_US)) {
        self->acks = add_u32(self->acks, 1);
        return 0;
    }
    self->rate_before = self->acks > 1 ? self->rate : 0;
    self->began = now;
    self->rate = 0;
    self->least_us = U32_MAX;
    self->acks = 1;
    return 1;
}

/* Takes in the queue that an ack shows, us. Returns the least one. */
INLINE u32 ebb_together_queue(struct ebb_together *self, u64 queue_us)
{
    self->least_us = min_u64(self->least_us, queue_us);
    return self->least_us;
}

/*
 * Takes in a delivery rate, bytes per second. Returns the one that counts: the first ack reports what has come in all the time that it has
 * waited without the packets that came with it.
 */
INLINE u64 ebb_together_rate(struct ebb_together *self, u64 rate)
{
    self->rate = rate;
    return max_u64(rate, self->rate_before);
}

#endif
