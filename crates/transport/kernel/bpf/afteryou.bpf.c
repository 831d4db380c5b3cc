/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Ebb, LEDBAT, fLEDBAT and LEDBAT++ as congestion controllers of Linux (struct_ops, kernel 6.10 and newer), and a program that chooses them.
 *
 * Model, states, constants, source
 *   Those of ebb.h, ledbat.h, fledbat.h and ledbatpp.h. The delay is the round-trip time of the newest acknowledged packet, us.
 *
 * Not implemented
 *   One-way delays from TCP timestamps. Pacing by the LEDBAT family: the kernel paces where fq is used. A job
 *   (job.h) of connections of the LEDBAT family.
 *
 * Known bad cases
 *   A loaded reverse path looks like forward queue. A slowdown ends with the first ack after its time, not at its time. Windows are
 *   whole packets.
 */
#include "cover.h"
#include "ebb_controller.h"
#include "fledbat.h"
#include "ledbat.h"
#include "ledbatpp.h"
#include "sender.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

#define KEPT { .minutes = MINUTES, .samples = SAMPLES }

static const struct ledbat_params ledbat_defaults = {
    .target_us = 100000,
    .gain16 = ONE16,
    .decrease_gain16 = ONE16,
    .allowed_increase = 1,
    .tether = 1,
    .init_cwnd = 2,
    .min_cwnd = 2,
    .kept = KEPT,
};

static const struct fledbat_params fledbat_defaults = {
    .target_us = 25000,
    .alpha16 = ONE16,
    .zeta16 = ONE16 / 10 + 1, /* 0.1, rounded */
    .init_cwnd = 2,
    .min_cwnd = 2,
    .kept = KEPT,
};

static const struct ledbatpp_params ledbatpp_defaults = {
    .target_us = 60000,
    .divisor_max = 16,
    .constant16 = ONE16,
    .exit_us = 45000,
    .kept = KEPT,
    .slowdowns = 1,
};

/* What the rules have under different names. */

#define ledbat_saved before
#define fledbat_saved before
#define ledbatpp_saved ledbatpp_before

#define ledbat_saved_lower before_lower
#define fledbat_saved_lower before_lower
#define ledbatpp_saved_lower ledbatpp_before_lower

INLINE bytes16 ledbat_threshold(const struct ledbat *self) { return self->cwnd; }

INLINE bytes16 fledbat_threshold(const struct fledbat *self) { return self->cwnd; }

INLINE bytes16 ledbatpp_threshold(const struct ledbatpp *self)
{
    return ledbatpp_is_slow_start(self) ? self->ssthresh : self->cwnd;
}

INLINE bool ledbat_is_avoiding(const struct ledbat *self) { return 1; }

INLINE bool fledbat_is_avoiding(const struct fledbat *self) { return 1; }

INLINE bool ledbatpp_is_avoiding(const struct ledbatpp *self) { return self->phase == AVOIDANCE; }

INLINE void ledbat_timed_out(struct ledbat *self, const struct ledbat_params *p, u64 now, u64 flightsize, u32 consecutive)
{
    ledbat_on_timeout(self, p, now);
}

INLINE void fledbat_timed_out(struct fledbat *self, const struct fledbat_params *p, u64 now, u64 flightsize, u32 consecutive)
{
    fledbat_on_timeout(self, p, now);
}

#define ledbatpp_timed_out ledbatpp_on_timeout

#define ledbat_was_idle ledbat_on_idle
#define ledbatpp_was_idle ledbatpp_on_idle

INLINE void fledbat_was_idle(struct fledbat *self, const struct fledbat_params *p) { fledbat_on_idle(self); }

#define RULE ledbat
#define KERNEL_NAME "ay_ledbat"
#include "controller.h"

#define RULE fledbat
#define KERNEL_NAME "ay_fledbat"
#include "controller.h"

#define RULE ledbatpp
#define KERNEL_NAME "ay_ledbatpp"
#include "controller.h"
