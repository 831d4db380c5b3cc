/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * n: by how much a delay differs from the one before it although no queue has changed. As `noise.rs` of afteryou-cc's ebb_core.
 */
#ifndef AFTERYOU_EBB_NOISE_H
#define AFTERYOU_EBB_NOISE_H

#include "ebb/units.h"

/* Samples that are averaged quickly. */
#define NOISE_FIRST 32
#define NOISE_FIRST_WEIGHT RATIO(1, 10)
#define NOISE_LATER_WEIGHT RATIO(4, 1000)
#define NOISE_FACTOR RATIO(3, 2)
#define NOISE_LEAST_US 1200
#define NOISE_LEAST_PACKETS RATIO(3, 2)

/* The mean difference of successive delays. */
struct ebb_noise {
    /* us, with 16 fractional bits. */
    u64 mean16;
    u32 last_us;
    u32 samples;
};

/* Takes in the queue that a sample shows, us. */
INLINE void ebb_noise_update(struct ebb_noise *self, u32 queue_us)
{
    if (self->samples > 0) {
        u64 difference16 = distance_of(queue_us, self->last_us) << 16;
        ratio16 weight = self->samples <= NOISE_FIRST ? NOISE_FIRST_WEIGHT : NOISE_LATER_WEIGHT;
        self->mean16 = self->mean16 - part(self->mean16, weight) + part(difference16, weight);
    }
    self->last_us = queue_us;
    self->samples = add_u32(self->samples, 1);
}

/* Returns the noise on a link on which a packet takes `packet_us`, us; zero where there is none to speak of. */
INLINE u64 ebb_noise_get(const struct ebb_noise *self, u64 packet_us)
{
    u64 noise = part(self->mean16, NOISE_FACTOR) >> 16;
    return noise < max_u64(NOISE_LEAST_US, part(packet_us, NOISE_LEAST_PACKETS)) ? 0 : noise;
}

#endif
