//! The application's side of a connection: bytes to send, bytes received, and the ends of both.

use super::{Connection, Fin, State};
use crate::error::Error;
use afteryou_base::Time;

/// Free send buffer worth waking a writer for, bytes.
const WORTH_WAKING: u64 = 16 << 10;

/// Least send buffer, bytes: small windows still get whole writes.
const MIN_SEND_BUFFER: u64 = 64 << 10;

/// Bytes that may wait unsent whatever the window is. One ack after a loss may open a whole window, and the network would idle
/// until the application writes. Small windows cost little memory.
const MIN_UNSENT: u64 = 256 << 10;

impl Connection {
    /// Returns the number of bytes that [`write`](Connection::write) would take now.
    pub fn writable(&self) -> usize {
        if self.fin != Fin::NotYet || self.is_closed() {
            return 0;
        }
        let (window, unsent) = (self.send_window(), self.unsent.len());
        let room = self.send_limit(window).saturating_sub(self.board.board().outstanding() + unsent);
        // Half a window keeps the network busy while the application is asked for more. A whole one costs half a megabyte more
        // with windows of 1 MiB.
        room.min((window / 2).max(MIN_UNSENT).saturating_sub(unsent)) as usize
    }

    /// Returns the most bytes in flight: the smaller of the controller's window and the peer's.
    fn send_window(&self) -> u64 {
        self.congestion.controller().directive().cwnd.min(self.peer_window)
    }

    /// Returns the most bytes to hold for sending, in flight or not yet.
    fn send_limit(&self, window: u64) -> u64 {
        // Recovery needs twice the window: what arrived beyond a gap is held until the gap is filled.
        let limit = (2 * window).clamp(MIN_SEND_BUFFER, self.config.send_buffer.max(MIN_SEND_BUFFER));
        // Two packets pass however little memory is left.
        limit.min(self.share.max(2 * u64::from(self.config.payload)))
    }

    /// Returns whether there is room for more than a few bytes, so that a writer is woken for it.
    pub(crate) fn has_room_worth_waking(&self) -> bool {
        let worth = WORTH_WAKING.min(self.send_limit(self.send_window()) / 2);
        self.is_connected() && self.writable() as u64 >= worth.max(1)
    }

    /// Takes bytes to send and returns how many.
    ///
    /// # Errors
    /// [`Error::Finished`] after [`finish`](Connection::finish) or the connection's end, and the error that ended it. No room is none: `Ok(0)`.
    pub fn write(&mut self, data: &[u8]) -> Result<usize, Error> {
        let n = data.len().min(self.room()?);
        self.unsent.write(&data[..n]);
        self.more_comes = n < data.len();
        self.reported.wants_room |= self.more_comes;
        Ok(n)
    }

    /// Takes up to `n` zeros to send and returns how many. They take no memory, however many they are: for simulations,
    /// whose packets have no content.
    ///
    /// # Errors
    /// As [`write`](Connection::write).
    pub fn write_zeros(&mut self, n: u64) -> Result<u64, Error> {
        let taken = n.min(self.room()? as u64);
        self.unsent.write_zeros(taken);
        self.more_comes = taken < n;
        self.reported.wants_room |= self.more_comes;
        Ok(taken)
    }

    /// Returns [`writable`](Connection::writable), or why nothing can be written any more.
    fn room(&self) -> Result<usize, Error> {
        if let State::Closed(error) = self.state {
            return Err(error.unwrap_or(Error::Finished));
        }
        if self.fin != Fin::NotYet {
            return Err(Error::Finished);
        }
        Ok(self.writable())
    }

    /// Sends what is written without waiting for a full packet.
    pub fn flush(&mut self) {
        self.push = true;
    }

    /// Returns whether everything written has been acknowledged.
    pub fn is_flushed(&self) -> bool {
        self.unsent.is_empty() && self.board.is_empty()
    }

    /// Ends our direction after what has been written.
    pub fn finish(&mut self) {
        if self.fin == Fin::NotYet {
            self.fin = Fin::Wanted;
        }
    }

    /// Returns whether the peer has acknowledged everything up to the end of our direction.
    pub fn is_finish_acknowledged(&self) -> bool {
        self.fin == Fin::Acknowledged
    }

    /// Returns whether [`read`](Connection::read) can return bytes, or the peer's direction is at its end.
    pub fn is_readable(&self) -> bool {
        self.receiver.is_readable()
    }

    /// Takes received bytes into `buf`; `Ok(0)` with room in `buf` means none yet, see
    /// [`is_at_end`](Connection::is_at_end).
    ///
    /// # Errors
    /// The error that ended the connection, after everything that arrived in order has been read.
    pub fn read(&mut self, now: Time, buf: &mut [u8]) -> Result<usize, Error> {
        let n = self.receiver.read(now, buf);
        self.note_read();
        match self.error() {
            Some(error) if n == 0 && !self.is_at_end() => Err(error),
            _ => Ok(n),
        }
    }

    /// Returns whether the peer's direction has ended and everything has been read.
    pub fn is_at_end(&self) -> bool {
        self.receiver.is_finished()
    }

    /// Throws away what was received and not read: nobody is going to.
    pub fn discard_received(&mut self, now: Time) {
        self.receiver.discard(now);
        self.note_read();
    }
}
