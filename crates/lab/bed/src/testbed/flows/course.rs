//! How far a connection is, seen by the director, the sender's task and the receiver's.

use afteryou_base::lock::EvenPoisoned;
use afteryou_scenario::network::Route;
use afteryou_scenario::outcome::Totals;
use afteryou_sim::director::{Id, Remote};
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{mpsc, Arc, Mutex, MutexGuard};
use std::task::{ready, Poll};
use std::time::Duration;
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::Notify;

/// Written at a time, bytes.
const CHUNK: usize = 64 << 10;
/// How often a sender without data looks whether everything is acknowledged.
const LOOK: Duration = Duration::from_millis(1);
/// The bytes to send.
static CONTENT: [u8; CHUNK] = [0x5a; CHUNK];

/// How far a connection is.
pub(super) struct Course {
    id: Id,
    /// Its own, between hosts.
    route: Option<Route>,
    sent: Mutex<Sent>,
    received: AtomicU64,
    /// Bytes written of which the peer has acknowledged everything.
    acknowledged: AtomicU64,
    /// There is more to send.
    more: Notify,
    news: mpsc::Sender<Id>,
}

/// Bytes of the sender.
#[derive(Clone, Copy, Default)]
struct Sent {
    /// To be sent in all; `u64::MAX`: no end.
    given: u64,
    /// Handed to the transport.
    written: u64,
}

impl Course {
    pub(super) fn new(id: Id, route: Option<Route>, news: mpsc::Sender<Id>) -> Arc<Course> {
        Arc::new(Course {
            id,
            route,
            sent: Mutex::default(),
            received: AtomicU64::new(0),
            acknowledged: AtomicU64::new(0),
            more: Notify::new(),
            news,
        })
    }

    pub(super) fn id(&self) -> Id {
        self.id
    }

    pub(super) fn route(&self) -> Option<&Route> {
        self.route.as_ref()
    }

    fn sent(&self) -> MutexGuard<'_, Sent> {
        self.sent.lock().even_poisoned()
    }

    pub(super) fn give(&self, bytes: u64) {
        let mut sent = self.sent();
        sent.given = sent.given.saturating_add(bytes);
        drop(sent);
        self.more.notify_one();
    }

    pub(super) fn take_back(&self) -> u64 {
        let mut sent = self.sent();
        let unsent = sent.given - sent.written;
        sent.given = sent.written;
        if sent.written > self.acknowledged.load(Ordering::Relaxed) {
            self.more.notify_one();
        }
        unsent
    }

    pub(super) fn received(&self) -> u64 {
        self.received.load(Ordering::Acquire)
    }

    /// Counts `bytes` more that have arrived.
    pub(super) fn receive(&self, bytes: u64) {
        self.received.fetch_add(bytes, Ordering::AcqRel);
        // Nobody waits for a byte of a connection without an end.
        if self.sent().given < u64::MAX {
            self.report();
        }
    }

    pub(super) fn is_flushed(&self) -> bool {
        let Sent { given, written } = *self.sent();
        given == written && self.acknowledged.load(Ordering::Acquire) == written
    }

    fn report(&self) {
        // The director ends before the connections do.
        let _ = self.news.send(self.id);
    }

    /// Sends what it is given, for as long as the task lasts. `is_acknowledged` asks the transport whether the peer has
    /// acknowledged as many bytes.
    pub(super) async fn send<S: AsyncWrite + Unpin>(
        &self,
        stream: &mut S,
        is_acknowledged: impl Fn(&S, u64) -> io::Result<bool>,
    ) -> io::Result<()> {
        loop {
            let written = self.write(stream).await?;
            stream.flush().await?;
            if self.acknowledged.load(Ordering::Relaxed) < written {
                if !is_acknowledged(stream, written)? {
                    let _ = tokio::time::timeout(LOOK, self.more.notified()).await;
                    continue;
                }
                self.acknowledged.store(written, Ordering::Release);
                self.report();
            }
            self.more.notified().await;
        }
    }

    /// Writes all that was given; returns how much that is so far.
    async fn write<S: AsyncWrite + Unpin>(&self, stream: &mut S) -> io::Result<u64> {
        loop {
            let step = poll_fn(|context| {
                // Locked until it is written, so that what is taken back was not sent.
                let mut sent = self.sent();
                let left = sent.given - sent.written;
                if left == 0 {
                    return Poll::Ready(Ok(None));
                }
                let most = CHUNK.min(usize::try_from(left).unwrap_or(CHUNK));
                let taken = ready!(Pin::new(&mut *stream).poll_write(context, &CONTENT[..most]))?;
                sent.written += taken as u64;
                Poll::Ready(io::Result::Ok(Some(taken)))
            });
            match step.await? {
                None => return Ok(self.sent().written),
                Some(0) => return Err(io::ErrorKind::WriteZero.into()),
                Some(_) => {}
            }
        }
    }
}

/// A connection that could not be opened: the run is about to end.
pub(super) struct Failed;

impl Remote for Failed {
    fn connect(&mut self) {}
    fn give(&mut self, _: u64) {}
    fn take_back(&mut self) -> u64 {
        0
    }
    fn send_datagram(&mut self) {}
    fn stop(&mut self) {}
    fn received(&self) -> u64 {
        0
    }
    fn is_flushed(&self) -> bool {
        false
    }
    fn totals(&self) -> Totals {
        Totals::default()
    }
}
