/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Acknowledgements in plain integers, and what the rules do once per round trip. As `mod.rs` of afteryou-cc's ledbat_core, and
 * `loss_gate.rs` beside it.
 */
#ifndef AFTERYOU_EVENT_H
#define AFTERYOU_EVENT_H

#include "fixed.h"

/* Bits of ack_event.flags: there is a delay sample; a round trip begins; the application limits the sender; there is a mark. */
#define HAS_DELAY 1
#define ROUND_START 2
#define APP_LIMITED 4
#define MARKED 8

struct ack_event {
    /* When it arrived, ns. */
    u64 now;
    /* When the newest packet that it acknowledges was sent, ns. */
    u64 sent_at;
    /* Smoothed round-trip time, ns; zero before the first sample. */
    u64 smoothed_rtt;
    /* Bytes that it reports as delivered for the first time. */
    u64 delivered;
    /* Bytes sent and not acknowledged in order before it. */
    u64 flightsize;
    /* Delay sample, us modulo 2^32. */
    u32 delay_us;
    u32 flags;
};

INLINE bool ack_has(const struct ack_event *ack, u32 flag) { return ack->flags & flag; }

/* The earliest time of sending, ns, whose loss counts: one reduction per round trip, as RFC 9002 section 7.3.1 tests it. */
typedef u64 loss_gate;

/* Closes the gate without a loss: a timeout has reduced the window. */
INLINE void loss_gate_close(loss_gate *gate, u64 now) { *gate = saturating_add(now, 1); }

/* Returns whether a loss (or a mark) of a packet sent at `sent_at` counts. If so, the gate closes. */
INLINE bool loss_gate_admit(loss_gate *gate, u64 sent_at, u64 now)
{
    bool counts = sent_at >= *gate;
    if (counts)
        loss_gate_close(gate, now);
    return counts;
}

/* The state of LEDBAT's rule and of fLEDBAT's that a loss changes, kept while the loss may turn out to be none. */
struct before {
    bytes16 cwnd;
    loss_gate gate;
};

/* Notes a decrease by delay since the cut, which is not undone. */
INLINE void before_lower(struct before *self, bytes16 by) { self->cwnd = bytes16_minus(self->cwnd, by); }

/* Restores window and gate after a loss that was none (RFC 4015 section 3.2). Never takes anything away. */
INLINE void before_restore(const struct before *self, bytes16 *cwnd, loss_gate *gate)
{
    if (*cwnd < self->cwnd) {
        *cwnd = self->cwnd;
        *gate = self->gate;
    }
}

/*
 * Halves a window once per round trip, but never lets a small one grow to its floor by it. Returns whether the loss of a packet
 * sent at `sent_at` ns counts.
 */
INLINE bool halve_once(loss_gate *gate, bytes16 *cwnd, bytes16 floor, u64 sent_at, u64 now)
{
    bool counts = loss_gate_admit(gate, sent_at, now);
    if (counts)
        *cwnd = min_u64(*cwnd, max_u64(*cwnd / 2, floor));
    return counts;
}

/* Returns the greatest age of a sample, one round trip (RFC 6817 section 2.5); before there is one, all are young. */
INLINE u64 max_age(u64 smoothed_rtt) { return smoothed_rtt ? smoothed_rtt : U64_MAX; }

#endif
