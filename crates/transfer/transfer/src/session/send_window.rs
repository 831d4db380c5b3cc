//! How much of what was written quinn may hold.
//!
//! # Model
//! Everything that quinn has taken leaves before a pause takes effect, so it gets little: a congestion window in flight and
//! another one that waits. That is enough while packets arrive. A lost one costs more. quinn also holds what was acknowledged
//! behind it, until the retransmission is acknowledged. That takes two round trips, or four if the retransmission is lost. Meanwhile
//! a congestion window is sent in each round trip, and after the loss it is a smaller one. Two windows would then stop the
//! sender again and again. So for [`LOSSY_ROUNDS`] after a loss there is room for more: up to [`LOSSY`], by the path's
//! round-trip time ([`PAUSE`]).
//!
//! quinn gives back a written piece when the whole of it is acknowledged. Pieces are cut to a [`SEGMENTS`]th of the
//! room: one piece of the whole room would make the connection stop and wait.
//!
//! # Known bad cases
//! A path that loses packets and has a round-trip time of more than 100 ms gets less room than repeated losses take.

use bytes::Bytes;
use quinn::Connection;
use std::time::Duration;
use tokio::time::Instant;

/// How often it follows the congestion window while data flows: less than a round trip of most paths.
const ADAPT: Duration = Duration::from_millis(5);
/// Congestion windows on a path that loses nothing.
const CALM: u64 = 2;
/// Congestion windows on a path that loses packets, at least and at most.
const LOSSY: (u128, u128) = (3, 8);
/// A pause may take round trips of this length together.
const PAUSE: Duration = Duration::from_millis(600);
/// Round trips without a loss after which a path loses nothing.
const LOSSY_ROUNDS: u32 = 32;
/// On a slow path with many connections even this delays a pause.
const LEAST: u64 = 16 * 1024;
/// quinn walks through the pieces for each packet, so they are not many.
const SEGMENTS: u64 = 32;
/// About a packet.
const LEAST_SEGMENT: usize = 1024;
/// Pieces that are offered at a time.
const OFFERED: usize = 16;

/// The send window of a connection.
pub(super) struct SendWindow {
    most: u64,
    adapted: Option<Instant>,
    bytes: u64,
    rtt: Duration,
    lost_packets: u64,
    lossy_until: Option<Instant>,
}

impl SendWindow {
    /// Creates a window that is never more than `most` bytes.
    pub(super) fn new(most: u32) -> SendWindow {
        let most = u64::from(most).max(LEAST);
        SendWindow {
            most,
            adapted: None,
            bytes: LEAST,
            rtt: Duration::ZERO,
            lost_packets: 0,
            lossy_until: None,
        }
    }

    /// Sets the window by what the connection's path does, unless that was done a moment ago.
    pub(super) fn adapt(&mut self, connection: &Connection) {
        let now = Instant::now();
        if self.adapted.is_some_and(|adapted| now - adapted < ADAPT) {
            return;
        }
        self.adapted = Some(now);
        let path = connection.stats().path;
        self.rtt = path.rtt;
        if path.lost_packets > self.lost_packets {
            self.lost_packets = path.lost_packets;
            self.lossy_until = Some(now + path.rtt * LOSSY_ROUNDS);
        }
        let windows = if self.lossy_until.is_some_and(|until| now < until) { lossy(path.rtt) } else { CALM };
        self.bytes = path.cwnd.saturating_mul(windows).clamp(LEAST, self.most);
        connection.set_send_window(self.bytes);
    }

    /// Returns when it is to be adapted while quinn takes nothing.
    pub(super) async fn look_again(&self) {
        tokio::time::sleep((self.rtt / 4).max(ADAPT)).await;
    }

    /// Returns the beginning of `bytes`, or all of it, in pieces that quinn gives back one by one.
    pub(super) fn segments(&self, bytes: &Bytes) -> Vec<Bytes> {
        let longest = usize::try_from(self.bytes / SEGMENTS).unwrap_or(usize::MAX).max(LEAST_SEGMENT);
        let begins = (0..bytes.len()).step_by(longest).take(OFFERED);
        begins.map(|from| bytes.slice(from..bytes.len().min(from + longest))).collect()
    }
}

/// Returns the number of congestion windows that fit a pause, by the round-trip time of a path that loses packets.
fn lossy(rtt: Duration) -> u64 {
    let rounds = PAUSE.as_micros() / rtt.as_micros().max(1);
    rounds.clamp(LOSSY.0, LOSSY.1) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_window_takes_small_pieces_and_a_large_one_takes_all_at_once() {
        let bytes = Bytes::from(vec![7; 128 * 1024]);
        let mut window = SendWindow::new(16 << 20);
        let small = window.segments(&bytes);
        assert_eq!((small.len(), small[0].len()), (OFFERED, LEAST_SEGMENT));
        assert!(window.segments(&bytes.slice(..1500)).iter().map(Bytes::len).eq([1024, 476]));
        window.bytes = window.most;
        assert_eq!(window.segments(&bytes), [bytes]);
    }

    #[test]
    fn on_a_lossy_path_a_short_round_trip_leaves_room_for_more_windows() {
        let windows = [1, 20, 50, 100, 150, 1000].map(|ms| lossy(Duration::from_millis(ms)));
        assert_eq!(windows, [8, 8, 8, 6, 4, 3]);
    }
}
