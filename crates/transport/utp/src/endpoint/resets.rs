//! Resets for packets that belong to no connection, each stranger once in a while.
//!
//! Without a limit two endpoints without state of each other could be made to flood one another, and a forged sender address
//! to receive a stream of resets.

use crate::numbers::ConnectionId;
use afteryou_base::{Span, Time};
use std::collections::VecDeque;
use std::net::SocketAddr;

/// Strangers remembered; while the memory is full nobody new gets a reset (libutp's number).
const REMEMBERED: usize = 1000;
/// How long a stranger is remembered.
const MEMORY: Span = Span::from_secs(10);

/// The addresses that got a reset lately.
#[derive(Debug, Default)]
pub(super) struct Resets {
    lately: VecDeque<(Time, SocketAddr, ConnectionId)>,
}

impl Resets {
    /// Returns whether `peer` may get a reset for `connection_id` now. Remembers it if so.
    pub(super) fn admit(&mut self, now: Time, peer: SocketAddr, connection_id: ConnectionId) -> bool {
        while self.lately.front().is_some_and(|(at, ..)| now.since(*at) > MEMORY) {
            self.lately.pop_front();
        }
        let is_known = || self.lately.iter().any(|(_, other, id)| (*other, *id) == (peer, connection_id));
        // A full memory is not searched: that would cost more than the packet.
        if self.lately.len() >= REMEMBERED || is_known() {
            return false;
        }
        self.lately.push_back((now, peer, connection_id));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stranger_gets_one_reset_in_ten_seconds_and_a_crowd_a_thousand() {
        let mut resets = Resets::default();
        let peer = |port: u16| SocketAddr::from(([127, 0, 0, 1], port));
        assert!(resets.admit(Time::ZERO, peer(1), ConnectionId(7)));
        assert!(!resets.admit(Time::from_millis(9_000), peer(1), ConnectionId(7)));
        assert!(resets.admit(Time::from_millis(11_000), peer(1), ConnectionId(7)));
        let admitted = (0..5000)
            .filter(|port| resets.admit(Time::from_millis(12_000), peer(*port), ConnectionId(8)))
            .count();
        assert_eq!(admitted, REMEMBERED - 1);
    }
}
