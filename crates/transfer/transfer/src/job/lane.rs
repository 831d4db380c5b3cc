//! One of a job's connections, kept up: dialled, watched, replaced.
//!
//! # Model
//! A lane has a connection or looks for one. A failed attempt is repeated after a pause that doubles. While a session runs,
//! its connection is watched: both sides send something at least every two seconds, so silence means that the path is
//! broken. QUIC probes a silent path with pauses that double, so after an outage of 10 s the next probe may be 10 s away.
//! Nothing in quinn shortens that. Therefore a silent connection gets company: a new one is attempted each second. The first
//! connection that delivers something continues. The listening side sees by job and lane that the new one replaces the old.
//!
//! # Constants
//! [`SILENCE`] is two missed keep-alives: shorter outages are bridged by QUIC's own probes, which then come within as long
//! again. The longest pause keeps an unattended job cheap over a night without network.

use super::{Dial, DialError, JobOptions};
use crate::error::Error;
use crate::event::Event;
use crate::session::{self, End};
use crate::tally::Tally;
use quinn::{Connection, VarInt};
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::{timeout, Instant, MissedTickBehavior};
use tracing::{debug, info};

const BACKOFF_FIRST: Duration = Duration::from_millis(500);
const BACKOFF_LAST: Duration = Duration::from_secs(10);
/// One attempt to connect.
const DIAL_TIMEOUT: Duration = Duration::from_secs(10);
/// A connection from which nothing comes for so long is suspect.
const SILENCE: Duration = Duration::from_secs(4);
/// How often a new one is attempted beside a suspect one, and how long each attempt may take.
const COMPANION_EVERY: Duration = Duration::from_secs(1);
const COMPANION_TIMEOUT: Duration = Duration::from_secs(5);
const WATCH_TICK: Duration = Duration::from_millis(250);

/// Where a lane gets its connections.
pub(super) struct Lane {
    pub(super) dial: Arc<dyn Dial>,
    pub(super) tally: Arc<Tally>,
    pub(super) give_up_after: Option<Duration>,
}

impl Lane {
    pub(super) fn new(dial: Arc<dyn Dial>, tally: Arc<Tally>, options: &JobOptions) -> Lane {
        Lane { dial, tally, give_up_after: options.give_up_after }
    }

    /// Runs sessions until one ends, or fails permanently.
    pub(super) async fn keep<F>(&self, mut session: impl FnMut(Connection) -> F) -> Result<(), Error>
    where
        F: Future<Output = Result<(), End>>,
    {
        let mut successor = None;
        let mut backoff = Backoff::new();
        let mut alone_since = Instant::now();
        loop {
            let connection = match successor.take() {
                Some(connection) => connection,
                None => self.connect(&mut backoff, alone_since).await?,
            };
            info!(peer = session::peer(&connection), "connected");
            self.tally.tell(Event::Connected { peer: session::peer(&connection) });
            let started = Instant::now();
            let running = session(connection.clone());
            tokio::pin!(running);
            // Dropped before the session is, if the job is given up.
            let leaving = Leaving(&connection);
            let result = tokio::select! {
                result = &mut running => result,
                next = self.successor(&connection) => {
                    info!("nothing came from the peer for a while; a new connection takes the old one's place");
                    successor = Some(next);
                    connection.close(VarInt::from_u32(session::REPLACED), b"");
                    // It lets go of its files before the next begins.
                    running.await
                }
            };
            drop(leaving);
            alone_since = Instant::now();
            debug!(seconds = started.elapsed().as_secs(), ?result, "the session ended");
            match result {
                Ok(()) => return Ok(()),
                Err(End::Failed(error)) => return Err(error),
                Err(End::Lost(_)) if successor.is_some() => {}
                Err(End::Lost(breakage)) => {
                    // A connection that breaks at once is no reason to hurry.
                    if started.elapsed() > BACKOFF_LAST {
                        backoff = Backoff::new();
                    }
                    self.pause(&mut backoff, alone_since, breakage.to_string()).await?;
                }
            }
        }
    }

    async fn connect(&self, backoff: &mut Backoff, alone_since: Instant) -> Result<Connection, Error> {
        loop {
            // An address that stays silent must not outlast the time after which the job is given up.
            let left = self.give_up_after.map(|limit| limit.saturating_sub(alone_since.elapsed()));
            let patience = left.map_or(DIAL_TIMEOUT, |left| left.min(DIAL_TIMEOUT));
            let reason = match timeout(patience, self.dial.dial()).await {
                Ok(Ok(connection)) => return Ok(connection),
                Ok(Err(DialError::Refused(reason))) => return Err(Error::Refused(reason)),
                Ok(Err(DialError::Unreachable(reason))) => reason,
                Err(_) => "nobody answers".into(),
            };
            self.pause(backoff, alone_since, reason).await?;
        }
    }

    async fn pause(&self, backoff: &mut Backoff, alone_since: Instant, reason: String) -> Result<(), Error> {
        let tried = alone_since.elapsed();
        if self.give_up_after.is_some_and(|limit| tried >= limit) {
            info!(seconds = tried.as_secs(), reason, "giving up");
            return Err(Error::GaveUp { seconds: tried.as_secs(), reason });
        }
        let pause = backoff.next();
        info!(reason, retry_in = ?pause, "no connection");
        self.tally.tell(Event::Disconnected { reason, retry_in_ms: pause.as_millis() as u64 });
        tokio::time::sleep(pause).await;
        Ok(())
    }

    /// Returns when a new connection is open while `old` is silent; never as long as `old` delivers something.
    async fn successor(&self, old: &Connection) -> Connection {
        let mut tick = tokio::time::interval(WATCH_TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut attempts: JoinSet<Option<Connection>> = JoinSet::new();
        let (mut heard, mut heard_at) = (old.stats().udp_rx.datagrams, Instant::now());
        let mut attempted_at = heard_at;
        loop {
            tokio::select! {
                Some(Ok(Some(connection))) = attempts.join_next() => return connection,
                _ = tick.tick() => {}
            }
            let now = Instant::now();
            let received = old.stats().udp_rx.datagrams;
            if received != heard {
                (heard, heard_at) = (received, now);
                attempts.abort_all();
                continue;
            }
            if now - heard_at < SILENCE || now - attempted_at < COMPANION_EVERY {
                continue;
            }
            attempted_at = now;
            debug!(silent_for = ?(now - heard_at), "trying a new connection beside the silent one");
            let dial = self.dial.clone();
            attempts.spawn(async move { timeout(COMPANION_TIMEOUT, dial.dial()).await.ok()?.ok() });
        }
    }
}

/// Closes the connection when dropped: its streams would end in the middle of a session otherwise.
struct Leaving<'a>(&'a Connection);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.0.close(VarInt::from_u32(session::SHUTDOWN), b"");
    }
}

/// Pauses between attempts.
struct Backoff(Duration);

impl Backoff {
    fn new() -> Backoff {
        Backoff(BACKOFF_FIRST)
    }

    fn next(&mut self) -> Duration {
        let pause = self.0;
        self.0 = (pause * 2).min(BACKOFF_LAST);
        pause
    }
}
