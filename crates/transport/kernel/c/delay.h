/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Base delay and present delay: the smallest samples of the last minutes, and the newest few samples. As `delay.rs` of
 * afteryou-cc's ledbat_core, which explains the history.
 *
 * Source: RFC 6817 section 2.4.2 (update_base_delay, FILTER), section 2.5; draft-irtf-iccrg-ledbat-plus-plus-01 section 4.5.
 */
#ifndef AFTERYOU_DELAY_H
#define AFTERYOU_DELAY_H

#include "integers.h"

#define MINUTE_NS 60000000000ULL
/* BASE_HISTORY: minutes that a state has places for (RFC 6817 section 2.5). */
#define MINUTES 10
/* CURRENT_FILTER: newest samples that a state has places for (LEDBAT++ section 4.5). */
#define SAMPLES 4
/* Samples of any age count. */
#define ANY_AGE U64_MAX

/* Lengths in use; at least one of each. */
struct kept {
    /* Minutes that the base delay remembers, at most MINUTES. */
    u32 minutes;
    /* Newest samples of which the smallest is the present delay, at most SAMPLES. */
    u32 samples;
};

/* Delays measured. All zeros: nothing yet. */
struct delay {
    /* When the newest sample was taken, ns. */
    u64 sampled_at;
    /* Smallest sample of each minute and all later ones, us; the newest minute is last. */
    u32 since[MINUTES];
    /* Newest samples, us; the newest is first. */
    u32 samples[SAMPLES];
    /* Age of each sample after the first, beyond that of the one before it, ns; U32_MAX is too old in any case. */
    u32 gaps[SAMPLES - 1];
    /* Samples held. */
    u16 count;
    /* 1 once there is a base. */
    u16 is_known;
};

/* Returns a - b on the circle of 2^32 us: negative if a is the smaller delay. */
INLINE s32 difference(u32 a, u32 b) { return (s32)(a - b); }

/* Takes a sample into a history of smallest delays since each minute, after `minutes` new ones have begun. */
INLINE void take_minimum(u32 *since, u64 minutes, u32 delay_us)
{
    u32 new_minutes = min_u64(minutes, MINUTES);
    bool is_lower = 1;

    /* Steps of 8, 4, 2 and 1 places make any number up to MINUTES. */
    UNROLL
    for (u32 step = 8; step > 0; step /= 2) {
        if (!(new_minutes & step))
            continue;
        UNROLL
        for (u32 i = 0; i < MINUTES; i++)
            since[i] = i + step < MINUTES ? since[i + step] : delay_us;
    }
    UNROLL
    for (u32 i = MINUTES; i > 0; i--) {
        if (i > MINUTES - new_minutes)
            continue;
        is_lower = is_lower && difference(delay_us, since[i - 1]) < 0;
        if (is_lower)
            since[i - 1] = delay_us;
    }
}

/* Puts a sample before the others. */
INLINE void delay_push(struct delay *self, const struct kept *kept, u64 now, u32 delay_us)
{
    UNROLL
    for (u32 i = SAMPLES - 1; i > 0; i--)
        self->samples[i] = self->samples[i - 1];
    self->samples[0] = delay_us;
    UNROLL
    for (u32 i = SAMPLES - 2; i > 0; i--)
        self->gaps[i] = self->gaps[i - 1];
    self->gaps[0] = min_u64(saturating_sub(now, self->sampled_at), U32_MAX);
    self->count = min_u64(min_u64(self->count + 1, kept->samples), SAMPLES);
    self->sampled_at = max_u64(self->sampled_at, now);
}

/* Takes in a sample of `delay_us` us at `now` ns. */
INLINE void delay_take(struct delay *self, const struct kept *kept, u64 now, u32 delay_us)
{
    /* RFC 6817 section 2.4.2: the step is at the minute of the clock, not 60 s after the last one. */
    u64 minutes = MINUTES;
    if (self->is_known)
        minutes = saturating_sub(now / MINUTE_NS, self->sampled_at / MINUTE_NS);
    take_minimum(self->since, minutes, delay_us);
    self->is_known = 1;
    delay_push(self, kept, now, delay_us);
}

/* Returns 1 if there is a base delay, and writes it, us modulo 2^32. */
INLINE bool delay_base_us(const struct delay *self, const struct kept *kept, u32 *base_us)
{
    u64 oldest = min_u64(saturating_sub(MINUTES, kept->minutes), MINUTES - 1);
    UNROLL
    for (u32 i = 0; i < MINUTES; i++)
        if (i == oldest)
            *base_us = self->since[i];
    return self->is_known;
}

/*
 * Returns 1 if there are samples not older than `max_age` ns, and writes the smallest excess over the base among them, us.
 */
INLINE bool delay_queuing_us(const struct delay *self, const struct kept *kept, u64 now, u64 max_age, u32 *queuing_us)
{
    u32 base_us = 0;
    if (!delay_base_us(self, kept, &base_us) || self->count == 0)
        return 0;
    s32 smallest = difference(self->samples[0], base_us);
    bool is_any_age = max_age == ANY_AGE;
    /* The greatest age of a sample beyond that of the newest. The greatest gap represents all longer ones. */
    u64 newest_age = is_any_age ? 0 : saturating_sub(now, self->sampled_at);
    if (newest_age > max_age)
        return 0;
    u32 room = min_u64(max_age - newest_age, U32_MAX - 1);
    bool is_young = 1;
    UNROLL
    for (u32 i = 1; i < SAMPLES; i++) {
        u32 gap = is_any_age ? 0 : self->gaps[i - 1];
        is_young = is_young && i < self->count && gap <= room; /* and so are those after it */
        if (!is_young)
            continue;
        room -= gap;
        smallest = min_s32(smallest, difference(self->samples[i], base_us));
    }
    *queuing_us = smallest > 0 ? smallest : 0;
    return 1;
}

/* Forgets the present and keeps the base: silence has passed (RFC 6817 section 2.4.2). */
INLINE void delay_forget_present(struct delay *self) { self->count = 0; }

#endif
