//! The sink's half of a session.
//!
//! # Model
//! Each offer goes through: queued, considered (a blocking thread looks at the disk), then settled or wanted; a wanted one
//! is received on its data stream and then settled. Several are considered and stored at a time. A file that another
//! session is receiving is asked about again each second, beside all others; so is one for which the system has no descriptor,
//! until the session is [starved](STARVED). Every offer gets exactly one answer that
//! settles it, also one that is withdrawn.
//!
//! # Bounds
//! At most [`MAX_UNSETTLED`] offers are open; how many files are, the [room](super::room) of the process says. Nothing more is read from the control stream while answers wait that the
//! source does not take. Ids ascend, a data stream belongs to a wanted file and comes once; a source that does otherwise
//! loses the connection.

use super::intake::{Compared, Intake, OnGroup, Received};
use super::room::{Place, Room};
use super::{printable, Control, End, GOODBYE_TIMEOUT};
use crate::entry::{Entry, EntryPath, Kind};
use crate::error::Error;
use crate::event::{shown, Event, Outcome};
use crate::job::tally::Tally;
use crate::pace::Pace;
use crate::store::mirror::Mirror;
use crate::store::{Delta, Kept, Next, Reception, Verdict};
use crate::wire::{
    Extent, FromSink, FromSource, Removal, State, Why, MAX_DATA_STREAMS, MAX_PATH, MAX_UNSETTLED,
};
use quinn::{RecvStream, VarInt};
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior};

/// Offers that are considered at a time.
const CONSIDERERS: usize = 8;
/// Answers that may wait, bytes, before no more offers are read.
const OUTGOING: usize = 256 * 1024;
/// When to ask again about a file that another session is receiving.
const BUSY_RETRY: Duration = Duration::from_secs(1);
const BUSY_TICK: Duration = Duration::from_millis(100);
/// A session that gets no descriptor for so long, and holds none that it could close, ends.
const STARVED: Duration = Duration::from_secs(3);
/// The source's words reach the listener at most so often.
const STATE_INTERVAL: Duration = Duration::from_millis(100);

/// Bytes of a path that is too long that are shown.
const SHOWN: usize = 200;
/// Characters of a reason that are sent to the source.
const REASON: usize = 1000;

/// Looks at the disk: what is to be done about an entry. The [store](crate::store::Store), or a stand-in of a test.
pub(crate) type Consider = Arc<dyn Fn(&Entry) -> Result<Verdict, Why> + Send + Sync>;

/// What a sink's session needs beside its connection.
pub(crate) struct Role {
    pub(crate) consider: Consider,
    /// Removes what was not sent, if the job asks for it.
    pub(crate) mirror: Option<Arc<Mirror>>,
    pub(crate) tally: Arc<Tally>,
    /// Told to the source.
    pub(crate) pace: Pace,
    /// Lane 0 shows the source's state and plan.
    pub(crate) lane: u16,
}

enum Stage {
    Queued,
    Considering,
    Busy(Instant),
    Wanted(Reception, Place),
    /// A description of it is wanted.
    Described(Box<Delta>, Place),
    Receiving,
    /// Its data stream was reset; the source says why.
    Reset,
}

struct Open {
    entry: Arc<Entry>,
    stage: Stage,
    withdrawn: bool,
    /// The listener knows that another session is receiving it.
    told_busy: bool,
    /// Bytes that count as done: had when it was wanted, and those that arrived.
    credited: Arc<AtomicU64>,
}

/// What a task of the session came to.
enum Done {
    Considered(u64, Result<Verdict, Why>, Place),
    Opened(Option<(u64, RecvStream)>),
    Received(u64, Received),
    /// A description came to its end.
    Compared(u64, Compared, Place),
    /// Everything that was not sent is gone, or what failed.
    Removed(Vec<(EntryPath, Outcome)>, Result<(), Error>),
}

/// Runs the session to its end. Returns when no task of it touches the disk any more.
pub(crate) async fn run(connection: &quinn::Connection, mut control: Control, role: Role) -> Result<(), End> {
    connection.set_max_concurrent_uni_streams(VarInt::from_u32(MAX_DATA_STREAMS));
    let mut session = Session {
        role,
        open: HashMap::new(),
        queue: VecDeque::new(),
        considering: 0,
        last_id: None,
        ended: false,
        removing: false,
        tasks: JoinSet::new(),
        intake: Intake::new(),
        room: Room::new(),
        state_told: None,
        starved_since: None,
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
    last_id: Option<u64>,
    ended: bool,
    /// What was not sent is being removed.
    removing: bool,
    tasks: JoinSet<Done>,
    intake: Intake,
    room: Room,
    state_told: Option<Instant>,
    /// Since when the system has opened no file for it.
    starved_since: Option<Instant>,
}

impl Session {
    async fn talk(&mut self, connection: &quinn::Connection, control: &mut Control) -> Result<(), End> {
        let mut pace = self.role.pace.changed();
        pace.mark_changed();
        let mut busy = tokio::time::interval(BUSY_TICK);
        busy.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while !(self.ended && self.open.is_empty() && !self.removing) {
            self.consider_next();
            let waits_for_room = self.may_consider();
            let Control { send, incoming, outgoing } = &mut *control;
            let answer = tokio::select! {
                Some(done) = self.tasks.join_next() => match done.map_err(|_| End::Failed(task_failed()))? {
                    Done::Removed(removed, result) => {
                        for (path, outcome) in removed {
                            outgoing.push(&self.removed(path, outcome))?;
                        }
                        self.removing = false;
                        result.map_err(End::Failed)?;
                        None
                    }
                    done => self.done(done)?,
                },
                message = incoming.next::<FromSource>(), if outgoing.len() < OUTGOING => match message? {
                    Some(message) => self.told(message)?,
                    None => return Err(End::violation("the control stream ended too early")),
                },
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
                outgoing.push(&answer)?;
                if matches!(answer, FromSink::Failed { why: Why::DiskFull, .. }) {
                    return Err(End::Failed(Error::DiskFull));
                }
            }
        }
        self.say_goodbye(connection, control).await
    }

    /// Everything is settled. The source closes; if it does not, nothing is lost.
    async fn say_goodbye(
        &mut self,
        connection: &quinn::Connection,
        control: &mut Control,
    ) -> Result<(), End> {
        control.outgoing.push(&FromSink::Finished)?;
        let goodbye = async {
            if control.outgoing.flush(&mut control.send).await.is_ok() {
                connection.closed().await;
            }
        };
        _ = tokio::time::timeout(GOODBYE_TIMEOUT, goodbye).await;
        Ok(())
    }

    /// The connection is closed: every task comes to its end, and lets go of its partial file.
    async fn wind_up(&mut self) {
        while let Some(done) = self.tasks.join_next().await {
            match done {
                Ok(Done::Received(id, Received::Stored(kept))) => {
                    self.settle(id, Ok(outcome(kept, Outcome::Stored)));
                }
                Ok(Done::Compared(id, Compared::Next(Next::Stored(kept)), _)) => {
                    self.settle(id, Ok(outcome(kept, Outcome::Had)));
                }
                _ => {}
            }
        }
        for (_, open) in self.open.drain() {
            self.role.tally.uncredit(open.credited.load(Ordering::Relaxed));
        }
    }

    fn may_consider(&self) -> bool {
        self.considering < CONSIDERERS && !self.queue.is_empty()
    }

    fn consider_next(&mut self) {
        while self.may_consider() {
            // Without room it is tried again when there is some.
            let Some(place) = self.room.take() else { return };
            let Some(id) = self.queue.pop_front() else { return };
            let Some(open) = self.open.get_mut(&id) else { continue };
            open.stage = Stage::Considering;
            self.considering += 1;
            let (consider, entry) = (self.role.consider.clone(), open.entry.clone());
            self.tasks.spawn(async move {
                let verdict = tokio::task::spawn_blocking(move || consider(&entry)).await;
                let failed = |error| {
                    tracing::error!(%error, "looking at the disk failed");
                    Err(Why::Io("looking at the disk failed; see the log of the receiving side".into()))
                };
                Done::Considered(id, verdict.unwrap_or_else(failed), place)
            });
        }
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

    /// Waiting for descriptors helps as long as somebody may close some.
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

    fn told(&mut self, message: FromSource) -> Result<Option<FromSink>, End> {
        match message {
            FromSource::Offer { id, entry } => self.offered(id, entry),
            FromSource::Withdrawn { id, .. } => self.withdrawn(id),
            FromSource::Plan { files, bytes, complete } => {
                // It is the job's; every lane brings it.
                if self.role.lane == 0 {
                    self.role.tally.tell(Event::Plan { files, bytes, complete });
                }
                Ok(None)
            }
            FromSource::State(state) => {
                self.show(state);
                Ok(None)
            }
            FromSource::EndOfOffers { failed, skipped, extent } => {
                self.ended = true;
                let is_whole = failed.count == 0 && skipped.count == 0;
                self.role.tally.left_out(failed, skipped);
                if let (Some(extent), Some(mirror), true) = (extent, self.role.mirror.clone(), is_whole) {
                    self.remove_others(mirror, extent);
                }
                Ok(None)
            }
        }
    }

    fn remove_others(&mut self, mirror: Arc<Mirror>, extent: Extent) {
        if self.role.tally.summary().failed > 0 {
            return;
        }
        self.removing = true;
        self.tasks.spawn(async move {
            let work = move || {
                let mut removed = Vec::new();
                let mut tell = |path: &EntryPath, outcome| removed.push((path.clone(), outcome));
                let result = mirror.remove_others(&extent, &mut tell);
                (removed, result)
            };
            match tokio::task::spawn_blocking(work).await {
                Ok((removed, result)) => Done::Removed(removed, result),
                Err(_) => Done::Removed(Vec::new(), Err(task_failed())),
            }
        });
    }

    fn removed(&self, path: EntryPath, outcome: Outcome) -> FromSink {
        let removal = match &outcome {
            Outcome::Failed(reason) => Removal::Failed(printable(reason, REASON)),
            Outcome::Would(_) => Removal::Left,
            _ => Removal::Done,
        };
        self.role.tally.settled(&path, 0, outcome);
        FromSink::Removed { path, removal }
    }

    fn offered(&mut self, id: u64, entry: Entry) -> Result<Option<FromSink>, End> {
        if self.ended {
            return Err(End::violation("an offer came after the last"));
        }
        if self.last_id.is_some_and(|last| id <= last) {
            return Err(End::violation("the ids of offers do not ascend"));
        }
        if self.open.len() >= MAX_UNSETTLED {
            return Err(End::violation("too many offers at once"));
        }
        self.last_id = Some(id);
        if is_too_long(&entry) {
            return Ok(Some(self.refuse(id, entry)));
        }
        self.queue.push_back(id);
        let entry = Arc::new(entry);
        let open = Open {
            entry,
            stage: Stage::Queued,
            withdrawn: false,
            told_busy: false,
            credited: Arc::default(),
        };
        self.open.insert(id, open);
        Ok(None)
    }

    /// Nothing is kept of an entry whose words are longer than any disk takes.
    fn refuse(&self, id: u64, mut entry: Entry) -> FromSink {
        let reason = format!("its path or its target is longer than {MAX_PATH} bytes");
        entry.path.0.truncate(SHOWN);
        self.role.tally.settled(&entry.path, 0, Outcome::Failed(reason.clone()));
        FromSink::Failed { id, why: Why::Refused(reason) }
    }

    fn withdrawn(&mut self, id: u64) -> Result<Option<FromSink>, End> {
        if self.last_id.is_none_or(|last| id > last) {
            return Err(End::violation("an offer was withdrawn that was not made"));
        }
        // It may be settled already: our answer and this crossed.
        let Some(open) = self.open.get_mut(&id) else { return Ok(None) };
        match open.stage {
            Stage::Considering | Stage::Receiving => {
                open.withdrawn = true;
                Ok(None)
            }
            _ => {
                self.queue.retain(|queued| *queued != id);
                Ok(self.settle(id, Err(Why::Withdrawn)))
            }
        }
    }

    /// The source's words, made fit for a terminal, and not too many of them.
    fn show(&mut self, mut state: State) {
        let now = Instant::now();
        if self.role.lane != 0 || self.state_told.is_some_and(|told| now - told < STATE_INTERVAL) {
            return;
        }
        self.state_told = Some(now);
        state.phase = printable(&state.phase, 64);
        self.role.tally.tell(Event::State(state));
    }

    fn done(&mut self, done: Done) -> Result<Option<FromSink>, End> {
        match done {
            Done::Considered(id, verdict, place) => {
                self.considering -= 1;
                Ok(self.considered(id, verdict, place))
            }
            Done::Opened(None) => Ok(None),
            Done::Opened(Some((id, stream))) => self.receive(id, stream).map(|()| None),
            Done::Received(id, received) => self.received(id, received),
            Done::Compared(id, compared, place) => self.compared(id, compared, place),
            Done::Removed(..) => Ok(None),
        }
    }

    fn considered(&mut self, id: u64, verdict: Result<Verdict, Why>, place: Place) -> Option<FromSink> {
        self.starved_since = match verdict {
            Err(Why::TooManyFiles) => self.starved_since.or(Some(Instant::now())),
            _ => None,
        };
        let open = self.open.get_mut(&id)?;
        if open.withdrawn {
            return self.settle(id, Err(Why::Withdrawn));
        }
        match verdict {
            // Others may close theirs.
            Err(Why::TooManyFiles) => {
                open.stage = Stage::Busy(Instant::now() + BUSY_RETRY);
                None
            }
            Ok(Verdict::Busy) => {
                if !std::mem::replace(&mut open.told_busy, true) {
                    self.role.tally.tell(Event::Busy { path: shown(&open.entry.path) });
                }
                open.stage = Stage::Busy(Instant::now() + BUSY_RETRY);
                None
            }
            Err(why) => self.settle(id, Err(why)),
            Ok(Verdict::Have(kept)) => self.settle(id, Ok(outcome(kept, Outcome::Had))),
            Ok(Verdict::Newer) => self.settle(id, Ok(Outcome::Newer)),
            Ok(Verdict::Would(change)) => self.settle(id, Ok(Outcome::Would(change))),
            Ok(Verdict::Want(reception)) => self.want(id, reception, place),
            Ok(Verdict::Describe(delta)) => self.describe(id, delta, place),
        }
    }

    fn want(&mut self, id: u64, reception: Reception, place: Place) -> Option<FromSink> {
        let open = self.open.get_mut(&id)?;
        let ranges = reception.wanted().clone();
        let had = size_of(&open.entry).saturating_sub(ranges.bytes());
        open.credited.store(had, Ordering::Relaxed);
        self.role.tally.credit(had);
        open.stage = Stage::Wanted(reception, place);
        tracing::debug!(path = %open.entry.path, wanted = ranges.bytes(), of = size_of(&open.entry), "wants");
        Some(FromSink::Want { id, ranges })
    }

    fn describe(&mut self, id: u64, delta: Delta, place: Place) -> Option<FromSink> {
        let open = self.open.get_mut(&id)?;
        let (how, ranges) = delta.asks_for();
        let ranges = ranges.clone();
        tracing::debug!(path = %open.entry.path, ?how, bytes = ranges.bytes(), "compares with the older version");
        open.stage = Stage::Described(Box::new(delta), place);
        Some(FromSink::Describe { id, how, ranges })
    }

    fn compared(&mut self, id: u64, compared: Compared, place: Place) -> Result<Option<FromSink>, End> {
        let next = match compared {
            Compared::Next(next) => next,
            Compared::Broken(received) => return self.received(id, received),
        };
        let Some(open) = self.open.get_mut(&id) else { return Ok(None) };
        if open.withdrawn {
            return Ok(self.settle(id, Err(Why::Withdrawn)));
        }
        Ok(match next {
            Next::Want(reception) => self.want(id, reception, place),
            Next::Describe(delta) => self.describe(id, delta, place),
            Next::Stored(kept) => self.settle(id, Ok(outcome(kept, Outcome::Had))),
        })
    }

    fn receive(&mut self, id: u64, stream: RecvStream) -> Result<(), End> {
        let unwanted = || End::violation("a data stream came for a file that was not wanted");
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

    fn received(&mut self, id: u64, received: Received) -> Result<Option<FromSink>, End> {
        let Some(open) = self.open.get_mut(&id) else { return Ok(None) };
        Ok(match received {
            Received::Stored(kept) => self.settle(id, Ok(outcome(kept, Outcome::Stored))),
            Received::Reset if !open.withdrawn => {
                open.stage = Stage::Reset;
                None
            }
            _ if open.withdrawn => self.settle(id, Err(Why::Withdrawn)),
            Received::Failed(why) => self.settle(id, Err(why)),
            Received::Violation(what) => return Err(End::violation(what)),
            // Whoever reads the control stream hears why.
            Received::Lost | Received::Reset => None,
        })
    }

    /// The one answer that ends an offer.
    fn settle(&mut self, id: u64, result: Result<Outcome, Why>) -> Option<FromSink> {
        let open = self.open.remove(&id)?;
        let tally = &self.role.tally;
        tally.uncredit(open.credited.load(Ordering::Relaxed));
        let size = size_of(&open.entry);
        Some(match result {
            Ok(outcome) => {
                let answer = match &outcome {
                    Outcome::Stored => FromSink::Stored { id },
                    Outcome::Incomplete(reason) => {
                        FromSink::Incomplete { id, reason: printable(reason, REASON) }
                    }
                    Outcome::Newer => FromSink::Newer { id },
                    Outcome::Would(change) => FromSink::Would { id, change: *change },
                    _ => FromSink::Have { id },
                };
                if let Some(mirror) = &self.role.mirror {
                    mirror.saw(&open.entry);
                }
                tally.settled(&open.entry.path, size, outcome);
                answer
            }
            Err(why) => {
                // A withdrawn one comes again, or the source says that it failed.
                if why != Why::Withdrawn {
                    tally.settled(&open.entry.path, size, Outcome::Failed(super::say(&why)));
                }
                FromSink::Failed { id, why: short(why) }
            }
        })
    }
}

fn outcome(kept: Kept, all: Outcome) -> Outcome {
    match kept {
        Kept::All => all,
        Kept::ContentOnly(reason) => Outcome::Incomplete(reason),
    }
}

/// Reads the id of a data stream.
async fn opened(mut stream: RecvStream) -> Done {
    let mut id = [0; 8];
    match stream.read_exact(&mut id).await {
        Ok(()) => Done::Opened(Some((u64::from_be_bytes(id), stream))),
        // Reset before its first bytes: the control stream says why.
        Err(_) => Done::Opened(None),
    }
}

fn is_too_long(entry: &Entry) -> bool {
    let target = match &entry.kind {
        Kind::Symlink { target } => target.len(),
        _ => 0,
    };
    entry.path.0.len().max(target) > MAX_PATH
}

fn size_of(entry: &Entry) -> u64 {
    match entry.kind {
        Kind::File { size, .. } => size,
        _ => 0,
    }
}

/// A reason that repeats a long path would not fit a message. Both sides show the path beside it.
fn short(why: Why) -> Why {
    match why {
        Why::Refused(reason) => Why::Refused(printable(&reason, REASON)),
        Why::Io(reason) => Why::Io(printable(&reason, REASON)),
        why => why,
    }
}

fn task_failed() -> Error {
    tracing::error!("a task of the session panicked: a mistake in afteryou");
    Error::FarEnd("a task failed; this is a mistake in afteryou, see its log".into())
}
