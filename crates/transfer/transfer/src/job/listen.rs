//! The side that listens.
//!
//! # Model
//! Every connection that the [door's guard](crate::guard) lets in greets, and is answered by a session of its own. Sessions
//! of one job share what it has done and, for a source, what it has to offer. A session that comes for a lane which already
//! has one closes the older and waits until that has let go of its files. The peer notices that it is dead before we do.
//!
//! A job whose sessions are all gone without having finished is remembered for a while, so that the next continues. One that
//! has finished is remembered for [`books::FINISHED`]: connections of it that come late find that nothing is left to do, and end
//! without being a job of their own.
//!
//! # Bounds
//! At most [`MAX_SESSIONS`] at a time and [`books::LINGERING`] jobs without one. A session may hold 16 MiB in quinn, but beyond
//! [`books::LARGE_SESSIONS`] of them a further one holds 1 MiB. All together hold 1.5 GB, if every peer is as bad as it may be.

mod books;

use super::{store_for_job, tell_pace, AdmittedTo, StateOf, Summary, MAX_LANES};
use crate::error::Error;
use crate::event::{Event, Listener};
use crate::extras::Keep;
use crate::filter::{Filter, Patterns};
use crate::guard::Guard;
use crate::inside::Token;
use crate::pace::Pace;
use crate::printable::printable;
use crate::session::{self, sink, source, Breakage, Control, End};
use crate::source::{Served, Source, SourceOptions};
use crate::store::mirror::Mirror;
use crate::store::Store;
use crate::tally::Tally;
use crate::threads::on_thread;
use crate::wire::{Answer, Greeting, Wishes};
use crate::work::Work;
use afteryou_base::lock::EvenPoisoned;
use books::{Books, Entered, Entry, Running};
use quinn::{Connection, ConnectionError, VarInt};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{timeout, Instant};
use tracing::{debug, info, info_span, warn, Instrument};

/// Sessions at a time: a few hundred clients, or the largest jobs of several.
const MAX_SESSIONS: usize = 512;
/// How long a newer session waits for an older one of its lane to end. It is answered before it gives up
/// ([`session::GREETING_TIMEOUT`]); a file that the older one still holds is busy then.
const REPLACE_TIMEOUT: Duration = Duration::from_secs(7);
const _: () = assert!(REPLACE_TIMEOUT.as_secs() < session::GREETING_TIMEOUT.as_secs());
/// How long a ping may take to be answered, beside four round trips: QUIC sends it three times meanwhile.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(1);
/// How long a probed side may take to go.
const GOODBYE_TIMEOUT: Duration = Duration::from_secs(5);

/// The listening side's role.
#[derive(Clone, Debug)]
pub enum Service {
    /// It is a sink.
    Receive(Store),
    /// It is a source.
    Serve {
        /// The served files.
        dir: Served,
        /// How.
        options: SourceOptions,
    },
}

/// How the packets of a connection arrive, for `doctor` at the other end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Arrival {
    /// TOS or traffic-class byte of the newest packets; None where it cannot be seen.
    pub tos: Option<u8>,
    /// Packets marked Congestion Experienced.
    pub ce: u64,
    /// Packets in all.
    pub packets: u64,
}

/// Asks how the packets of a connection arrive.
pub type ArrivalOf = Arc<dyn Fn(&quinn::Connection) -> Arrival + Send + Sync>;

/// Becomes true when the listening side is to end. Sessions are closed, partial files are kept.
pub type Shutdown = watch::Receiver<bool>;

/// How the listening side runs.
#[derive(Clone)]
pub struct ListenOptions {
    /// The rate limit. As a source, all jobs share it; as a sink, every source receives it.
    pub pace: Pace,
    /// The listener that gets the events of all jobs.
    pub listener: Listener,
    /// State of the congestion controller, for events and the peer.
    pub state_of: StateOf,
    /// Learns of each connection whose peer has the ticket.
    pub admitted: AdmittedTo,
    /// Returns how packets arrive, for `doctor`.
    pub arrival_of: ArrivalOf,
    /// Report every chunk group ([`crate::event::Event::Group`]).
    pub groups_in_events: bool,
    /// End after one job is finished.
    pub once: bool,
}

impl Default for ListenOptions {
    fn default() -> ListenOptions {
        ListenOptions {
            pace: Pace::new(),
            listener: Arc::new(|_| {}),
            state_of: Arc::new(|_| None),
            admitted: Arc::new(|_| {}),
            arrival_of: Arc::new(|_| Arrival::default()),
            groups_in_events: false,
            once: false,
        }
    }
}

/// Serves every client that comes through the door until `shutdown` becomes true, or the endpoint is closed. Gives what was done for
/// all jobs together.
///
/// # Errors
/// None so far: a session that fails ends alone.
pub async fn listen(
    mut door: Guard,
    service: Service,
    options: ListenOptions,
    mut shutdown: Shutdown,
) -> Result<Summary, Error> {
    let host =
        Arc::new(Host { service, options, books: Mutex::default(), closing: watch::Sender::new(false) });
    let mut sessions = JoinSet::new();
    let listener = host.options.listener.clone();
    let pace = host.options.pace.clone();
    let pacing = tell_pace(&pace, |event| listener(event));
    tokio::pin!(pacing);
    loop {
        tokio::select! {
            connection = door.accept() => match connection {
                Some(connection) if sessions.len() < MAX_SESSIONS => {
                    (host.options.admitted)(&connection);
                    let span = info_span!("session", peer = session::peer(&connection));
                    _ = sessions.spawn(host.clone().welcome(connection).instrument(span));
                }
                Some(connection) => {
                    warn!(peer = session::peer(&connection), "too many sessions at a time: {MAX_SESSIONS} are open");
                    connection.close(VarInt::from_u32(session::SHUTDOWN), b"too many sessions");
                }
                None => break,
            },
            Some(ended) = sessions.join_next() => {
                if host.options.once && matches!(ended, Ok(Some(JobDone))) {
                    break;
                }
            }
            () = &mut pacing => {}
            _ = shutdown.wait_for(|ended| *ended) => break,
        }
    }
    host.close_all();
    while sessions.join_next().await.is_some() {}
    Ok(host.summary())
}

/// The last session of a job ended, and the job with it.
struct JobDone;

/// A job of the listening side.
struct Job {
    asked: Asked,
    tally: Arc<Tally>,
    part: Part,
    far_end: Pace,
}

/// All that a job was greeted with.
#[derive(PartialEq)]
enum Asked {
    Push(Wishes),
    Pull { path: Vec<u8>, patterns: Patterns, extent: bool, keep: Keep, quick: bool, verify: bool },
}

/// This side's part in a job.
enum Part {
    Source { work: Arc<Work>, extent: bool },
    Sink { store: Store, mirror: Option<Arc<Mirror>> },
}

struct Host {
    service: Service,
    options: ListenOptions,
    books: Mutex<Books>,
    /// Everything is being closed.
    closing: watch::Sender<bool>,
}

impl Host {
    fn books(&self) -> MutexGuard<'_, Books> {
        self.books.lock().even_poisoned()
    }

    fn close_all(&self) {
        let mut books = self.books();
        books.closing = true;
        self.closing.send_replace(true);
        for running in books.jobs.values().flat_map(|entry| entry.lanes.values()) {
            running.connection.close(VarInt::from_u32(session::SHUTDOWN), b"");
        }
    }

    fn summary(&self) -> Summary {
        let books = self.books();
        let unfinished = books.jobs.values().map(|entry| entry.job.tally.summary());
        unfinished.fold(books.total.clone(), |total, summary| total.and(summary))
    }

    /// Serves one connection from its greeting to its end.
    async fn welcome(self: Arc<Self>, connection: Connection) -> Option<JobDone> {
        let mut closing = self.closing.subscribe();
        let greeted = tokio::select! {
            greeted = session::greeted(&connection) => greeted,
            // Nobody waits for a peer that may never greet.
            _ = closing.wait_for(|closing| *closing) => Err(End::Lost(Breakage::ShuttingDown)),
        };
        let (mut control, greeting) = match greeted {
            Ok(greeted) => greeted,
            Err(end) => {
                info!(?end, "no greeting");
                session::close(&connection, &Err(end));
                return None;
            }
        };
        debug!(greeting = greeting.name(), "greeted");
        let answered = match greeting {
            Greeting::Probe => Err(self.probed(&connection)),
            Greeting::Push { job, lane, wishes } => {
                self.push(job, wishes).await.map(|found| (job, lane, 1, found))
            }
            Greeting::Pull { job, lane, lanes, path, patterns, extent, keep, quick, sink, verify } => {
                let asked = Asked::Pull { path, patterns, extent, keep, quick, verify };
                self.pull(job, asked, sink).await.map(|found| (job, lane, lanes.clamp(1, MAX_LANES), found))
            }
        };
        match answered {
            Ok((id, lane, lanes, job)) => self.run(connection, control, id, (lane, lanes), job).await,
            Err(answer) => {
                info!(?answer, "no session for this greeting");
                if session::answer(&mut control, &answer).await.is_ok() {
                    _ = control.send.finish();
                    _ = timeout(GOODBYE_TIMEOUT, connection.closed()).await;
                }
                session::close(&connection, &Ok(()));
                None
            }
        }
    }

    fn probed(&self, connection: &Connection) -> Answer {
        let Arrival { tos, ce, packets } = (self.options.arrival_of)(connection);
        Answer::Probed { tos, address: session::peer(connection), ce, packets }
    }

    async fn push(&self, id: [u8; 16], wishes: Wishes) -> Result<Arc<Job>, Answer> {
        let Service::Receive(store) = self.service.clone() else {
            return Err(refused("it serves files and does not receive any: use get"));
        };
        let delete = wishes.delete;
        let asked = Asked::Push(wishes.clone());
        if let Some(known) = self.known(id, &asked) {
            return known;
        }
        let store = begun(Ok(store_for_job(&store, &wishes).await))?;
        let mirror = delete.then(|| Arc::new(Mirror::new(store.clone(), Filter::default())));
        self.job(id, asked, |_| Ok(Part::Sink { store, mirror }))
    }

    async fn pull(&self, id: [u8; 16], asked: Asked, sink: Vec<Token>) -> Result<Arc<Job>, Answer> {
        let Service::Serve { dir, mut options } = self.service.clone() else {
            return Err(refused("it receives files and does not serve any: use send"));
        };
        if let Some(known) = self.known(id, &asked) {
            return known;
        }
        let Asked::Pull { path, patterns, extent, keep, quick, verify } = &asked else {
            return Err(refused("a push to a source"));
        };
        let (path, extent) = (path.clone(), *extent);
        options.keep = *keep;
        options.quick = *quick;
        options.verify = *verify;
        options.peer_excludes =
            Filter::new(patterns.clone(), 0).map_err(|error| refused(&error.to_string()))?;
        let look = move || {
            let source = Source::within(&dir, &path, options)?;
            source.refuse_sink_inside(&id, &sink).map(|()| source)
        };
        let source = begun(on_thread("look", look).await)?;
        self.job(id, asked, |tally| {
            let work = Arc::new(Work::start(source, tally.clone())?);
            Ok(Part::Source { work, extent })
        })
    }

    /// Returns the job of this number, if there is one. Refused if it asked for something else before.
    fn known(&self, id: [u8; 16], asked: &Asked) -> Option<Result<Arc<Job>, Answer>> {
        let books = self.books();
        let entry = books.jobs.get(&id)?;
        Some(match entry.job.asked == *asked {
            true => Ok(entry.job.clone()),
            false => Err(refused("the job already asks for something else")),
        })
    }

    /// Returns the patterns that should have matched something by the end of such a job: of everything that is served.
    fn named(&self, asked: &Asked) -> Filter {
        match (&self.service, asked) {
            (Service::Serve { options, .. }, Asked::Pull { path, .. }) if path.is_empty() => {
                options.exclude.clone()
            }
            _ => Filter::default(),
        }
    }

    /// Returns the job of this number; made if it is new.
    fn job(
        &self,
        id: [u8; 16],
        asked: Asked,
        part: impl FnOnce(&Arc<Tally>) -> Result<Part, Error>,
    ) -> Result<Arc<Job>, Answer> {
        let mut books = self.books();
        if let Some(entry) = books.jobs.get(&id) {
            return Ok(entry.job.clone());
        }
        let tally = Tally::new(self.options.listener.clone(), self.options.groups_in_events);
        let tally = Arc::new(tally.naming(self.named(&asked)));
        let part = part(&tally).map_err(|error| refused(&error.to_string()))?;
        let job = Arc::new(Job { asked, tally, part, far_end: Pace::new() });
        books.jobs.insert(id, Entry::of(job.clone()));
        Ok(job)
    }

    async fn run(
        &self,
        connection: Connection,
        mut control: Control,
        id: [u8; 16],
        (lane, lanes): (u16, u16),
        job: Arc<Job>,
    ) -> Option<JobDone> {
        let (ending, ended) = watch::channel(());
        let Entered { serial, window, older, late } =
            self.enter(id, lane, &job, connection.clone(), ended)?;
        info!(job = number(&id), lane, late, "a session begins");
        if let Part::Sink { .. } = job.part {
            tokio::spawn(end_silent(self.others(id)).in_current_span());
        }
        if let Some(mut older) = older {
            info!("it takes the place of an older one");
            older.connection.close(VarInt::from_u32(session::REPLACED), b"");
            // Ends when the older session drops its half.
            _ = timeout(REPLACE_TIMEOUT, async { while older.ended.changed().await.is_ok() {} }).await;
        }
        if !late {
            job.tally.tell(Event::Connected { peer: session::peer(&connection) });
        }
        let reports = lane == 0 && !late;
        let sink = match &job.part {
            Part::Sink { store, .. } => store.whereabouts(&id),
            Part::Source { .. } => Vec::new(),
        };
        let result = match session::answer(&mut control, &Answer::Welcome { sink }).await {
            Ok(()) => self.session(&connection, control, &job, (lane, lanes), window, reports).await,
            Err(end) => Err(end),
        };
        let result = self.explained(result);
        session::close(&connection, &result);
        info!(?result, "the session ended");
        if !late {
            self.tell_end(&job, &result);
        }
        drop(ending);
        self.leave(id, lane, serial, result.is_ok())
    }

    /// Takes the lane, and returns its holder before. None when everything is being closed.
    fn enter(
        &self,
        id: [u8; 16],
        lane: u16,
        job: &Arc<Job>,
        connection: Connection,
        ended: watch::Receiver<()>,
    ) -> Option<Entered> {
        let mut books = self.books();
        if books.closing {
            connection.close(VarInt::from_u32(session::SHUTDOWN), b"");
            return None;
        }
        books.serial += 1;
        let serial = books.serial;
        let window = books.window();
        // It may have been forgotten since it was looked up.
        let entry = books.jobs.entry(id).or_insert_with(|| Entry::of(job.clone()));
        let older = entry.lanes.insert(lane, Running { serial, connection, window, ended });
        Some(Entered { serial, window, older, late: entry.told.is_some() })
    }

    /// Returns the connections of all other jobs, and their windows.
    fn others(&self, id: [u8; 16]) -> Vec<(Connection, u32)> {
        let books = self.books();
        let others = books.jobs.iter().filter(|(other, _)| **other != id).map(|(_, entry)| entry);
        let of = |running: &Running| (running.connection.clone(), running.window);
        others.flat_map(|entry| entry.lanes.values()).map(of).collect()
    }

    async fn session(
        &self,
        connection: &Connection,
        control: Control,
        job: &Arc<Job>,
        (lane, lanes): (u16, u16),
        window: u32,
        reports: bool,
    ) -> Result<(), End> {
        let pace = self.options.pace.clone();
        let report = async {
            match reports {
                true => job.tally.report().await,
                false => std::future::pending().await,
            }
        };
        let session = async {
            match &job.part {
                Part::Source { work, extent } => {
                    let (work, far_end) = (work.clone(), job.far_end.clone());
                    let paces = vec![far_end.clone(), pace];
                    let state_of = self.options.state_of.clone();
                    let extent = *extent;
                    source::run(
                        connection,
                        control,
                        source::Role { work, paces, far_end, state_of, lane, lanes, extent, window },
                    )
                    .await
                }
                Part::Sink { store, mirror } => {
                    let (store, mirror, tally) = (store.clone(), mirror.clone(), job.tally.clone());
                    let look = Arc::new(store);
                    sink::run(connection, control, sink::Role { look, mirror, tally, pace, lane, window })
                        .await
                }
            }
        };
        tokio::select! {
            result = session => result,
            () = report => Ok(()),
        }
    }

    /// Returns the result with the reason for which this side closed the connection, if it did. The connection itself
    /// reports that of every end by now.
    fn explained(&self, result: Result<(), End>) -> Result<(), End> {
        match result {
            Err(End::Lost(Breakage::Connection(ConnectionError::LocallyClosed))) => {
                Err(End::Lost(match self.books().closing {
                    true => Breakage::ShuttingDown,
                    false => Breakage::Outlived,
                }))
            }
            result => result,
        }
    }

    fn tell_end(&self, job: &Job, result: &Result<(), End>) {
        let reason = match result {
            Ok(()) => return,
            Err(End::Lost(breakage)) => breakage.to_string(),
            Err(End::Failed(error)) => error.to_string(),
        };
        job.tally.tell(Event::Disconnected { reason, retry_in_ms: 0 });
    }

    /// Ends a session. The last one of a finished job ends the job.
    fn leave(&self, id: [u8; 16], lane: u16, serial: u64, finished: bool) -> Option<JobDone> {
        let mut books = self.books();
        let left = books.serial;
        let entry = books.jobs.get_mut(&id)?;
        entry.finished |= finished;
        if entry.lanes.get(&lane).is_some_and(|running| running.serial == serial) {
            entry.lanes.remove(&lane);
        }
        if !entry.lanes.is_empty() {
            return None;
        }
        entry.left = left;
        let done = entry.finished && entry.told.is_none();
        if done {
            entry.told = Some(Instant::now());
        }
        let tally = entry.job.tally.clone();
        books.forget_oldest();
        drop(books);
        if !done {
            return None;
        }
        if let Some(spared) = tally.finish().spared {
            warn!("{spared}");
        }
        Some(JobDone)
    }
}

/// Closes those of `connections` whose peers are gone without a word. A sender that was killed holds its files until its
/// connection has been idle for [`session::IDLE_TIMEOUT`], and the one that was started in its place would wait for them. A
/// peer that lives answers a ping; if an outage kept it from that, it connects again and continues.
async fn end_silent(connections: Vec<(Connection, u32)>) {
    let mut pinged = JoinSet::new();
    for (connection, window) in connections {
        pinged.spawn(async move {
            let heard = connection.stats().udp_rx.datagrams;
            session::ping(&connection, window);
            tokio::time::sleep(ANSWER_TIMEOUT + 4 * connection.rtt()).await;
            if connection.stats().udp_rx.datagrams == heard {
                info!(
                    peer = session::peer(&connection),
                    "gone without a word: its files are free for others"
                );
                connection.close(VarInt::from_u32(session::REPLACED), b"");
            }
        });
    }
    while pinged.join_next().await.is_some() {}
}

/// Returns a job's number, by which jobs are distinguished.
fn number(id: &[u8; 16]) -> String {
    id[..4].iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns this side's part in a job, if it can begin. The user of this side learns that the directory is gone, too.
fn begun<T>(part: Result<Result<T, Error>, Error>) -> Result<T, Answer> {
    part.and_then(|part| part).map_err(|error| {
        if let Error::Gone { .. } = error {
            warn!("{error}");
        }
        refused(&error.to_string())
    })
}

fn refused(reason: &str) -> Answer {
    Answer::Refused { reason: printable(reason, 1000) }
}
