/*
 * Sockets as background traffic.
 *
 * ay_set_background makes a socket yield with the means of its system, and writes what it managed: a rule that sends, the lower-effort
 * mark, a sentence for people. Call it on a connection, right after connect or accept. It requires no privileges.
 *
 * The socket stays the caller's, and nothing is to be freed. Any thread may call at any time.
 */

#ifndef AFTERYOU_BACKGROUND_H
#define AFTERYOU_BACKGROUND_H

#include <stdbool.h>
#include <stdint.h>

/*
 Length of the name of a controller, with its zero byte: TCP_CA_NAME_MAX of Linux.
 */
#define AY_BACKGROUND_NAME 16

/*
 Length of a sentence, with its zero byte. A longer one is cut.
 */
#define AY_BACKGROUND_SENTENCE 256

/*
 How a call ended.
 */
typedef enum {
  /*
   The facts are written. They may be that the socket keeps its ordinary rule.
   */
  AY_BACKGROUND_OK = 0,
  /*
   A null pointer.
   */
  AY_BACKGROUND_BAD_ARGUMENT = -1,
  /*
   Not an open socket, such as -1.
   */
  AY_BACKGROUND_NOT_OPEN = -2,
  /*
   A socket that is neither of IPv4 nor of IPv6.
   */
  AY_BACKGROUND_NOT_INTERNET = -3,
  /*
   Another reason, which this version of the interface has no number for.
   */
  AY_BACKGROUND_OTHER = -4,
} ay_background_code;

/*
 The rule that sends, or the reason why the socket keeps its ordinary one (negative).
 */
typedef enum {
  /*
   Linux: the controller that `controller` names.
   */
  AY_BACKGROUND_CONTROLLER = 1,
  /*
   macOS: the system's background class (SO_TRAFFIC_CLASS).
   */
  AY_BACKGROUND_TRAFFIC_CLASS = 2,
  /*
   Windows: the lowest priority (SIO_PRIORITY_HINT).
   */
  AY_BACKGROUND_PRIORITY_HINT = 3,
  /*
   A rule of a later version.
   */
  AY_BACKGROUND_OTHER_RULE = 4,
  /*
   The kernel has no controller that yields.
   */
  AY_BACKGROUND_NOT_LOADED = -1,
  /*
   The kernel has the controller that `controller` names, but does not offer it to this user.
   */
  AY_BACKGROUND_NOT_PERMITTED = -2,
  /*
   A route with `congctl lock` keeps the connection at the controller that `controller` names.
   */
  AY_BACKGROUND_LOCKED = -3,
  /*
   The socket is not of TCP: its program has the rule.
   */
  AY_BACKGROUND_NOT_TCP = -4,
  /*
   The system has no such rule.
   */
  AY_BACKGROUND_NO_MEANS = -5,
  /*
   The system refuses, or another reason.
   */
  AY_BACKGROUND_REFUSED = -6,
} ay_background_rule;

/*
 The facts about a socket after ay_set_background.
 */
typedef struct {
  /*
   Positive if a rule of the system yields.
   */
  ay_background_rule rule;
  /*
   Whether packets carry the lower-effort mark (DSCP 1, RFC 8622).
   */
  bool marked;
  /*
   Linux: whether this machine's own queue sends packets of the socket last (SO_PRIORITY 1).
   */
  bool low_priority;
  /*
   Name of the controller, or empty.
   */
  char controller[AY_BACKGROUND_NAME];
  /*
   The same for people. After an error, its reason.
   */
  char sentence[AY_BACKGROUND_SENTENCE];
} ay_background;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/*
 Makes a socket background traffic, as far as the system permits, and writes what it managed. `socket` is a descriptor, or a SOCKET on
 Windows.

 # Safety
 `socket` stays open during the call; `managed` points to a struct that may be written.
 */
ay_background_code ay_set_background(intptr_t socket,
                                     ay_background *managed);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* AFTERYOU_BACKGROUND_H */
