/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A job: connections of ebb that together use no more than one of them would. As `group.rs` of afteryou-cc in effect, not line by line:
 * each connection keeps a rule of its own.
 *
 *   members             those that had more to send in this period or the one before
 *   own packets in the queue, per member     = those of one connection / members
 *   pause between pairs at the floor         = that of one connection * members
 *   samples at the floor                     count for all: two in a row without a queue may be of two members
 *   one has come back                        those that are at the floor come back with their next pair
 *   a quarter has gone to the floor          the others follow with their next ack
 *
 * The first makes shares equal: the target of a connection is the one that a single connection with the rate of all would have.
 *
 * Constants
 *   A period is 4 s: longer than the pause between pairs of 32 members at 20 Mbit/s.
 *   A return is an example for 4 s, unless a member has gone to the floor since.
 *
 * Source
 *   Weighted shares by a scaled aggressiveness are MulTCP's (Crowcroft and Oechslin 1998, section 2), here with a weight below one. What is
 *   scaled is ours.
 *
 * Not implemented
 *   One window for all: members ramp side by side, so a job of many begins with many first windows. Jobs over different paths: a member's
 *   queue keeps others at the floor, though it may not be theirs.
 *
 * Known bad cases
 *   Members that have ended count for up to two periods: the rest keeps a shorter queue until then.
 */
#ifndef AFTERYOU_JOB_H
#define AFTERYOU_JOB_H

#include "ebb.h"
#include "settings.h"

#define PERIOD_US 4000000
#define EXAMPLE_US 4000000
/* All go to the floor with this many, and with one in so many. */
#define YIELDS_LEAST 2
#define YIELDS_PART 4
/* Longest pause between pairs, us: a program's peer waits for tens of seconds at least. */
#define PAUSE_MOST_US 4000000

/* What members share. */
static struct {
    /* Number of the period, and members that had more to send in it and in the one before. */
    u64 period;
    u32 now;
    u32 before;
    /* As in ebb_floor. */
    u64 calm_since;
    u64 calm_samples;
    /* When a member has come back last, and gone to the floor last. */
    u64 returned_at;
    u64 yielded_at;
    /* Members that have gone to the floor since. */
    u64 yields;
} job;

/* What a member keeps beside the rule. */
struct ebb_member {
    /* The period in which it was last counted. */
    u64 period;
    /* When it went to the floor. */
    u64 yielded_at;
    /* Its rule's phase after the latest ack. */
    u64 phase;
};

/* Begins a period if it is time. Of several processors one does. */
KERNEL_INLINE u64 job_period(u64 now)
{
    u64 period = now / PERIOD_US + 1, known = job.period;
    if (known < period && __sync_val_compare_and_swap(&job.period, known, period) == known) {
        job.before = known + 1 == period ? job.now : 0;
        job.now = 0;
    }
    return period;
}

/* Returns the number of members, and counts this one if it has more to send. */
KERNEL_INLINE u64 job_members(struct ebb_member *self, u64 now, bool wants_more)
{
    if (!settings.is_job)
        return 1;
    u64 period = job_period(now);
    if (wants_more && self->period != period) {
        self->period = period;
        __sync_fetch_and_add(&job.now, 1);
    }
    return max_u64(max_u64(job.now, job.before), 1);
}

/* Gives the rule what other members know, before an ack. */
KERNEL_INLINE void job_tell(const struct ebb_member *self, struct ebb *state, const struct ebb_params *p, u64 now, u64 members)
{
    if (!settings.is_job)
        return;
    if (state->phase != EBB_YIELD) {
        bool is_newer = job.yielded_at > state->floor.returned_at;
        if (is_newer && job.yields >= YIELDS_LEAST && job.yields * YIELDS_PART >= members)
            ebb_begin_yield(state, p, now);
        return;
    }
    bool is_example = job.returned_at > self->yielded_at && job.returned_at > job.yielded_at;
    if (is_example && saturating_sub(now, job.returned_at) < EXAMPLE_US) {
        ebb_come_back(state, p, now);
        return;
    }
    state->floor.calm_since = job.calm_since;
    state->floor.calm_samples = job.calm_samples;
}

/* Takes what the rule has found out by an ack. */
KERNEL_INLINE void job_hear(struct ebb_member *self, const struct ebb *state, u64 now)
{
    if (!settings.is_job)
        return;
    u64 before = self->phase;
    self->phase = state->phase;
    if (state->phase == EBB_YIELD) {
        job.calm_since = state->floor.calm_since;
        job.calm_samples = state->floor.calm_samples;
        if (before != EBB_YIELD) {
            self->yielded_at = now;
            job.yielded_at = now;
            __sync_fetch_and_add(&job.yields, 1);
        }
    } else if (before == EBB_YIELD) {
        job.returned_at = now;
        job.yields = 0;
    }
}

/* Returns how a member spreads its packets. */
KERNEL_INLINE struct ebb_spread job_spread(const struct ebb *state, const struct ebb_params *p)
{
    struct ebb_spread spread = ebb_spread(state, p);
    u64 members = settings.is_job ? max_u64(max_u64(job.now, job.before), 1) : 1;
    u64 longest = max_u64(spread.every_us, PAUSE_MOST_US);
    spread.every_us = min_u64(spread.every_us * members, longest);
    return spread;
}

#endif
