/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Yield: pairs of packets at the floor, until the queue has gone and the hold is over. As `floor.rs` of afteryou-cc's ebb_core.
 */
#ifndef AFTERYOU_EBB_FLOOR_H
#define AFTERYOU_EBB_FLOOR_H

#include "ebb/state.h"

/* Samples in a row that are not high, before a return. */
#define CALM_SAMPLES 2
/*
 * Window at the floor, packets. The pairs limit the rate; one whose ack is late must not tear the next one apart. It is there from the first
 * ack on: no loss widens a window.
 */
#define YIELD_PACKETS 4
/* Hold after a share test, us: the first one and the longest. */
#define SHARE_HOLD_US 2000000
#define SHARE_HOLD_MOST_US 16000000
/* Least time without a change of the queue before a train: us and round trips. */
#define STEADY_US 3000000
#define STEADY_ROUNDS 10
/* Within: us, packets' times, times of noise. */
#define STEADY_WITHIN_US 2000
/* A train lasts for this at C, us; packets. */
#define ROUTE_TRAIN_US 3000
#define ROUTE_TRAIN_LEAST 16
#define ROUTE_TRAIN_MOST 64
/* Packets a second at the floor, at least. */
#define PACKETS_A_SECOND 6

/* Begins the hold anew: the path is not calm, or has not answered. */
INLINE void ebb_floor_wait_anew(struct ebb_floor *self, u64 now)
{
    self->calm_since = now;
    self->calm_samples = 0;
}

/* Takes in a sample. Returns whether the hold is over and the path calm. */
INLINE bool ebb_floor_is_calm(struct ebb_floor *self, u64 now, bool is_high)
{
    if (is_high) {
        ebb_floor_wait_anew(self, now);
        return 0;
    }
    self->calm_samples = add_u32(self->calm_samples, 1);
    return self->calm_samples >= CALM_SAMPLES && saturating_sub(now, self->calm_since) >= self->hold_us;
}

/* Takes in a round-trip time. Returns for how long it has been steady, us. */
INLINE u64 ebb_floor_steady_for(struct ebb_floor *self, u64 now, u32 rtt_us, u64 within)
{
    u32 least = min_u64(self->steady_least_us, rtt_us), most = max_u64(self->steady_most_us, rtt_us);
    if (most - least > within) {
        self->steady_since = now;
        self->steady_least_us = rtt_us;
        self->steady_most_us = rtt_us;
        return 0;
    }
    if (self->steady_most_us == 0)
        self->steady_since = now;
    self->steady_least_us = least;
    self->steady_most_us = most;
    return saturating_sub(now, self->steady_since);
}

CHECKED_ALONE u64 ebb_go_to_floor(struct ebb *self, const struct ebb_params *p, u64 now, u32 hold_us)
{
    if (!self || !p)
        return 0;
    self->phase = EBB_YIELD;
    self->cwnd = min_u64(self->cwnd, YIELD_PACKETS * p->mss);
    ebb_burst_none(&self->burst);
    ebb_round_after_reduction(&self->round, now);
    ebb_losses_abandon(&self->losses);
    ebb_evidence_clear(&self->evidence);
    ebb_floor_wait_anew(&self->floor, now);
    self->floor.hold_us = hold_us;
    self->floor.steady_least_us = U32_MAX;
    self->floor.steady_most_us = 0;
    return self->cwnd;
}

/* Begins a yield because the queue does not obey. */
INLINE void ebb_begin_yield(struct ebb *self, const struct ebb_params *p, u64 now)
{
    bool is_again = self->floor.returned_at > 0 && saturating_sub(now, self->floor.returned_at) < p->again_us;
    u64 hold = is_again ? min_u64(2ULL * self->floor.evidence_hold_us, p->hold_most_us) : p->hold_us;
    self->floor.evidence_hold_us = saturated(max_u64(hold, p->hold_us));
    ebb_go_to_floor(self, p, now, self->floor.evidence_hold_us);
}

/* Begins a yield because the queue is a fair one. */
INLINE void ebb_yield_share(struct ebb *self, const struct ebb_params *p, u64 now)
{
    u64 hold = 2ULL * self->floor.share_hold_us;
    self->floor.share_hold_us = clamp_u64(hold, SHARE_HOLD_US, SHARE_HOLD_MOST_US);
    ebb_go_to_floor(self, p, now, self->floor.share_hold_us);
}

/* Returns the time from one pair of the floor to the next, us. */
INLINE u64 ebb_pairs_every(const struct ebb *self, const struct ebb_params *p)
{
    u64 least = PACKETS_A_SECOND * p->mss;
    u64 rate = max_u64(part(ebb_capacity_get(&self->capacity), p->floor), least);
    return max_u64(time_of(2 * p->mss, rate), self->rtt_us);
}

#endif
