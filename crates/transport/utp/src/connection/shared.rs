//! The part of a connection that only an endpoint with many of them uses: memory, places and bursts.

use super::receiver::QUICK_PACKETS;
use super::send_buffer::SendBuffer;
use super::{Connection, State};
use crate::error::Error;
use crate::numbers::ConnectionId;
use afteryou_base::{Span, Time};

/// The longest burst in one piece, see [`Connection::burst`].
const BURST: Span = Span::from_millis(1);

/// A connection keeps its place for so long after data has moved once; a peer that comes meanwhile asks again within two
/// seconds.
const SHORTEST_STAY: Span = Span::from_secs(1);
/// …and after data has moved for this long or longer.
const LONGEST_STAY: Span = Span::from_secs(5);

impl Connection {
    /// Returns whether a reset under `id` may be for this connection. Either direction's id will do.
    pub(crate) fn may_be_reset_by(&self, id: ConnectionId) -> bool {
        (id == self.recv_id || id == self.send_id) && !self.is_closed()
    }

    /// Returns whether these are the first packets from the peer, which are acknowledged one by one.
    pub(crate) fn is_beginning(&self) -> bool {
        self.counters.packets_received <= u64::from(QUICK_PACKETS)
    }

    /// Returns since when no payload has moved in either direction.
    pub(crate) fn silent_since(&self) -> Time {
        self.timers.activity().1
    }

    /// Returns until when a newcomer does not get the place of the connection: it has moved data within the last seconds.
    /// One that has for long may pause for longer.
    pub(crate) fn stays_until(&self) -> Time {
        let (connected_at, moved_at) = self.timers.activity();
        let has_moved = self.receiver.arrived() > 0 || self.board.board().delivered() > 0;
        match has_moved {
            true => moved_at + moved_at.since(connected_at).clamp(SHORTEST_STAY, LONGEST_STAY),
            false => connected_at,
        }
    }

    /// Returns the memory of buffers and what is kept about each packet, bytes.
    pub(crate) fn memory(&self) -> u64 {
        self.receiver.memory() + self.unsent.memory() + self.board.memory()
    }

    /// Returns the memory of out-of-order data whose gap has been open for `age` or longer, bytes.
    pub(crate) fn stale_memory(&self, now: Time, age: Span) -> Option<u64> {
        self.receiver.stale_memory(now, age).filter(|_| !self.is_closed())
    }

    /// Drops the connection for the sake of others, with what was not received in order.
    pub(crate) fn give_up_memory(&mut self) {
        self.abort();
        self.state = State::Closed(Some(Error::OutOfMemory));
        self.receiver.forget_waiting();
        self.unsent = SendBuffer::new(self.config.payload);
    }

    /// Sets the bytes that each direction may hold from here on. Packets that keep it going are always excepted.
    pub(crate) fn set_share(&mut self, share: u64) {
        self.share = share;
        self.receiver.set_share(share);
    }

    /// Returns whether both directions have ended (or all is over): what remains ends by itself.
    pub(crate) fn is_ending(&self) -> bool {
        matches!(self.state, State::Lingering { .. } | State::Closed(_))
    }

    /// Begins a train of at most `packets` packets with the next new packet.
    pub(crate) fn begin_train(&mut self, packets: u16) {
        self.train = packets;
    }

    /// Returns the most bytes to hand to the system in one piece: what leaves in a millisecond at the current rate. A longer
    /// train would be the queue that it measures.
    pub(crate) fn burst(&mut self) -> u64 {
        let rate = self.congestion.pacing_rate().unwrap_or(0);
        rate.saturating_mul(BURST.as_micros()) / 1_000_000
    }
}
