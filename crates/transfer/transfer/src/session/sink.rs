//! The sink's half of a session.
//!
//! # Model
//! Each offer goes through: queued, considered (a blocking thread looks at the disk), then settled or requested. A
//! requested one is received on its data stream and then settled. Several are considered and stored at a time. A file
//! that another session is receiving is checked again each second, beside all others. So is one for which the system
//! has no descriptor, until the session is [starved](STARVED). Every offer gets exactly one answer that settles it,
//! also one that is withdrawn.
//!
//! # Bounds
//! At most [`MAX_UNSETTLED`](crate::wire::MAX_UNSETTLED) offers are open; the [room](super::room) of the process limits the
//! files. Nothing more is read from the control stream while answers wait that the source does not take. Ids ascend, a data
//! stream belongs to a requested file and comes once; a source that does otherwise loses the connection.
//!
//! # Small files
//! Many come in a bundle. Those that are not here yet are stored together when they have arrived, see
//! [`bundles`].

mod answers;
mod bundles;
mod glances;
mod offers;
mod removal;

use self::answers::{outcome, size_of};
use self::bundles::{Bundle, Bundles};
use self::removal::Reports;
use super::intake::{Compared, Intake, OnGroup, Received};
use super::room::{Place, Room};
use super::{Control, End, GOODBYE_TIMEOUT, RECEIVING_GONE};
use crate::codec::Outgoing;
use crate::entry::Entry;
use crate::error::Error;
use crate::event::Outcome;
use crate::pace::Pace;
use crate::store::mirror::{Mirror, Swept};
use crate::store::{Delta, Kept, Near, Next, Reception, Store, Verdict};
use crate::tally::Tally;
use crate::wire::{FromSink, FromSource, Glance, Why, BUNDLE, MAX_DATA_STREAMS, SMALL};
use quinn::{RecvStream, VarInt};
use std::collections::{HashMap, VecDeque};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior};

/// Threads that consider offers at a time.
const CONSIDERERS: usize = 8;
/// Offers that one takes at a time, and bytes of their content. When all threads are busy, offers queue up; then a hop to a
/// thread is shared by many small files.
const BATCH: usize = 256;
const BATCH_BYTES: u64 = 4 * 1024 * 1024;
/// Answers that may wait, bytes, before no more offers are read.
const OUTGOING: usize = 256 * 1024;
/// When to ask again about a file that another session is receiving.
const BUSY_RETRY: Duration = Duration::from_secs(1);
const BUSY_TICK: Duration = Duration::from_millis(100);
/// A session that gets no descriptor for so long, and holds none that it could close, ends.
const STARVED: Duration = Duration::from_secs(3);

/// Looks at the disk: the [store](crate::store::Store), or a layer in front of it.
pub(crate) trait Look: Send + Sync {
    /// Decides on an entry.
    fn consider(&self, entry: &Entry, near: &mut Near) -> Result<Verdict, Why>;

    /// Returns whether a file of this size and these attributes is there.
    fn has(&self, glance: &Glance, near: &mut Near) -> bool;

    /// Returns whether the sink's directory was removed.
    fn is_gone(&self) -> bool;
}

impl Look for Store {
    fn consider(&self, entry: &Entry, near: &mut Near) -> Result<Verdict, Why> {
        self.consider_near(entry, near)
    }

    fn has(&self, glance: &Glance, near: &mut Near) -> bool {
        Store::has(self, glance, near)
    }

    fn is_gone(&self) -> bool {
        Store::is_gone(self)
    }
}

/// The inputs of a sink's session beside its connection.
pub(crate) struct Role {
    pub(crate) look: Arc<dyn Look>,
    /// Removes what was not sent, if the job asks for it.
    pub(crate) mirror: Option<Arc<Mirror>>,
    pub(crate) tally: Arc<Tally>,
    /// Sent to the source.
    pub(crate) pace: Pace,
    /// Lane 0 shows the source's state and plan.
    pub(crate) lane: u16,
    /// Bytes that the source may send ahead.
    pub(crate) window: u32,
}

enum Stage {
    Queued,
    Considering,
    Busy(Instant),
    Wanted(Reception, Place),
    /// A description of it was requested.
    Described(Box<Delta>, Place),
    Receiving,
    /// Its data stream was reset; the source reports the reason.
    Reset,
}

struct Open {
    entry: Arc<Entry>,
    stage: Stage,
    withdrawn: bool,
    /// Another session is receiving it, as the listener has noted.
    told_busy: bool,
    /// Bytes that count as done: those that existed at the request, and those that arrived.
    credited: Arc<AtomicU64>,
}

/// An offer, what is to be done about it, and its place.
type Considered = (u64, Result<Verdict, Why>, Place);

/// The outcome of a task of the session.
enum Done {
    /// The bool: they had much content.
    Considered(Vec<Considered>, bool),
    Opened(Option<(u64, RecvStream)>),
    Received(u64, Received),
    /// A bundle came.
    Bundle(Bundle),
    /// Small files were stored.
    Stored(Vec<(u64, Result<Kept, Why>)>),
    /// Which of these files differ.
    Glanced(u64, Vec<Glance>, Vec<u32>),
    /// A description ended.
    Compared(u64, Compared, Place),
    /// Everything that was not sent is gone, as far as that was possible, or the reason for which it was kept.
    Removed(Result<Option<Swept>, Error>),
    /// The entries that may go before the end are gone.
    RemovedEarly,
}

/// Runs the session to its end. Returns when no task of it touches the disk any more.
pub(crate) async fn run(connection: &quinn::Connection, mut control: Control, role: Role) -> Result<(), End> {
    connection.set_receive_window(VarInt::from_u32(role.window));
    connection.set_max_concurrent_uni_streams(VarInt::from_u32(MAX_DATA_STREAMS));
    let mut session = Session {
        role,
        open: HashMap::new(),
        queue: VecDeque::new(),
        considering: 0,
        considering_much: 0,
        bundles: Bundles::default(),
        glances: VecDeque::new(),
        glancing: 0,
        glanced_at: 0,
        last_id: None,
        ended: false,
        removing: None,
        tasks: JoinSet::new(),
        intake: Intake::new(),
        room: Room::new(),
        state_told: None,
        starved_since: None,
        is_tight: false,
    };
    let result = session.talk(connection, &mut control).await;
    super::close(connection, &result);
    drop(control);
    session.wind_up().await;
    result
}

struct Session {
    role: Role,
    open: HashMap<u64, Open>,
    queue: VecDeque<u64>,
    considering: usize,
    /// Those threads that have much to read.
    considering_much: usize,
    bundles: Bundles,
    /// Files that are offered by size and time, with the id of the first.
    glances: VecDeque<(u64, Vec<Glance>)>,
    /// Threads that look at such files.
    glancing: usize,
    /// Such files that are not answered.
    glanced_at: usize,
    last_id: Option<u64>,
    ended: bool,
    /// Entries that were not sent are being removed.
    removing: Option<Reports>,
    tasks: JoinSet<Done>,
    intake: Intake,
    room: Room,
    state_told: Option<Instant>,
    /// Since when the system has opened no file for it.
    starved_since: Option<Instant>,
    /// Something did not fit.
    is_tight: bool,
}

impl Session {
    async fn talk(&mut self, connection: &quinn::Connection, control: &mut Control) -> Result<(), End> {
        let mut pace = self.role.pace.changed();
        pace.mark_changed();
        let mut busy = tokio::time::interval(BUSY_TICK);
        busy.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while !(self.ended && self.open.is_empty() && self.glanced_at == 0 && self.removing.is_none()) {
            self.consider_next();
            self.glance_next();
            self.store_next();
            let waits_for_room = self.may_consider();
            let Control { send, incoming, outgoing } = &mut *control;
            let answer = tokio::select! {
                Some(done) = self.tasks.join_next() => match done.map_err(|_| End::Failed(task_failed()))? {
                    Done::Removed(result) => {
                        let mut reports = self.removing.take();
                        while let Some((path, outcome)) = removal::next(&mut reports).await {
                            outgoing.push(&self.removed(path, outcome))?;
                        }
                        match result.map_err(End::Failed)? {
                            Some(Swept { unmatched, spared }) => {
                                outgoing.push(&FromSink::Swept { unmatched })?;
                                spared.map(|spared| self.spared(spared))
                            }
                            None => None,
                        }
                    }
                    Done::RemovedEarly => {
                        let mut reports = self.removing.take();
                        while let Some((path, outcome)) = removal::next(&mut reports).await {
                            outgoing.push(&self.removed(path, outcome))?;
                        }
                        Some(FromSink::Continue)
                    }
                    Done::Considered(batch, is_much) => {
                        self.considering -= 1;
                        self.considering_much -= usize::from(is_much);
                        for (id, verdict, place) in batch {
                            if let Some(answer) = self.considered(id, verdict, place) {
                                push(outgoing, &answer)?;
                            }
                        }
                        None
                    }
                    Done::Stored(stored) => {
                        self.batch_stored();
                        for (id, result) in stored {
                            if let Some(answer) = self.stored(id, result) {
                                push(outgoing, &answer)?;
                            }
                        }
                        None
                    }
                    done => self.done(done)?,
                },
                Some((path, outcome)) = removal::next(&mut self.removing), if outgoing.len() < OUTGOING => {
                    Some(self.removed(path, outcome))
                }
                message = incoming.next::<FromSource>(), if outgoing.len() < OUTGOING => {
                    let early = || End::violation("the control stream ended too early");
                    let mut message = message?.ok_or_else(early)?;
                    loop {
                        if let Some(answer) = self.told(message)? {
                            push(outgoing, &answer)?;
                        }
                        match incoming.ready()? {
                            Some(next) => message = next,
                            None => break None,
                        }
                    }
                }
                sent = outgoing.flush_some(send), if !outgoing.is_empty() => {
                    sent?;
                    None
                }
                // quinn counts those that are not read to their end, the offers bound the others.
                stream = connection.accept_uni() => {
                    self.tasks.spawn(opened(stream?));
                    None
                }
                Ok(()) = pace.changed() => {
                    let limit = *pace.borrow_and_update();
                    Some(FromSink::Pace { max_rate: limit.max_rate, paused: limit.paused })
                }
                () = self.room.changed(), if waits_for_room => None,
                _ = busy.tick() => {
                    self.check_descriptors()?;
                    self.ask_again();
                    None
                }
            };
            if let Some(answer) = answer {
                push(outgoing, &answer)?;
            }
        }
        self.say_goodbye(connection, control).await
    }

    /// Ends a session in which everything is settled. The source closes, or acknowledges that it may: its close is sent
    /// once, and may be lost.
    async fn say_goodbye(
        &mut self,
        connection: &quinn::Connection,
        control: &mut Control,
    ) -> Result<(), End> {
        control.outgoing.push(&FromSink::Finished)?;
        let goodbye = async {
            if control.outgoing.flush(&mut control.send).await.is_err() || control.send.finish().is_err() {
                return;
            }
            tokio::select! {
                _ = connection.closed() => {}
                _ = control.send.stopped() => {}
            }
        };
        _ = tokio::time::timeout(GOODBYE_TIMEOUT, goodbye).await;
        Ok(())
    }

    /// Winds up after the connection was closed: every task ends, and releases its partial file.
    async fn wind_up(&mut self) {
        self.removing = None;
        loop {
            self.store_next();
            let Some(done) = self.tasks.join_next().await else { break };
            match done {
                // All that came: it need not come again.
                Ok(Done::Bundle(bundle)) => _ = self.bundled(bundle),
                Ok(Done::Stored(stored)) => {
                    self.batch_stored();
                    for (id, result) in stored {
                        _ = self.stored(id, result);
                    }
                }
                Ok(Done::Received(id, Received::Stored(kept))) => {
                    self.settle(id, Ok(outcome(kept, Outcome::Stored)));
                }
                Ok(Done::Compared(id, Compared::Next(Next::Stored(kept)), _)) => {
                    self.settle(id, Ok(outcome(kept, Outcome::Stored)));
                }
                _ => {}
            }
        }
        for (_, open) in self.open.drain() {
            self.role.tally.uncredit(open.credited.load(Ordering::Relaxed));
        }
    }

    /// Returns whether another thread may consider: beside one that will soon be done, it helps only if there is much to do.
    fn may_consider(&self) -> bool {
        let is_soon_done = self.considering > self.considering_much;
        let is_large = |id: &u64| self.open.get(id).is_some_and(|open| size_of(&open.entry) > SMALL);
        let enough = if is_soon_done && !self.queue.front().is_some_and(is_large) { BATCH / 4 } else { 1 };
        self.considering < CONSIDERERS && self.queue.len() >= enough && self.removing.is_none()
    }

    fn consider_next(&mut self) {
        while self.may_consider() {
            let (batch, bytes) = self.next_batch();
            // Without room it is tried again when there is some.
            if batch.is_empty() {
                return;
            }
            let is_much = bytes > BATCH_BYTES / 4;
            self.considering += 1;
            self.considering_much += usize::from(is_much);
            let (look, mirror) = (self.role.look.clone(), self.role.mirror.clone());
            self.tasks.spawn_blocking(move || {
                let mut near = Near::default();
                let consider = |(id, entry, place): (u64, Arc<Entry>, Place)| {
                    if let Some(mirror) = &mirror {
                        mirror.before(&entry.path);
                    }
                    (id, unwinding(&*look, &entry, &mut near), place)
                };
                Done::Considered(batch.into_iter().map(consider).collect(), is_much)
            });
        }
    }

    /// Takes offers off the queue that one thread considers, one large file or several small ones, and their bytes.
    fn next_batch(&mut self) -> (Vec<(u64, Arc<Entry>, Place)>, u64) {
        let mut batch = Vec::new();
        let mut bytes = 0;
        while batch.len() < BATCH && bytes < BATCH_BYTES {
            let Some(&id) = self.queue.front() else { break };
            let Some(open) = self.open.get_mut(&id) else {
                self.queue.pop_front();
                continue;
            };
            let Some(place) = self.room.take() else { break };
            self.queue.pop_front();
            open.stage = Stage::Considering;
            bytes += size_of(&open.entry);
            batch.push((id, open.entry.clone(), place));
        }
        (batch, bytes)
    }

    fn ask_again(&mut self) {
        let now = Instant::now();
        for (id, open) in &mut self.open {
            if matches!(open.stage, Stage::Busy(when) if when <= now) {
                open.stage = Stage::Queued;
                self.queue.push_back(*id);
            }
        }
    }

    /// Checks whether waiting for descriptors helps, as it does while somebody may close some.
    fn check_descriptors(&mut self) -> Result<(), End> {
        let now = Instant::now();
        let holds =
            |open: &Open| matches!(open.stage, Stage::Wanted(..) | Stage::Described(..) | Stage::Receiving);
        if self.open.values().any(holds) {
            self.starved_since = self.starved_since.map(|_| now);
        }
        match self.starved_since {
            Some(since) if now - since >= STARVED => Err(End::Failed(Error::TooManyFiles)),
            _ => Ok(()),
        }
    }

    fn done(&mut self, done: Done) -> Result<Option<FromSink>, End> {
        match done {
            Done::Opened(None) => Ok(None),
            Done::Opened(Some((BUNDLE, stream))) => {
                self.tasks.spawn(async move { Done::Bundle(bundles::collect(stream).await) });
                Ok(None)
            }
            Done::Bundle(bundle) => self.bundled(bundle).map(|()| None),
            Done::Glanced(id, files, differing) => Ok(Some(self.glanced(id, &files, differing))),
            Done::Opened(Some((id, stream))) => self.receive(id, stream).map(|()| None),
            Done::Received(id, received) => self.received(id, received),
            Done::Compared(id, compared, place) => self.compared(id, compared, place),
            Done::Considered(..) | Done::Removed(_) | Done::RemovedEarly | Done::Stored(..) => Ok(None),
        }
    }

    fn receive(&mut self, id: u64, stream: RecvStream) -> Result<(), End> {
        let unwanted = || End::violation("a data stream came for a file that was not requested");
        let Some(open) = self.open.get_mut(&id) else {
            // Settled since: withdrawn, while its first bytes were on the way.
            return match self.last_id.is_some_and(|last| id <= last) {
                true => Ok(()),
                false => Err(unwanted()),
            };
        };
        let intake = self.intake.clone();
        let (reception, place) = match std::mem::replace(&mut open.stage, Stage::Receiving) {
            Stage::Wanted(reception, place) => (reception, place),
            Stage::Described(delta, place) => {
                self.tasks
                    .spawn(async move { Done::Compared(id, intake.compare(stream, *delta).await, place) });
                return Ok(());
            }
            _ => return Err(unwanted()),
        };
        let on_group = self.on_group(id);
        self.tasks.spawn(async move {
            let received = intake.receive(stream, reception, on_group).await;
            drop(place);
            Done::Received(id, received)
        });
        Ok(())
    }

    fn on_group(&self, id: u64) -> OnGroup {
        let tally = self.role.tally.clone();
        let Some(open) = self.open.get(&id) else { return Box::new(|_, _| {}) };
        let (credited, entry) = (open.credited.clone(), open.entry.clone());
        Box::new(move |offset, bytes| {
            credited.fetch_add(bytes, Ordering::Relaxed);
            tally.group(&entry.path, offset, bytes);
        })
    }
}

/// Sends an answer. A full disk, or a directory that is gone, is the session's last word.
fn push(outgoing: &mut Outgoing, answer: &FromSink) -> Result<(), End> {
    outgoing.push(answer)?;
    match answer {
        FromSink::Failed { why: Why::DiskFull, .. } => Err(End::Failed(Error::DiskFull)),
        FromSink::Failed { why: Why::Gone, .. } => Err(End::Failed(RECEIVING_GONE)),
        _ => Ok(()),
    }
}

/// Considers one entry; a mistake of ours costs that entry alone.
fn unwinding(look: &dyn Look, entry: &Entry, near: &mut Near) -> Result<Verdict, Why> {
    catch_unwind(AssertUnwindSafe(|| look.consider(entry, near))).unwrap_or_else(|_| {
        tracing::error!(path = %entry.path, "looking at the disk failed: a mistake in afteryou");
        Err(Why::Io("looking at the disk failed; see the log of the receiving side".into()))
    })
}

/// Reads the id of a data stream.
async fn opened(mut stream: RecvStream) -> Done {
    let mut id = [0; 8];
    match stream.read_exact(&mut id).await {
        Ok(()) => Done::Opened(Some((u64::from_be_bytes(id), stream))),
        // Reset before its first bytes: the control stream has the reason.
        Err(_) => Done::Opened(None),
    }
}

fn task_failed() -> Error {
    tracing::error!("a task of the session panicked: a mistake in afteryou");
    Error::FarEnd("a task failed; this is a mistake in afteryou, see its log".into())
}
