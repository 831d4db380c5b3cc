/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Constants of the rule: us, bytes, packets and ratios with 16 fractional bits. As `params.rs` of afteryou-cc's ebb_core, and the defaults
 * of `ebb.rs` there.
 */
#ifndef AFTERYOU_EBB_PARAMS_H
#define AFTERYOU_EBB_PARAMS_H

#include "ebb/units.h"

/* Largest part of the base round-trip time that is a target, and the target up to which that does not matter, us. */
#define BASES 8
#define SHORT_US 1000

/* Bits of ebb_params.switches. */
/* Steps back after losses and looks; without it the delay at a loss decides. */
#define STEP_BACK 1
/* Asks whether the queue is a fair one. */
#define SHARE_TEST 2
/* Asks whether a standing queue is a longer route. */
#define TRAIN 4
/* Ends a round as soon as the queue stands. */
#define EARLY 8
/* Keeps less in a buffer that has overflowed. */
#define CAP 16

struct ebb_params {
    /* Payload of a packet, bytes; at least one. */
    u64 mss;
    /* T_lo: queue that it keeps alone, us, and in packets' times. */
    u64 target_us;
    ratio16 target_packets;
    /* k: own packets in the queue on top. */
    ratio16 own;
    /* T_hi: queue that own packets never lift the target above, us, and packets' times above T_lo. */
    u64 ceiling_us;
    ratio16 ceiling_packets;
    /* Above the target by this part of it, or by two packets, is still at it. */
    ratio16 slack;
    /* g: gain of a round. */
    ratio16 gain;
    /* Disobedient queue: more than this part of the one that caused the last reduction. */
    ratio16 obey;
    /* The strike that leads to the floor. */
    u32 patience;
    u32 switches;
    /* Part of C at the floor. */
    ratio16 floor;
    /* First and longest hold, us. */
    u64 hold_us;
    u64 hold_most_us;
    /* A return that ends within this time makes the hold longer, us. */
    u64 again_us;
    /* Step back to this part of the window. */
    ratio16 low;
    /* Losses beyond this part of a round are congestion, whatever the delay. */
    ratio16 lossy;
    /* Most growth of a round beyond what the path has carried. */
    ratio16 growth;
};

/* Returns the defaults for packets of `mss` bytes. */
INLINE struct ebb_params ebb_defaults(u64 mss)
{
    return (struct ebb_params){
        .mss = mss,
        .target_us = 2500,
        .target_packets = RATIO(3, 2),
        .own = RATIO(3, 2),
        .ceiling_us = 5000,
        .ceiling_packets = RATIO(4, 1),
        .slack = RATIO(6, 10),
        .gain = RATIO(1, 2),
        .obey = RATIO(7, 10),
        .patience = 3,
        .switches = STEP_BACK | SHARE_TEST | TRAIN | EARLY | CAP,
        .floor = RATIO(1, 100),
        .hold_us = 200000,
        .hold_most_us = 2000000,
        .again_us = 3000000,
        .low = RATIO(9, 10),
        .lossy = RATIO(1, 10),
        .growth = RATIO(5, 100),
    };
}

/* Returns whether a part is on. */
INLINE bool ebb_params_has(const struct ebb_params *p, u32 a_switch) { return p->switches & a_switch; }

/* Returns T_lo, us. */
INLINE u64 ebb_params_least_target(const struct ebb_params *p, u64 packet_us)
{
    return max_u64(p->target_us, part(packet_us, p->target_packets));
}

/* Returns T(x) without the allowance for noise, us. On a short path even this queue costs others much: it is a part of the base there. */
INLINE u64 ebb_params_target(const struct ebb_params *p, u64 rate, u64 packet_us, u64 base_us)
{
    u64 of_path = min_u64(p->target_us, max_u64(base_us / BASES, SHORT_US));
    u64 least = max_u64(of_path, part(packet_us, p->target_packets));
    u64 ceiling = max_u64(min_u64(p->ceiling_us, 2 * of_path), least + part(packet_us, p->ceiling_packets));
    return min_u64(least + part(time_of(p->mss, rate), p->own), ceiling);
}

/* Returns how far above a target the queue may be, us. */
INLINE u64 ebb_params_slack(const struct ebb_params *p, u64 target, u64 packet_us)
{
    return max_u64(part(target, p->slack), 2 * packet_us);
}

/* Returns the longest queue that is not high while it yields, us. The second packet of the own pair waits for the first one. */
INLINE u64 ebb_params_high(const struct ebb_params *p, u64 packet_us, u64 noise)
{
    u64 most = max_u64(part(ebb_params_least_target(p, packet_us), RATIO(8, 10)), part(packet_us, RATIO(16, 10)));
    return most + 5 * noise / 2;
}

#endif
