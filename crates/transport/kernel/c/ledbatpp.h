/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * LEDBAT++: LEDBAT that is fair to other LEDBAT++ flows and re-measures its base delay regularly. As `ledbatpp.rs` of afteryou-cc's
 * ledbat_core, line by line.
 *
 * Model
 *   Below TARGET the window grows by GAIN <= 1 packets per round trip; GAIN is smaller on shorter paths. Above TARGET it shrinks
 *   in proportion to itself, at most by half in a round trip, so that two flows converge:
 *
 *     q <= TARGET:  W += GAIN
 *     q >  TARGET:  W += max(GAIN - Constant * W * (q/TARGET - 1), -W/2)          never below 2 packets
 *     GAIN = 1 / min(16, ceil(2 * TARGET / base))
 *
 *   From time to time it drops to 2 packets for two round trips and grows back: the queue empties, and every flow can re-measure
 *   the base delay. These slowdowns take at most a tenth of the time. Each ack applies its share of a round's change, with W
 *   frozen at the start of the round. A round counts W bytes at most.
 *
 * States
 *   slow start --q > 3/4 TARGET, W >= ssthresh, or loss--> congestion avoidance --2 RTT later--> freeze (W = 2, 2 RTT)
 *        ^                                               ^   |   ^                              |
 *        |                                               |   |   `--W >= ssthresh, or loss-- ramp <'
 *        |                                               |   `--9 x the slowdown's duration later--> freeze
 *        `--timeout (then called climb), or idle---------'
 *
 * Constants, all of them parameters but for the floor and the schedule
 *   | name               | default      | why                                                                       |
 *   | TARGET             | 60 ms        | section 4.5: above delayed-ack timers, well below what calls notice       |
 *   | GAIN divisor's cap | 16           | section 4.2: tunable; keeps growth alive on very short paths              |
 *   | Constant           | 1            | section 4.3                                                               |
 *   | decrease cap       | W/2 per RTT  | section 4.3                                                               |
 *   | initial window, floor | 2 packets | sections 4.1, 4.3: MUST NOT go below                                      |
 *   | slow-start exit    | 3/4 TARGET   | section 4.1: before the queue reaches the point where it would shrink     |
 *   | freeze, wait       | 2 RTT, 9 x the slowdown | section 4.4, see slowdown.h                                    |
 *   | base history       | 10 minutes   | section 3.3, as RFC 6817                                                  |
 *   | current filter     | minimum of 4 | section 4.5                                                               |
 *
 * Source
 *   draft-irtf-iccrg-ledbat-plus-plus-01. Where it states nothing: the freeze lasts two smoothed round trips as of its entry; a
 *   loss in the ramp ends the slowdown; a loss that proves to be none is undone by RFC 4015 section 3.2.
 *
 * Not implemented
 *   Proxies that break the delay measurement (section 5) are not noticed. The options of others, and the restart rule.
 *
 * Known bad cases
 *   A queue held down by an AQM or a buffer shorter than TARGET: Reno-like, with growth scaled by GAIN. A loaded reverse path
 *   looks like forward queue where round-trip times are the signal. Base delays of more than 300 ms: the ramp overshoots TARGET.
 */
#ifndef AFTERYOU_LEDBATPP_H
#define AFTERYOU_LEDBATPP_H

#include "delay.h"
#include "event.h"
#include "slowdown.h"

/* Initial window and floor, packets (sections 4.1, 4.3). */
#define FLOOR_PACKETS 2

/* Parameters; names that end in 16 have 16 fractional bits. */
struct ledbatpp_params {
    /* TARGET, us. */
    u64 target_us;
    /* Largest divisor of GAIN, at least one. */
    u64 divisor_max;
    /* Constant of the decrease. */
    u64 constant16;
    /* Queuing delay that ends the initial slow start, us. */
    u64 exit_us;
    /* Payload of a packet, bytes. */
    u64 mss;
    /* BASE_HISTORY and CURRENT_FILTER. */
    struct kept kept;
    /* 0: no slowdowns. */
    u32 slowdowns;
};

/* A state of the diagram. */
enum phase {
    /* Initial slow start, or that after idle: ends at the delay exit. */
    SLOW_START,
    /* The climb after a timeout, up to ssthresh. */
    CLIMB,
    /* Congestion avoidance, until the next slowdown is due. */
    AVOIDANCE,
    /* A slowdown at the floor. */
    FREEZE,
    /* The climb from a slowdown back to ssthresh. */
    RAMP,
};

/* The state that a loss or a timeout changes, kept while the loss may turn out to be none. */
struct ledbatpp_before {
    bytes16 cwnd;
    bytes16 ssthresh;
    loss_gate gate;
    u64 began;
    u64 due;
    u32 phase;
    u32 slowdowns;
};

/* State of a LEDBAT++ sender. */
struct ledbatpp {
    bytes16 cwnd;
    /* Slow-start threshold; BYTES16_MAX: none. */
    bytes16 ssthresh;
    /* Window at the start of the round: the rule's W. */
    bytes16 round_cwnd;
    /* Bytes that may still count in this round. */
    bytes16 round_left;
    loss_gate gate;
    /* Smoothed round-trip time, ns. */
    u64 smoothed_rtt;
    /* When the slowdown under way began, ns. */
    u64 began;
    /* When the next slowdown begins, or this one leaves the floor, ns; NEVER: not at all. */
    u64 due;
    /* Samples of any age count, so the gaps are not read: the layout is that of the other rules. */
    struct delay delay;
    /* enum phase */
    u32 phase;
    /* Slowdowns begun. */
    u32 slowdowns;
};

/* Returns the window's floor, two packets. */
INLINE bytes16 ledbatpp_floor(const struct ledbatpp_params *p) { return bytes16_from_bytes(FLOOR_PACKETS * p->mss); }

/* Starts a connection; the state is all zeros before. */
INLINE void ledbatpp_init(struct ledbatpp *self, const struct ledbatpp_params *p)
{
    self->cwnd = self->round_cwnd = self->round_left = ledbatpp_floor(p);
    self->ssthresh = BYTES16_MAX;
    self->due = NEVER;
    self->phase = SLOW_START;
}

/* Returns whether the phase is one of exponential growth. */
INLINE bool ledbatpp_is_slow_start(const struct ledbatpp *self)
{
    return self->phase != AVOIDANCE && self->phase != FREEZE;
}

/* Returns the divisor of section 4.2: 1 / GAIN = min(16, ceil(2 * TARGET / base)). */
INLINE u64 ledbatpp_gain_divisor(const struct ledbatpp *self, const struct ledbatpp_params *p)
{
    u32 measured_us = 0;
    bool is_known = delay_base_us(&self->delay, &p->kept, &measured_us);
    u64 base_us = is_known ? max_u64(measured_us, 1) : 1;
    u64 divisor = (2 * p->target_us + base_us - 1) / base_us;
    return min_u64(max_u64(divisor, 1), p->divisor_max);
}

/* Begins a round: the rule's W is the window now. */
INLINE void ledbatpp_begin_round(struct ledbatpp *self)
{
    self->round_cwnd = self->cwnd;
    self->round_left = self->cwnd;
}

/* Rescales a round within which the window has changed: as much of the new one counts as was left of the old one. */
INLINE void ledbatpp_rescale_round(struct ledbatpp *self)
{
    bytes16 left = bytes16_times(self->round_left, self->cwnd, self->round_cwnd);
    ledbatpp_begin_round(self);
    self->round_left = min_u64(left, self->cwnd);
}

/* Ends slow start, a ramp or a timeout's climb. */
INLINE void ledbatpp_enter_avoidance(struct ledbatpp *self, const struct ledbatpp_params *p, u64 now)
{
    bool was_slowdown = self->phase == FREEZE || self->phase == RAMP;
    self->phase = AVOIDANCE;
    ledbatpp_begin_round(self);
    if (p->slowdowns == 0)
        self->due = NEVER;
    else if (was_slowdown)
        self->due = next_due(self->began, now);
    else
        self->due = first_due(now, self->smoothed_rtt);
}

/* Advances the slowdown if its time has come (section 4.4). */
INLINE void ledbatpp_run_slowdown(struct ledbatpp *self, const struct ledbatpp_params *p, u64 now)
{
    if (now < self->due || self->due == NEVER)
        return;
    if (self->phase == AVOIDANCE) {
        self->ssthresh = self->cwnd;
        self->cwnd = ledbatpp_floor(p);
        self->phase = FREEZE;
        self->began = now;
        self->due = thaw(now, self->smoothed_rtt);
        self->slowdowns += 1;
        return;
    }
    self->phase = RAMP;
    self->due = NEVER;
    if (self->cwnd >= self->ssthresh)
        ledbatpp_enter_avoidance(self, p, now);
}

/* Halves the window for a loss or mark, once per round trip, as standard TCP does (section 1). */
INLINE void ledbatpp_reduce(struct ledbatpp *self, const struct ledbatpp_params *p, u64 now)
{
    if (self->phase == FREEZE) {
        /* The window is at its floor already: the window after the slowdown is halved instead. */
        self->ssthresh = max_u64(self->ssthresh / 2, ledbatpp_floor(p));
        return;
    }
    self->cwnd = min_u64(self->cwnd, max_u64(self->cwnd / 2, ledbatpp_floor(p)));
    self->ssthresh = self->cwnd;
    ledbatpp_rescale_round(self);
    if (self->phase != AVOIDANCE)
        ledbatpp_enter_avoidance(self, p, now);
}

/* Adds GAIN bytes for each acknowledged byte (section 4.1). */
INLINE void ledbatpp_grow_exponentially(struct ledbatpp *self, const struct ledbatpp_params *p,
                                        const struct ack_event *ack, u64 queuing_us)
{
    bool has_delay_exit = self->phase == SLOW_START;
    bool is_over = has_delay_exit && queuing_us > p->exit_us;
    if (!is_over) {
        bytes16 increase = bytes16_from_bytes(ack->delivered) / ledbatpp_gain_divisor(self, p);
        bytes16 grown = bytes16_plus(self->cwnd, increase);
        self->cwnd = min_u64(grown, max_u64(self->cwnd, self->ssthresh));
        is_over = self->cwnd >= self->ssthresh;
    }
    if (is_over)
        ledbatpp_enter_avoidance(self, p, ack->now);
}

/* Returns how many of the `acked` bytes the rule counts: no more than a window in a round. */
INLINE bytes16 ledbatpp_counted(struct ledbatpp *self, u64 acked)
{
    bytes16 counted = min_u64(bytes16_from_bytes(acked), self->round_left);
    self->round_left = bytes16_minus(self->round_left, counted);
    return counted;
}

/* Applies this ack's share of the round's change (sections 4.2, 4.3). */
INLINE void ledbatpp_steer(struct ledbatpp *self, const struct ledbatpp_params *p, const struct ack_event *ack,
                           u64 queuing_us)
{
    bytes16 counted = ledbatpp_counted(self, ack->delivered);
    bytes16 round_cwnd = self->round_cwnd;
    bytes16 increase = bytes16_from_bytes(p->mss) / ledbatpp_gain_divisor(self, p);
    bytes16 decrease = 0;
    if (queuing_us > p->target_us) {
        /* Twice TARGET is past the cap of W/2 already (Constant >= 1/2), and keeps the product small. */
        u64 excess_us = min_u64(queuing_us - p->target_us, 64 * p->target_us);
        decrease = bytes16_times(bytes16_times(round_cwnd, excess_us, p->target_us), p->constant16, ONE16);
    }
    bool is_growth = decrease <= increase;
    bytes16 change = is_growth ? increase - decrease : min_u64(decrease - increase, round_cwnd / 2);
    bytes16 share = bytes16_times(change, counted, round_cwnd);
    if (is_growth) {
        self->cwnd = bytes16_plus(self->cwnd, share);
        return;
    }
    self->cwnd = max_u64(bytes16_minus(self->cwnd, share), ledbatpp_floor(p));
}

/* Applies an ack. */
INLINE void ledbatpp_on_ack(struct ledbatpp *self, const struct ledbatpp_params *p, const struct ack_event *ack)
{
    if (ack_has(ack, HAS_DELAY))
        delay_take(&self->delay, &p->kept, ack->now, ack->delay_us);
    u32 queuing_us = 0;
    bool is_fresh = delay_queuing_us(&self->delay, &p->kept, ack->now, ANY_AGE, &queuing_us);
    self->smoothed_rtt = ack->smoothed_rtt;
    if (ack_has(ack, MARKED) && loss_gate_admit(&self->gate, ack->sent_at, ack->now)) {
        ledbatpp_reduce(self, p, ack->now);
        return;
    }
    ledbatpp_run_slowdown(self, p, ack->now);
    if (ack_has(ack, ROUND_START))
        ledbatpp_begin_round(self);
    if (self->phase == FREEZE)
        return;
    bool is_app_limited = ack_has(ack, APP_LIMITED);
    if (self->phase == AVOIDANCE) {
        if (is_fresh && (!is_app_limited || queuing_us > p->target_us))
            ledbatpp_steer(self, p, ack, queuing_us);
    } else if (!is_app_limited) {
        ledbatpp_grow_exponentially(self, p, ack, queuing_us);
    }
    self->cwnd = max_u64(self->cwnd, ledbatpp_floor(p));
}

/* Reacts to the loss of a packet that was sent at `sent_at` ns. Returns whether it counts. */
INLINE bool ledbatpp_on_loss(struct ledbatpp *self, const struct ledbatpp_params *p, u64 sent_at, u64 now)
{
    bool counts = loss_gate_admit(&self->gate, sent_at, now);
    if (counts)
        ledbatpp_reduce(self, p, now);
    return counts;
}

/* Reacts to the expiry of the retransmission timer, for the `consecutive`-th time in a row. */
INLINE void ledbatpp_on_timeout(struct ledbatpp *self, const struct ledbatpp_params *p, u64 now, u64 flightsize,
                                u32 consecutive)
{
    /*
     * RFC 5681 section 3.1: only the first expiry sets ssthresh, or an outage would erase it. At the floor of a slowdown the
     * window to come back to is halved.
     */
    if (consecutive == 1 && self->phase == FREEZE) {
        self->ssthresh = max_u64(self->ssthresh / 2, ledbatpp_floor(p));
    } else if (consecutive == 1) {
        u64 flight = min_u64(flightsize, bytes16_to_bytes(self->cwnd));
        self->ssthresh = max_u64(bytes16_from_bytes(flight / 2), ledbatpp_floor(p));
    }
    self->cwnd = bytes16_from_bytes(p->mss);
    ledbatpp_begin_round(self);
    self->phase = CLIMB;
    self->due = NEVER;
    loss_gate_close(&self->gate, now);
}

/* Returns the state that a loss or a timeout is about to change. */
INLINE struct ledbatpp_before ledbatpp_before(const struct ledbatpp *self)
{
    return (struct ledbatpp_before){
        .cwnd = self->cwnd,
        .ssthresh = self->ssthresh,
        .gate = self->gate,
        .began = self->began,
        .due = self->due,
        .phase = self->phase,
        .slowdowns = self->slowdowns,
    };
}

/* Notes a decrease by delay since the cut, which is not undone. */
INLINE void ledbatpp_before_lower(struct ledbatpp_before *self, bytes16 by)
{
    if (self->phase == FREEZE || self->phase == RAMP)
        self->ssthresh = bytes16_minus(self->ssthresh, by);
    else
        self->cwnd = bytes16_minus(self->cwnd, by);
}

/* Returns the window outside slowdowns. */
INLINE bytes16 ledbatpp_before_window(const struct ledbatpp_before *self)
{
    bool is_slowdown = self->phase == FREEZE || self->phase == RAMP;
    return is_slowdown ? max_u64(self->cwnd, self->ssthresh) : self->cwnd;
}

/*
 * Takes back a reduction whose loss or timeout was none (RFC 4015 section 3.2). Never takes anything away. A slow start, ramp or
 * slowdown that it ended continues. A slowdown that began since continues, too, and returns to the earlier window.
 */
INLINE void ledbatpp_undo(struct ledbatpp *self, const struct ledbatpp_before *before)
{
    self->gate = before->gate; /* other losses of that flight, if they are real, were not answered either */
    bool has_moved_on = self->slowdowns != before->slowdowns;
    if (has_moved_on && (self->phase == FREEZE || self->phase == RAMP)) {
        self->ssthresh = max_u64(self->ssthresh, ledbatpp_before_window(before));
        return;
    }
    if (has_moved_on) {
        self->cwnd = max_u64(self->cwnd, ledbatpp_before_window(before));
    } else {
        self->cwnd = max_u64(self->cwnd, before->cwnd);
        self->ssthresh = before->ssthresh;
        if (self->phase != before->phase) {
            self->phase = before->phase;
            self->began = before->began;
            self->due = before->due;
        }
    }
    ledbatpp_rescale_round(self);
}

/* Starts over from the floor: sending starts again after more than a timeout with nothing in flight. */
INLINE void ledbatpp_on_idle(struct ledbatpp *self, const struct ledbatpp_params *p)
{
    self->cwnd = ledbatpp_floor(p);
    delay_forget_present(&self->delay);
    self->ssthresh = BYTES16_MAX;
    self->phase = SLOW_START;
    self->due = NEVER;
}

/* Adapts the window to a payload of p->mss. */
INLINE void ledbatpp_on_mtu(struct ledbatpp *self, const struct ledbatpp_params *p)
{
    self->cwnd = max_u64(self->cwnd, ledbatpp_floor(p));
}

#endif
