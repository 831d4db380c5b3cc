//! The slowdown schedule: now and then the window drops to its floor, so that the queue empties and everybody sees
//! the true base delay.
//!
//! ```text
//!   wait ──now ≥ due──▶ freeze (2 RTT at the floor) ──▶ ramp (slow start back) ──W ≥ ssthresh──▶ wait
//! ```
//!
//! The wait after a slowdown is nine times as long as the slowdown took, freeze and ramp together. So slowdowns cost at
//! most a tenth of the time.
//!
//! Instants and spans are ns, [`NEVER`] is no instant at all.
//!
//! Source: draft-irtf-iccrg-ledbat-plus-plus-01 §4.4.

/// Round trips between the end of the initial slow start and the first slowdown (§4.4).
pub const FIRST_WAIT_RTTS: u64 = 2;
/// Round trips at the floor (§4.4).
pub const FREEZE_RTTS: u64 = 2;
/// The wait is this many times the slowdown's duration (§4.4).
pub const WAIT_FACTOR: u64 = 9;

/// Later than every instant in use.
pub const NEVER: u64 = u64::MAX;

/// Round trips are taken to be at least this long, ns. Before the first sample a transport has none, and a slowdown of no
/// length would be over and due again indefinitely. On shorter paths than this there is no queue worth emptying.
const SHORTEST_RTT: u64 = 1_000_000;

/// Returns when the first slowdown is due after a slow start that was not part of one: two round trips later.
pub fn first_due(now: u64, rtt: u64) -> u64 {
    now.saturating_add(rtt.max(SHORTEST_RTT).saturating_mul(FIRST_WAIT_RTTS))
}

/// Returns when a slowdown that begins now leaves the floor.
pub fn thaw(now: u64, rtt: u64) -> u64 {
    now.saturating_add(rtt.max(SHORTEST_RTT).saturating_mul(FREEZE_RTTS))
}

/// Returns when the next slowdown is due after one that began at `began` and ends now.
pub fn next_due(began: u64, now: u64) -> u64 {
    now.saturating_add(now.saturating_sub(began).saturating_mul(WAIT_FACTOR))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_round_trip_time_a_slowdown_still_takes_time() {
        assert_eq!((first_due(5_000_000, 0), thaw(5_000_000, 0)), (7_000_000, 7_000_000));
    }

    #[test]
    fn the_wait_is_nine_times_a_slowdown_of_any_length() {
        // 0.741138 s and 6.670244 s: freeze and continuous ramp from 80 packets at 50 ms, here to the nanosecond.
        let ended = 1_000_000_000 + 741_138_222;
        assert_eq!(next_due(1_000_000_000, ended) - ended, 6_670_243_998);
    }
}
