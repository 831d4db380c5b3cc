/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Cruise: keep a short queue; reduce a longer one by exactly its excess, and see whether it obeys. As `cruise.rs` of afteryou-cc's ebb_core.
 */
#ifndef AFTERYOU_EBB_CRUISE_H
#define AFTERYOU_EBB_CRUISE_H

#include "ebb/floor.h"
#include "ebb/state.h"

/* A reduction leaves at least this part of the window; later ones and congested ones at most those. */
#define LEAST_LEFT RATIO(3, 10)
#define AFTER_FIRST RATIO(7, 10)
#define AFTER_SECOND RATIO(1, 2)
#define AFTER_CONGESTED RATIO(8, 10)
/* Largest change of the window by the law in a round. */
#define MOST_CHANGE RATIO(3, 10)
/* Below this part of the target the queue is low, and above that part it is used. */
#define IS_LOW RATIO(4, 10)
#define IS_USED RATIO(3, 10)
/* Rounds of low queue before growth accelerates, and rounds of use before the window's rate is the level. */
#define LOW_ROUNDS 2
#define USED_ROUNDS 4
/* Growth of a round when the queue is low: at first, and at most. */
#define GROWTH_LEAST RATIO(5, 1000)
#define GROWTH_FIRST RATIO(1, 10)
#define ROOT_OF_TWO RATIO(1414214, 1000000)
/* Growth towards a level that the path has carried. */
#define GROWTH_BACK RATIO(1, 2)
#define NEAR_LEVEL RATIO(9, 10)
/* A window is explained by this part of it that is delivered. */
#define EXPLAINED RATIO(85, 100)
#define MOST_OF_LEVEL RATIO(95, 100)
/* A round is empty below these: packets' times, us, and a part of the least target. */
#define EMPTY_PACKETS RATIO(22, 10)
#define EMPTY_US 800
/* Rounds over which the own share is averaged: each counts some ten packets, and a share must last that long before a test anyway. */
#define SHARE_ROUNDS 8
/* The share test: time before it, its packets, and the time between two. */
#define SHARE_AFTER_US 1000000
#define SHARE_AFTER_ROUNDS 8
/* The same after a test that found a fair queue. */
#define SHARE_AGAIN_ROUNDS 3
#define SHARE_EVERY_US 3000000
#define SHARE_TRAIN_US 8000
#define SHARE_TRAIN_LEAST 12
#define SHARE_TRAIN_MOST 100
/* Below this part of C the rate is not the link's. */
#define FULL_RATE RATIO(9, 10)

/* Returns the round trip of the round without the queue ahead: that of the base, and the queue on the reverse path. */
INLINE u64 ebb_empty_round_trip_us(const struct ebb *self)
{
    u64 base_us = ebb_path_base_us(&self->path);
    struct ebb_seen seen = ebb_round_seen(&self->round);
    if (seen.rtt_us == U32_MAX)
        return max_u64(self->round.trip_before_us, base_us);
    return max_u64(saturating_sub(seen.rtt_us, seen.least_us), base_us);
}

/* Returns the queue below which nobody stands in it, us. */
INLINE u64 ebb_empty_us(const struct ebb *self, const struct ebb_params *p, u64 packet_us)
{
    u64 most = max_u64(part(packet_us, EMPTY_PACKETS), ebb_params_least_target(p, packet_us) / 4);
    return max_u64(most, EMPTY_US) + 2 * ebb_noise_us(self);
}

/* Puts the next share test off: a share that a fair queue may have given must last before it is tested. */
INLINE void ebb_put_off_share_test(struct ebb *self, u64 now)
{
    bool is_shared = self->floor.share_hold_us > 0;
    u64 after = is_shared ? SHARE_AGAIN_ROUNDS * (u64)self->rtt_us
                          : max_u64(SHARE_AFTER_US, SHARE_AFTER_ROUNDS * (u64)self->rtt_us);
    self->law.share_test_at = max_u64(self->law.share_test_at, saturating_add(now, after));
}

INLINE void ebb_begin_cruise(struct ebb *self, u64 now)
{
    self->phase = EBB_CRUISE;
    self->law = (struct ebb_law){
        .level = rate_of(self->cwnd, ebb_empty_round_trip_us(self)),
        .flight = self->cwnd,
        .share_test_at = self->law.share_test_at,
    };
    ebb_put_off_share_test(self, now);
    self->evidence.strikes = 0;
    ebb_round_after_reduction(&self->round, now);
    ebb_losses_abandon(&self->losses);
}

/* Returns the window that leaves the target in the queue if all of it is the own one. */
INLINE u64 ebb_exact(const struct ebb *self, const struct ebb_params *p, u64 now)
{
    u64 kept = ebb_noise_us(self) + ebb_target_us(self, p);
    return bytes_in(ebb_rate_now(self, p, now), ebb_empty_round_trip_us(self) + kept);
}

/* Returns the part of the window that a reduction leaves at most. */
INLINE ratio16 ebb_most_left(const struct ebb *self, bool is_congested)
{
    switch (self->evidence.strikes) {
    case 0: return is_congested ? AFTER_CONGESTED : ONE16;
    case 1: return AFTER_FIRST;
    default: return AFTER_SECOND;
    }
}

/* Reduces the window by the queue's excess, or goes to the floor if the queue has not obeyed several times. */
CHECKED_ALONE u64 ebb_reduce(struct ebb *self, const struct ebb_params *p, u64 now, u64 queue_us, bool is_congested)
{
    if (!self || !p)
        return 0;
    if (self->law.red_us > 0 && queue_us > part(self->law.red_us, p->obey))
        self->evidence.strikes += 1;
    if (self->evidence.strikes >= p->patience) {
        ebb_begin_yield(self, p, now);
        return self->cwnd;
    }
    u64 exact = ebb_exact(self, p, now);
    u64 round_trip = ebb_empty_round_trip_us(self);
    self->law.level = min_u64(rate_of(exact, round_trip), max_u64(self->law.level, rate_of(self->cwnd, round_trip)));
    u64 most = part(self->cwnd, ebb_most_left(self, is_congested));
    u64 left = max_u64(min_u64(exact, self->cwnd), part(self->cwnd, LEAST_LEFT));
    self->cwnd = max_u64(min_u64(left, most), 2 * p->mss);
    self->law.red_us = max_u64(saturated(queue_us), 1);
    self->law.flight = self->cwnd;
    self->law.low_rounds = 0;
    self->law.used_rounds = 0;
    if (self->evidence.strikes > 0 || is_congested)
        ebb_put_off_share_test(self, now);
    ebb_round_after_reduction(&self->round, now);
    return self->cwnd;
}

/* Reacts to congestion that shows itself by marks or losses. */
CHECKED_ALONE u64 ebb_congested(struct ebb *self, const struct ebb_params *p, u64 now)
{
    if (!self || !p)
        return 0;
    ebb_losses_abandon(&self->losses);
    ebb_cap_congested(&self->cap, now, ebb_packet_us(self));
    bool is_below = self->rate < part(ebb_capacity_get(&self->capacity), FULL_RATE);
    if (ebb_evidence_add(&self->evidence, now, self->rtt_us, is_below)) {
        ebb_begin_yield(self, p, now);
        return self->cwnd;
    }
    return ebb_reduce(self, p, now, self->path.queue_us, 1);
}

/* Returns the change of the window by the law for a queue that far from the target. */
INLINE u64 ebb_change(const struct ebb *self, const struct ebb_params *p, u64 distance, u64 round_trip)
{
    return part(self->cwnd, min_u64(part(distance << 16, p->gain) / round_trip, MOST_CHANGE));
}

/* Returns the window that the law steers to: towards the target by the gain, and by half a packet where there is no queue. */
INLINE u64 ebb_steered(const struct ebb *self, const struct ebb_params *p, u64 queue, u64 base, u64 target)
{
    if (queue > target)
        return self->cwnd - ebb_change(self, p, queue - target, base + queue);
    u64 half_packet = saturating_mul(p->mss, target - queue) / (2 * max_u64(target, 1));
    return self->cwnd + ebb_change(self, p, target - queue, base + queue) + half_packet;
}

/* Returns the growth of a round with a low queue. */
INLINE ratio16 ebb_growth(const struct ebb *self, u64 base, u64 target_and_slack)
{
    if (self->law.low_rounds < LOW_ROUNDS)
        return 0;
    ratio16 first = clamp_u64((target_and_slack << 15) / base, GROWTH_LEAST, GROWTH_FIRST);
    u32 steps = min_u64(self->law.low_rounds - LOW_ROUNDS, 16);
    ratio16 doubled = first << (steps / 2);
    return steps % 2 == 1 ? part(doubled, ROOT_OF_TWO) : doubled;
}

INLINE void ebb_grow(struct ebb *self, const struct ebb_params *p, const struct ebb_seen *seen, u64 target, u64 slack)
{
    u64 queue = seen->queue_us, base = max_u64(saturating_sub(seen->rtt_us, queue), 1);
    if (queue < target) {
        self->evidence.strikes = 0;
        self->law.red_us = 0;
    }
    u64 before = self->cwnd;
    u64 level = bytes_in(max_u64(self->law.level, ebb_capacity_get(&self->capacity) / 2), base);
    self->cwnd = ebb_steered(self, p, queue, base, target);
    bool is_low_queue = queue < part(target, IS_LOW) && !ebb_losses_is_low(&self->losses);
    self->law.low_rounds = is_low_queue ? add_u16(self->law.low_rounds, 1) : 0;
    ratio16 growth = min_u64(ebb_growth(self, base, target + slack), p->growth);
    bool is_near = before >= part(level, NEAR_LEVEL);
    if (self->law.low_rounds >= LOW_ROUNDS) {
        u64 quick = min_u64(before + part(before, GROWTH_BACK), part(level, MOST_OF_LEVEL));
        u64 grown = before + part(before, growth);
        self->cwnd = max_u64(max_u64(self->cwnd, grown), is_near ? 0 : quick);
    }
    /* The window has grown since what was delivered now left. */
    u64 carried = bytes_in(self->rate, self->longer_us);
    u64 lost = seen->lost * p->mss;
    if (carried + lost + 2 * p->mss < part(self->law.flight, EXPLAINED)) {
        ratio16 quickest = is_near ? growth : GROWTH_BACK;
        self->cwnd = min_u64(self->cwnd, carried + part(carried, quickest) + 2 * p->mss);
    }
    self->cwnd = clamp_u64(self->cwnd, 2 * p->mss, MAX_WINDOW);
    self->law.flight = before;
    if (ebb_losses_is_low(&self->losses))
        self->cwnd = min_u64(self->cwnd, before);
    self->law.used_rounds = queue > part(target, IS_USED) ? add_u16(self->law.used_rounds, 1) : 0;
    self->law.level = max_u64(self->law.level, self->rate);
    if (self->law.used_rounds >= USED_ROUNDS)
        self->law.level = rate_of(self->cwnd, base + queue);
}

/* Takes in what a round has carried, bytes per second: that is more precise than the rate of a packet's flight. */
INLINE void ebb_note_share(struct ebb *self, u64 carried)
{
    u64 capacity = ebb_capacity_get(&self->capacity);
    ratio16 share = capacity ? (min_u64(carried, MAX_RATE) << 16) / capacity : 0;
    ratio16 before = self->law.share == 0 ? share : self->law.share;
    self->law.share = ((SHARE_ROUNDS - 1) * before + share) / SHARE_ROUNDS;
}

INLINE void ebb_consider_share_test(struct ebb *self, const struct ebb_params *p, u64 now, const struct ebb_seen *seen, u64 target)
{
    if (!may_be_fair(self->law.share) || seen->app_limited) {
        ebb_put_off_share_test(self, now);
        return;
    }
    bool is_used = seen->queue_us > part(target, IS_USED);
    if (!is_used || !ebb_params_has(p, SHARE_TEST) || now < self->law.share_test_at || ebb_losses_is_low(&self->losses))
        return;
    self->law.share_test_at = saturating_add(now, SHARE_EVERY_US);
    u64 packets = ebb_train_packets(self, p, SHARE_TRAIN_US, SHARE_TRAIN_LEAST, SHARE_TRAIN_MOST);
    ebb_ask(self, p, SHARE, packets, now, U32_MAX);
}

/* Ends a round with a queue. */
CHECKED_ALONE u64 ebb_end_round(struct ebb *self, const struct ebb_params *p, u64 now, u64 queue_us)
{
    if (!self || !p)
        return 0;
    struct ebb_seen seen = ebb_round_seen(&self->round);
    seen.queue_us = queue_us;
    ebb_learn(self, p, now, self->rate);
    self->round.trip_before_us = saturated(ebb_empty_round_trip_us(self));
    u64 packet_us = ebb_packet_us(self);
    u64 target = ebb_target_us(self, p);
    u64 slack = ebb_params_slack(p, target, packet_us);
    ebb_losses_shorten(&self->losses, self->rtt_us);
    enum ebb_verdict verdict = ebb_losses_round(&self->losses, now, seen.mean_us < ebb_empty_us(self, p, packet_us));
    bool is_lossy = (u64)seen.lost << 16 > ((u64)seen.packets + seen.lost) * p->lossy;
    if (verdict == CONGESTED)
        return ebb_congested(self, p, now);
    if (verdict != NO_VERDICT)
        ebb_cap_forget_peak(&self->cap);
    if (seen.queue_us > target + slack || is_lossy)
        return ebb_reduce(self, p, now, seen.queue_us, 0);
    ebb_grow(self, p, &seen, target, slack);
    ebb_note_share(self, rate_of(seen.packets * p->mss, saturating_sub(now, self->round.began)));
    ebb_round_next(&self->round, now);
    ebb_consider_share_test(self, p, now, &seen, target);
    return self->cwnd;
}

/* Returns the queue that ends a round early, or zero. */
INLINE u64 ebb_stands_early(const struct ebb *self, const struct ebb_params *p, u64 noise)
{
    if (noise > 0 || !ebb_params_has(p, EARLY))
        return 0;
    u64 target = ebb_target_us(self, p);
    u64 most = target + 2 * ebb_params_slack(p, target, ebb_packet_us(self));
    u64 queue_us = ebb_round_least_of_latest(&self->round, LATEST);
    return queue_us > most ? queue_us : 0;
}

INLINE void ebb_cruise(struct ebb *self, const struct ebb_params *p, const struct ebb_ack *ack)
{
    if (ebb_burst_is_on(&self->burst))
        return;
    u64 noise = ebb_noise_us(self);
    u64 queue_us = ebb_stands_early(self, p, noise);
    if (queue_us > 0)
        ebb_end_round(self, p, ack->now, queue_us);
    else if (ebb_round_is_over(&self->round, ack->now, ack->sent_at, noise))
        ebb_end_round(self, p, ack->now, ebb_round_seen(&self->round).queue_us);
}

/* Reacts to a loss: steps back and looks, or judges by the queue at once. */
INLINE void ebb_cruise_loss(struct ebb *self, const struct ebb_params *p, u64 now)
{
    if (ebb_params_has(p, STEP_BACK)) {
        ebb_losses_step_back(&self->losses, now, self->rtt_us);
        ebb_cap_saw(&self->cap, self->round.most);
        u64 carried = bytes_in(self->law.level, ebb_empty_round_trip_us(self));
        self->cwnd = max_u64(part(min_u64(carried, self->cwnd), p->low), 2 * p->mss);
        ebb_round_after_reduction(&self->round, now);
        return;
    }
    bool is_full = self->round.most >= ebb_empty_us(self, p, ebb_packet_us(self));
    if (is_full && saturating_sub(now, self->evidence.last) >= self->rtt_us)
        ebb_congested(self, p, now);
}

/* Answers the question of a share train. */
INLINE void ebb_on_share_train(struct ebb *self, const struct ebb_params *p, const struct ebb_burst *burst, u64 now)
{
    /* The train's own queue is not judged. */
    ebb_round_after_reduction(&self->round, now);
    ratio16 growth = 0;
    if (!ebb_burst_growth(burst, ebb_packet_us(self), &growth))
        return;
    if (is_fair_queue(growth, self->law.share))
        ebb_yield_share(self, p, now);
    else
        self->floor.share_hold_us = 0;
}

#endif
