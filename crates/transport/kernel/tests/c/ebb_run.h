/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Ebb under test: events in, columns out, all u64. The columns are those of afteryou-cc's vectors, then window without a train, rate and
 * the pause within a pair.
 */
#ifndef AFTERYOU_EBB_RUN_H
#define AFTERYOU_EBB_RUN_H

#include "ebb.h"
#include "runs.h"

enum ebb_kind { EBB_SENT, EBB_ACK, EBB_LOSS, EBB_TIMEOUT, EBB_IDLE, EBB_MTU };

struct ebb_run {
    struct ebb_params p;
    struct ebb state;
    u64 initial_packets;
};

/* Parameters: the payload of a packet, the initial window in packets, then the others; if all of those are zero, the defaults. */
INLINE void ebb_begin(struct ebb_run *run, const u64 *params)
{
    __builtin_memset(run, 0, sizeof *run);
    run->p = (struct ebb_params){
        .mss = params[0],
        .target_us = params[2],
        .target_packets = params[3],
        .own = params[4],
        .ceiling_us = params[5],
        .ceiling_packets = params[6],
        .slack = params[7],
        .gain = params[8],
        .obey = params[9],
        .patience = params[10],
        .switches = params[11],
        .floor = params[12],
        .hold_us = params[13],
        .hold_most_us = params[14],
        .again_us = params[15],
        .low = params[16],
        .lossy = params[17],
        .growth = params[18],
    };
    if (params[2] == 0)
        run->p = ebb_defaults(params[0]);
    run->initial_packets = params[1];
    ebb_init(&run->state, ebb_initial_window(&run->p, run->initial_packets));
}

INLINE struct ebb_ack ebb_ack_of(const u64 *event)
{
    return (struct ebb_ack){
        .now = event[1],
        .sent_at = event[2],
        .number = event[3],
        .delivered = event[4],
        .in_flight = event[5],
        .rate = event[6],
        .rtt_us = event[7],
        .smoothed_us = event[8],
        .reverse_us = event[9],
        .flags = event[10],
    };
}

INLINE void put_ebb(struct columns *columns, const struct ebb *state, const struct ebb_params *p)
{
    struct ebb_spread spread = ebb_spread(state, p);
    u64 base_us = ebb_path_base_us(&state->path);
    columns->count = 0;
    put(columns, ebb_window(state, p));
    put(columns, spread.rate);
    put(columns, spread.every_us);
    put(columns, state->phase);
    put(columns, base_us);
    put(columns, base_us ? state->path.queue_us : 0);
    put(columns, base_us ? ebb_target_us(state, p) : 0);
    put(columns, ebb_capacity_get(&state->capacity));
    put(columns, ebb_noise_us(state));
    put(columns, state->cwnd);
    put(columns, state->rate);
    put(columns, spread.apart_us);
}

INLINE void ebb_step(struct ebb_run *run, const u64 *event, struct columns *columns)
{
    struct ebb *state = &run->state;
    struct ebb_ack ack = ebb_ack_of(event);
    switch (event[0]) {
    case EBB_SENT: ebb_on_sent(state, ack.number); break;
    case EBB_ACK: ebb_on_ack(state, &run->p, &ack); break;
    case EBB_LOSS: ebb_on_loss(state, &run->p, ack.now, ack.sent_at); break;
    case EBB_TIMEOUT: ebb_on_timeout(state, &run->p, ack.now); break;
    case EBB_IDLE: ebb_on_idle(state, ack.now, ebb_initial_window(&run->p, run->initial_packets)); break;
    case EBB_MTU: run->p.mss = ack.delivered; ebb_on_mtu(state, &run->p); break;
    }
    put_ebb(columns, state, &run->p);
}

#endif
