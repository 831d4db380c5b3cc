/* Sends bytes to a server of this machine or another one, as background traffic.
 *
 *   cargo build --release -p afteryou-background-c
 *   cc -I crates/transport/background-c/include -o upload crates/transport/background-c/examples/upload.c target/release/libafteryou_background_c.a -lpthread -ldl -lm
 *   ./upload 192.0.2.1 9000 100000000
 */
#define _POSIX_C_SOURCE 200809L
#include <afteryou_background.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

static int connected(const char *host, const char *port) {
    struct addrinfo hints = {0}, *found, *one;
    hints.ai_socktype = SOCK_STREAM;
    if (getaddrinfo(host, port, &hints, &found) != 0) return -1;
    int connection = -1;
    for (one = found; one && connection < 0; one = one->ai_next) {
        connection = socket(one->ai_family, one->ai_socktype, one->ai_protocol);
        if (connection >= 0 && connect(connection, one->ai_addr, one->ai_addrlen) != 0) {
            close(connection);
            connection = -1;
        }
    }
    freeaddrinfo(found);
    return connection;
}

int main(int count, char **words) {
    if (count != 4) {
        fprintf(stderr, "usage: upload HOST PORT BYTES\n");
        return 2;
    }
    int connection = connected(words[1], words[2]);
    if (connection < 0) {
        perror("no connection");
        return 1;
    }
    ay_background managed;
    if (ay_set_background(connection, &managed) != AY_BACKGROUND_OK) {
        fprintf(stderr, "%s\n", managed.sentence);
        return 1;
    }
    printf("this upload %s\n", managed.sentence);
    if (managed.rule < 0) printf("limit its rate, so that others have room\n");

    static const char bytes[16384];
    long left = atol(words[3]);
    while (left > 0) {
        ssize_t sent = write(connection, bytes, left < (long)sizeof bytes ? (size_t)left : sizeof bytes);
        if (sent < 0) {
            perror("the upload has ended early");
            return 1;
        }
        left -= sent;
    }
    close(connection);
    return 0;
}
