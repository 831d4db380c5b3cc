/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A rule as a congestion controller of Linux. `afteryou.bpf.c` includes this file once for each RULE.
 *
 * Linux reports acks in two steps: pkts_acked has the round-trip time, cong_avoid the packets delivered. The rule gets them as one
 * event. In CWR and Recovery the kernel reduces the window itself, to the threshold that the rule has returned, and does not call
 * cong_avoid. There the rule takes in the delays alone.
 *
 *   pkts_acked --rtt_us--> cong_avoid --ack_event--> rule --window--> snd_cwnd
 *   ssthresh (loss, mark), set_state(Loss) (timeout), cwnd_event(TX_START) (idle) --> rule
 */
#define PASTE(a, b) a##_##b
#define EXPANDED(a, b) PASTE(a, b)
#define OF_RULE(name) EXPANDED(RULE, name)

/* A connection. */
struct OF_RULE(connection) {
    struct RULE state;
    struct OF_RULE(saved) before;
    struct sender sender;
};

struct {
    MAP_NUMBER(type, BPF_MAP_TYPE_SK_STORAGE);
    MAP_NUMBER(map_flags, BPF_F_NO_PREALLOC);
    MAP_TYPE(key, int);
    MAP_TYPE(value, struct OF_RULE(connection));
} OF_RULE(connections) SEC(".maps");

KERNEL_INLINE struct OF_RULE(connection) *OF_RULE(find)(struct sock *sk)
{
    return bpf_sk_storage_get(&OF_RULE(connections), sk, 0, 0);
}

/* Returns the parameters for the packets of this connection. */
KERNEL_INLINE struct OF_RULE(params) OF_RULE(params_of)(const struct tcp_sock *tp)
{
    struct OF_RULE(params) p = OF_RULE(defaults);
    p.mss = mss_of(tp);
    return p;
}

/* Hands the window to the kernel. A threshold above twice the window would make it pace for slow start. */
KERNEL_INLINE void OF_RULE(apply)(const struct RULE *state, struct tcp_sock *tp)
{
    u32 cwnd = packets(state->cwnd, tp);
    tp->snd_cwnd = min_u64(cwnd, tp->snd_cwnd_clamp);
    tp->snd_ssthresh = max_u64(cwnd, packets(OF_RULE(threshold)(state), tp));
}

SEC("struct_ops")
void OF_RULE(bpf_init)(u64 *context)
{
    struct sock *sk = (struct sock *)context[0];
    struct tcp_sock *tp = (struct tcp_sock *)sk;
    struct OF_RULE(connection) *connection =
        bpf_sk_storage_get(&OF_RULE(connections), sk, 0, BPF_SK_STORAGE_GET_F_CREATE);
    if (!connection)
        return;
    struct OF_RULE(params) p = OF_RULE(params_of)(tp);
    __builtin_memset(connection, 0, sizeof *connection);
    OF_RULE(init)(&connection->state, &p);
    connection->before = OF_RULE(before)(&connection->state);
    connection->sender.mss = p.mss;
    connection->sender.round_end = tp->snd_nxt; /* sequence numbers begin anywhere */
    OF_RULE(apply)(&connection->state, tp);
}

SEC("struct_ops")
void OF_RULE(bpf_pkts_acked)(u64 *context)
{
    struct sock *sk = (struct sock *)context[0];
    const struct ack_sample *sample = (const struct ack_sample *)context[1];
    struct OF_RULE(connection) *connection = OF_RULE(find)(sk);
    s32 rtt_us = sample->rtt_us;
    if (!connection || rtt_us <= 0)
        return;
    if (!is_reducing(sk)) {
        connection->sender.rtt_us = rtt_us;
        return;
    }
    struct tcp_sock *tp = (struct tcp_sock *)sk;
    struct OF_RULE(params) p = OF_RULE(params_of)(tp);
    delay_take(&connection->state.delay, &p.kept, now_ns(tp), rtt_us);
}

SEC("struct_ops")
void OF_RULE(bpf_cong_avoid)(u64 *context)
{
    struct sock *sk = (struct sock *)context[0];
    struct tcp_sock *tp = (struct tcp_sock *)sk;
    struct OF_RULE(connection) *connection = OF_RULE(find)(sk);
    if (!connection)
        return;
    struct RULE *state = &connection->state;
    struct OF_RULE(params) p = OF_RULE(params_of)(tp);
    if (connection->sender.mss != p.mss) {
        connection->sender.mss = p.mss;
        OF_RULE(on_mtu)(state, &p);
    }
    struct ack_event ack = ack_event_of(&connection->sender, tp, (u32)context[2]);
    bytes16 cwnd = state->cwnd;
    bool could_fall = OF_RULE(is_avoiding)(state);
    OF_RULE(on_ack)(state, &p, &ack);
    if (state->cwnd < cwnd && could_fall && OF_RULE(is_avoiding)(state))
        OF_RULE(saved_lower)(&connection->before, cwnd - state->cwnd);
    OF_RULE(apply)(state, tp);
}

/* A loss or a mark: the kernel asks once per recovery. It also asks before a timeout, which set_state(Loss) then replaces. */
SEC("struct_ops")
u32 OF_RULE(bpf_ssthresh)(u64 *context)
{
    struct sock *sk = (struct sock *)context[0];
    struct tcp_sock *tp = (struct tcp_sock *)sk;
    struct OF_RULE(connection) *connection = OF_RULE(find)(sk);
    if (!connection)
        return max_u64(tp->snd_cwnd / 2, FLOOR_PACKETS);
    struct OF_RULE(params) p = OF_RULE(params_of)(tp);
    u64 now = now_ns(tp);
    connection->before = OF_RULE(before)(&connection->state);
    connection->sender.reduced_at = now;
    OF_RULE(on_loss)(&connection->state, &p, now, now);
    return packets(connection->state.cwnd, tp);
}

SEC("struct_ops")
void OF_RULE(bpf_set_state)(u64 *context)
{
    struct sock *sk = (struct sock *)context[0];
    struct tcp_sock *tp = (struct tcp_sock *)sk;
    struct OF_RULE(connection) *connection = OF_RULE(find)(sk);
    if (!connection || (u8)context[1] != TCP_CA_LOSS)
        return;
    struct OF_RULE(params) p = OF_RULE(params_of)(tp);
    u64 now = now_ns(tp);
    if (connection->sender.reduced_at == now)
        OF_RULE(undo)(&connection->state, &connection->before);
    u32 consecutive = ((struct inet_connection_sock *)sk)->icsk_retransmits + 1;
    OF_RULE(timed_out)(&connection->state, &p, now, flight_of(tp), consecutive);
}

SEC("struct_ops")
void OF_RULE(bpf_cwnd_event)(u64 *context)
{
    struct sock *sk = (struct sock *)context[0];
    struct tcp_sock *tp = (struct tcp_sock *)sk;
    struct OF_RULE(connection) *connection = OF_RULE(find)(sk);
    if (!connection || (u32)context[1] != CA_EVENT_TX_START || !is_idle_since(connection->sender.acked_at / 1000, 0, tp))
        return;
    struct OF_RULE(params) p = OF_RULE(params_of)(tp);
    OF_RULE(was_idle)(&connection->state, &p);
    OF_RULE(apply)(&connection->state, tp);
}

SEC("struct_ops")
u32 OF_RULE(bpf_undo_cwnd)(u64 *context)
{
    struct sock *sk = (struct sock *)context[0];
    struct tcp_sock *tp = (struct tcp_sock *)sk;
    struct OF_RULE(connection) *connection = OF_RULE(find)(sk);
    if (!connection)
        return tp->snd_cwnd;
    OF_RULE(undo)(&connection->state, &connection->before);
    return packets(connection->state.cwnd, tp);
}

SEC(".struct_ops.link")
struct tcp_congestion_ops OF_RULE(ops) = {
    .init = (void *)OF_RULE(bpf_init),
    .pkts_acked = (void *)OF_RULE(bpf_pkts_acked),
    .cong_avoid = (void *)OF_RULE(bpf_cong_avoid),
    .ssthresh = (void *)OF_RULE(bpf_ssthresh),
    .set_state = (void *)OF_RULE(bpf_set_state),
    .cwnd_event = (void *)OF_RULE(bpf_cwnd_event),
    .undo_cwnd = (void *)OF_RULE(bpf_undo_cwnd),
    .name = KERNEL_NAME,
};

#undef PASTE
#undef EXPANDED
#undef OF_RULE
#undef RULE
#undef KERNEL_NAME
