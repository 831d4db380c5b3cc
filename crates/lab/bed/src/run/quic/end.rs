//! An end of a connection of QUIC: its counters, and the bytes that arrive there.

use super::super::watched::{EndState, Watch};
use afteryou_quic::Monitor;
use afteryou_scenario::outcome::Totals;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::task::{ready, Context, Poll};
use tokio::io::{AsyncRead, ReadBuf};

/// An end of a connection, which it keeps open.
pub(super) struct End {
    connection: quinn::Connection,
    monitor: Monitor,
    received: Arc<AtomicU64>,
}

impl End {
    pub(super) fn new(connection: quinn::Connection, monitor: Monitor) -> End {
        End { connection, monitor, received: Arc::default() }
    }
}

impl Watch for End {
    fn state(&self) -> Option<EndState> {
        let (status, path) = (self.monitor.status(), self.connection.stats().path);
        Some(EndState {
            controller: status.snapshot,
            smoothed_rtt: status.smoothed_rtt,
            totals: Totals {
                packets: path.sent_packets,
                retransmissions: path.lost_packets,
                losses: path.lost_packets,
                ..Totals::default()
            },
            arrived: self.received.load(Ordering::Relaxed),
        })
    }

    fn abort(&self) {
        self.connection.close(0_u32.into(), b"");
    }
}

/// The bytes of a stream, counted as they are read.
pub(crate) struct Incoming {
    stream: quinn::RecvStream,
    received: Arc<AtomicU64>,
}

impl Incoming {
    pub(super) fn new(stream: quinn::RecvStream, end: &End) -> Incoming {
        Incoming { stream, received: Arc::clone(&end.received) }
    }
}

impl AsyncRead for Incoming {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(AsyncRead::poll_read(Pin::new(&mut self.stream), context, buffer))?;
        self.received.fetch_add((buffer.filled().len() - before) as u64, Ordering::Relaxed);
        Poll::Ready(Ok(()))
    }
}
