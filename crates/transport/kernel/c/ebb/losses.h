/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Losses: step back, and look whether the path is empty then. As `losses.rs` of afteryou-cc's ebb_core.
 *
 *   loss --> six round trips at 0.9 of the window --> path empty in less than half of them:     congestion
 *                                                     losses became rarer than by chance:       congestion
 *                                                     enough losses expected, and they came:    random; ignored for 2, 4, ... 16 s
 *                                                     too few expected:                         ignored for 1 s
 */
#ifndef AFTERYOU_EBB_LOSSES_H
#define AFTERYOU_EBB_LOSSES_H

#include "ebb/units.h"

/* Round trips of a step back, and its least time, us. */
#define LOW_ROUND_TRIPS 6
#define LOW_LEAST_US 150000
/* Losses to expect before their number says something. */
#define ENOUGH16 (6ULL << 16)
/* Fewer than this part of the expected losses came: they follow the window. */
#define FEWER RATIO(35, 100)
#define UNDECIDED_US 1000000
#define RANDOM_US 2000000
#define RANDOM_MOST_US 16000000
/* Packets after which the loss rate forgets half. */
#define MEMORY_PACKETS 20000

/* The meaning of the losses of a step back, if it is over: somebody stands in the queue; they do not follow from the window; nobody does. */
enum ebb_verdict { NO_VERDICT, CONGESTED, RANDOM, UNDECIDED };

/* Losses and what was expected. */
struct ebb_losses {
    /* When the step back began; without one, until when losses are ignored. */
    u64 since;
    /* Expected losses, 16 fractional bits. */
    u64 expected16;
    /* How long the step back lasts, us; zero: there is none. */
    u32 lasts_us;
    /* How long random losses were ignored the last time, us. */
    u32 ignored_us;
    u32 observed;
    u32 packets_outside;
    u32 lost_outside;
    u32 packets_within;
    /* Bytes lost in the ramp. */
    u32 of_ramp;
    u16 rounds;
    u16 empty_rounds;
};

/* Returns whether a step back is on. */
INLINE bool ebb_losses_is_low(const struct ebb_losses *self) { return self->lasts_us != 0; }

/* Takes in delivered packets. */
INLINE void ebb_losses_delivered(struct ebb_losses *self, u32 packets)
{
    if (ebb_losses_is_low(self)) {
        self->packets_within = add_u32(self->packets_within, packets);
        return;
    }
    self->packets_outside = add_u32(self->packets_outside, packets);
    if (self->packets_outside > MEMORY_PACKETS) {
        self->packets_outside /= 2;
        self->lost_outside /= 2;
    }
}

/* Takes in the loss of a packet that left at `sent_at`. Returns whether a step back is due. */
INLINE bool ebb_losses_lost(struct ebb_losses *self, u64 now, u64 sent_at)
{
    ebb_losses_delivered(self, 1);
    if (ebb_losses_is_low(self) && sent_at >= self->since) {
        self->observed = add_u32(self->observed, 1);
        return 0;
    }
    self->lost_outside = add_u32(self->lost_outside, 1);
    return !ebb_losses_is_low(self) && now >= self->since;
}

/* Returns how long a step back lasts, us. */
INLINE u32 low_lasts_us(u64 rtt_us) { return saturated(max_u64(LOW_ROUND_TRIPS * rtt_us, LOW_LEAST_US)); }

/* Begins a step back. */
INLINE void ebb_losses_step_back(struct ebb_losses *self, u64 now, u64 rtt_us)
{
    self->since = now;
    self->lasts_us = low_lasts_us(rtt_us);
    self->rounds = 0;
    self->empty_rounds = 0;
    self->packets_within = 0;
}

/* Shortens a step back to round trips of now: the one at the loss had a long queue in it. */
INLINE void ebb_losses_shorten(struct ebb_losses *self, u64 rtt_us)
{
    self->lasts_us = min_u64(self->lasts_us, low_lasts_us(rtt_us));
}

/* Ends a step back without a verdict: the rule has something better to do. */
INLINE void ebb_losses_abandon(struct ebb_losses *self) { self->lasts_us = 0; }

INLINE void ebb_losses_forget(struct ebb_losses *self)
{
    self->expected16 = 0;
    self->observed = 0;
}

/* Forgets how often packets are lost: the losses so far were those of an overflow. */
INLINE void ebb_losses_forget_rate(struct ebb_losses *self)
{
    self->packets_outside = 0;
    self->lost_outside = 0;
}

INLINE enum ebb_verdict ebb_losses_judge(struct ebb_losses *self, u64 now)
{
    self->lasts_us = 0;
    /* The loss that began it would make the rate too large. */
    u64 lost = saturating_sub(self->lost_outside, 1);
    u64 rate16 = self->packets_outside ? (lost << 16) / self->packets_outside : 0;
    self->expected16 = saturating_add(self->expected16, rate16 * self->packets_within);
    u64 observed16 = (u64)self->observed << 16;
    bool is_enough = self->expected16 > ENOUGH16;
    bool is_occupied = 2U * self->empty_rounds < self->rounds;
    if (is_occupied || (is_enough && observed16 < part(self->expected16, FEWER))) {
        ebb_losses_forget(self);
        ebb_losses_forget_rate(self);
        self->ignored_us = 0;
        return CONGESTED;
    }
    if (!is_enough) {
        self->since = saturating_add(now, UNDECIDED_US);
        return UNDECIDED;
    }
    ebb_losses_forget(self);
    self->ignored_us = clamp_u64(2 * self->ignored_us, RANDOM_US, RANDOM_MOST_US);
    self->since = saturating_add(now, self->ignored_us);
    return RANDOM;
}

/* Takes in a round. Returns the verdict if the step back is over. */
INLINE enum ebb_verdict ebb_losses_round(struct ebb_losses *self, u64 now, bool is_empty)
{
    if (!ebb_losses_is_low(self))
        return NO_VERDICT;
    self->rounds = add_u16(self->rounds, 1);
    self->empty_rounds = add_u16(self->empty_rounds, is_empty);
    if (saturating_sub(now, self->since) < self->lasts_us)
        return NO_VERDICT;
    return ebb_losses_judge(self, now);
}

#endif
