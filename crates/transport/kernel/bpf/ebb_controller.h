/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Ebb as a congestion controller of Linux: it takes in rate samples and sets window and pacing rate.
 *
 *   cong_control (ack, losses, marks), set_state(Loss) (timeout), cwnd_event(TX_START) (idle) --> rule
 *   rule --window--> snd_cwnd      --rate--> sk_pacing_rate      --pairs--> sk_pacing_rate of each packet, set in min_tso_segs
 *
 * Linux reports neither packets that leave nor when a lost one left. So a train's packets are counted at the next ack, by sequence numbers.
 * A lost packet is taken to have left with the newest one that arrived.
 *
 * Linux asks for min_tso_segs before it sends, and holds the next packet back by the rate that it finds then. So the rate of a pair's first
 * packet makes the pause within the pair, and that of the second one the pause after it.
 *
 * Not implemented
 *   Reverse delays: TCP's timestamps have steps of 1 ms, which is as much as the queue that the rule keeps on a short path.
 *
 * Known bad cases
 *   A loaded reverse path looks like forward queue. A return begins when the pause after the pair before is over: 0.1 s later at 20 Mbit/s.
 *   Below round-trip times of some milliseconds Linux makes segments longer than a millisecond's.
 */
#ifndef AFTERYOU_EBB_CONTROLLER_H
#define AFTERYOU_EBB_CONTROLLER_H

#include "ebb.h"
#include "job.h"
#include "sender.h"

#define INITIAL_PACKETS 10
/* Packets of a train or losses that one ack reports at most; the next ones report the others. */
#define ONE_ACKS_MOST 128
/* After this many acks of one packet in a row, with more in flight, the receiver acknowledges every packet. */
#define HABIT 8
/* No slow-start threshold. */
#define INFINITE_SSTHRESH 0x7fffffff

/* What a connection keeps beside the rule. */
struct ebb_sender {
    /* Bytes that have left, and one more, which is no number of a byte. */
    u64 number;
    /* Those that left when the receive window last limited the sender. */
    u64 limited_until;
    /* When the latest ack came, us. */
    u64 acked_at;
    /* Sequence number after the last byte of `number`. */
    u32 next;
    /* Packets that were lost, and those that were marked, as the kernel counts them. */
    u32 lost;
    u32 marked;
    /* Acks of one packet in a row. */
    u32 single_acks;
    /* Sequence number of the latest pair at the floor. */
    u32 pair;
};

/* A connection. */
struct ebb_connection {
    struct ebb_params p;
    struct ebb state;
    struct ebb_sender sender;
    struct ebb_member member;
};

struct {
    MAP_NUMBER(type, BPF_MAP_TYPE_SK_STORAGE);
    MAP_NUMBER(map_flags, BPF_F_NO_PREALLOC);
    MAP_TYPE(key, int);
    MAP_TYPE(value, struct ebb_connection);
} ebb_connections SEC(".maps");

KERNEL_INLINE struct ebb_connection *ebb_find(struct sock *sk) { return bpf_sk_storage_get(&ebb_connections, sk, 0, 0); }

/* Returns the pacing rate of the rule, bytes per second; zero before the first round-trip time. That of pairs is their mean. */
CHECKED_ALONE u64 ebb_pacing_rate(const struct ebb_connection *self, u32 srtt_us)
{
    if (!self)
        return 0;
    struct ebb_spread spread = job_spread(&self->state, &self->p);
    if (spread.every_us)
        return max_u64(rate_of(2 * self->p.mss, spread.every_us), 1);
    return spread.rate ? spread.rate : rate_of(2 * self->state.cwnd, srtt_us);
}

/* Hands window and rate to the kernel. */
KERNEL_INLINE void ebb_apply(const struct ebb_connection *self, struct sock *sk)
{
    struct tcp_sock *tp = (struct tcp_sock *)sk;
    u32 cwnd = clamp_u64(ebb_window(&self->state, &self->p) / self->p.mss, 2, INFINITE_SSTHRESH);
    tp->snd_cwnd = min_u64(cwnd, tp->snd_cwnd_clamp);
    tp->snd_ssthresh = self->state.phase == EBB_RAMP ? INFINITE_SSTHRESH : cwnd;
    u64 rate = ebb_pacing_rate(self, tp->srtt_us >> 3);
    if (rate)
        sk->sk_pacing_rate = min_u64(rate, sk->sk_max_pacing_rate);
}

/* Takes note of the packets that have left since the ack before. */
KERNEL_INLINE void ebb_note_sent(struct ebb_connection *self, const struct tcp_sock *tp)
{
    struct ebb_sender *sender = &self->sender;
    u64 end = sender->number + (u32)(tp->snd_nxt - sender->next);
    u64 number = sender->number;
    bool leaves = ebb_burst_leaves(&self->state.burst);
    for (u32 i = 0; i < ONE_ACKS_MOST && leaves && number < end; i++) {
        number = min_u64(number + self->p.mss, end);
        leaves = ebb_on_sent(&self->state, number);
    }
    sender->number = end;
    sender->next = tp->snd_nxt;
}

/* Takes note of a receive window that limits the sender: the path would have carried more than the packets that have left. */
KERNEL_INLINE void ebb_note_limit(struct ebb_sender *self, const struct tcp_sock *tp)
{
    if (tp->snd_una + tp->snd_wnd - tp->snd_nxt < mss_of(tp))
        self->limited_until = self->number;
}

/* Takes note of the packets that were lost since the ack before. */
KERNEL_INLINE void ebb_note_lost(struct ebb_connection *self, const struct tcp_sock *tp, u64 sent_at)
{
    for (u32 i = 0; i < ONE_ACKS_MOST && self->sender.lost != tp->lost; i++) {
        self->sender.lost++;
        ebb_on_loss(&self->state, &self->p, tp->tcp_mstamp, sent_at);
    }
}

/* Returns whether the delays of an ack may have a receiver's waiting in them. As `ack_habit.rs` of afteryou-cc. */
KERNEL_INLINE bool ebb_may_have_waited(struct ebb_sender *self, const struct tcp_sock *tp, const struct rate_sample *sample)
{
    if (tp->sacked_out)
        return 0;
    if (sample->acked_sacked >= 2) {
        self->single_acks = 0;
        return 0;
    }
    if (sample->prior_in_flight < 2)
        return 1;
    self->single_acks = add_u32(self->single_acks, 1);
    return self->single_acks < HABIT;
}

/* Returns the delivery rate of a sample, bytes per second; zero: there is none. */
KERNEL_INLINE u64 ebb_rate_of(const struct rate_sample *sample, u64 mss)
{
    s64 interval_us = sample->interval_us;
    s32 delivered = sample->delivered;
    return delivered > 0 && interval_us > 0 ? rate_of(delivered * mss, interval_us) : 0;
}

/* Hands an ack to the rule, with what the job knows. */
KERNEL_INLINE void ebb_take_ack(struct ebb_connection *self, const struct ebb_ack *ack)
{
    u64 members = job_members(&self->member, ack->now, !ebb_ack_has(ack, APP_LIMITED));
    self->p.own = ebb_defaults(self->p.mss).own / members;
    job_tell(&self->member, &self->state, &self->p, ack->now, members);
    ebb_on_ack(&self->state, &self->p, ack);
}

/* Returns the event of an ack that delivers something. */
KERNEL_INLINE struct ebb_ack ebb_ack_of(struct ebb_connection *self, const struct tcp_sock *tp, const struct rate_sample *sample)
{
    u64 mss = self->p.mss;
    s64 rtt_us = sample->rtt_us;
    u32 smoothed_us = tp->srtt_us >> 3;
    struct ebb_ack ack = {
        .now = tp->tcp_mstamp,
        .sent_at = saturating_sub(tp->tcp_mstamp, rtt_us > 0 ? rtt_us : smoothed_us),
        .number = self->sender.number - (u32)(self->sender.next - sample->last_end_seq),
        .delivered = sample->acked_sacked * mss,
        .in_flight = sample->prior_in_flight * mss,
        .rate = ebb_rate_of(sample, mss),
        .rtt_us = rtt_us > 0 ? rtt_us : 0,
        .smoothed_us = smoothed_us,
        .flags = rtt_us > 0 ? HAS_RTT : 0,
    };
    if (sample->is_app_limited || ack.number <= self->sender.limited_until)
        ack.flags |= APP_LIMITED;
    if (tp->delivered_ce != self->sender.marked)
        ack.flags |= MARKED;
    if (ebb_may_have_waited(&self->sender, tp, sample))
        ack.flags |= MAY_HAVE_WAITED;
    self->sender.marked = tp->delivered_ce;
    self->sender.acked_at = ack.now;
    return ack;
}

SEC("struct_ops")
void ebb_bpf_init(u64 *context)
{
    struct sock *sk = (struct sock *)context[0];
    struct tcp_sock *tp = (struct tcp_sock *)sk;
    struct ebb_connection *connection = bpf_sk_storage_get(&ebb_connections, sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
    if (!connection)
        return;
    __builtin_memset(connection, 0, sizeof *connection);
    connection->p = ebb_defaults(mss_of(tp));
    ebb_init(&connection->state, ebb_initial_window(&connection->p, INITIAL_PACKETS));
    connection->sender = (struct ebb_sender){
        .number = 1ULL << 32,
        .next = tp->snd_nxt,
        .lost = tp->lost,
        .marked = tp->delivered_ce,
    };
    if (sk->sk_pacing_status == SK_PACING_NONE)
        sk->sk_pacing_status = SK_PACING_NEEDED;
    ebb_apply(connection, sk);
}

SEC("struct_ops")
void ebb_bpf_cong_control(u64 *context)
{
    struct sock *sk = (struct sock *)context[0];
    struct tcp_sock *tp = (struct tcp_sock *)sk;
    const struct rate_sample *sample = (const struct rate_sample *)context[3];
    struct ebb_connection *connection = ebb_find(sk);
    if (!connection)
        return;
    if (connection->p.mss != mss_of(tp)) {
        connection->p.mss = mss_of(tp);
        ebb_on_mtu(&connection->state, &connection->p);
    }
    ebb_note_sent(connection, tp);
    ebb_note_limit(&connection->sender, tp);
    struct ebb_ack ack = ebb_ack_of(connection, tp, sample);
    if (sample->acked_sacked)
        ebb_take_ack(connection, &ack);
    ebb_note_lost(connection, tp, ack.sent_at);
    job_hear(&connection->member, &connection->state, ack.now);
    ebb_apply(connection, sk);
}

/* The rule takes losses from the counts of acks. */
SEC("struct_ops")
u32 ebb_bpf_ssthresh(u64 *context) { return ((struct tcp_sock *)context[0])->snd_ssthresh; }

SEC("struct_ops")
void ebb_bpf_set_state(u64 *context)
{
    struct sock *sk = (struct sock *)context[0];
    struct tcp_sock *tp = (struct tcp_sock *)sk;
    struct ebb_connection *connection = ebb_find(sk);
    if (!connection || (u8)context[1] != TCP_CA_LOSS)
        return;
    connection->sender.lost = tp->lost;
    ebb_on_timeout(&connection->state, &connection->p, tp->tcp_mstamp);
    ebb_apply(connection, sk);
}

SEC("struct_ops")
void ebb_bpf_cwnd_event(u64 *context)
{
    struct sock *sk = (struct sock *)context[0];
    struct tcp_sock *tp = (struct tcp_sock *)sk;
    struct ebb_connection *connection = ebb_find(sk);
    if (!connection || (u32)context[1] != CA_EVENT_TX_START)
        return;
    /* At the floor it is the rule that pauses. */
    u64 pause_us = job_spread(&connection->state, &connection->p).every_us;
    if (!is_idle_since(connection->sender.acked_at, pause_us, tp))
        return;
    u64 window = ebb_initial_window(&connection->p, INITIAL_PACKETS);
    ebb_on_idle(&connection->state, tp->tcp_mstamp, window);
    ebb_apply(connection, sk);
}

/* Losses that prove to be none are not undone. */
SEC("struct_ops")
u32 ebb_bpf_undo_cwnd(u64 *context) { return ((struct tcp_sock *)context[0])->snd_cwnd; }

/* Returns the pause after the packet that is next at the floor, us. */
KERNEL_INLINE u64 ebb_pause_us(struct ebb_connection *self, const struct tcp_sock *tp)
{
    struct ebb_spread spread = job_spread(&self->state, &self->p);
    u32 sent = tp->snd_nxt - self->sender.pair;
    if (sent > 0 && sent <= self->p.mss)
        return spread.every_us - spread.apart_us;
    self->sender.pair = tp->snd_nxt;
    return spread.apart_us;
}

/* Segments may be single packets: Linux makes them as long as a millisecond of the rate. */
SEC("struct_ops")
u32 ebb_bpf_min_tso_segs(u64 *context)
{
    struct sock *sk = (struct sock *)context[0];
    struct ebb_connection *connection = ebb_find(sk);
    if (!connection || connection->state.phase != EBB_YIELD || ebb_burst_leaves(&connection->state.burst))
        return 1;
    u64 rate = rate_of(connection->p.mss, ebb_pause_us(connection, (struct tcp_sock *)sk));
    sk->sk_pacing_rate = clamp_u64(rate, 1, sk->sk_max_pacing_rate);
    return 1;
}

SEC(".struct_ops.link")
struct tcp_congestion_ops ebb_ops = {
    .init = (void *)ebb_bpf_init,
    .cong_control = (void *)ebb_bpf_cong_control,
    .ssthresh = (void *)ebb_bpf_ssthresh,
    .set_state = (void *)ebb_bpf_set_state,
    .cwnd_event = (void *)ebb_bpf_cwnd_event,
    .undo_cwnd = (void *)ebb_bpf_undo_cwnd,
    .min_tso_segs = (void *)ebb_bpf_min_tso_segs,
    .name = "afteryou",
};

#endif
