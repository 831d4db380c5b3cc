// The guest's program: TCP flows from a sender through a router to a receiver, each a network namespace that `init` has made.
//
//   lab in NAMESPACE PROGRAM [WORD…]    runs a program in a namespace
//   lab plain INTERFACE                 switches the interface's segmentation and aggregation off
//   lab run SEED FROM TO TRACE FLOW…    runs flows, each CONTROLLER:TOS:START, and prints a line of figures
//
// Times are seconds. SEED is that of the kernel's random numbers. The figures are those from FROM to TO. The router's queue is
// sampled every 5 ms; with TRACE, the windows are printed every TRACE seconds.

#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/gen_stats.h>
#include <linux/if.h>
#include <linux/pkt_sched.h>
#include <linux/random.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000ull
#define SAMPLES_EVERY (SECOND / 200)
#define BEFORE_START (SECOND / 10)
#define ETHERNET 14
#define MOST_FLOWS 16

unsigned if_nametoindex(const char *name); // <net/if.h> and <linux/if.h> exclude each other

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static uint64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * SECOND + t.tv_nsec;
}

static void enter(const char *name) {
    char path[64];
    snprintf(path, sizeof path, "/run/netns/%s", name);
    int file = open(path, O_RDONLY);
    if (file < 0 || setns(file, CLONE_NEWNET)) fail(name);
    close(file);
}

static void make_plain(const char *interface) {
    const uint32_t features[] = {ETHTOOL_STSO, ETHTOOL_SGSO, ETHTOOL_SGRO};
    int sock = socket(AF_INET, SOCK_DGRAM, 0);
    for (int i = 0; i < 3; i++) {
        struct ethtool_value value = {features[i], 0};
        struct ifreq request = {.ifr_data = (void *)&value};
        strncpy(request.ifr_name, interface, IFNAMSIZ - 1);
        if (ioctl(sock, SIOCETHTOOL, &request)) fail(interface);
    }
}

// Gives the kernel's random numbers a seed. Nothing else in the guest differs between two boots.
static void seed_kernel(long seed) {
    struct { struct rand_pool_info info; long bytes[4]; } pool = {{256, sizeof pool.bytes}, {seed, seed, seed, seed}};
    int file = open("/dev/urandom", O_RDWR);
    if (file < 0 || ioctl(file, RNDADDENTROPY, &pool) || ioctl(file, RNDRESEEDCRNG)) fail("/dev/urandom");
    close(file);
}

// The router's queue.

struct queue { uint64_t bytes; uint32_t packets, length, drops; };
static int netlink, interface_index;

static void read_statistics(struct rtattr *of, struct queue *queue) {
    int left = RTA_PAYLOAD(of);
    for (struct rtattr *a = RTA_DATA(of); RTA_OK(a, left); a = RTA_NEXT(a, left)) {
        if (a->rta_type == TCA_STATS_BASIC) {
            struct gnet_stats_basic *basic = RTA_DATA(a);
            memcpy(&queue->bytes, &basic->bytes, sizeof queue->bytes);
            queue->packets = basic->packets;
        }
        if (a->rta_type == TCA_STATS_QUEUE) {
            struct gnet_stats_queue *stats = RTA_DATA(a);
            queue->length = stats->qlen;
            queue->drops = stats->drops;
        }
    }
}

static struct queue sample(void) {
    static char buffer[65536];
    struct { struct nlmsghdr header; struct tcmsg message; } request = {
        {sizeof request, RTM_GETQDISC, NLM_F_REQUEST | NLM_F_ECHO, 1, 0},
        {.tcm_family = AF_UNSPEC, .tcm_ifindex = interface_index, .tcm_parent = TC_H_ROOT},
    };
    if (send(netlink, &request, sizeof request, 0) < 0 || recv(netlink, buffer, sizeof buffer, 0) < 0) fail("netlink");
    struct nlmsghdr *header = (void *)buffer;
    if (header->nlmsg_type == NLMSG_ERROR) fail("the queue's statistics");
    struct queue queue = {0};
    int left = header->nlmsg_len - NLMSG_SPACE(sizeof(struct tcmsg));
    char *first = (char *)NLMSG_DATA(header) + NLMSG_ALIGN(sizeof(struct tcmsg));
    for (struct rtattr *a = (void *)first; RTA_OK(a, left); a = RTA_NEXT(a, left))
        if (a->rta_type == TCA_STATS2) read_statistics(a, &queue);
    return queue;
}

// The flows.

struct flow { char *controller; int tos, sender, receiver; double start; uint64_t received, received_at_first; };
static struct flow flows[MOST_FLOWS];
static int count;
static struct sockaddr_in receiver_address = {.sin_family = AF_INET};

static void start(struct flow *flow) {
    flow->sender = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    const char *name = flow->controller;
    if (setsockopt(flow->sender, IPPROTO_TCP, TCP_CONGESTION, name, strlen(name))) fail(name);
    if (setsockopt(flow->sender, IPPROTO_IP, IP_TOS, &flow->tos, sizeof flow->tos)) fail("tos");
    if (connect(flow->sender, (void *)&receiver_address, sizeof receiver_address) && errno != EINPROGRESS) fail("connect");
}

static uint16_t port(int sock) {
    struct sockaddr_in address = {0};
    socklen_t length = sizeof address;
    getsockname(sock, (void *)&address, &length);
    return address.sin_port;
}

static void accept_one(int listener) {
    struct sockaddr_in peer;
    socklen_t length = sizeof peer;
    int sock = accept4(listener, (void *)&peer, &length, SOCK_NONBLOCK);
    for (int i = 0; sock >= 0 && i < count; i++)
        if (flows[i].sender && port(flows[i].sender) == peer.sin_port) flows[i].receiver = sock;
}

static void write_all(struct flow *flow) {
    static char zeros[1 << 18];
    if (write(flow->sender, zeros, sizeof zeros) < 0 && errno != EAGAIN && errno != EINPROGRESS && errno != ENOTCONN) fail("write");
}

static void read_all(struct flow *flow) {
    ssize_t bytes = recv(flow->receiver, 0, 1 << 18, MSG_TRUNC);
    if (bytes > 0) flow->received += bytes;
}

// Serves the sockets until `wake` at the latest.
static void serve(int listener, uint64_t wake) {
    struct pollfd polled[2 * MOST_FLOWS + 1] = {{listener, POLLIN, 0}};
    struct flow *of[2 * MOST_FLOWS + 1];
    int n = 1;
    for (struct flow *flow = flows; flow < flows + count; flow++) {
        if (flow->sender) of[n] = flow, polled[n++] = (struct pollfd){flow->sender, POLLOUT, 0};
        if (flow->receiver) of[n] = flow, polled[n++] = (struct pollfd){flow->receiver, POLLIN, 0};
    }
    uint64_t t = now();
    struct timespec left = {0, wake > t ? wake - t : 0};
    if (ppoll(polled, n, &left, 0) < 0 && errno != EINTR) fail("poll");
    if (polled[0].revents) accept_one(listener);
    for (int i = 1; i < n; i++)
        if (polled[i].revents) (polled[i].events == POLLOUT ? write_all : read_all)(of[i]);
}

static struct tcp_info info(const struct flow *flow) {
    struct tcp_info info = {0};
    socklen_t length = sizeof info;
    if (flow->sender) getsockopt(flow->sender, IPPROTO_TCP, TCP_INFO, &info, &length);
    return info;
}

static void trace(double seconds) {
    printf("TRACE %.2f", seconds);
    for (int i = 0; i < count; i++) {
        struct tcp_info state = info(&flows[i]);
        printf(" %u/%u/%.1f", state.tcpi_snd_cwnd, state.tcpi_snd_ssthresh, state.tcpi_rtt / 1e3);
    }
    printf("\n");
}

static int open_sockets(void) {
    enter("router");
    netlink = socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE);
    interface_index = if_nametoindex("out");
    enter("receiver");
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    receiver_address.sin_port = htons(5000);
    receiver_address.sin_addr.s_addr = inet_addr("10.0.3.2");
    if (bind(listener, (void *)&receiver_address, sizeof receiver_address) || listen(listener, MOST_FLOWS)) fail("listen");
    enter("sender");
    return listener;
}

// The sums of the samples since FROM.
struct sums { uint64_t packets, busy, samples; };

static void take_sample(struct sums *sums) {
    struct queue queue = sample();
    sums->packets += queue.length;
    sums->busy += queue.length > 0;
    sums->samples++;
}

static void print(const struct sums *sums, const struct queue *first, double seconds) {
    struct queue last = sample();
    uint64_t bytes = last.bytes - first->bytes - ETHERNET * (last.packets - first->packets);
    double k = sums->samples;
    printf("FIGURES {\"seconds\":%.3f,\"samples\":%.0f,\"queue_packets\":%.4f,\"busy\":%.4f,\"sent_mbit_s\":%.4f,\"drops\":%u", seconds, k,
           sums->packets / k, sums->busy / k, bytes * 8 / seconds / 1e6, last.drops - first->drops);
    printf(",\"goodput_mbit_s\":[");
    for (int i = 0; i < count; i++)
        printf("%s%.4f", i ? "," : "", (flows[i].received - flows[i].received_at_first) * 8 / seconds / 1e6);
    printf("],\"retransmissions\":[");
    for (int i = 0; i < count; i++) printf("%s%u", i ? "," : "", info(&flows[i]).tcpi_total_retrans);
    printf("]}\n");
}

static void run(double from, double to, double trace_every) {
    int listener = open_sockets();
    uint64_t zero = now() + BEFORE_START, begin = zero + from * SECOND, end = zero + to * SECOND;
    uint64_t next = zero, next_trace = trace_every > 0 ? zero : UINT64_MAX;
    struct sums sums = {0};
    struct queue first = {0};
    int is_measuring = 0;
    for (uint64_t t = now(); t < end; t = now()) {
        if (!is_measuring && t >= begin) {
            is_measuring = 1, first = sample(), begin = t;
            for (int i = 0; i < count; i++) flows[i].received_at_first = flows[i].received;
        }
        if (t >= next) {
            while (next <= t) next += SAMPLES_EVERY;
            if (is_measuring) take_sample(&sums);
        }
        if (t >= next_trace) trace((t - zero) / 1e9), next_trace += trace_every * SECOND;
        for (int i = 0; i < count; i++)
            if (!flows[i].sender && t >= zero + flows[i].start * SECOND) start(&flows[i]);
        serve(listener, next);
    }
    print(&sums, &first, (now() - begin) / 1e9);
}

int main(int words, char **word) {
    if (words > 3 && !strcmp(word[1], "in")) {
        enter(word[2]);
        execvp(word[3], word + 3);
        fail(word[3]);
    }
    if (words == 3 && !strcmp(word[1], "plain")) return make_plain(word[2]), 0;
    if (words < 7 || strcmp(word[1], "run")) return 2;
    seed_kernel(atol(word[2]));
    for (int i = 6; i < words && count < MOST_FLOWS; i++) {
        flows[count].controller = strtok(word[i], ":");
        flows[count].tos = atoi(strtok(0, ":"));
        flows[count++].start = atof(strtok(0, ":"));
    }
    run(atof(word[3]), atof(word[4]), atof(word[5]));
}
