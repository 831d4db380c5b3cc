//! A job: files to move between two machines, over as many connections and attempts as it takes.

mod get;
mod lane;
mod listen;
mod send;

pub use crate::event::Summary;
pub use crate::session::StateOf;
pub use get::get;
pub use listen::{listen, Arrival, ArrivalOf, ListenOptions, Service, Shutdown};
pub use send::{send, Outgoing};

use crate::dial::{self, Dialer};
use crate::error::Error;
use crate::event::{Event, Listener};
use crate::filter::Filter;
use crate::pace::Pace;
use crate::printable::printable;
use crate::session::{self, End};
use crate::store::Store;
use crate::tally::Tally;
use crate::threads::on_thread;
use crate::wire::{Answer, Greeting, Wishes};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::timeout;

/// Most connections of a job.
pub const MAX_LANES: u16 = 64;

/// How long the other connections of a job may take to end when one has seen the end of the job.
const GRACE: Duration = Duration::from_secs(1);

/// Learns of a connection whose peer is admitted.
pub type AdmittedTo = Arc<dyn Fn(&quinn::Connection) + Send + Sync>;

/// A connection that is being made.
pub type Dialling<'a> = Pin<Box<dyn Future<Output = Result<quinn::Connection, DialError>> + Send + 'a>>;

/// Makes connections to the peer. Several attempts may be under way at once; one that is dropped is given up.
pub trait Dial: Send + Sync + 'static {
    /// Connects anew: the connection is encrypted, and both sides have proved who they are.
    fn dial(&self) -> Dialling<'_>;
}

impl Dial for Dialer {
    fn dial(&self) -> Dialling<'_> {
        Box::pin(async {
            Dialer::dial(self).await.map_err(|error| match &error {
                dial::DialError::Unreachable(attempts)
                    if attempts.iter().all(|attempt| is_final(&attempt.failure)) =>
                {
                    DialError::Refused(error.to_string())
                }
                dial::DialError::Unreachable(_) => DialError::Unreachable(error.to_string()),
                _ => DialError::Refused(error.to_string()),
            })
        })
    }
}

/// Returns whether somebody answered, and would answer the same again.
fn is_final(failure: &dial::Failure) -> bool {
    matches!(failure, dial::Failure::Refused | dial::Failure::Stranger(_) | dial::Failure::Protocol)
}

/// Why there is no connection.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DialError {
    /// Nobody answers; it may be better in a while.
    #[error("{0}")]
    Unreachable(String),
    /// The peer answers and refuses, or is not who it should be. Trying again will not help.
    #[error("{0}")]
    Refused(String),
}

/// How a job runs on the side that connects.
#[derive(Clone)]
pub struct JobOptions {
    /// Connections that share the files.
    pub connections: usize,
    /// The rate limit. As a sink, the limits of all owners but [`crate::pace::Owner::FarEnd`] are sent to the
    /// source.
    pub pace: Pace,
    /// The listener that gets its events.
    pub listener: Listener,
    /// State of the congestion controller, for events and the peer.
    pub state_of: StateOf,
    /// How long to try without a connection. None: indefinitely.
    pub give_up_after: Option<Duration>,
    /// Report every chunk group ([`crate::event::Event::Group`]).
    pub groups_in_events: bool,
    /// Requests beyond storing what is sent. `send` has the extras to keep in its source.
    pub wishes: Wishes,
    /// The entries that a `get` leaves out, relative to the served directory. `send` has this in its source.
    pub exclude: Filter,
    /// A `get` takes files of the same size and time for the same. `send` has this in its source.
    pub quick: bool,
    /// A `get` requests that the source reads every file. `send` has this in its source.
    pub verify: bool,
}

impl Default for JobOptions {
    fn default() -> JobOptions {
        JobOptions {
            connections: 1,
            pace: Pace::new(),
            listener: Arc::new(|_| {}),
            state_of: Arc::new(|_| None),
            give_up_after: None,
            groups_in_events: false,
            wishes: Wishes::default(),
            exclude: Filter::default(),
            quick: false,
            verify: false,
        }
    }
}

impl JobOptions {
    fn lanes(&self) -> u16 {
        self.connections.clamp(1, usize::from(MAX_LANES)) as u16
    }
}

/// Asks the listening side how our packets arrive, and closes the connection.
///
/// # Errors
/// [`Error::Refused`] with the peer's reason, a connection that is lost, and a peer that breaks the protocol.
pub async fn probe(connection: &quinn::Connection) -> Result<Answer, Error> {
    let result = session::greet(connection, &Greeting::Probe).await;
    session::close(connection, &Ok(()));
    match result {
        Ok((_, Answer::Refused { reason })) => Err(Error::Refused(printable(&reason, 500))),
        Ok((_, answer)) => Ok(answer),
        Err(End::Failed(error)) => Err(error),
        Err(End::Lost(breakage)) => Err(Error::GaveUp { seconds: 0, reason: breakage.to_string() }),
    }
}

/// Returns a number that nobody else has.
fn new_id() -> Result<[u8; 16], Error> {
    let mut id = [0; 16];
    let filled = ring::rand::SecureRandom::fill(&ring::rand::SystemRandom::new(), &mut id);
    let source = |_| std::io::Error::other("the system gives no random numbers");
    filled.map_err(source).map_err(|source| Error::Io { doing: "number the job", source })?;
    Ok(id)
}

/// All connections of a job; they end when this is dropped.
struct Lanes(JoinSet<Result<(), Error>>);

impl Lanes {
    fn new() -> Lanes {
        Lanes(JoinSet::new())
    }

    fn spawn(&mut self, lane: impl Future<Output = Result<(), Error>> + Send + 'static) {
        self.0.spawn(lane);
    }

    /// Runs them until all of the job is settled, and reports its progress meanwhile.
    async fn settle(mut self, tally: &Tally, pace: &Pace) -> Result<Summary, Error> {
        tokio::select! {
            result = self.finish() => result?,
            () = tally.report() => {}
            () = tell_pace(pace, |event| tally.tell(event)) => {}
        }
        Ok(tally.finish())
    }

    /// Waits for the first that ends. If it ends well, all of the job is settled: the others get [`GRACE`] to learn of
    /// it themselves. Those without a connection would look for one indefinitely.
    async fn finish(&mut self) -> Result<(), Error> {
        let failed =
            |error| Error::Io { doing: "run a connection's task", source: std::io::Error::other(error) };
        let Some(first) = self.0.join_next().await else { return Ok(()) };
        first.map_err(failed)??;
        _ = timeout(GRACE, async { while self.0.join_next().await.is_some() {} }).await;
        Ok(())
    }
}

/// Reports each change of the pace, without end.
async fn tell_pace(pace: &Pace, tell: impl Fn(Event)) {
    let mut changed = pace.changed();
    loop {
        let limit = *changed.borrow_and_update();
        tell(Event::Pace { max_rate: limit.max_rate, paused: limit.paused });
        if changed.changed().await.is_err() {
            return std::future::pending().await;
        }
    }
}

/// Opens the store for a job that begins. Its disk may not answer, so a thread of its own looks; where the system has none,
/// small files are stored all the same.
pub(crate) async fn store_for_job(store: &Store, wishes: &Wishes) -> Result<Store, Error> {
    let (looking, wished) = (store.clone(), wishes.clone());
    match on_thread("open", move || looking.for_job(wished)).await {
        Err(Error::NoThread { .. }) => store.for_job(wishes.clone()),
        looked => looked?,
    }
}
