/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Whether a sender uses its window, judged over round trips: the most that was in flight in this one or the one before. As
 * `window_use.rs` of afteryou-cc.
 *
 * Source: RFC 6817 section 2.4.2 and section 2.5 ("based on flightsize in the previous RTT").
 */
#ifndef AFTERYOU_WINDOW_USE_H
#define AFTERYOU_WINDOW_USE_H

#include "integers.h"

/* The window had no room for another packet: the most that was in flight does not matter. */
#define FULL U32_MAX

struct window_use {
    /* The most in flight in this round trip, bytes (up to 4 GB), or FULL. */
    u32 round;
    /* The same for the one before. */
    u32 previous;
};

/* Takes in an ack that meets `flightsize` bytes in flight, before it changes a window of `cwnd` bytes. */
INLINE void window_use_on_ack(struct window_use *self, u64 flightsize, bool round_start, u64 cwnd, u64 mss)
{
    if (round_start) {
        self->previous = self->round;
        self->round = 0;
    }
    bool is_full = saturating_add(flightsize, mss) > cwnd;
    u32 most = is_full ? FULL : min_u64(flightsize, FULL - 1);
    self->round = max_u64(self->round, most);
}

/* Returns whether the window had room all the time: the application, or the peer's window, is the limit. */
INLINE bool window_use_is_app_limited(const struct window_use *self)
{
    return self->round != FULL && self->previous != FULL;
}

/* Returns the most in flight, bytes, of an application-limited sender. */
INLINE u64 window_use_most_in_flight(const struct window_use *self) { return max_u64(self->round, self->previous); }

#endif
