/* Two uTP connections of this machine exchange bytes over UDP.
 *
 *   cargo build --release -p afteryou-utp-c
 *   cc -I crates/transport/utp-c/include -o transfer crates/transport/utp-c/examples/transfer.c target/release/libafteryou_utp_c.a -lpthread -ldl -lm
 *   ./transfer 100000000
 */
#define _POSIX_C_SOURCE 200809L
#include <afteryou_utp.h>
#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* One end: a socket, a connection, and an application that writes a pattern and compares what it reads with the same. */
struct end {
    int socket;
    struct sockaddr_in peer;
    ay_utp_connection *connection;
    uint64_t written, read;
    int equal, closed;
};

static uint64_t total;
static ay_utp_settings *settings;

static uint64_t now_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static void fail(const char *what) {
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static uint8_t pattern(uint64_t at) { return (uint8_t)(at * 31 >> 4); }

static void write_some(struct end *end) {
    uint8_t bytes[16384];
    while (end->written < total) {
        size_t len = total - end->written < sizeof bytes ? (size_t)(total - end->written) : sizeof bytes;
        for (size_t i = 0; i < len; i++) bytes[i] = pattern(end->written + i);
        intptr_t taken = ay_utp_write(end->connection, bytes, len);
        if (taken < 0) fail("writing failed");
        end->written += (uint64_t)taken;
        if ((size_t)taken < len) return; /* AY_UTP_WRITABLE says when to go on */
    }
    ay_utp_finish(end->connection);
}

static void read_some(struct end *end) {
    uint8_t bytes[16384];
    intptr_t len;
    while ((len = ay_utp_read(end->connection, now_us(), bytes, sizeof bytes)) > 0)
        for (intptr_t i = 0; i < len; i++) end->equal &= bytes[i] == pattern(end->read++);
    if (len < 0) fail("reading failed");
}

static void follow_events(struct end *end) {
    for (;;) {
        switch (ay_utp_poll_event(end->connection)) {
        case AY_UTP_NOTHING: return;
        case AY_UTP_CONNECTED:
        case AY_UTP_WRITABLE: write_some(end); break;
        case AY_UTP_READABLE: read_some(end); break;
        case AY_UTP_FINISH_ACKNOWLEDGED: break;
        case AY_UTP_CLOSED:
            if (ay_utp_error(end->connection) != AY_UTP_OK) fail("the connection failed");
            end->closed = 1;
        }
    }
}

/* A datagram that finds no room is lost, as on any network: uTP sends it again. */
static void transmit(struct end *end) {
    uint8_t datagram[AY_UTP_DATAGRAM];
    size_t len;
    while ((len = ay_utp_transmit(end->connection, now_us(), datagram, sizeof datagram)) > 0)
        (void)sendto(end->socket, datagram, len, 0, (struct sockaddr *)&end->peer, sizeof end->peer);
}

static void receive(struct end *end) {
    uint8_t datagram[65536];
    ssize_t len;
    while ((len = recv(end->socket, datagram, sizeof datagram, 0)) >= 0) {
        if (end->connection == NULL)
            end->connection = ay_utp_accept_with(settings, now_us(), datagram, (size_t)len, (uint16_t)rand());
        else if (ay_utp_datagram_id(datagram, (size_t)len) == ay_utp_recv_id(end->connection))
            ay_utp_handle(end->connection, now_us(), datagram, (size_t)len);
    }
}

static void open_socket(struct end *end, struct sockaddr_in *address) {
    socklen_t len = sizeof *address;
    memset(address, 0, sizeof *address);
    address->sin_family = AF_INET;
    address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    end->socket = socket(AF_INET, SOCK_DGRAM, 0);
    if (end->socket < 0 || bind(end->socket, (struct sockaddr *)address, len) != 0) fail("no socket");
    if (getsockname(end->socket, (struct sockaddr *)address, &len) != 0) fail("no address");
    fcntl(end->socket, F_SETFL, O_NONBLOCK);
    end->equal = 1;
}

/* What a program would ask of libutp by utp_setsockopt. */
static void choose_settings(void) {
    settings = ay_utp_settings_new("ledbat++");
    if (settings == NULL) fail("no such controller");
    int failed = ay_utp_settings_parameter(settings, "target", 50000) != AY_UTP_OK;
    failed |= ay_utp_settings_parameter(settings, "restart", 1) != AY_UTP_OK;
    failed |= ay_utp_settings_set(settings, AY_UTP_RECV_BUFFER, 1 << 20) != AY_UTP_OK;
    failed |= ay_utp_settings_set(settings, AY_UTP_SEND_BUFFER, 2 << 20) != AY_UTP_OK;
    failed |= ay_utp_settings_set(settings, AY_UTP_PAYLOAD, 1400) != AY_UTP_OK;
    failed |= ay_utp_settings_set(settings, AY_UTP_NAGLE, 0) != AY_UTP_OK;
    failed |= ay_utp_settings_set(settings, AY_UTP_LINGER_US, 500000) != AY_UTP_OK;
    if (failed) fail("a setting was refused");
}

static int wait_ms(const struct end *ends) {
    uint64_t now = now_us(), first = now + 1000000;
    for (int i = 0; i < 2; i++) {
        uint64_t at = ay_utp_deadline(ends[i].connection);
        if (at < first) first = at;
    }
    return first <= now ? 0 : (int)((first - now + 999) / 1000);
}

int main(int count, char **arguments) {
    struct end ends[2] = {{0}, {0}};
    total = count > 1 ? strtoull(arguments[1], NULL, 10) : 1000000;
    srand((unsigned)time(NULL)); /* a program on the open internet takes ids that cannot be guessed */
    open_socket(&ends[0], &ends[1].peer);
    open_socket(&ends[1], &ends[0].peer);
    choose_settings();
    ends[0].connection = ay_utp_connect_with(settings, now_us(), (uint16_t)(rand() & 0x7FFF), (uint16_t)rand());
    while (!ends[0].closed || !ends[1].closed) {
        for (int i = 0; i < 2; i++) {
            receive(&ends[i]);
            if (ends[i].connection == NULL) continue;
            ay_utp_handle_deadline(ends[i].connection, now_us());
            follow_events(&ends[i]);
            transmit(&ends[i]);
            follow_events(&ends[i]); /* what has left may have made room */
            transmit(&ends[i]);
        }
        struct pollfd sockets[2] = {{ends[0].socket, POLLIN, 0}, {ends[1].socket, POLLIN, 0}};
        if (!ends[0].closed || !ends[1].closed) poll(sockets, 2, wait_ms(ends));
    }
    printf("%llu bytes there, %llu bytes back, %s\n", (unsigned long long)ends[1].read,
           (unsigned long long)ends[0].read, ends[0].equal && ends[1].equal ? "all equal" : "NOT EQUAL");
    for (int i = 0; i < 2; i++) {
        ay_utp_free(ends[i].connection);
        close(ends[i].socket);
    }
    ay_utp_settings_free(settings);
    return 0;
}
