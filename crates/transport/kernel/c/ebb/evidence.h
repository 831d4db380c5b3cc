/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Congested events, and reductions that the queue did not obey: how many of them in a row lead to the floor. As `evidence.rs` of afteryou-cc's
 * ebb_core.
 */
#ifndef AFTERYOU_EBB_EVIDENCE_H
#define AFTERYOU_EBB_EVIDENCE_H

#include "ebb/units.h"

/* Events further apart than this have nothing to do with each other, us and round trips. */
#define APART_US 6000000
#define APART_ROUNDS 20
/* Events that lead to the floor, one fewer if the rate is below the link's already. */
#define EVENTS 3

/* Signs of others in the queue. */
struct ebb_evidence {
    /* The last one. What left before then is part of it. */
    u64 last;
    /* Events close to each other. */
    u32 events;
    /* Reductions that the queue did not obey. */
    u32 strikes;
};

/* Takes in an event. Returns whether it is one too many. */
INLINE bool ebb_evidence_add(struct ebb_evidence *self, u64 now, u64 rtt_us, bool is_below_capacity)
{
    u64 apart = max_u64(APART_US, APART_ROUNDS * rtt_us);
    self->events = saturating_sub(now, self->last) > apart ? 1 : self->events + 1;
    self->last = now;
    return self->events >= (is_below_capacity ? EVENTS - 1 : EVENTS);
}

/* Forgets the events: the rule has acted. */
INLINE void ebb_evidence_clear(struct ebb_evidence *self) { self->events = 0; }

#endif
