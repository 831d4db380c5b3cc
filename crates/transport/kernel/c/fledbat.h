/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * fLEDBAT: LEDBAT with a multiplicative decrease, so that latecomers and earlier flows converge. As `fledbat.rs` of afteryou-cc's
 * ledbat_core, line by line.
 *
 * Model
 *   The window always grows, and above the target it also shrinks in proportion to itself:
 *
 *     D = queuing delay - tau
 *     each acknowledged packet:   W += alpha/W                     D <= 0
 *                                 W += alpha/W - (zeta/tau) * D    D > 0
 *     loss:                       W /= 2, once per round trip
 *
 *   N flows on a link of C packets/s settle at C/N each and a queue of C*tau + N*alpha*tau/(zeta*R) packets.
 *
 * States
 *   Congestion avoidance from the first packet on. After a timeout the window is one packet until the next ack.
 *
 * Constants, all of them parameters
 *   | name          | default          | why                                                                         |
 *   | tau (target)  | 25 ms            | the paper's simulations; 100 ms works as well                               |
 *   | alpha         | 1 packet per RTT | as fast as Reno at most                                                     |
 *   | zeta          | 0.1              | 0.01 to 0.5 serve for 2 to 10 flows; below 0.001 it no longer yields        |
 *   | initial window, floor | 2 packets | the paper is silent: 1 is enough where acks are not delayed                |
 *   | base history  | 10 minutes       | as RFC 6817                                                                 |
 *   | current filter | minimum of 4    | as RFC 6817                                                                 |
 *
 * Source
 *   Carofiglio, Muscariello, Rossi, Testa and Valenti, "Rethinking the low extra delay background transport (LEDBAT) protocol",
 *   Computer Networks 57(8), 2013, eq. 5. A loss that proves to be none is undone by RFC 4015 section 3.2.
 *
 * Not implemented
 *   Slow start. Corrections of clocks and of changed routes. Reset of the window when a peer changes.
 *
 * Known bad cases
 *   A buffer smaller than the equilibrium queue makes it loss-controlled. The feedback loop is weakly damped. Growth from the
 *   start is one packet per round trip: 100 s at 250 ms for 20 Mbit/s.
 */
#ifndef AFTERYOU_FLEDBAT_H
#define AFTERYOU_FLEDBAT_H

#include "delay.h"
#include "event.h"

/* Parameters; names that end in 16 have 16 fractional bits. */
struct fledbat_params {
    /* tau, us. */
    u64 target_us;
    /* alpha, packets per round trip. */
    u64 alpha16;
    /* zeta. */
    u64 zeta16;
    /* Initial window, packets. */
    u64 init_cwnd;
    /* Floor, packets. */
    u64 min_cwnd;
    /* Payload of a packet, bytes. */
    u64 mss;
    /* BASE_HISTORY and CURRENT_FILTER. */
    struct kept kept;
};

/* State of an fLEDBAT sender. */
struct fledbat {
    bytes16 cwnd;
    loss_gate gate;
    struct delay delay;
};
_Static_assert(sizeof(struct fledbat) == 96, "the state is as in afteryou-cc");

/* Starts a connection; the state is all zeros before. */
INLINE void fledbat_init(struct fledbat *self, const struct fledbat_params *p)
{
    self->cwnd = bytes16_from_bytes(max_u64(p->init_cwnd, p->min_cwnd) * p->mss);
}

/* Returns the window's floor. */
INLINE bytes16 fledbat_floor(const struct fledbat_params *p) { return bytes16_from_bytes(p->min_cwnd * p->mss); }

/* Halves once per round trip. Returns whether the loss of a packet sent at `sent_at` ns counts. */
INLINE bool fledbat_on_loss(struct fledbat *self, const struct fledbat_params *p, u64 sent_at, u64 now)
{
    return halve_once(&self->gate, &self->cwnd, fledbat_floor(p), sent_at, now);
}

/* Moves the window by eq. 5: +alpha * MSS * acked / W, and above the target -zeta * acked * D / tau. */
INLINE void fledbat_steer(struct fledbat *self, const struct fledbat_params *p, const struct ack_event *ack, u64 queuing_us)
{
    bytes16 acked = bytes16_from_bytes(ack->delivered);
    if (!ack_has(ack, APP_LIMITED)) {
        /* One ack for more than a window, as after a needless timeout, counts no more than one for a window. */
        bytes16 increase = bytes16_times(min_u64(acked, self->cwnd), p->mss << 16, self->cwnd);
        self->cwnd = bytes16_plus(self->cwnd, bytes16_times(increase, p->alpha16, ONE16));
    }
    u64 excess_us = saturating_sub(queuing_us, p->target_us);
    bytes16 decrease = bytes16_times(bytes16_times(acked, excess_us, p->target_us), p->zeta16, ONE16);
    self->cwnd = bytes16_minus(self->cwnd, decrease);
}

/* Applies an ack. */
INLINE void fledbat_on_ack(struct fledbat *self, const struct fledbat_params *p, const struct ack_event *ack)
{
    if (ack_has(ack, HAS_DELAY))
        delay_take(&self->delay, &p->kept, ack->now, ack->delay_us);
    u32 queuing_us = 0;
    bool is_fresh = delay_queuing_us(&self->delay, &p->kept, ack->now, max_age(ack->smoothed_rtt), &queuing_us);
    /* RFC 6817 section 1.3: a mark is a loss. */
    if (ack_has(ack, MARKED) && fledbat_on_loss(self, p, ack->sent_at, ack->now))
        return;
    if (is_fresh)
        fledbat_steer(self, p, ack, queuing_us);
    self->cwnd = max_u64(self->cwnd, fledbat_floor(p));
}

/* Shrinks the window to one packet (RFC 6817 section 2.4.2). */
INLINE void fledbat_on_timeout(struct fledbat *self, const struct fledbat_params *p, u64 now)
{
    self->cwnd = bytes16_from_bytes(p->mss);
    loss_gate_close(&self->gate, now);
}

/* Returns the state that a loss or a timeout is about to change. */
INLINE struct before fledbat_before(const struct fledbat *self)
{
    return (struct before){ .cwnd = self->cwnd, .gate = self->gate };
}

/* Takes back a reduction whose loss or timeout was none. */
INLINE void fledbat_undo(struct fledbat *self, const struct before *before)
{
    before_restore(before, &self->cwnd, &self->gate);
}

/* Forgets the present delay: sending starts again after more than a timeout with nothing in flight. */
INLINE void fledbat_on_idle(struct fledbat *self) { delay_forget_present(&self->delay); }

/* Adapts the window to a payload of p->mss. */
INLINE void fledbat_on_mtu(struct fledbat *self, const struct fledbat_params *p)
{
    self->cwnd = max_u64(self->cwnd, fledbat_floor(p));
}

#endif
