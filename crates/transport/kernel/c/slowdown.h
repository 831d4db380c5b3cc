/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The slowdown schedule: now and then the window drops to its floor, so that the queue empties and everybody sees the true base
 * delay. As `slowdown.rs` of afteryou-cc. Instants and spans are ns.
 *
 *   wait --now >= due--> freeze (2 RTT at the floor) --> ramp (slow start back) --W >= ssthresh--> wait
 *
 * Source: draft-irtf-iccrg-ledbat-plus-plus-01 section 4.4.
 */
#ifndef AFTERYOU_SLOWDOWN_H
#define AFTERYOU_SLOWDOWN_H

#include "integers.h"

/* Round trips between the end of the initial slow start and the first slowdown. */
#define FIRST_WAIT_RTTS 2
/* Round trips at the floor. */
#define FREEZE_RTTS 2
/* The wait is this many times the slowdown's duration. */
#define WAIT_FACTOR 9
/* Later than every instant in use. */
#define NEVER U64_MAX
/* Round trips are taken to be at least this long, ns: a slowdown of no length would be over and due again indefinitely. */
#define SHORTEST_RTT 1000000ULL

/* Returns when the first slowdown is due after a slow start that was not part of one: two round trips later. */
INLINE u64 first_due(u64 now, u64 rtt)
{
    return saturating_add(now, saturating_mul(max_u64(rtt, SHORTEST_RTT), FIRST_WAIT_RTTS));
}

/* Returns when a slowdown that begins now leaves the floor. */
INLINE u64 thaw(u64 now, u64 rtt)
{
    return saturating_add(now, saturating_mul(max_u64(rtt, SHORTEST_RTT), FREEZE_RTTS));
}

/* Returns when the next slowdown is due after one that began at `began` and ends now. */
INLINE u64 next_due(u64 began, u64 now)
{
    return saturating_add(now, saturating_mul(saturating_sub(now, began), WAIT_FACTOR));
}

#endif
