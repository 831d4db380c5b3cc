//! Bytes to send over a connection of QUIC.
//!
//! QUIC reports to a program that a whole stream is acknowledged, and not how far. So each flush ends a stream, and what is
//! written next begins another. A transfer never flushes: all of it is one stream.
//!
//! quinn's buffer holds the bytes in flight, too. It is kept as large as the window and a few bytes more. With a larger
//! one, a flow that is turned off would continue sending from the buffer.

use afteryou_quic::Monitor;
use quinn::{Connection, ConnectionError, SendStream, StoppedError, VarInt};
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::task::{ready, Context, Poll};
use tokio::io::AsyncWrite;

/// Initial window of a sender whose controller has not been asked yet, bytes.
const LEAST_WINDOW: u64 = 10 * 1452;

/// The sending side of a connection.
pub(crate) struct Outgoing {
    connection: Connection,
    monitor: Monitor,
    /// Bytes that it may hold beyond its window.
    unsent: u64,
    state: State,
    /// Bytes of streams whose every byte is acknowledged.
    acknowledged: Arc<AtomicU64>,
}

type Pending<T> = Pin<Box<dyn Future<Output = T> + Send + Sync>>;

enum State {
    /// No stream is open.
    Between,
    Opening(Pending<Result<SendStream, ConnectionError>>),
    /// With the bytes written.
    Open(SendStream, u64),
    /// The last stream waits for its acknowledgement.
    Closing(Pending<Result<Option<VarInt>, StoppedError>>),
    Closed,
}

impl Outgoing {
    pub(super) fn new(connection: Connection, monitor: Monitor, unsent: u64) -> Outgoing {
        Outgoing { connection, monitor, unsent, state: State::Between, acknowledged: Arc::default() }
    }

    /// Returns how many bytes are acknowledged, counted by streams.
    pub(super) fn acknowledged(&self) -> u64 {
        self.acknowledged.load(Ordering::Acquire)
    }

    fn opening(&self) -> State {
        let connection = self.connection.clone();
        State::Opening(Box::pin(async move { connection.open_uni().await }))
    }
}

impl AsyncWrite for Outgoing {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        loop {
            match &mut this.state {
                State::Between => this.state = this.opening(),
                State::Opening(opening) => {
                    this.state = State::Open(ready!(opening.as_mut().poll(context))?, 0);
                }
                State::Open(stream, written) => {
                    let window = this.monitor.status().snapshot.cwnd.max(LEAST_WINDOW);
                    this.connection.set_send_window(window.saturating_add(this.unsent));
                    let taken = ready!(AsyncWrite::poll_write(Pin::new(stream), context, bytes))?;
                    *written += taken as u64;
                    return Poll::Ready(Ok(taken));
                }
                State::Closing(_) | State::Closed => {
                    return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()))
                }
            }
        }
    }

    /// Ends the stream; its bytes count as acknowledged once all of them are.
    fn poll_flush(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        if let State::Open(stream, written @ 1..) = &mut this.state {
            stream.finish()?;
            let (stopped, bytes, all) = (stream.stopped(), *written, Arc::clone(&this.acknowledged));
            tokio::spawn(async move {
                if let Ok(None) = stopped.await {
                    all.fetch_add(bytes, Ordering::AcqRel);
                }
            });
            this.state = State::Between;
        }
        Poll::Ready(Ok(()))
    }

    /// Ends the stream, which there is even if nothing was written, and waits until all of it is acknowledged.
    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        loop {
            match &mut this.state {
                State::Between => this.state = this.opening(),
                State::Opening(opening) => {
                    this.state = State::Open(ready!(opening.as_mut().poll(context))?, 0);
                }
                State::Open(stream, _) => {
                    stream.finish()?;
                    this.state = State::Closing(Box::pin(stream.stopped()));
                }
                State::Closing(stopped) => {
                    let refused = ready!(stopped.as_mut().poll(context))?.is_some();
                    this.state = State::Closed;
                    if refused {
                        return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()));
                    }
                }
                State::Closed => return Poll::Ready(Ok(())),
            }
        }
    }
}
