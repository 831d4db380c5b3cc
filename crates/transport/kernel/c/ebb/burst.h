/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A train of own packets, and by how much the queue grows in it. As `burst.rs` of afteryou-cc's ebb_core.
 *
 *   route test, while it yields:  16 to 64 packets at C/8.   The queue of nobody does not grow:  a new base.
 *   share test, in cruise:        12 to 100 packets at C.    q grows per packet by (1 - f) in a FIFO, by (1/f - 1) in a fair queue;
 *                                                            f: own part of C
 *
 * The growth is the least queue of the last 30 % of the packets less that of the first 30 %: 0.7 of the train is in between.
 */
#ifndef AFTERYOU_EBB_BURST_H
#define AFTERYOU_EBB_BURST_H

#include "ebb/units.h"

#define ONE16 (1ULL << 16)
/* Part of a train whose least queue counts. */
#define TRAIN_END RATIO(3, 10)
/* Distance of the two ends. */
#define TRAIN_BETWEEN RATIO(7, 10)
/* A route train's part of C. The link may have become slower, and a train above its rate would make a queue of its own. */
#define ROUTE_PART 8
/* Growth per packet of nobody's queue, at most. */
#define NOBODY RATIO(35, 100)

/* The question of a train: others' queue or a longer route; a FIFO or a queue that serves flows in turns. */
enum ebb_question { NO_QUESTION, ROUTE, SHARE };

/* A train that is sent or awaited. */
struct ebb_burst {
    /* Number of its first packet. */
    u64 first;
    /* When it is given up. */
    u64 until;
    /* The question that it answers. */
    u32 question;
    u16 packets;
    u16 sent;
    /* The last packet of its beginning, the first of its end, and its last one: how far their numbers are from the first one's. */
    u32 early_to;
    u32 late_from;
    u32 last;
    u32 early_us;
    u32 late_us;
    /* Least round-trip time of the late packets. */
    u32 late_rtt_us;
};

/* Returns the rate of a train on a link of that capacity, bytes per second. */
INLINE u64 train_rate(u32 question, u64 capacity)
{
    return question == SHARE ? capacity : max_u64(capacity / ROUTE_PART, 1);
}

/* Ends a train. */
INLINE void ebb_burst_none(struct ebb_burst *self)
{
    *self = (struct ebb_burst){
        .late_from = U32_MAX,
        .last = U32_MAX,
        .early_us = U32_MAX,
        .late_us = U32_MAX,
        .late_rtt_us = U32_MAX,
    };
}

/*
 * Begins a train of this many packets. Where acks come in batches there may be no sample of its beginning; `standing_us` is the queue
 * before it, or U32_MAX.
 */
INLINE void ebb_burst_begin(struct ebb_burst *self, u32 question, u64 packets, u64 until, u32 standing_us)
{
    ebb_burst_none(self);
    self->question = question;
    self->packets = min_u64(packets, U16_MAX);
    self->until = until;
    self->early_us = standing_us;
}

/* Returns whether there is a train. */
INLINE bool ebb_burst_is_on(const struct ebb_burst *self) { return self->question != NO_QUESTION; }

/* Returns whether packets of it have to leave. */
INLINE bool ebb_burst_leaves(const struct ebb_burst *self) { return ebb_burst_is_on(self) && self->sent < self->packets; }

/* Returns whether it takes too long: the application has nothing to send, or its end is lost. */
INLINE bool ebb_burst_is_late(const struct ebb_burst *self, u64 now) { return ebb_burst_is_on(self) && now >= self->until; }

/* Returns how far a number is from the first one. */
INLINE u32 ebb_burst_distance(const struct ebb_burst *self, u64 number)
{
    return min_u64(saturating_sub(number, self->first), U32_MAX);
}

/* Returns the packets at each end whose least queue counts. */
INLINE u16 ebb_burst_end(const struct ebb_burst *self) { return max_u64(part(self->packets, TRAIN_END), 1); }

/* Takes note of a packet that left. */
INLINE void ebb_burst_sent(struct ebb_burst *self, u64 number)
{
    if (!ebb_burst_leaves(self))
        return;
    self->sent += 1;
    if (self->sent == 1)
        self->first = number;
    u32 distance = ebb_burst_distance(self, number);
    u32 end = ebb_burst_end(self);
    if (self->sent <= end)
        self->early_to = distance;
    if (self->sent == self->packets - end + 1)
        self->late_from = distance;
    if (self->sent == self->packets)
        self->last = distance;
}

/* Takes in the queue that a packet met. Returns whether the train's last packet has arrived. */
INLINE bool ebb_burst_sample(struct ebb_burst *self, u64 number, u64 queue_us, u32 rtt_us)
{
    if (!ebb_burst_is_on(self) || self->sent == 0 || number < self->first)
        return 0;
    u32 distance = ebb_burst_distance(self, number);
    if (distance <= self->early_to) {
        self->early_us = min_u64(self->early_us, queue_us);
    } else if (self->late_from <= distance && distance <= self->last) {
        self->late_us = min_u64(self->late_us, queue_us);
        self->late_rtt_us = min_u64(self->late_rtt_us, rtt_us);
    }
    return !ebb_burst_leaves(self) && distance >= self->last;
}

/* Returns the time between its two ends at the link's rate, us. */
INLINE u64 ebb_burst_between_us(const struct ebb_burst *self, u64 packet_us)
{
    return part(self->packets * packet_us, TRAIN_BETWEEN);
}

/* Returns 1 with samples of both ends, and writes the growth of the queue per packet, in times of a packet. */
INLINE bool ebb_burst_growth(const struct ebb_burst *self, u64 packet_us, ratio16 *growth)
{
    u64 between_us = ebb_burst_between_us(self, packet_us);
    if (self->early_us == U32_MAX || self->late_us == U32_MAX || between_us == 0)
        return 0;
    *growth = (saturating_sub(self->late_us, self->early_us) << 16) / between_us;
    return 1;
}

/*
 * Returns 1 if the train has met nobody: its least late round-trip time is the base of a new route. A queue that shrinks meanwhile is
 * somebody's.
 */
INLINE bool ebb_burst_is_new_base(const struct ebb_burst *self, u64 packet_us)
{
    ratio16 growth = 0;
    if (!ebb_burst_growth(self, packet_us, &growth))
        return 0;
    u64 most = part(ebb_burst_between_us(self, packet_us), NOBODY);
    bool shrinks = saturating_sub(self->early_us, self->late_us) >= max_u64(most, 1);
    return growth < NOBODY && !shrinks;
}

INLINE ratio16 inverse(ratio16 share) { return (ONE16 << 16) / max_u64(share, 1); }

/* Returns whether this part of C is a half or a third: that of one flow of two or three in a fair queue. */
INLINE bool may_be_fair(ratio16 share)
{
    ratio16 flows = inverse(share);
    return distance_of(flows, 2 * ONE16) <= part(2 * ONE16, RATIO(6, 100)) ||
           distance_of(flows, 3 * ONE16) <= part(3 * ONE16, RATIO(6, 100));
}

/* Returns whether a growth per packet is that of a fair queue in which the flow has this part of C: a half or a third. */
INLINE bool is_fair_queue(ratio16 growth, ratio16 share)
{
    u64 between = part(saturating_sub(inverse(share), ONE16), RATIO(6, 10)) +
                  part(saturating_sub(ONE16, share), RATIO(4, 10));
    return may_be_fair(share) && growth > between;
}

#endif
