//! The next actions of a program without callbacks and futures.
//!
//! [`Connection::poll_event`] returns each change once, as edge-triggered pollers do: after [`Event::Readable`] read until
//! [`read`](Connection::read) returns 0, after [`Event::Writable`] write until [`write`](Connection::write) takes less than
//! it was given. Only then does the same event come again. A program that asks the connection itself
//! ([`is_readable`](Connection::is_readable), [`writable`](Connection::writable), …) needs no events.

use super::Connection;
use crate::error::Error;

/// A change that the application may act on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// The handshake is complete.
    Connected,
    /// Bytes can be read, or the peer's direction is at its end.
    Readable,
    /// A write took less than it was given, and now there is room.
    Writable,
    /// The peer has acknowledged everything up to the end of our direction.
    FinishAcknowledged,
    /// The connection is over; with the reason, if something went wrong. The last event.
    Closed(Option<Error>),
}

/// The events reported so far, and those that the application waits for.
#[derive(Debug, Default)]
pub(super) struct Reported {
    /// The handshake is complete, which is still to be reported.
    pub(super) opened: bool,
    readable: bool,
    /// A write was cut short since room was last reported.
    pub(super) wants_room: bool,
    finish_acknowledged: bool,
    closed: bool,
}

impl Connection {
    /// Returns the next event, or none if nothing has changed. Call it until then, after datagrams, deadlines, reads and writes.
    pub fn poll_event(&mut self) -> Option<Event> {
        if std::mem::take(&mut self.reported.opened) {
            return Some(Event::Connected);
        }
        if self.is_readable() && !std::mem::replace(&mut self.reported.readable, true) {
            return Some(Event::Readable);
        }
        if self.is_finish_acknowledged() && !std::mem::replace(&mut self.reported.finish_acknowledged, true) {
            return Some(Event::FinishAcknowledged);
        }
        if self.is_closed() {
            let first = !std::mem::replace(&mut self.reported.closed, true);
            return first.then(|| Event::Closed(self.error()));
        }
        let has_room = self.reported.wants_room && self.has_room_worth_waking();
        has_room.then(|| {
            self.reported.wants_room = false;
            Event::Writable
        })
    }

    /// Notes that everything received has been read: what comes next is news.
    pub(super) fn note_read(&mut self) {
        self.reported.readable &= self.is_readable();
    }
}
