/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Ebb: almost no queue of one's own; ask whether a longer one obeys, and wait at a floor if it does not. As `mod.rs` of afteryou-cc's
 * ebb_core, line by line.
 *
 * Model, states, constants, source
 *   Those of `ebb.rs` of afteryou-cc, which docs/ebb.md specifies.
 *
 *   q = RTT - B - (R - R0)                 B: least RTT; R: one-way delay of the ack, R0: its least
 *   round, q > T + slack:   W = rate * (B + T)          obeyed: q falls below 0.7 of what it was; the third time not: yield
 *   round, otherwise:       W += W * g * (T - q) / (B + q)
 *
 *   ramp --queue, losses, mark--> cruise --third reduction in vain; congested events; fair queue--> yield
 *    ^-------timeout, idle----------'                                                                 |
 *    ^-------queue gone and hold over; train that meets nobody----------------------------------------'
 *
 * Not implemented, known bad cases
 *   Those of `ebb.rs`.
 */
#ifndef AFTERYOU_EBB_H
#define AFTERYOU_EBB_H

#include "ebb/wait.h"

/*
 * Time between the packets of a pair, us. The second one would wait for the first, which on a link that has become slow looks like a queue.
 * A receiver waits longer before it acknowledges a lone packet.
 */
#define PAIR_APART_US 20000
/* For that long after a sample without waiting, samples that may have waited do not count, us. */
#define PROMPT_US 1000000
#define PROMPT_ROUNDS 4

/* How packets are spread: a rate, bytes per second, or pairs of packets, us apart. All zero: there is no round-trip time yet. */
struct ebb_spread {
    u64 rate;
    u64 every_us;
    u64 apart_us;
};

/* Starts a connection with that many bytes for a window; the state is all zeros before. */
INLINE void ebb_init(struct ebb *self, u64 window)
{
    self->cwnd = window;
    self->path.base_us = U32_MAX;
    self->together.least_us = U32_MAX;
    self->cap.us = CAP_GONE_US;
    self->packet_us = U32_MAX;
    ebb_round_after_reduction(&self->round, 0);
    ebb_burst_none(&self->burst);
}

/* Returns the window of that many packets at the start and after idle times: two are the least that it ever has. */
INLINE u64 ebb_initial_window(const struct ebb_params *p, u64 packets) { return max_u64(packets, 2) * p->mss; }

INLINE void ebb_measure_rate(struct ebb *self, const struct ebb_ack *ack)
{
    if (ebb_ack_has(ack, APP_LIMITED) && ack->rate < self->rate)
        return; /* the path would have carried more */
    if (ack->rate > 0) {
        self->rate = ebb_together_rate(&self->together, min_u64(ack->rate, MAX_RATE));
        self->has_rates = 1;
    } else if (self->has_rates == 0) {
        /* A transport without delivery rates: counted ones, which are later. */
        self->rate = min_u64(ebb_recent_rate(&self->recent, ack->now), MAX_RATE);
    }
}

/* Returns whether the ack's delays may be those of a receiver that waits, and there are better ones. */
INLINE bool ebb_may_mislead(struct ebb *self, const struct ebb_ack *ack)
{
    bool may_have_waited = ebb_ack_has(ack, MAY_HAVE_WAITED);
    if (!may_have_waited)
        self->prompt_until = saturating_add(ack->now, max_u64(PROMPT_US, PROMPT_ROUNDS * (u64)self->rtt_us));
    return may_have_waited && ack->now < self->prompt_until;
}

/* Answers the question of a train whose last packet has arrived. */
INLINE void ebb_on_train(struct ebb *self, const struct ebb_params *p, u64 now)
{
    struct ebb_burst burst = self->burst;
    ebb_burst_none(&self->burst);
    if (burst.question == ROUTE)
        ebb_on_route_train(self, p, &burst, now);
    else if (burst.question == SHARE)
        ebb_on_share_train(self, p, &burst, now);
}

/* Takes in the samples of an ack. Returns whether its delay is a sample. */
CHECKED_ALONE bool ebb_measure(struct ebb *self, const struct ebb_params *p, const struct ebb_ack *ack)
{
    if (!self || !p || !ack)
        return 0;
    bool is_first = ebb_together_ack(&self->together, ack->now, ebb_packet_us(self));
    ebb_measure_rate(self, ack);
    if (!ebb_ack_has(ack, HAS_RTT) || ebb_may_mislead(self, ack))
        return 0;
    bool is_yield = self->phase == EBB_YIELD;
    if (!is_yield && is_first)
        ebb_noise_update(&self->noise, self->path.queue_us);
    const u32 *reverse_us = ebb_ack_has(ack, HAS_REVERSE) ? &ack->reverse_us : 0;
    u64 queue_us = ebb_path_measure(&self->path, ack->now, ack->rtt_us, reverse_us, !is_yield);
    self->path.queue_us = ebb_together_queue(&self->together, queue_us);
    self->longer_us = max_u64(ack->rtt_us, ack->smoothed_us);
    u32 shorter_us = ack->smoothed_us == 0 ? ack->rtt_us : min_u64(ack->rtt_us, ack->smoothed_us);
    self->rtt_us = max_u64(shorter_us, 1);
    ebb_round_sample(&self->round, ack->now, ack->sent_at, self->path.queue_us, ack->rtt_us, is_first);
    if (ebb_burst_sample(&self->burst, ack->number, queue_us, ack->rtt_us))
        ebb_on_train(self, p, ack->now);
    else if (ebb_burst_is_late(&self->burst, ack->now))
        ebb_burst_none(&self->burst);
    return 1;
}

/* Reacts to a mark, once a round trip. */
INLINE void ebb_on_mark(struct ebb *self, const struct ebb_params *p, const struct ebb_ack *ack)
{
    if (self->phase == EBB_YIELD || ack->sent_at < self->evidence.last)
        return;
    if (self->phase == EBB_RAMP)
        ebb_leave_ramp(self, p, ack->now, self->cwnd / 2);
    ebb_congested(self, p, ack->now);
}

/* Reacts to an acknowledgement. */
CHECKED_ALONE u64 ebb_on_ack(struct ebb *self, const struct ebb_params *p, const struct ebb_ack *ack)
{
    if (!self || !p || !ack)
        return 0;
    u32 packets = clamp_u64(ack->delivered / p->mss, 1, U32_MAX);
    ebb_round_delivered(&self->round, packets, ebb_ack_has(ack, APP_LIMITED));
    ebb_losses_delivered(&self->losses, packets);
    ebb_recent_delivered(&self->recent, ack->now, ack->delivered, packets, self->rtt_us);
    self->now = ack->now;
    bool is_measured = ebb_measure(self, p, ack);
    if (ebb_ack_has(ack, MARKED))
        ebb_on_mark(self, p, ack);
    if (self->phase == EBB_RAMP)
        ebb_ramp(self, p, ack);
    else if (self->phase == EBB_CRUISE)
        ebb_cruise(self, p, ack);
    else if (is_measured)
        ebb_wait(self, p, ack);
    return self->cwnd;
}

/* Takes note of a packet that was sent. Returns whether packets of a train have to leave. */
CHECKED_ALONE bool ebb_on_sent(struct ebb *self, u64 number)
{
    if (!self)
        return 0;
    ebb_burst_sent(&self->burst, number);
    return ebb_burst_leaves(&self->burst);
}

/* Reacts to the loss of a packet that left at `sent_at` us. */
CHECKED_ALONE u64 ebb_on_loss(struct ebb *self, const struct ebb_params *p, u64 now, u64 sent_at)
{
    if (!self || !p)
        return 0;
    ebb_round_lost(&self->round);
    if (self->burst.question == ROUTE)
        ebb_burst_none(&self->burst); /* the buffer may be full, and a full one grows no further */
    bool is_forgiven = sent_at < self->ramp_at;
    bool is_due = !is_forgiven && ebb_losses_lost(&self->losses, now, sent_at);
    if (self->phase == EBB_RAMP)
        ebb_ramp_loss(self, p, now);
    else if (self->phase == EBB_CRUISE && is_due)
        ebb_cruise_loss(self, p, now);
    return self->cwnd;
}

/* Begins a ramp; at the floor only evidence ends the yield, and here is none. */
INLINE void ebb_restart(struct ebb *self, u64 now, u64 window)
{
    ebb_losses_abandon(&self->losses);
    ebb_burst_none(&self->burst);
    self->recent = (struct ebb_recent){ 0 };
    if (self->phase == EBB_YIELD)
        ebb_floor_wait_anew(&self->floor, now);
    else
        ebb_begin_ramp(self, now, window);
}

/* Reacts to a timeout: nothing gets through. */
INLINE void ebb_on_timeout(struct ebb *self, const struct ebb_params *p, u64 now) { ebb_restart(self, now, 2 * p->mss); }

/* Starts anew after an idle time, with a window of `window` bytes at most. */
INLINE void ebb_on_idle(struct ebb *self, u64 now, u64 window)
{
    ebb_restart(self, now, min_u64(window, max_u64(self->cwnd, window / 2)));
}

/* Takes in another size of packets. */
INLINE void ebb_on_mtu(struct ebb *self, const struct ebb_params *p)
{
    self->cwnd = max_u64(self->cwnd, 2 * p->mss);
    self->packet_us = saturated(ebb_capacity_packet_us(&self->capacity, p->mss));
}

/* Returns the window with the packets of a train. */
INLINE u64 ebb_window(const struct ebb *self, const struct ebb_params *p)
{
    if (ebb_burst_leaves(&self->burst))
        return min_u64(self->cwnd + self->burst.packets * p->mss, MAX_WINDOW);
    return self->cwnd;
}

/* Returns how packets are to be spread. */
INLINE struct ebb_spread ebb_spread(const struct ebb *self, const struct ebb_params *p)
{
    struct ebb_spread spread = { 0 };
    if (ebb_burst_leaves(&self->burst)) {
        spread.rate = train_rate(self->burst.question, ebb_capacity_get(&self->capacity));
    } else if (self->phase == EBB_YIELD) {
        spread.every_us = ebb_pairs_every(self, p);
        spread.apart_us = min_u64(PAIR_APART_US, spread.every_us / 2);
    } else if (self->rtt_us > 0) {
        ratio16 gain = self->phase == EBB_RAMP ? RATIO(2, 1) : RATIO(11, 10);
        spread.rate = max_u64(rate_of(part(self->cwnd, gain), self->rtt_us), 1);
    }
    return spread;
}

#endif
