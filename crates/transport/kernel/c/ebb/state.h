/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * State of the rule, and what its phases share. As `mod.rs` of afteryou-cc's ebb_core; structs `ebb_law` and `ebb_floor` as in `cruise.rs` and
 * `floor.rs` there.
 *
 * Functions that the verifier checks by themselves (CHECKED_ALONE) return a number, and test their pointers.
 */
#ifndef AFTERYOU_EBB_STATE_H
#define AFTERYOU_EBB_STATE_H

#include "ebb/burst.h"
#include "ebb/cap.h"
#include "ebb/capacity.h"
#include "ebb/evidence.h"
#include "ebb/losses.h"
#include "ebb/noise.h"
#include "ebb/params.h"
#include "ebb/path.h"
#include "ebb/recent.h"
#include "ebb/round.h"
#include "ebb/together.h"

/* Bits of ebb_ack.flags: there is a round-trip time; a reverse delay; the application limits the sender; a mark; a receiver's waiting. */
#define HAS_RTT 1
#define HAS_REVERSE 2
#define APP_LIMITED 4
#define MARKED 8
#define MAY_HAVE_WAITED 16

/* Largest window, bytes. */
#define MAX_WINDOW (1ULL << 40)
/* Largest rate, bytes per second: what the memory of C holds. Products of it and a ratio fit. */
#define MAX_RATE (1ULL << 40)
/* Weight of the noise in the allowance, in packets of a quarter of the window. */
#define NOISE_WEIGHT 6

/* An acknowledgement in plain integers. */
struct ebb_ack {
    /* When it arrived, us. */
    u64 now;
    /* When the newest packet that it acknowledges was sent, us. */
    u64 sent_at;
    /* Number of that packet. */
    u64 number;
    /* Bytes that it reports as delivered for the first time. */
    u64 delivered;
    /* Bytes in flight before it. */
    u64 in_flight;
    /* Delivery rate, bytes per second; zero without a sample. */
    u64 rate;
    /* Round-trip time, us. */
    u32 rtt_us;
    /* Smoothed round-trip time, us; zero before the first sample. */
    u32 smoothed_us;
    /* One-way delay of the ack, us modulo 2^32. */
    u32 reverse_us;
    u32 flags;
};

INLINE bool ebb_ack_has(const struct ebb_ack *ack, u32 flag) { return ack->flags & flag; }

/* Doubles each round trip; keeps a short queue; pairs of packets at the floor. */
enum ebb_phase { EBB_RAMP, EBB_CRUISE, EBB_YIELD };

/* State of the law. */
struct ebb_law {
    /* Rate up to which growth is quick: that of the last window that the path carried, bytes per second. */
    u64 level;
    /* Window of the round before: what was delivered in this one left under it. */
    u64 flight;
    /* Mean of the own part of C over the latest rounds; zero: there has been none. */
    ratio16 share;
    /* Not before then is the next share test. */
    u64 share_test_at;
    /* Queue that caused the last reduction, us; zero: none has. */
    u32 red_us;
    u16 low_rounds;
    u16 used_rounds;
};

/* State of the floor. */
struct ebb_floor {
    /* Since when no sample has been high. */
    u64 calm_since;
    /* When the rule came back last. */
    u64 returned_at;
    /* Since when the round-trip time has not changed. */
    u64 steady_since;
    /* The hold of now, that of evidence, and that of a fair queue, us. */
    u32 hold_us;
    u32 evidence_hold_us;
    u32 share_hold_us;
    u32 steady_least_us;
    u32 steady_most_us;
    u32 calm_samples;
};

/* State of the rule. */
struct ebb {
    /* When the latest ack arrived, us. */
    u64 now;
    /* Window, bytes. */
    u64 cwnd;
    /* Delivery rate of the latest sample, bytes per second. */
    u64 rate;
    /* When the ramp began. After it, when it ended: losses of packets that left before then are the ramp's. */
    u64 ramp_at;
    /* Until then samples that may have waited do not count. */
    u64 prompt_until;
    struct ebb_path path;
    struct ebb_capacity capacity;
    struct ebb_noise noise;
    struct ebb_recent recent;
    struct ebb_together together;
    struct ebb_round round;
    struct ebb_law law;
    struct ebb_cap cap;
    struct ebb_losses losses;
    struct ebb_evidence evidence;
    struct ebb_floor floor;
    struct ebb_burst burst;
    /* Latest and smoothed round-trip time, us: the smaller one and the larger one. */
    u32 rtt_us;
    u32 longer_us;
    /* Time of a packet at C, us: each ack asks for it. U32_MAX before the first rate. */
    u32 packet_us;
    /* The state of the diagram. */
    u16 phase;
    /* The transport samples delivery rates. */
    u16 has_rates;
};
_Static_assert(sizeof(struct ebb) <= 512, "the bound of afteryou-cc");

/* Returns the time of a packet on the link, us. */
INLINE u64 ebb_packet_us(const struct ebb *self) { return self->packet_us == U32_MAX ? FOR_EVER_US : self->packet_us; }

/* Takes in a rate of the link, bytes per second. */
CHECKED_ALONE u64 ebb_learn(struct ebb *self, const struct ebb_params *p, u64 now, u64 rate)
{
    if (!self || !p)
        return 0;
    ebb_capacity_update(&self->capacity, now, rate);
    self->packet_us = saturated(ebb_capacity_packet_us(&self->capacity, p->mss));
    return self->packet_us;
}

/* Returns n, us. */
INLINE u64 ebb_noise_us(const struct ebb *self) { return ebb_noise_get(&self->noise, ebb_packet_us(self)); }

/* Returns T(x), us. */
CHECKED_ALONE u64 ebb_target_us(const struct ebb *self, const struct ebb_params *p)
{
    if (!self || !p)
        return 0;
    u64 packets = max_u64(self->cwnd / (4 * p->mss), 4);
    u64 target = ebb_params_target(p, self->rate, ebb_packet_us(self), ebb_path_base_us(&self->path));
    if (ebb_params_has(p, CAP))
        target = min_u64(target, ebb_cap_get(&self->cap, self->now));
    return target + NOISE_WEIGHT * ebb_noise_us(self) / packets;
}

/* Returns what the link carries in the base round-trip time and `extra_us` at the latest rate, bytes. */
INLINE u64 ebb_carried(const struct ebb *self, u64 extra_us)
{
    return bytes_in(self->rate, ebb_path_base_us(&self->path) + extra_us);
}

/*
 * Returns the rate of the last moments, bytes per second. Where delays are noisy, and without a queue, that depends on chance: the rate of
 * a round trip takes its place.
 */
INLINE u64 ebb_rate_now(const struct ebb *self, const struct ebb_params *p, u64 now)
{
    bool is_queue = self->path.queue_us > ebb_params_least_target(p, ebb_packet_us(self));
    u64 rate = is_queue && ebb_noise_us(self) == 0 ? ebb_recent_rate(&self->recent, now) : 0;
    return rate == 0 ? self->rate : min_u64(rate, MAX_RATE);
}

/* Starts a train. `standing_us`: see ebb_burst_begin. */
INLINE void ebb_ask(struct ebb *self, const struct ebb_params *p, u32 question, u64 packets, u64 now, u32 standing_us)
{
    u64 lasts = time_of(packets * p->mss, train_rate(question, ebb_capacity_get(&self->capacity)));
    u64 until = saturating_add(now, 2 * lasts + 3ULL * self->rtt_us + 1000000);
    ebb_burst_begin(&self->burst, question, packets, until, standing_us);
}

/* Returns the packets of a train that lasts for `us` at C. */
INLINE u64 ebb_train_packets(const struct ebb *self, const struct ebb_params *p, u64 us, u64 least, u64 most)
{
    return clamp_u64(bytes_in(ebb_capacity_get(&self->capacity), us) / p->mss, least, most);
}

#endif
