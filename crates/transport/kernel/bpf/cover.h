/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Chooses controller and mark of the TCP connections of a control group, as they begin (sock_ops), and keeps them (setsockopt). Connections
 * within the machine are left as they are.
 *
 * Not implemented
 *   Connections that were open before, and those of other kinds: UDP, SCTP, subflows of Multipath TCP.
 */
#ifndef AFTERYOU_COVER_H
#define AFTERYOU_COVER_H

#include "kernel.h"
#include "settings.h"

/* Connections: covered, within the machine, refused by the kernel. */
enum { COVERED, LOCAL, REFUSED, COVER_COUNTS };

struct {
    MAP_NUMBER(type, BPF_MAP_TYPE_ARRAY);
    MAP_NUMBER(max_entries, COVER_COUNTS);
    MAP_TYPE(key, u32);
    MAP_TYPE(value, u64);
} cover_counts SEC(".maps");

KERNEL_INLINE void count(u32 kind)
{
    u64 *counted = bpf_map_lookup_elem(&cover_counts, &kind);
    if (counted)
        __sync_fetch_and_add(counted, 1);
}

/* Returns whether an address is of this machine: 127.0.0.0/8, ::1, or the former within IPv6. */
KERNEL_INLINE bool is_local_ip4(u32 ip) { return (u8)ip == 127; }

KERNEL_INLINE bool is_local_ip6(u32 first, u32 second, u32 third, u32 last)
{
    if (first | second)
        return 0;
    return third == __builtin_bswap32(0xffff) ? is_local_ip4(last) : !third && last == __builtin_bswap32(1);
}

KERNEL_INLINE bool is_local(const struct bpf_sock_ops *context)
{
    if (context->family == AF_INET)
        return is_local_ip4(context->remote_ip4);
    const u32 *ip = context->remote_ip6;
    return is_local_ip6(ip[0], ip[1], ip[2], ip[3]);
}

KERNEL_INLINE bool is_connected_elsewhere(const struct bpf_sock *sk)
{
    if (sk->protocol != IPPROTO_TCP || sk->state == BPF_TCP_CLOSE || sk->state == BPF_TCP_LISTEN)
        return 0;
    if (sk->family == AF_INET)
        return !is_local_ip4(sk->dst_ip4);
    return sk->family == AF_INET6 && !is_local_ip6(sk->dst_ip6[0], sk->dst_ip6[1], sk->dst_ip6[2], sk->dst_ip6[3]);
}

/* Gives a connection its mark and its controller; zero if the kernel does. */
KERNEL_INLINE long choose(struct bpf_sock_ops *context)
{
    char name[sizeof settings.name];
    for (u32 i = 0; i < sizeof name; i++)
        name[i] = settings.name[i];
    int mark = settings.mark;
    /* It is for IPv4 within IPv6, too. */
    bpf_setsockopt(context, SOL_IP, IP_TOS, &mark, sizeof mark);
    if (context->family == AF_INET6)
        bpf_setsockopt(context, SOL_IPV6, IPV6_TCLASS, &mark, sizeof mark);
    return bpf_setsockopt(context, SOL_TCP, TCP_CONGESTION, name, sizeof name);
}

/* A route with congctl replaces the controller while a connection is made: then it is chosen once more. */
SEC("sockops")
int cover(struct bpf_sock_ops *context)
{
    u32 op = context->op;
    bool stands = op == BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB || op == BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB;
    if (!stands && op != BPF_SOCK_OPS_TCP_CONNECT_CB)
        return 1;
    if (context->family != AF_INET && context->family != AF_INET6)
        return 1;
    bool local = is_local(context);
    long refused = local ? 0 : choose(context);
    if (stands)
        count(local ? LOCAL : refused ? REFUSED : COVERED);
    return 1;
}

KERNEL_INLINE bool is_chosen_here(s32 level, s32 option)
{
    return (level == SOL_TCP && option == TCP_CONGESTION) || (level == SOL_IP && option == IP_TOS) ||
           (level == SOL_IPV6 && option == IPV6_TCLASS);
}

/* Keeps what was chosen: ssh marks its connections itself, and some programs choose a controller. */
SEC("cgroup/setsockopt")
int cover_keeps(struct bpf_sockopt *context)
{
    struct bpf_sock *sk = context->sk;
    if (sk && is_chosen_here(context->level, context->optname) && is_connected_elsewhere(sk))
        context->optlen = -1;
    return 1;
}

#endif
