/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * LEDBAT, RFC 6817: steer the queue to TARGET. As `ledbat.rs` of afteryou-cc's ledbat_core, line by line.
 *
 * Model
 *   The queuing delay is the current delay minus the base delay. Below TARGET the window grows in proportion to the distance
 *   from TARGET, and never faster than Reno's one packet per round trip. Above TARGET it shrinks by the same law:
 *
 *     cwnd += GAIN * (TARGET - queuing_delay) / TARGET * bytes_acked * MSS / cwnd
 *
 * States
 *   Congestion avoidance from the first packet on. A loss halves the window, once per round trip. After a timeout it is one
 *   packet until the next ack, and then MIN_CWND.
 *
 * Constants, all of them parameters
 *   | name             | default       | why                                                                         |
 *   | TARGET           | 100 ms        | the most that section 2.5 allows, and what deployed clients use             |
 *   | GAIN             | 1             | packets per round trip; the most that section 2.5 allows                    |
 *   | decrease gain    | 1             | section 2.5 allows more; equal is the plain reading                         |
 *   | ALLOWED_INCREASE | 1 packet      | section 2.5, SHOULD                                                         |
 *   | tether           | 1             | an application-limited window is bound by this multiple of the flight size  |
 *   | BASE_HISTORY     | 10 minutes    | section 2.5, SHOULD                                                         |
 *   | CURRENT_FILTER   | minimum of 4  | section 2.4.2 leaves the filter open; a minimum ignores delayed acks        |
 *   | INIT_CWND, MIN_CWND | 2 packets  | section 2.5                                                                 |
 *
 * Source
 *   RFC 6817 (December 2012). A loss that proves to be none is undone by RFC 4015 section 3.2.
 *
 * Not implemented
 *   Slow start (optional, section 2.2). Corrections of clocks and of changed routes. Apple's decrease by eighths.
 *
 * Known bad cases
 *   A latecomer that starts on another flow's standing queue measures base + TARGET as its base and starves the first
 *   (section 4.4). If the buffer or an AQM keeps the queue below TARGET, it competes like Reno. Of two targets the larger wins.
 */
#ifndef AFTERYOU_LEDBAT_H
#define AFTERYOU_LEDBAT_H

#include "delay.h"
#include "event.h"
#include "window_use.h"

/* Parameters; names that end in 16 have 16 fractional bits. */
struct ledbat_params {
    /* TARGET, us. */
    u64 target_us;
    /* GAIN, packets per round trip. */
    u64 gain16;
    /* The same above TARGET. */
    u64 decrease_gain16;
    /* ALLOWED_INCREASE, packets. */
    u64 allowed_increase;
    /* The bound of an application-limited window is this multiple of the bytes in flight, at least one. */
    u64 tether;
    /* INIT_CWND, packets. */
    u64 init_cwnd;
    /* MIN_CWND, packets. */
    u64 min_cwnd;
    /* Payload of a packet, bytes. */
    u64 mss;
    /* BASE_HISTORY and CURRENT_FILTER. */
    struct kept kept;
};

/* State of an RFC 6817 sender. Linux keeps 104 bytes for the congestion control of a socket. */
struct ledbat {
    bytes16 cwnd;
    loss_gate gate;
    struct delay delay;
    struct window_use window_use;
};
_Static_assert(sizeof(struct ledbat) == 104, "the state is as in afteryou-cc");

/* Starts a connection; the state is all zeros before. */
INLINE void ledbat_init(struct ledbat *self, const struct ledbat_params *p)
{
    self->cwnd = bytes16_from_bytes(p->init_cwnd * p->mss);
}

/* Returns MIN_CWND. */
INLINE bytes16 ledbat_floor(const struct ledbat_params *p) { return bytes16_from_bytes(p->min_cwnd * p->mss); }

/* Halves the window (section 2.4.2), once per round trip. Returns whether the loss of a packet sent at `sent_at` ns counts. */
INLINE bool ledbat_on_loss(struct ledbat *self, const struct ledbat_params *p, u64 sent_at, u64 now)
{
    return halve_once(&self->gate, &self->cwnd, ledbat_floor(p), sent_at, now);
}

/* Moves the window by section 2.4.2: cwnd += GAIN * off_target * bytes_newly_acked * MSS / cwnd. */
INLINE void ledbat_steer(struct ledbat *self, const struct ledbat_params *p, u64 acked, u64 queuing_us)
{
    bool is_below = queuing_us <= p->target_us;
    /* One ack for more than a window, as after a needless timeout, counts no more than one for a window. */
    u64 counted = is_below ? min_u64(acked, bytes16_to_bytes(self->cwnd)) : acked;
    bytes16 reno_step = bytes16_times(bytes16_from_bytes(counted), p->mss << 16, self->cwnd);
    u64 off_target = is_below ? p->target_us - queuing_us : queuing_us - p->target_us;
    u64 gain16 = is_below ? p->gain16 : p->decrease_gain16;
    bytes16 step = bytes16_times(bytes16_times(reno_step, off_target, p->target_us), gain16, ONE16);
    self->cwnd = is_below ? bytes16_plus(self->cwnd, step) : bytes16_minus(self->cwnd, step);
}

/* Returns max_allowed_cwnd (section 2.4.2): an application-limited window does not run away. */
INLINE bytes16 ledbat_most_allowed(const struct ledbat *self, const struct ledbat_params *p)
{
    u64 tethered = saturating_mul(window_use_most_in_flight(&self->window_use), p->tether);
    return bytes16_from_bytes(saturating_add(tethered, p->allowed_increase * p->mss));
}

/* Applies an ack. */
INLINE void ledbat_on_ack(struct ledbat *self, const struct ledbat_params *p, const struct ack_event *ack)
{
    if (ack_has(ack, HAS_DELAY))
        delay_take(&self->delay, &p->kept, ack->now, ack->delay_us);
    u32 queuing_us = 0;
    bool is_fresh = delay_queuing_us(&self->delay, &p->kept, ack->now, max_age(ack->smoothed_rtt), &queuing_us);
    u64 cwnd = bytes16_to_bytes(self->cwnd);
    window_use_on_ack(&self->window_use, ack->flightsize, ack_has(ack, ROUND_START), cwnd, p->mss);
    /* Section 1.3: a mark is a loss. */
    if (ack_has(ack, MARKED) && ledbat_on_loss(self, p, ack->sent_at, ack->now))
        return;
    if (is_fresh) /* else skip the delay-based step */
        ledbat_steer(self, p, ack->delivered, queuing_us);
    if (window_use_is_app_limited(&self->window_use))
        self->cwnd = min_u64(self->cwnd, ledbat_most_allowed(self, p));
    self->cwnd = max_u64(self->cwnd, ledbat_floor(p));
}

/* Shrinks the window to one packet: no ack came within CTO (section 2.4.2). */
INLINE void ledbat_on_timeout(struct ledbat *self, const struct ledbat_params *p, u64 now)
{
    self->cwnd = bytes16_from_bytes(p->mss);
    loss_gate_close(&self->gate, now);
}

/* Returns the state that a loss or a timeout is about to change. */
INLINE struct before ledbat_before(const struct ledbat *self)
{
    return (struct before){ .cwnd = self->cwnd, .gate = self->gate };
}

/* Takes back a reduction whose loss or timeout was none. */
INLINE void ledbat_undo(struct ledbat *self, const struct before *before)
{
    before_restore(before, &self->cwnd, &self->gate);
}

/* Shrinks the window for a restart after more than a timeout with nothing in flight. The base list is kept (section 2.4.2). */
INLINE void ledbat_on_idle(struct ledbat *self, const struct ledbat_params *p)
{
    bytes16 initial = bytes16_from_bytes(p->init_cwnd * p->mss);
    self->cwnd = max_u64(min_u64(self->cwnd, initial), ledbat_floor(p));
    delay_forget_present(&self->delay);
}

/* Adapts the window to a payload of p->mss. */
INLINE void ledbat_on_mtu(struct ledbat *self, const struct ledbat_params *p)
{
    self->cwnd = max_u64(self->cwnd, ledbat_floor(p));
}

#endif
