/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * What the programs use of the kernel and of libbpf's conventions, so that clang alone builds them.
 *
 * The structs have only the fields in use. The loader finds each in the running kernel by its name (CO-RE).
 */
#ifndef AFTERYOU_KERNEL_H
#define AFTERYOU_KERNEL_H

#include "integers.h"

typedef unsigned char u8;
typedef long long s64;

#define SEC(name) __attribute__((section(name), used))

/* Members of a map's definition, as libbpf reads them. */
#define MAP_NUMBER(name, value) int(*name)[value]
#define MAP_TYPE(name, type) type *name

enum { BPF_MAP_TYPE_ARRAY = 2, BPF_MAP_TYPE_SK_STORAGE = 24, BPF_F_NO_PREALLOC = 1, BPF_SK_STORAGE_GET_F_CREATE = 1 };

/* As INLINE, for functions that read the kernel's structs: the places of fields are found by what the compiler notes of their lines. */
#define KERNEL_INLINE static inline __attribute__((always_inline))

struct sock;
static void *(*const bpf_map_lookup_elem)(void *map, const void *key) = (void *)1;
static long (*const bpf_setsockopt)(void *context, int level, int option, void *value, int length) = (void *)49;
static void *(*const bpf_sk_storage_get)(void *map, struct sock *sk, void *value, u64 flags) = (void *)107;

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct sock {
    /* Bytes per second. */
    u64 sk_pacing_rate;
    u64 sk_max_pacing_rate;
    u32 sk_pacing_status;
};

struct tcp_sock {
    u32 snd_una;
    u32 snd_nxt;
    /* Bytes after snd_una that the receiver takes. */
    u32 snd_wnd;
    u32 snd_cwnd;
    u32 snd_cwnd_clamp;
    u32 snd_ssthresh;
    u32 mss_cache;
    /* Packets sent and not acknowledged in order. */
    u32 packets_out;
    u32 max_packets_out;
    u32 sacked_out;
    /* Packets lost and packets delivered with a mark, since the connection began. */
    u32 lost;
    u32 delivered_ce;
    /* Eight times the smoothed round-trip time, us. */
    u32 srtt_us;
    /* Four times its deviation, us. */
    u32 rttvar_us;
    /* When the latest packet arrived or left, us. */
    u64 tcp_mstamp;
    u8 is_cwnd_limited : 1;
};

struct inet_connection_sock {
    u8 icsk_ca_state : 5;
    /* Consecutive timeouts before this one. */
    u8 icsk_retransmits;
};

struct ack_sample {
    /* Negative: none. */
    s32 rtt_us;
};

/* What an ack shows of the delivery rate (Linux 6.0 and newer). */
struct rate_sample {
    /* Packets delivered within the interval; negative: there is no sample. */
    s32 delivered;
    s64 interval_us;
    /* Round-trip time of the newest acknowledged packet; negative: none. */
    s64 rtt_us;
    /* Packets that it reports as delivered for the first time, and packets in flight before it. */
    u32 acked_sacked;
    u32 prior_in_flight;
    /* Sequence number after the newest acknowledged packet. */
    u32 last_end_seq;
    bool is_app_limited;
};

#pragma clang attribute pop

/* States of recovery. */
enum { TCP_CA_CWR = 2, TCP_CA_RECOVERY = 3, TCP_CA_LOSS = 4 };
/* Pacing: by nobody, by TCP. */
enum { SK_PACING_NONE = 0, SK_PACING_NEEDED = 1 };
/* An event: the first packet leaves with nothing in flight. */
enum { CA_EVENT_TX_START = 0 };

struct tcp_congestion_ops {
    u32 (*ssthresh)(struct sock *);
    void (*cong_avoid)(struct sock *, u32, u32);
    void (*set_state)(struct sock *, u8);
    void (*cwnd_event)(struct sock *, int);
    void (*pkts_acked)(struct sock *, const struct ack_sample *);
    u32 (*min_tso_segs)(struct sock *);
    void (*cong_control)(struct sock *, u32, int, const struct rate_sample *);
    u32 (*undo_cwnd)(struct sock *);
    void (*init)(struct sock *);
    char name[16];
};

/* What a sock_ops program gets (linux/bpf.h): addresses are in the order of the network. */
struct bpf_sock_ops {
    u32 op;
    u32 replies[4];
    u32 family;
    u32 remote_ip4;
    u32 local_ip4;
    u32 remote_ip6[4];
};

/* A socket, as programs of control groups see it (linux/bpf.h). */
struct bpf_sock {
    u32 bound_dev_if;
    u32 family;
    u32 type;
    u32 protocol;
    u32 mark;
    u32 priority;
    u32 src_ip4;
    u32 src_ip6[4];
    u32 src_port;
    u32 dst_port;
    u32 dst_ip4;
    u32 dst_ip6[4];
    u32 state;
};

/* What a program gets that sees options before they are set (linux/bpf.h). */
struct bpf_sockopt {
    struct bpf_sock *sk;
    u64 optval;
    u64 optval_end;
    s32 level;
    s32 optname;
    /* -1: the kernel does nothing, and the caller sees a success. */
    s32 optlen;
};

/* States of a socket without a connection. */
enum { BPF_TCP_CLOSE = 7, BPF_TCP_LISTEN = 10 };

/* Before a connection is asked for, and when it stands: at its own end, at the other one's. */
enum {
    BPF_SOCK_OPS_TCP_CONNECT_CB = 3,
    BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB = 4,
    BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB = 5,
};
enum { AF_INET = 2, AF_INET6 = 10, IPPROTO_TCP = 6 };
/* Options of sockets, by level. */
enum { SOL_IP = 0, IP_TOS = 1, SOL_TCP = 6, TCP_CONGESTION = 13, SOL_IPV6 = 41, IPV6_TCLASS = 67 };

/* Kinds of relocation of a bit field, as clang and libbpf number them. */
enum { FIELD_BYTE_OFFSET = 0, FIELD_LSHIFT_U64 = 4, FIELD_RSHIFT_U64 = 5 };

/* Reads a bit field that lies within a byte. */
#define READ_BITS(object, field)                                                                                    \
    ((u64) * ((const u8 *)(object) + __builtin_preserve_field_info((object)->field, FIELD_BYTE_OFFSET))             \
         << __builtin_preserve_field_info((object)->field, FIELD_LSHIFT_U64) >>                                     \
     __builtin_preserve_field_info((object)->field, FIELD_RSHIFT_U64))

#endif
