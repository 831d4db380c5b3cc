/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A round: a round trip, at least 8 ms and four samples (eight on a noisy path), summed up in one queue. As `round.rs` of afteryou-cc's
 * ebb_core.
 */
#ifndef AFTERYOU_EBB_ROUND_H
#define AFTERYOU_EBB_ROUND_H

#include "ebb/units.h"

/* Shortest round, us. */
#define ROUND_LEAST_US 8000
#define ROUND_LEAST_SAMPLES 4
/* Samples whose least ends a round early. */
#define LATEST 6

/* The signs of a round that is over. */
struct ebb_seen {
    /* Least queue of the second half, least, largest and mean queue, and least round-trip time, us. */
    u64 queue_us;
    u64 least_us;
    u64 most_us;
    u64 mean_us;
    u64 rtt_us;
    /* Packets delivered and lost. */
    u32 packets;
    u32 lost;
    /* The application limited the sender. */
    bool app_limited;
};

/* The round that is on. Queues are in us. */
struct ebb_round {
    /* When it began. */
    u64 began;
    u64 sum;
    /* Only packets count that left so long before it began, or later. */
    u32 judged_us;
    /* Round trip of the round before, without the queue ahead. */
    u32 trip_before_us;
    /* Latest queues, the newest first. */
    u32 latest[LATEST];
    u32 least_first_half;
    u32 least;
    u32 most;
    u32 rtt;
    u32 samples;
    u32 packets;
    u32 lost;
    u32 app_limited;
};

/* Begins the round after a reduction: packets that are on their way do not count. */
CHECKED_ALONE u64 ebb_round_after_reduction(struct ebb_round *self, u64 now)
{
    if (!self)
        return 0;
    *self = (struct ebb_round){
        .began = now,
        .trip_before_us = self->trip_before_us,
        .least_first_half = U32_MAX,
        .least = U32_MAX,
        .rtt = U32_MAX,
    };
    return now;
}

INLINE u64 ebb_round_judged_from(const struct ebb_round *self) { return saturating_sub(self->began, self->judged_us); }

/* Begins the round after this one. */
INLINE void ebb_round_next(struct ebb_round *self, u64 now)
{
    u32 judged_us = saturated(saturating_sub(now, ebb_round_judged_from(self)));
    ebb_round_after_reduction(self, now);
    self->judged_us = judged_us;
}

/* Returns whether a packet that left at `sent_at` counts. */
INLINE bool ebb_round_counts(const struct ebb_round *self, u64 sent_at) { return sent_at >= ebb_round_judged_from(self); }

/* Takes in the queue of a sample; or, if its ack came together with the one before, what became of that one. */
INLINE void ebb_round_add(struct ebb_round *self, u32 queue, bool is_first)
{
    if (is_first || self->samples == 0) {
        UNROLL
        for (u32 i = LATEST - 1; i > 0; i--)
            self->latest[i] = self->latest[i - 1];
        self->samples = add_u32(self->samples, 1);
    } else {
        self->sum = saturating_sub(self->sum, self->latest[0]);
    }
    self->latest[0] = queue;
    self->sum += queue;
    self->most = max_u64(self->most, queue);
}

/* Takes in a sample of a packet that left at `sent_at`. */
INLINE void ebb_round_sample(struct ebb_round *self, u64 now, u64 sent_at, u32 queue, u32 rtt_us, bool is_first)
{
    if (!ebb_round_counts(self, sent_at))
        return;
    self->rtt = min_u64(self->rtt, rtt_us);
    u64 half = max_u64(self->rtt, ROUND_LEAST_US) / 2;
    if (now < saturating_add(self->began, half))
        self->least_first_half = min_u64(self->least_first_half, queue);
    else
        self->least = min_u64(self->least, queue);
    ebb_round_add(self, queue, is_first);
}

/* Takes in delivered packets. */
INLINE void ebb_round_delivered(struct ebb_round *self, u32 packets, bool app_limited)
{
    self->packets = add_u32(self->packets, packets);
    self->app_limited |= app_limited;
}

/* Takes in a lost packet. */
INLINE void ebb_round_lost(struct ebb_round *self) { self->lost = add_u32(self->lost, 1); }

/* Returns the least of the last `count` queues, a constant, with that many samples of packets that count; zero without them. */
INLINE u64 ebb_round_least_of_latest(const struct ebb_round *self, u32 count)
{
    if (self->samples < count)
        return 0;
    u64 least = U32_MAX;
    UNROLL
    for (u32 i = 0; i < count; i++)
        least = min_u64(least, self->latest[i]);
    return least;
}

/* Returns whether it is over with the ack of a packet that left at `sent_at`. */
INLINE bool ebb_round_is_over(const struct ebb_round *self, u64 now, u64 sent_at, u64 noise)
{
    u32 least = noise > 0 ? 2 * ROUND_LEAST_SAMPLES : ROUND_LEAST_SAMPLES;
    return sent_at >= self->began && saturating_sub(now, self->began) >= ROUND_LEAST_US && self->samples >= least;
}

/* Returns what it showed. */
INLINE struct ebb_seen ebb_round_seen(const struct ebb_round *self)
{
    u32 least = self->least == U32_MAX ? self->least_first_half : self->least;
    return (struct ebb_seen){
        .queue_us = least,
        .least_us = min_u64(least, self->least_first_half),
        .most_us = self->most,
        .mean_us = self->sum / max_u64(self->samples, 1),
        .rtt_us = self->rtt,
        .packets = self->packets,
        .lost = self->lost,
        .app_limited = self->app_limited != 0,
    };
}

#endif
