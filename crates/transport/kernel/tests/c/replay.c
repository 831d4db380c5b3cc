/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Applies events to a rule and writes the state after each: `replay RULE <events >states`.
 *
 * Input: the rule's parameters, then events, all u64 of this machine: kind, now, sent_at, smoothed_rtt, delivered, flightsize,
 * delay_us, flags. Output after each event: u64 as the columns of afteryou-cc's vectors, then the saved state, then whether a
 * loss counted.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fledbat.h"
#include "ledbat.h"
#include "ledbatpp.h"

/* KEEP saves the state, LOWER lowers the saved one by flightsize bytes, and UNDO returns to it. */
enum kind { ACK, LOSS, TIMEOUT, IDLE, MTU, WAKE, KEEP, LOWER, UNDO };

static void put(u64 number)
{
    if (fwrite(&number, sizeof number, 1, stdout) != 1)
        exit(2);
}

/* Reads a number, or returns 0 at the end of the input. */
static bool get(u64 *number) { return fread(number, sizeof *number, 1, stdin) == 1; }

static u64 param(void)
{
    u64 number;
    if (!get(&number))
        exit(2);
    return number;
}

static struct kept kept(void)
{
    u32 minutes = param();
    return (struct kept){ .minutes = minutes, .samples = param() };
}

static bool next(u64 *kind, struct ack_event *ack)
{
    u64 delay_us, flags;
    bool is_whole = get(kind) && get(&ack->now) && get(&ack->sent_at) && get(&ack->smoothed_rtt) && get(&ack->delivered) &&
                    get(&ack->flightsize) && get(&delay_us) && get(&flags);
    if (is_whole) {
        ack->delay_us = delay_us;
        ack->flags = flags;
    }
    return is_whole;
}

static void put_samples(const struct delay *delay)
{
    put(delay->sampled_at);
    for (int i = 0; i < MINUTES; i++)
        put(delay->since[i]);
    for (int i = 0; i < SAMPLES; i++)
        put(delay->samples[i]);
}

static void put_gaps(const struct delay *delay)
{
    for (int i = 0; i < SAMPLES - 1; i++)
        put(delay->gaps[i]);
}

static void put_counts(const struct delay *delay)
{
    put(delay->count);
    put(delay->is_known);
}

static void run_ledbat(void)
{
    struct ledbat_params p = { .target_us = param() };
    p.gain16 = param();
    p.decrease_gain16 = param();
    p.allowed_increase = param();
    p.tether = param();
    p.init_cwnd = param();
    p.min_cwnd = param();
    p.mss = param();
    p.kept = kept();
    struct ledbat state = { 0 };
    ledbat_init(&state, &p);
    struct before before = ledbat_before(&state);
    struct ack_event ack;
    for (u64 kind; next(&kind, &ack);) {
        bool counts = 0;
        switch (kind) {
        case ACK: ledbat_on_ack(&state, &p, &ack); break;
        case LOSS: counts = ledbat_on_loss(&state, &p, ack.sent_at, ack.now); break;
        case TIMEOUT: ledbat_on_timeout(&state, &p, ack.now); break;
        case IDLE: ledbat_on_idle(&state, &p); break;
        case MTU: p.mss = ack.delivered; ledbat_on_mtu(&state, &p); break;
        case KEEP: before = ledbat_before(&state); break;
        case LOWER: before_lower(&before, bytes16_from_bytes(ack.flightsize)); break;
        case UNDO: ledbat_undo(&state, &before); break;
        }
        put(state.cwnd);
        put(state.gate);
        put_samples(&state.delay);
        put_gaps(&state.delay);
        put_counts(&state.delay);
        put(state.window_use.round);
        put(state.window_use.previous);
        put(before.cwnd);
        put(before.gate);
        put(counts);
    }
}

static void run_fledbat(void)
{
    struct fledbat_params p = { .target_us = param() };
    p.alpha16 = param();
    p.zeta16 = param();
    p.init_cwnd = param();
    p.min_cwnd = param();
    p.mss = param();
    p.kept = kept();
    struct fledbat state = { 0 };
    fledbat_init(&state, &p);
    struct before before = fledbat_before(&state);
    struct ack_event ack;
    for (u64 kind; next(&kind, &ack);) {
        bool counts = 0;
        switch (kind) {
        case ACK: fledbat_on_ack(&state, &p, &ack); break;
        case LOSS: counts = fledbat_on_loss(&state, &p, ack.sent_at, ack.now); break;
        case TIMEOUT: fledbat_on_timeout(&state, &p, ack.now); break;
        case IDLE: fledbat_on_idle(&state); break;
        case MTU: p.mss = ack.delivered; fledbat_on_mtu(&state, &p); break;
        case KEEP: before = fledbat_before(&state); break;
        case LOWER: before_lower(&before, bytes16_from_bytes(ack.flightsize)); break;
        case UNDO: fledbat_undo(&state, &before); break;
        }
        put(state.cwnd);
        put(state.gate);
        put_samples(&state.delay);
        put_gaps(&state.delay);
        put_counts(&state.delay);
        put(before.cwnd);
        put(before.gate);
        put(counts);
    }
}

static void put_ledbatpp(const struct ledbatpp *state, const struct ledbatpp_before *before)
{
    put(state->cwnd);
    put(state->ssthresh);
    put(state->round_cwnd);
    put(state->round_left);
    put(state->gate);
    put(state->smoothed_rtt);
    put(state->began);
    put(state->due);
    put(state->phase);
    put(state->slowdowns);
    put_samples(&state->delay);
    put_counts(&state->delay);
    put(before->cwnd);
    put(before->ssthresh);
    put(before->gate);
    put(before->began);
    put(before->due);
    put(before->phase);
    put(before->slowdowns);
}

static void run_ledbatpp(void)
{
    struct ledbatpp_params p = { .target_us = param() };
    p.divisor_max = param();
    p.constant16 = param();
    p.exit_us = param();
    p.mss = param();
    p.kept = kept();
    p.slowdowns = param();
    struct ledbatpp state = { 0 };
    ledbatpp_init(&state, &p);
    struct ledbatpp_before before = ledbatpp_before(&state);
    struct ack_event ack;
    for (u64 kind; next(&kind, &ack);) {
        bool counts = 0;
        switch (kind) {
        case ACK: ledbatpp_on_ack(&state, &p, &ack); break;
        case LOSS: counts = ledbatpp_on_loss(&state, &p, ack.sent_at, ack.now); break;
        case TIMEOUT: ledbatpp_on_timeout(&state, &p, ack.now, ack.flightsize, ack.flags); break;
        case IDLE: ledbatpp_on_idle(&state, &p); break;
        case MTU: p.mss = ack.delivered; ledbatpp_on_mtu(&state, &p); break;
        case WAKE: ledbatpp_run_slowdown(&state, &p, ack.now); break;
        case KEEP: before = ledbatpp_before(&state); break;
        case LOWER: ledbatpp_before_lower(&before, bytes16_from_bytes(ack.flightsize)); break;
        case UNDO: ledbatpp_undo(&state, &before); break;
        }
        put_ledbatpp(&state, &before);
        put(counts);
    }
}

int main(int count, char **arguments)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } rules[] = { { "ledbat", run_ledbat }, { "fledbat", run_fledbat }, { "ledbatpp", run_ledbatpp } };

    setvbuf(stdin, NULL, _IOFBF, 1 << 16);
    setvbuf(stdout, NULL, _IOFBF, 1 << 16);
    for (unsigned i = 0; i < sizeof rules / sizeof *rules; i++)
        if (count == 2 && strcmp(arguments[1], rules[i].name) == 0) {
            rules[i].run();
            return 0;
        }
    fprintf(stderr, "usage: replay ledbat|fledbat|ledbatpp <events >states\n");
    return 2;
}
