/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Returns from the floor. As `floor.rs` of afteryou-cc's ebb_core.
 */
#ifndef AFTERYOU_EBB_WAIT_H
#define AFTERYOU_EBB_WAIT_H

#include "ebb/floor.h"
#include "ebb/ramp.h"

/* Packets of a ramp's window. */
#define RAMP_PACKETS 4

INLINE void ebb_come_back(struct ebb *self, const struct ebb_params *p, u64 now)
{
    self->floor.returned_at = now;
    ebb_begin_ramp(self, now, RAMP_PACKETS * p->mss);
}

INLINE void ebb_ask_route(struct ebb *self, const struct ebb_params *p, u64 now)
{
    u64 packets = ebb_train_packets(self, p, ROUTE_TRAIN_US, ROUTE_TRAIN_LEAST, ROUTE_TRAIN_MOST);
    ebb_ask(self, p, ROUTE, packets, now, self->path.queue_us);
    self->floor.steady_least_us = U32_MAX;
    self->floor.steady_most_us = 0;
}

/* Answers the question of a route train. */
INLINE void ebb_on_route_train(struct ebb *self, const struct ebb_params *p, const struct ebb_burst *burst, u64 now)
{
    if (!ebb_burst_is_new_base(burst, ebb_packet_us(self)))
        return;
    ebb_path_rebase(&self->path, burst->late_rtt_us);
    ebb_come_back(self, p, now);
}

/* Takes in a sample at the floor. */
INLINE void ebb_wait(struct ebb *self, const struct ebb_params *p, const struct ebb_ack *ack)
{
    self->cwnd = YIELD_PACKETS * p->mss;
    if (!ebb_round_counts(&self->round, ack->sent_at) || ebb_burst_is_on(&self->burst))
        return;
    u64 packet_us = ebb_packet_us(self), noise = ebb_noise_us(self);
    bool is_high = self->path.queue_us > ebb_params_high(p, packet_us, noise);
    if (ebb_floor_is_calm(&self->floor, ack->now, is_high)) {
        ebb_come_back(self, p, ack->now);
        return;
    }
    u64 within = max_u64(STEADY_WITHIN_US, 2 * packet_us) + 4 * noise;
    u64 steady = ebb_floor_steady_for(&self->floor, ack->now, ack->rtt_us, within);
    bool is_due = steady >= max_u64(STEADY_US, STEADY_ROUNDS * (u64)self->rtt_us);
    if (is_high && is_due && ebb_params_has(p, TRAIN))
        ebb_ask_route(self, p, ack->now);
}

#endif
