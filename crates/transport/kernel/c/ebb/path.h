/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The queue ahead: a round-trip time less the base, less the queue on the reverse path. As `path.rs` of afteryou-cc's ebb_core, which explains
 * why the reverse delay forgets.
 */
#ifndef AFTERYOU_EBB_PATH_H
#define AFTERYOU_EBB_PATH_H

#include "ebb/units.h"

/* Length of a bin of reverse delays, us. */
#define REVERSE_BIN_US 10000000
#define REVERSE_BINS 3

/* Base delays of a path and the queue ahead, in us. */
struct ebb_path {
    /* When the newest bin began. */
    u64 bin_began;
    /* Base round-trip time, U32_MAX before the first sample. */
    u32 base_us;
    /* Least reverse delays, modulo 2^32, the newest first. */
    u32 reverse_us[REVERSE_BINS];
    /* Bins in use. */
    u32 bins;
    /* Queue ahead by the latest sample. */
    u32 queue_us;
};

/* Returns the base round-trip time, us; zero before the first sample. */
INLINE u64 ebb_path_base_us(const struct ebb_path *self) { return self->base_us == U32_MAX ? 0 : self->base_us; }

/* Returns by how much a delay modulo 2^32 is above another, or zero. */
INLINE u32 above(u32 delay_us, u32 other_us) { return (s32)(delay_us - other_us) > 0 ? delay_us - other_us : 0; }

/* Returns the queue on the reverse path, us. `forgets`: bins move. */
INLINE u64 ebb_path_back(struct ebb_path *self, u64 now, u32 reverse_us, bool forgets)
{
    if (self->bins == 0) {
        self->bins = 1;
        self->bin_began = now;
        self->reverse_us[0] = reverse_us;
    } else if (forgets && saturating_sub(now, self->bin_began) >= REVERSE_BIN_US) {
        self->reverse_us[2] = self->reverse_us[1];
        self->reverse_us[1] = self->reverse_us[0];
        self->bin_began = now;
        self->reverse_us[0] = reverse_us;
        self->bins = min_u64(self->bins + 1, REVERSE_BINS);
    } else if ((s32)(reverse_us - self->reverse_us[0]) < 0) {
        self->reverse_us[0] = reverse_us;
    }
    u64 most = 0;
    for (u32 i = 0; i < REVERSE_BINS; i++)
        if (i < self->bins)
            most = max_u64(most, above(reverse_us, self->reverse_us[i]));
    return most;
}

/* Takes in a round-trip time and, if there is one, the ack's own one-way delay. Returns the queue ahead, us. */
INLINE u64 ebb_path_measure(struct ebb_path *self, u64 now, u32 rtt_us, const u32 *reverse_us, bool forgets)
{
    self->base_us = min_u64(self->base_us, rtt_us);
    u64 excess = rtt_us - self->base_us;
    u64 back = reverse_us ? ebb_path_back(self, now, *reverse_us, forgets) : 0;
    return saturating_sub(excess, back);
}

/* Takes a round-trip time that nobody's queue explains for the base: the route has changed. */
INLINE void ebb_path_rebase(struct ebb_path *self, u32 rtt_us)
{
    self->base_us = rtt_us;
    self->bins = 0;
}

#endif
