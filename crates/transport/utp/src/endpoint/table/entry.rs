//! A connection in the table, and the table's state of it.

use crate::connection::receiver::ALWAYS_TAKEN;
use crate::connection::Connection;
use crate::endpoint::budget::Budget;
use crate::endpoint::handle::Key;
use crate::endpoint::places;
use crate::endpoint::socket_buffer::Activity;
use crate::endpoint::EndpointConfig;
use afteryou_base::Time;
use std::collections::VecDeque;
use std::task::Waker;

/// Controller, bitmaps, its places in tables, bytes.
const EXTRAS: u64 = 4096;
/// Charge for every connection, bytes.
pub(super) const CONNECTION: u64 = size_of::<Entry>() as u64 + EXTRAS + ALWAYS_TAKEN as u64;

/// A connection and the tasks that wait for it.
pub(in crate::endpoint) struct Entry {
    pub connection: Connection,
    pub reader: Option<Waker>,
    pub writer: Option<Waker>,
    pub(super) generation: u64,
    /// Memory that it is charged with, bytes.
    pub(super) memory: u64,
    pub(super) activity: Activity,
    pub(super) deadline: Option<Time>,
    pub(super) queued: bool,
    /// Came in, so it has one of the [`Places`](crate::endpoint::places::Places).
    pub(super) incoming: bool,
    /// Came in and has not been handed to [`accept`](crate::Endpoint::accept) yet.
    pub(super) half_open: bool,
    /// Nobody holds a stream any more since then.
    pub(super) detached: Option<Time>,
}

impl Entry {
    /// Ends a stream that nobody reads any more: what still comes is thrown away, and a peer that continues after our end
    /// gets a reset.
    pub(super) fn end_detached(&mut self, config: &EndpointConfig, now: Time) {
        let unwanted = self.connection.is_readable() && !self.connection.is_at_end();
        self.connection.discard_received(now);
        let over = self.given_up_at(config).is_some_and(|at| at <= now);
        if over || (unwanted && self.connection.is_finish_acknowledged()) {
            self.connection.abort();
        }
    }

    /// Returns the time at which a stream that nobody holds is given up. A peer may keep a reader's pause up indefinitely,
    /// but not without one.
    pub(super) fn given_up_at(&self, config: &EndpointConfig) -> Option<Time> {
        let since = self.detached.filter(|_| !self.connection.is_ending())?;
        Some(since.max(self.connection.last_acknowledged()) + config.connection.patience)
    }

    /// Returns when data last moved.
    pub(super) fn activity(&self) -> places::Activity {
        let connection = &self.connection;
        places::Activity { silent_since: connection.silent_since(), stays_until: connection.stays_until() }
    }

    /// Charges the budget with what the connection takes now.
    pub(super) fn charge(&mut self, budget: &mut Budget) {
        let memory = CONNECTION + self.connection.memory();
        budget.change(std::mem::replace(&mut self.memory, memory), memory);
    }

    /// Charges for a connection that has changed and may have something to send, and puts it among the `busy` ones.
    pub(super) fn touch(&mut self, key: Key, budget: &mut Budget, busy: &mut VecDeque<Key>) {
        self.charge(budget);
        if !std::mem::replace(&mut self.queued, true) {
            busy.push_back(key);
        }
    }

    /// Returns whether it came in, and its handshake is over, which nobody has noticed yet.
    pub(super) fn is_established(&self) -> bool {
        self.half_open && (self.connection.is_connected() || self.connection.is_closed())
    }

    /// Wakes the tasks that can continue, and returns true if there are any.
    pub(super) fn wake(&mut self) -> bool {
        let closed = self.connection.is_closed();
        let can_read = closed || self.connection.is_readable();
        let can_write =
            closed || self.connection.has_room_worth_waking() || self.connection.is_finish_acknowledged();
        let reader = self.reader.take_if(|_| can_read);
        let writer = self.writer.take_if(|_| can_write);
        let any = reader.is_some() || writer.is_some();
        reader.into_iter().chain(writer).for_each(Waker::wake);
        any
    }
}
