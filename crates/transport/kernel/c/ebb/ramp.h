/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Ramp: the window grows by what is delivered, until the queue or the losses show that the link is full. As `ramp.rs` of afteryou-cc's
 * ebb_core.
 */
#ifndef AFTERYOU_EBB_RAMP_H
#define AFTERYOU_EBB_RAMP_H

#include "ebb/cruise.h"
#include "ebb/state.h"

/* Queue that ends it, over T_lo. */
#define EXIT RATIO(3, 2)
/* Samples that must show it. */
#define EXIT_SAMPLES 3
/* Part of a window whose loss ends it. */
#define RAMP_LOSSY RATIO(15, 100)
#define RAMP_LOSSY_PACKETS 4
/* Round trips after which the window must be explained by what is delivered, by that factor and packets. */
#define BOUND_ROUNDS 3
#define BOUND_FACTOR 6
#define BOUND_PACKETS 24

/* Begins a ramp with a window. */
INLINE void ebb_begin_ramp(struct ebb *self, u64 now, u64 window)
{
    self->phase = EBB_RAMP;
    self->cwnd = window;
    self->ramp_at = now;
    self->losses.of_ramp = 0;
    ebb_round_after_reduction(&self->round, now);
}

/* Ends the ramp with a window. */
CHECKED_ALONE u64 ebb_leave_ramp(struct ebb *self, const struct ebb_params *p, u64 now, u64 window)
{
    if (!self || !p)
        return 0;
    ebb_learn(self, p, now, self->rate);
    self->cwnd = max_u64(min_u64(window, self->cwnd), 2 * p->mss);
    self->ramp_at = now;
    ebb_losses_forget_rate(&self->losses);
    ebb_begin_cruise(self, now);
    return self->cwnd;
}

/* Returns the time of a packet by the largest rate, the latest included. */
INLINE u64 ebb_ramp_packet_us(const struct ebb *self, const struct ebb_params *p)
{
    if (self->rate <= ebb_capacity_get(&self->capacity))
        return ebb_packet_us(self);
    return packet_us_with(self->rate, p->mss);
}

/* Returns whether the window has grown without more being delivered: a base measured over a full buffer hides the queue. */
INLINE bool ebb_is_unexplained(const struct ebb *self, const struct ebb_params *p, u64 now)
{
    u64 bound = BOUND_FACTOR * bytes_in(self->rate, self->rtt_us) + BOUND_PACKETS * p->mss;
    return saturating_sub(now, self->ramp_at) > BOUND_ROUNDS * (u64)self->rtt_us && self->cwnd > bound;
}

INLINE void ebb_ramp(struct ebb *self, const struct ebb_params *p, const struct ebb_ack *ack)
{
    bool is_used = !ebb_ack_has(ack, APP_LIMITED) && ack->in_flight >= self->cwnd / 2;
    if (is_used)
        self->cwnd = min_u64(saturating_add(self->cwnd, ack->delivered), MAX_WINDOW);
    if (ebb_round_is_over(&self->round, ack->now, ack->sent_at, 0)) {
        ebb_learn(self, p, ack->now, self->rate);
        ebb_round_next(&self->round, ack->now);
    }
    u64 least = ebb_params_least_target(p, ebb_ramp_packet_us(self, p));
    if (ebb_round_least_of_latest(&self->round, EXIT_SAMPLES) > part(least, EXIT)) {
        u64 rate = ebb_rate_now(self, p, ack->now);
        ebb_learn(self, p, ack->now, rate);
        ebb_leave_ramp(self, p, ack->now, bytes_in(rate, ebb_path_base_us(&self->path) + least / 2));
    } else if (ebb_is_unexplained(self, p, ack->now)) {
        ebb_leave_ramp(self, p, ack->now, ebb_carried(self, least));
    }
}

INLINE void ebb_ramp_loss(struct ebb *self, const struct ebb_params *p, u64 now)
{
    self->losses.of_ramp = add_u32(self->losses.of_ramp, saturated(p->mss));
    u64 least = ebb_params_least_target(p, ebb_ramp_packet_us(self, p));
    bool is_full = self->round.most > part(least, EXIT);
    if (is_full || self->losses.of_ramp > max_u64(part(self->cwnd, RAMP_LOSSY), RAMP_LOSSY_PACKETS * p->mss))
        ebb_leave_ramp(self, p, now, min_u64(self->cwnd / 2, ebb_carried(self, least)));
}

#endif
