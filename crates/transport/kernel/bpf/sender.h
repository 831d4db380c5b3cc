/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What every rule reads of the kernel's sender. Times of the kernel are us, those of the rules ns.
 */
#ifndef AFTERYOU_SENDER_H
#define AFTERYOU_SENDER_H

#include "event.h"
#include "kernel.h"

/* What a connection keeps beside the rule. */
struct sender {
    /* When the latest ack came, ns. */
    u64 acked_at;
    /* When the kernel last asked for a threshold, ns. */
    u64 reduced_at;
    /* Round-trip time of the ack under way, us; 0: none. */
    u32 rtt_us;
    /* Sequence number with whose ack a round trip begins. */
    u32 round_end;
    /* Payload of a packet, bytes. */
    u32 mss;
    u32 unused;
};

KERNEL_INLINE u64 now_ns(const struct tcp_sock *tp) { return tp->tcp_mstamp * 1000; }

KERNEL_INLINE u32 mss_of(const struct tcp_sock *tp) { return max_u64(tp->mss_cache, 1); }

/* Returns a window in packets, at least one. */
KERNEL_INLINE u32 packets(bytes16 window, const struct tcp_sock *tp)
{
    return min_u64(max_u64(bytes16_to_bytes(window) / mss_of(tp), 1), 0x7fffffff);
}

/* Returns the bytes sent and not acknowledged in order. */
KERNEL_INLINE u64 flight_of(const struct tcp_sock *tp) { return (u32)(tp->snd_nxt - tp->snd_una); }

/* Returns whether the kernel is reducing the window. */
KERNEL_INLINE bool is_reducing(struct sock *sk)
{
    u64 state = READ_BITS((struct inet_connection_sock *)sk, icsk_ca_state);
    return state == TCP_CA_CWR || state == TCP_CA_RECOVERY;
}

/* Returns whether the application limits the sender, as tcp_is_cwnd_limited of Linux: slow start counts half a window as full. */
KERNEL_INLINE bool is_app_limited(const struct tcp_sock *tp)
{
    bool is_half_full = tp->snd_cwnd < tp->snd_ssthresh && tp->snd_cwnd < 2 * tp->max_packets_out;
    return !is_half_full && !READ_BITS(tp, is_cwnd_limited);
}

/* Returns the event of an ack that delivers `acked` packets, and begins a round trip if it is time. */
KERNEL_INLINE struct ack_event ack_event_of(struct sender *self, const struct tcp_sock *tp, u32 acked)
{
    u64 delivered = (u64)acked * mss_of(tp);
    struct ack_event ack = {
        .now = now_ns(tp),
        .smoothed_rtt = (u64)(tp->srtt_us >> 3) * 1000,
        .delivered = delivered,
        .flightsize = flight_of(tp) + delivered,
        .delay_us = self->rtt_us,
        .flags = self->rtt_us ? HAS_DELAY : 0,
    };
    ack.sent_at = saturating_sub(ack.now, (u64)self->rtt_us * 1000);
    if ((s32)(tp->snd_una - self->round_end) >= 0) {
        ack.flags |= ROUND_START;
        self->round_end = tp->snd_nxt;
    }
    if (is_app_limited(tp))
        ack.flags |= APP_LIMITED;
    self->acked_at = ack.now;
    self->rtt_us = 0;
    return ack;
}

/*
 * Returns whether more than a retransmission timeout and a pause of the rule's own have passed with nothing in flight. A packet that leaves
 * again after a timeout is still outstanding.
 */
KERNEL_INLINE bool is_idle_since(u64 acked_us, u64 pause_us, const struct tcp_sock *tp)
{
    u64 rto_us = (u64)(tp->srtt_us >> 3) + tp->rttvar_us;
    return tp->packets_out == 0 && acked_us && saturating_sub(tp->tcp_mstamp, acked_us) > rto_us + pause_us;
}

#endif
