/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A rule under test: events in, columns out, all u64. The columns are those of afteryou-cc's vectors, then the saved state, then
 * whether a loss counted.
 */
#ifndef AFTERYOU_RUNS_H
#define AFTERYOU_RUNS_H

#include "fledbat.h"
#include "ledbat.h"
#include "ledbatpp.h"

/* KEEP saves the state, LOWER lowers the saved one by flightsize bytes, and UNDO returns to it. */
enum kind { ACK, LOSS, TIMEOUT, IDLE, MTU, WAKE, KEEP, LOWER, UNDO };

/* Numbers of an event at most. Those of the LEDBAT family: kind, now, sent_at, smoothed_rtt, delivered, flightsize, delay_us, flags. */
#define EVENT 11
/* Parameters of a rule at most; not fewer than the numbers of an event. */
#define PARAMS 19
/* Columns of a rule at most. */
#define COLUMNS 64

struct columns {
    u64 numbers[COLUMNS];
    u64 count;
};

INLINE void put(struct columns *self, u64 number)
{
    if (self->count < COLUMNS)
        self->numbers[self->count++] = number;
}

INLINE void put_samples(struct columns *self, const struct delay *delay)
{
    put(self, delay->sampled_at);
    UNROLL
    for (u32 i = 0; i < MINUTES; i++)
        put(self, delay->since[i]);
    UNROLL
    for (u32 i = 0; i < SAMPLES; i++)
        put(self, delay->samples[i]);
}

INLINE void put_gaps(struct columns *self, const struct delay *delay)
{
    UNROLL
    for (u32 i = 0; i < SAMPLES - 1; i++)
        put(self, delay->gaps[i]);
}

INLINE void put_counts(struct columns *self, const struct delay *delay)
{
    put(self, delay->count);
    put(self, delay->is_known);
}

INLINE void put_delay(struct columns *self, const struct delay *delay)
{
    put_samples(self, delay);
    put_gaps(self, delay);
    put_counts(self, delay);
}

INLINE struct ack_event ack_of(const u64 *event)
{
    return (struct ack_event){
        .now = event[1],
        .sent_at = event[2],
        .smoothed_rtt = event[3],
        .delivered = event[4],
        .flightsize = event[5],
        .delay_us = event[6],
        .flags = event[7],
    };
}

struct ledbat_run {
    struct ledbat_params p;
    struct ledbat state;
    struct before before;
};

INLINE void ledbat_begin(struct ledbat_run *run, const u64 *params)
{
    __builtin_memset(run, 0, sizeof *run);
    run->p = (struct ledbat_params){
        .target_us = params[0],
        .gain16 = params[1],
        .decrease_gain16 = params[2],
        .allowed_increase = params[3],
        .tether = params[4],
        .init_cwnd = params[5],
        .min_cwnd = params[6],
        .mss = params[7],
        .kept = { .minutes = params[8], .samples = params[9] },
    };
    ledbat_init(&run->state, &run->p);
    run->before = ledbat_before(&run->state);
}

INLINE void ledbat_step(struct ledbat_run *run, const u64 *event, struct columns *columns)
{
    struct ledbat *state = &run->state;
    struct ack_event ack = ack_of(event);
    bool counts = 0;
    switch (event[0]) {
    case ACK: ledbat_on_ack(state, &run->p, &ack); break;
    case LOSS: counts = ledbat_on_loss(state, &run->p, ack.sent_at, ack.now); break;
    case TIMEOUT: ledbat_on_timeout(state, &run->p, ack.now); break;
    case IDLE: ledbat_on_idle(state, &run->p); break;
    case MTU: run->p.mss = ack.delivered; ledbat_on_mtu(state, &run->p); break;
    case KEEP: run->before = ledbat_before(state); break;
    case LOWER: before_lower(&run->before, bytes16_from_bytes(ack.flightsize)); break;
    case UNDO: ledbat_undo(state, &run->before); break;
    }
    columns->count = 0;
    put(columns, state->cwnd);
    put(columns, state->gate);
    put_delay(columns, &state->delay);
    put(columns, state->window_use.round);
    put(columns, state->window_use.previous);
    put(columns, run->before.cwnd);
    put(columns, run->before.gate);
    put(columns, counts);
}

struct fledbat_run {
    struct fledbat_params p;
    struct fledbat state;
    struct before before;
};

INLINE void fledbat_begin(struct fledbat_run *run, const u64 *params)
{
    __builtin_memset(run, 0, sizeof *run);
    run->p = (struct fledbat_params){
        .target_us = params[0],
        .alpha16 = params[1],
        .zeta16 = params[2],
        .init_cwnd = params[3],
        .min_cwnd = params[4],
        .mss = params[5],
        .kept = { .minutes = params[6], .samples = params[7] },
    };
    fledbat_init(&run->state, &run->p);
    run->before = fledbat_before(&run->state);
}

INLINE void fledbat_step(struct fledbat_run *run, const u64 *event, struct columns *columns)
{
    struct fledbat *state = &run->state;
    struct ack_event ack = ack_of(event);
    bool counts = 0;
    switch (event[0]) {
    case ACK: fledbat_on_ack(state, &run->p, &ack); break;
    case LOSS: counts = fledbat_on_loss(state, &run->p, ack.sent_at, ack.now); break;
    case TIMEOUT: fledbat_on_timeout(state, &run->p, ack.now); break;
    case IDLE: fledbat_on_idle(state); break;
    case MTU: run->p.mss = ack.delivered; fledbat_on_mtu(state, &run->p); break;
    case KEEP: run->before = fledbat_before(state); break;
    case LOWER: before_lower(&run->before, bytes16_from_bytes(ack.flightsize)); break;
    case UNDO: fledbat_undo(state, &run->before); break;
    }
    columns->count = 0;
    put(columns, state->cwnd);
    put(columns, state->gate);
    put_delay(columns, &state->delay);
    put(columns, run->before.cwnd);
    put(columns, run->before.gate);
    put(columns, counts);
}

struct ledbatpp_run {
    struct ledbatpp_params p;
    struct ledbatpp state;
    struct ledbatpp_before before;
};

INLINE void ledbatpp_begin(struct ledbatpp_run *run, const u64 *params)
{
    __builtin_memset(run, 0, sizeof *run);
    run->p = (struct ledbatpp_params){
        .target_us = params[0],
        .divisor_max = params[1],
        .constant16 = params[2],
        .exit_us = params[3],
        .mss = params[4],
        .kept = { .minutes = params[5], .samples = params[6] },
        .slowdowns = params[7],
    };
    ledbatpp_init(&run->state, &run->p);
    run->before = ledbatpp_before(&run->state);
}

INLINE void put_ledbatpp(struct columns *columns, const struct ledbatpp *state)
{
    put(columns, state->cwnd);
    put(columns, state->ssthresh);
    put(columns, state->round_cwnd);
    put(columns, state->round_left);
    put(columns, state->gate);
    put(columns, state->smoothed_rtt);
    put(columns, state->began);
    put(columns, state->due);
    put(columns, state->phase);
    put(columns, state->slowdowns);
    put_samples(columns, &state->delay);
    put_counts(columns, &state->delay);
}

INLINE void ledbatpp_step(struct ledbatpp_run *run, const u64 *event, struct columns *columns)
{
    struct ledbatpp *state = &run->state;
    struct ledbatpp_before *before = &run->before;
    struct ack_event ack = ack_of(event);
    bool counts = 0;
    switch (event[0]) {
    case ACK: ledbatpp_on_ack(state, &run->p, &ack); break;
    case LOSS: counts = ledbatpp_on_loss(state, &run->p, ack.sent_at, ack.now); break;
    case TIMEOUT: ledbatpp_on_timeout(state, &run->p, ack.now, ack.flightsize, ack.flags); break;
    case IDLE: ledbatpp_on_idle(state, &run->p); break;
    case MTU: run->p.mss = ack.delivered; ledbatpp_on_mtu(state, &run->p); break;
    case WAKE: ledbatpp_run_slowdown(state, &run->p, ack.now); break;
    case KEEP: *before = ledbatpp_before(state); break;
    case LOWER: ledbatpp_before_lower(before, bytes16_from_bytes(ack.flightsize)); break;
    case UNDO: ledbatpp_undo(state, before); break;
    }
    columns->count = 0;
    put_ledbatpp(columns, state);
    put(columns, before->cwnd);
    put(columns, before->ssthresh);
    put(columns, before->gate);
    put(columns, before->began);
    put(columns, before->due);
    put(columns, before->phase);
    put(columns, before->slowdowns);
    put(columns, counts);
}

#endif
