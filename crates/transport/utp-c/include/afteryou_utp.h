/*
 * uTP (BEP 29) without I/O.
 *
 * A connection takes datagrams, times and bytes, and gives datagrams, bytes and the next deadline. Sockets, clocks and threads
 * stay the program's.
 *
 * Loop: give each datagram of the peer to ay_utp_handle and call ay_utp_handle_deadline when ay_utp_deadline has come. After these and
 * after any write, read, flush, finish or abort call ay_utp_poll_event until it returns AY_UTP_NOTHING, and ay_utp_transmit until
 * it returns 0.
 *
 * Ownership: ay_utp_connect, ay_utp_accept and those with settings return a connection that belongs to the caller, who gives it to
 * ay_utp_free exactly once. Settings of ay_utp_settings_new go to ay_utp_settings_free in the same way, at any time. All other pointers are borrowed for the time of the call. No call keeps or frees them.
 *
 * Threads: a connection is used by one thread at a time. Different connections are independent, there is no global state,
 * and a connection may move from thread to thread between calls. Settings are the same: any number of threads may read
 * them (ay_utp_connect_with, ay_utp_accept_with, ay_utp_settings_get) while none changes them.
 *
 * Times are microseconds of a clock that never goes back; all calls on one connection use the same clock.
 *
 * Null pointers are refused with AY_UTP_BAD_ARGUMENT, or with the value that the function names.
 */

#ifndef AFTERYOU_UTP_H
#define AFTERYOU_UTP_H

#include <stddef.h>
#include <stdint.h>

/*
 Room for any datagram of a connection, bytes.
 */
#define AY_UTP_DATAGRAM 2048

/*
 How a call or a connection ended.
 */
typedef enum {
  /*
   All is well.
   */
  AY_UTP_OK = 0,
  /*
   A null pointer, or a datagram that is no uTP.
   */
  AY_UTP_BAD_ARGUMENT = -1,
  /*
   Nobody answered the SYN.
   */
  AY_UTP_UNREACHABLE = -2,
  /*
   The SYN was answered by a reset.
   */
  AY_UTP_REFUSED = -3,
  /*
   The peer has dropped the connection.
   */
  AY_UTP_RESET = -4,
  /*
   The peer has not answered for too long.
   */
  AY_UTP_TIMED_OUT = -5,
  /*
   This side has dropped the connection.
   */
  AY_UTP_ABORTED = -6,
  /*
   Written to after ay_utp_finish or the end of the connection.
   */
  AY_UTP_FINISHED = -7,
  /*
   Another reason, which this version of the interface has no number for.
   */
  AY_UTP_OTHER = -8,
} ay_utp_code;

/*
 Reports of ay_utp_poll_event.
 */
typedef enum {
  /*
   Nothing more for now.
   */
  AY_UTP_NOTHING = 0,
  /*
   The handshake is complete.
   */
  AY_UTP_CONNECTED = 1,
  /*
   Bytes can be read, or the peer's direction is at its end. Read until ay_utp_read returns 0; then it may come again.
   */
  AY_UTP_READABLE = 2,
  /*
   A write took less than it was given, and now there is room.
   */
  AY_UTP_WRITABLE = 3,
  /*
   The peer has acknowledged everything up to the end of our direction.
   */
  AY_UTP_FINISH_ACKNOWLEDGED = 4,
  /*
   The connection is over. ay_utp_error has the reason. The last event.
   */
  AY_UTP_CLOSED = 5,
} ay_utp_event;

/*
 A setting, with its unit and its default.
 */
typedef enum {
  /*
   Payload of a full packet, bytes; 1352. With a search for the path MTU: at first.
   */
  AY_UTP_PAYLOAD = 0,
  /*
   Payload of the largest packet that the search for the path MTU tries, bytes; 0. No more than AY_UTP_PAYLOAD: no search. With a search the
   program's socket must forbid fragments, but while ay_utp_may_fragment returns 1.
   */
  AY_UTP_MAX_PAYLOAD = 1,
  /*
   Receive buffer, bytes: the window that the peer may use; 8388608.
   */
  AY_UTP_RECV_BUFFER = 2,
  /*
   Most bytes held for sending; 16777216.
   */
  AY_UTP_SEND_BUFFER = 3,
  /*
   1: a packet that is not full waits while another such packet is unacknowledged (Nagle); 1.
   */
  AY_UTP_NAGLE = 4,
  /*
   Shortest retransmission timeout, microseconds; 500000.
   */
  AY_UTP_MIN_RTO_US = 5,
  /*
   Packets until an acknowledgement is sent; 2.
   */
  AY_UTP_ACK_EVERY = 6,
  /*
   Time until an acknowledgement is sent, microseconds; 25000.
   */
  AY_UTP_ACK_DELAY_US = 7,
  /*
   Time without any progress until the connection fails, microseconds; 60000000.
   */
  AY_UTP_PATIENCE_US = 8,
  /*
   Longest pause between packets, microseconds; 29000000.
   */
  AY_UTP_KEEPALIVE_US = 9,
  /*
   How long a finished connection answers a peer that has missed the last acknowledgement, microseconds; 3000000.
   */
  AY_UTP_LINGER_US = 10,
  /*
   Loss recovery: 0 of today's TCP, 1 libutp's, 2 libutp's with a timeout of 200 ms, 3 libutp-mod's; 0. Sets AY_UTP_MIN_RTO_US, too.
   */
  AY_UTP_RECOVERY = 11,
  /*
   Seed of a controller that draws random numbers; 0.
   */
  AY_UTP_SEED = 12,
} ay_utp_option;

/*
 A connection. Opaque.
 */
typedef struct ay_utp_connection ay_utp_connection;

/*
 Settings of connections. Opaque.
 */
typedef struct ay_utp_settings ay_utp_settings;

/*
 Counters and measurements.
 */
typedef struct {
  /*
   Packets sent, all kinds.
   */
  uint64_t packets_sent;
  /*
   Packets received.
   */
  uint64_t packets_received;
  /*
   Retransmissions.
   */
  uint64_t retransmissions;
  /*
   Packets found lost by acknowledgements.
   */
  uint64_t losses;
  /*
   Retransmission timeouts.
   */
  uint64_t timeouts;
  /*
   Payload acknowledged by the peer, bytes.
   */
  uint64_t bytes_delivered;
  /*
   Payload received in order, bytes.
   */
  uint64_t bytes_received;
  /*
   Payload believed to be in the network, bytes.
   */
  uint64_t bytes_in_flight;
  /*
   Smoothed round-trip time, microseconds; 0: not known yet.
   */
  uint64_t smoothed_rtt_us;
  /*
   Smallest round-trip time, microseconds; 0: not known yet.
   */
  uint64_t min_rtt_us;
} ay_utp_statistics;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/*
 Makes settings with the defaults and a controller of the list, such as "ledbat++" or "cubic". Returns null if there is no such controller. The
 caller frees them with ay_utp_settings_free; connections keep what they need, so that may be at once.

 # Safety
 `controller` is null or a string that ends with a zero byte.
 */
ay_utp_settings *ay_utp_settings_new(const char *controller);

/*
 Frees settings. Null is fine.

 # Safety
 `settings` comes from ay_utp_settings_new and is not used any more.
 */
void ay_utp_settings_free(ay_utp_settings *settings);

/*
 Sets an ay_utp_option. AY_UTP_BAD_ARGUMENT, and nothing changes: there is no such option, or no connection could work with the value.

 # Safety
 `settings` is null or settings.
 */
ay_utp_code ay_utp_settings_set(ay_utp_settings *settings,
                                int32_t option,
                                uint64_t value);

/*
 Returns an ay_utp_option; UINT64_MAX: there is none.

 # Safety
 `settings` is null or settings.
 */
uint64_t ay_utp_settings_get(const ay_utp_settings *settings, int32_t option);

/*
 Sets a parameter of the controller, such as "target" of "ledbat++": a time in microseconds, a size in bytes, a number, or 1 and 0 for yes and
 no. `afteryou list controllers --json` prints the parameters with their ranges. AY_UTP_BAD_ARGUMENT, and nothing changes: there
 is no such parameter, or the value is out of range.

 # Safety
 `settings` is null or settings; `name` is null or a string that ends with a zero byte.
 */
ay_utp_code ay_utp_settings_parameter(ay_utp_settings *settings,
                                      const char *name,
                                      double value);

/*
 Sets a parameter of the controller that is one of some words. As ay_utp_settings_parameter otherwise.

 # Safety
 `settings` is null or settings; `name` and `choice` are null or strings that end with a zero byte.
 */
ay_utp_code ay_utp_settings_choice(ay_utp_settings *settings, const char *name, const char *choice);

/*
 Opens a connection as ay_utp_connect does, with settings.

 # Safety
 `settings` is null or settings.
 */
ay_utp_connection *ay_utp_connect_with(const ay_utp_settings *settings,
                                       uint64_t now_us,
                                       uint16_t recv_id,
                                       uint16_t seq_nr);

/*
 Accepts a connection as ay_utp_accept does, with settings.

 # Safety
 `settings` is null or settings; `datagram` has `len` bytes.
 */
ay_utp_connection *ay_utp_accept_with(const ay_utp_settings *settings,
                                      uint64_t now_us,
                                      const uint8_t *datagram,
                                      size_t len,
                                      uint16_t seq_nr);

/*
 Opens a connection with default settings; ay_utp_connect_with takes others. `controller` is a name of the list of controllers, such as "ledbat++" or "cubic". `recv_id` and `seq_nr`
 should be random; `recv_id` and the number after it must be free towards that peer.
 Returns null if there is no such controller.

 # Safety
 `controller` is a string that ends with a zero byte.
 */
ay_utp_connection *ay_utp_connect(const char *controller,
                                  uint64_t now_us,
                                  uint16_t recv_id,
                                  uint16_t seq_nr);

/*
 Answers a SYN, which `datagram` is. `seq_nr` should be random. Returns null if there is no such controller or the datagram is no SYN.

 # Safety
 `controller` is a string that ends with a zero byte; `datagram` has `len` bytes.
 */
ay_utp_connection *ay_utp_accept(const char *controller,
                                 uint64_t now_us,
                                 const uint8_t *datagram,
                                 size_t len,
                                 uint16_t seq_nr);

/*
 Frees a connection. The peer is not informed: call ay_utp_abort and ay_utp_transmit before, or wait for
 AY_UTP_CLOSED. Null is fine.

 # Safety
 `connection` comes from ay_utp_connect or ay_utp_accept and is not used any more.
 */
void ay_utp_free(ay_utp_connection *connection);

/*
 Returns the id that leads to the connection of a datagram, together with the peer's address: the one that ay_utp_recv_id returns. -1: no
 uTP. A SYN's is the id of the connection that ay_utp_accept would make. A reset may have the id of the other direction.

 # Safety
 `datagram` has `len` bytes.
 */
int32_t ay_utp_datagram_id(const uint8_t *datagram,
                           size_t len);

/*
 Returns the id in the packets that the peer sends to this connection; 0 for null.

 # Safety
 `connection` is null or a connection.
 */
uint16_t ay_utp_recv_id(const ay_utp_connection *connection);

/*
 Handles a datagram of the peer for this connection. Whatever is no uTP is refused and changes nothing.

 # Safety
 `connection` is null or a connection; `datagram` has `len` bytes.
 */
ay_utp_code ay_utp_handle(ay_utp_connection *connection,
                          uint64_t now_us,
                          const uint8_t *datagram,
                          size_t len);

/*
 Writes the next datagram to `buffer` and returns its length; 0: there is none now. `buffer` must have room for AY_UTP_DATAGRAM bytes, else
 nothing is sent and 0 returned.

 # Safety
 `connection` is null or a connection; `buffer` has room for `room` bytes.
 */
size_t ay_utp_transmit(ay_utp_connection *connection,
                       uint64_t now_us,
                       uint8_t *buffer,
                       size_t room);

/*
 Returns when ay_utp_handle_deadline is to be called at the latest, microseconds; UINT64_MAX: not before something else happens.

 # Safety
 `connection` is null or a connection.
 */
uint64_t ay_utp_deadline(const ay_utp_connection *connection);

/*
 Handles whatever is due at `now_us`. Early and spurious calls do no harm.

 # Safety
 `connection` is null or a connection.
 */
ay_utp_code ay_utp_handle_deadline(ay_utp_connection *connection, uint64_t now_us);

/*
 Returns 1 while datagrams may be fragmented on their way, else 0. With a search for the path MTU (AY_UTP_MAX_PAYLOAD) the program's socket
 forbids fragments at all other times (IP_MTU_DISCOVER, IP_DONTFRAG).

 # Safety
 `connection` is null or a connection.
 */
int32_t ay_utp_may_fragment(const ay_utp_connection *connection);

/*
 Takes in a router's report by ICMP that the path takes no datagrams (UDP payload) of more than `len` bytes.

 # Safety
 `connection` is null or a connection.
 */
ay_utp_code ay_utp_too_big(ay_utp_connection *connection, uint64_t now_us, size_t len);

/*
 Returns the length of a full datagram now, bytes: what the path is known to take; 0 for null.

 # Safety
 `connection` is null or a connection.
 */
size_t ay_utp_max_datagram(const ay_utp_connection *connection);

/*
 Returns the next event; each change is reported once.

 # Safety
 `connection` is null or a connection.
 */
ay_utp_event ay_utp_poll_event(ay_utp_connection *connection);

/*
 Returns why the connection is over; AY_UTP_OK: it is not, or it ended in good order.

 # Safety
 `connection` is null or a connection.
 */
ay_utp_code ay_utp_error(const ay_utp_connection *connection);

/*
 Takes bytes to send and returns how many, or a negative ay_utp_code. If fewer than `len`, AY_UTP_WRITABLE comes when there is room again.

 # Safety
 `connection` is null or a connection; `data` has `len` bytes.
 */
ptrdiff_t ay_utp_write(ay_utp_connection *connection,
                       const uint8_t *data,
                       size_t len);

/*
 Takes received bytes into `buffer` and returns how many, or a negative ay_utp_code. 0: none yet, or the end, see ay_utp_at_end.

 # Safety
 `connection` is null or a connection; `buffer` has room for `room` bytes.
 */
ptrdiff_t ay_utp_read(ay_utp_connection *connection,
                      uint64_t now_us,
                      uint8_t *buffer,
                      size_t room);

/*
 Returns 1 if the peer's direction has ended and everything has been read, else 0.

 # Safety
 `connection` is null or a connection.
 */
int32_t ay_utp_at_end(const ay_utp_connection *connection);

/*
 Sends what has been written without waiting for a full packet.

 # Safety
 `connection` is null or a connection.
 */
ay_utp_code ay_utp_flush(ay_utp_connection *connection);

/*
 Ends our direction after what has been written; reading continues (half-close).

 # Safety
 `connection` is null or a connection.
 */
ay_utp_code ay_utp_finish(ay_utp_connection *connection);

/*
 Drops the connection at once. The next ay_utp_transmit returns the reset that informs the peer.

 # Safety
 `connection` is null or a connection.
 */
ay_utp_code ay_utp_abort(ay_utp_connection *connection);

/*
 Writes counters and measurements to `statistics`.

 # Safety
 `connection` is null or a connection; `statistics` is null or has room for one.
 */
ay_utp_code ay_utp_get_statistics(const ay_utp_connection *connection, ay_utp_statistics *statistics);

/*
 Makes settings with the defaults and a controller of the list, such as "ledbat++" or "cubic". Returns null if there is no such controller. The
 caller frees them with ay_utp_settings_free; connections keep what they need, so that may be at once.

 # Safety
 `controller` is null or a string that ends with a zero byte.
 */
ay_utp_settings *ay_utp_settings_new(const char *controller);

/*
 Frees settings. Null is fine.

 # Safety
 `settings` comes from ay_utp_settings_new and is not used any more.
 */
void ay_utp_settings_free(ay_utp_settings *settings);

/*
 Sets an ay_utp_option. AY_UTP_BAD_ARGUMENT, and nothing changes: there is no such option, or no connection could work with the value.

 # Safety
 `settings` is null or settings.
 */
ay_utp_code ay_utp_settings_set(ay_utp_settings *settings,
                                int32_t option,
                                uint64_t value);

/*
 Returns an ay_utp_option; UINT64_MAX: there is none.

 # Safety
 `settings` is null or settings.
 */
uint64_t ay_utp_settings_get(const ay_utp_settings *settings, int32_t option);

/*
 Sets a parameter of the controller, such as "target" of "ledbat++": a time in microseconds, a size in bytes, a number, or 1 and 0 for yes and
 no. `afteryou list controllers --json` prints the parameters with their ranges. AY_UTP_BAD_ARGUMENT, and nothing changes: there
 is no such parameter, or the value is out of range.

 # Safety
 `settings` is null or settings; `name` is null or a string that ends with a zero byte.
 */
ay_utp_code ay_utp_settings_parameter(ay_utp_settings *settings,
                                      const char *name,
                                      double value);

/*
 Sets a parameter of the controller that is one of some words. As ay_utp_settings_parameter otherwise.

 # Safety
 `settings` is null or settings; `name` and `choice` are null or strings that end with a zero byte.
 */
ay_utp_code ay_utp_settings_choice(ay_utp_settings *settings, const char *name, const char *choice);

/*
 Opens a connection as ay_utp_connect does, with settings.

 # Safety
 `settings` is null or settings.
 */
ay_utp_connection *ay_utp_connect_with(const ay_utp_settings *settings,
                                       uint64_t now_us,
                                       uint16_t recv_id,
                                       uint16_t seq_nr);

/*
 Accepts a connection as ay_utp_accept does, with settings.

 # Safety
 `settings` is null or settings; `datagram` has `len` bytes.
 */
ay_utp_connection *ay_utp_accept_with(const ay_utp_settings *settings,
                                      uint64_t now_us,
                                      const uint8_t *datagram,
                                      size_t len,
                                      uint16_t seq_nr);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* AFTERYOU_UTP_H */
