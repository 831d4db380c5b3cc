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
 * Ownership: ay_utp_connect and ay_utp_accept return a connection that belongs to the caller, who gives it to ay_utp_free exactly
 * once. All other pointers are borrowed for the time of the call. No call keeps or frees them.
 *
 * Threads: a connection is used by one thread at a time. Different connections are independent, there is no global state,
 * and a connection may move from thread to thread between calls.
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
 A connection. Opaque.
 */
typedef struct ay_utp_connection ay_utp_connection;

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
 Opens a connection. `controller` is a name of the list of controllers, such as "ledbat++" or "cubic". `recv_id` and `seq_nr`
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
 A datagram of the peer for this connection arrives. Whatever is no uTP is refused and changes nothing.

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
 Time has passed. Early and spurious calls do no harm.

 # Safety
 `connection` is null or a connection.
 */
ay_utp_code ay_utp_handle_deadline(ay_utp_connection *connection, uint64_t now_us);

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
 Ends our direction after what has been written; reading goes on (half-close).

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

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* AFTERYOU_UTP_H */
