//! How much the peer may have in flight towards a socket whose receive buffer is small.
//!
//! # Model
//! Data in flight are either on the path or in the socket's buffer. With Linux's defaults the buffer holds 180 packets; a long
//! path holds megabytes. The limit is therefore
//!
//! ```text
//!   share of the buffer + GROWTH · what the path holds
//! ```
//!
//! so that the buffer takes whatever the path cannot hold, for as long as nobody reads, and a sender can multiply its
//! rate within a round trip. The path's content follows from Little's law: the bytes of each packet times its time on
//! the path, summed over a round trip and divided by its length. That time is the sum of the two one-way delays in
//! uTP's timestamps, whose clock offsets cancel, less the time for which the packet may have lain in the buffer: since
//! the buffer was last seen empty. A busy host leaves packets waiting at the peer's side, too, which looks like a queue on
//! the path, so [`HOST`] is taken off as well. The shortest round trip counts in any case.
//!
//! # Known bad cases
//! - A fast path whose standing queue is shorter than [`HOST`], larger than the buffer and many times longer than the path
//!   itself: the limit keeps the queue at three times the path's delay. Alone the flow still fills the path, beside others its
//!   share is small.
//! - A host that has been busy ever since the connection began never sees how short the path is, and admits too much.
//! - A reader that is slower than a long path drops packets, as does any full buffer.

use afteryou_base::{Span, Time};

/// A sender that doubles its rate in each round trip is two round trips ahead of what has been measured.
const GROWTH: u64 = 4;
/// How long a busy host may leave a packet lying: some slices of a scheduler.
const HOST: Span = Span::from_millis(25);
/// Packets that are always admitted, so that acknowledgements of every second one and recovery from a loss continue.
const LEAST_PACKETS: u64 = 4;
/// A reader that has not caught up for this many round trips is slower than the path.
const PATIENCE: u64 = 4;
/// Shortest time of a measurement.
const SHORTEST_ROUND: Span = Span::from_millis(1);

/// A connection's part of its socket's receive buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SocketShare {
    /// Memory for packets as large as if each had come alone, bytes.
    pub memory: u64,
    /// When the buffer was last seen empty.
    pub empty_at: Time,
}

/// Measures what the path holds.
#[derive(Debug)]
pub(super) struct FlightLimit {
    share: Option<SocketShare>,
    shortest: Option<Span>,
    round: Round,
    /// Bytes on the path in the latest round and the one before.
    on_path: [u64; 2],
    /// Mean payload of a packet in the latest round, and the largest ever, bytes.
    mean: u64,
    largest: u64,
}

#[derive(Debug, Default)]
struct Round {
    began: Time,
    packets: u64,
    payload: u64,
    /// Payload times its time on the path, byte microseconds.
    carried: u64,
}

impl FlightLimit {
    pub(super) fn new(payload: u32) -> FlightLimit {
        let payload = u64::from(payload);
        FlightLimit {
            share: None,
            shortest: None,
            round: Round::default(),
            on_path: [0; 2],
            mean: payload,
            largest: payload,
        }
    }

    /// Sets how the buffer is shared from here on.
    pub(super) fn set_share(&mut self, share: SocketShare) {
        self.share = Some(share);
    }

    /// Notes a packet that arrives; `round_trip` is the sum of both one-way delays.
    pub(super) fn arrived(&mut self, now: Time, payload: u64, round_trip: Option<Span>) {
        let (Some(share), Some(round_trip)) = (self.share, round_trip) else { return };
        self.end_round(now, share.empty_at, round_trip);
        let shortest = self.shortest.map_or(round_trip, |shortest| shortest.min(round_trip));
        self.shortest = Some(shortest);
        let on_path = round_trip.saturating_sub(now.since(share.empty_at) + HOST).max(shortest);
        self.largest = self.largest.max(payload);
        self.round.packets += 1;
        self.round.payload += payload;
        self.round.carried += payload * on_path.as_micros();
    }

    /// Ends the round if it lasts for a round trip. It lasts from one time at which the buffer was empty to another, so that
    /// it counts what has arrived and not what had been waiting. A buffer that is not emptied for long has nothing to gain.
    fn end_round(&mut self, now: Time, empty_at: Time, round_trip: Span) {
        let least = round_trip.max(SHORTEST_ROUND);
        let length = empty_at.since(self.round.began);
        if self.round.packets > 0 && length >= least {
            self.on_path = [self.round.carried / length.as_micros(), self.on_path[0]];
            self.mean = (self.round.payload / self.round.packets).max(1);
            self.round = Round { began: empty_at, ..Round::default() };
        } else if now.since(empty_at) >= (least + HOST) * PATIENCE {
            self.on_path = [0; 2];
        }
    }

    /// Returns the most bytes in flight; `None` if nothing is known of the socket.
    pub(super) fn get(&self) -> Option<u64> {
        let in_buffer = self.share?.memory / memory(self.mean) * self.mean;
        let path = self.on_path[0].max(self.on_path[1]);
        Some(in_buffer.max(LEAST_PACKETS * self.largest) + GROWTH * path)
    }
}

/// Returns the memory that a packet takes in a socket's buffer if it came alone, as Linux counts it (`truesize`). These are
/// payload, headers and some 400 bytes for the driver and the kernel, rounded up to a power of two, and 256 bytes beside it.
pub(crate) fn memory(payload: u64) -> u64 {
    (payload + 448).next_power_of_two() + 256
}
