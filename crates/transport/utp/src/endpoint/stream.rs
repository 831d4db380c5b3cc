//! One connection as a byte stream.

use super::handle::Handle;
use super::Inner;
use crate::connection::Statistics;
use crate::error::Error;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// A connected uTP stream.
///
/// Writing waits while about two windows are unacknowledged, so that a slow path slows the writer down. `flush` sends a
/// packet that is not full yet; `shutdown` ends our direction and returns once the peer has acknowledged everything;
/// reading continues after it. A stream that is dropped is ended in good order in the background.
///
/// Await [`Endpoint::close`](super::Endpoint::close) before the program ends: the peer's end still needs an acknowledgement, and
/// a peer that never gets it waits for 60 s.
#[must_use = "a stream that is dropped ends its direction"]
pub struct Stream {
    inner: Arc<Inner>,
    handle: Handle,
}

/// Looks at a stream from elsewhere: statistics, and an emergency stop. Does not keep the stream open.
#[derive(Clone)]
pub struct Monitor {
    inner: Arc<Inner>,
    handle: Handle,
}

impl Stream {
    pub(super) fn new(inner: Arc<Inner>, handle: Handle) -> Stream {
        Stream { inner, handle }
    }

    /// Returns the peer's address.
    pub fn peer_addr(&self) -> SocketAddr {
        self.handle.key.peer
    }

    /// Returns counters and measurements.
    pub fn statistics(&self) -> Statistics {
        self.monitor().statistics().unwrap_or_default()
    }

    /// Returns a second view of this stream.
    pub fn monitor(&self) -> Monitor {
        Monitor { inner: Arc::clone(&self.inner), handle: self.handle }
    }

    /// Completes when the handshake has.
    pub(super) async fn connected(&self) -> Result<(), Error> {
        std::future::poll_fn(|cx| {
            let mut table = self.inner.table();
            if table.dead {
                return Poll::Ready(Err(Error::EndpointClosed));
            }
            let Some(entry) = table.entry(self.handle) else {
                return Poll::Ready(Err(Error::Displaced));
            };
            if let Some(error) = entry.connection.error() {
                return Poll::Ready(Err(error));
            }
            if entry.connection.is_connected() {
                return Poll::Ready(Ok(()));
            }
            entry.writer = Some(cx.waker().clone());
            Poll::Pending
        })
        .await
    }

    /// Calls `step` on the connection; an endpoint that is gone is an error.
    fn with<T>(
        &self,
        step: impl FnOnce(&mut super::table::Entry, afteryou_base::Time) -> (Poll<io::Result<T>>, bool),
    ) -> Poll<io::Result<T>> {
        let now = self.inner.now();
        let mut table = self.inner.table();
        if table.dead {
            return Poll::Ready(Err(Error::EndpointClosed.into()));
        }
        let Some(entry) = table.entry(self.handle) else {
            return Poll::Ready(Err(Error::Displaced.into()));
        };
        let (poll, changed) = step(entry, now);
        if changed {
            table.touch(self.handle.key);
        }
        poll
    }
}

impl Monitor {
    /// Returns counters and measurements, `None` once the stream is gone.
    pub fn statistics(&self) -> Option<Statistics> {
        let mut table = self.inner.table();
        table.entry(self.handle).map(|entry| entry.connection.statistics())
    }

    /// Drops the connection at once and sends the peer a reset.
    pub fn abort(&self) {
        let mut table = self.inner.table();
        if let Some(entry) = table.entry(self.handle) {
            entry.connection.abort();
            table.touch(self.handle.key);
        }
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        let now = self.inner.now();
        self.inner.table().detach(now, self.handle);
    }
}

/// Most bytes that one call copies: the driver waits meanwhile, since the table is locked.
const MOST_COPIED: usize = 64 << 10;

impl AsyncRead for Stream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.with(|entry, now| {
            let room = buf.initialize_unfilled_to(buf.remaining().min(MOST_COPIED));
            let n = match entry.connection.read(now, room) {
                Ok(n) => n,
                Err(error) => return (Poll::Ready(Err(error.into())), false),
            };
            if n == 0 && buf.remaining() > 0 && !entry.connection.is_at_end() && !entry.connection.is_closed()
            {
                entry.reader = Some(cx.waker().clone());
                return (Poll::Pending, false);
            }
            buf.advance(n);
            (Poll::Ready(Ok(())), n > 0)
        })
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, data: &[u8]) -> Poll<io::Result<usize>> {
        self.with(|entry, _| match entry.connection.write(&data[..data.len().min(MOST_COPIED)]) {
            Ok(0) if !data.is_empty() => {
                entry.writer = Some(cx.waker().clone());
                (Poll::Pending, false)
            }
            Ok(n) => (Poll::Ready(Ok(n)), true),
            Err(error) => (Poll::Ready(Err(error.into())), false),
        })
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.with(|entry, _| {
            entry.connection.flush();
            (Poll::Ready(Ok(())), true)
        })
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.with(|entry, _| {
            if let Some(error) = entry.connection.error() {
                return (Poll::Ready(Err(error.into())), false);
            }
            entry.connection.finish();
            if entry.connection.is_finish_acknowledged() || entry.connection.is_closed() {
                return (Poll::Ready(Ok(())), true);
            }
            entry.writer = Some(cx.waker().clone());
            (Poll::Pending, true)
        })
    }
}
