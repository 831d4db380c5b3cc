//! Pull: the side that connects is the sink.

use super::lane::Lane;
use super::{new_id, store_for_job, Dial, JobOptions, Lanes, Summary};
use crate::entry::{Entry, EntryPath};
use crate::error::Error;
use crate::session::{self, sink, End};
use crate::store::mirror::Mirror;
use crate::store::{Near, Store, Verdict};
use crate::tally::Tally;
use crate::wire::{Glance, Greeting, Why};
use quinn::Connection;
use std::sync::Arc;
use tokio::sync::OnceCell;
use tracing::{info_span, Instrument};

/// A store in which nothing but one name and what is below it may be stored. A name that the peer made up would otherwise
/// replace whatever has it in the store's directory.
struct Below {
    name: Vec<u8>,
    store: Store,
}

impl Below {
    fn has(&self, path: &EntryPath) -> bool {
        path.0.split(|&byte| byte == b'/').next() == Some(&self.name)
    }
}

impl sink::Look for Below {
    fn consider(&self, entry: &Entry, near: &mut Near) -> Result<Verdict, Why> {
        match self.has(&entry.path) && entry.link.as_ref().is_none_or(|link| self.has(link)) {
            true => self.store.consider_near(entry, near),
            false => Err(Why::Refused("it was not asked for".into())),
        }
    }

    fn has(&self, glance: &Glance, near: &mut Near) -> bool {
        self.has(&glance.path) && self.store.has(glance, near)
    }

    fn is_gone(&self) -> bool {
        self.store.is_gone()
    }
}

/// A job, shared by its sessions.
struct Job {
    store: Store,
    path: Vec<u8>,
    options: JobOptions,
    tally: Arc<Tally>,
    disk: OnceCell<Disk>,
}

struct Disk {
    look: Arc<dyn sink::Look>,
    mirror: Option<Arc<Mirror>>,
}

impl Job {
    /// Opens the store's directory as it is when there is a connection: until then, a disk may have been mounted over it.
    async fn disk(&self) -> Result<&Disk, Error> {
        let begin = || async {
            let wishes = &self.options.wishes;
            let store = store_for_job(&self.store, wishes).await?;
            let mirror =
                wishes.delete.then(|| Arc::new(Mirror::new(store.clone(), self.options.exclude.clone())));
            Ok(Disk { look: only_below(&self.path, store), mirror })
        };
        self.disk.get_or_try_init(begin).await
    }

    async fn pull(&self, connection: Connection, greeting: Greeting, lane: u16) -> Result<(), End> {
        let result = self.session(&connection, greeting, lane).await;
        session::close(&connection, &result);
        result
    }

    async fn session(&self, connection: &Connection, greeting: Greeting, lane: u16) -> Result<(), End> {
        let (control, _) = session::admitted(connection, &greeting).await?;
        let Disk { look, mirror } = self.disk().await.map_err(End::Failed)?;
        let role = sink::Role {
            look: look.clone(),
            mirror: mirror.clone(),
            tally: self.tally.clone(),
            pace: self.options.pace.clone(),
            lane,
            window: session::LARGE_WINDOW,
        };
        sink::run(connection, control, role).await
    }
}

fn only_below(path: &[u8], store: Store) -> Arc<dyn sink::Look> {
    match path.rsplit(|&byte| byte == b'/').next().filter(|name| !name.is_empty()) {
        None => Arc::new(store),
        Some(name) => Arc::new(Below { name: name.to_vec(), store }),
    }
}

/// Gets what is at `path` below the directory that the peer serves (empty: all of it), and returns when all is
/// settled. Slashes at the path's end mean nothing; what arrives under another name than the path's last is refused. Dropping the future gives the job up; what arrived is kept.
///
/// # Errors
/// A store that does not allow what the options wish, and a peer that refuses or breaks the protocol. No connection for as long as
/// [`JobOptions::give_up_after`]. A file that fails is in the summary.
pub async fn get(
    dial: Arc<dyn Dial>,
    mut path: Vec<u8>,
    store: Store,
    options: JobOptions,
) -> Result<Summary, Error> {
    let tally = Tally::new(options.listener.clone(), options.groups_in_events);
    let tally = Arc::new(tally.naming(options.exclude.clone()));
    let id = new_id()?;
    let lanes = options.lanes();
    path.truncate(path.iter().rposition(|&byte| byte != b'/').map_or(0, |last| last + 1));
    store.allows(&options.wishes).map_err(Error::Paths)?;
    let pace = options.pace.clone();
    let sink = store.whereabouts(&id);
    let job = Arc::new(Job { store, path, options, tally: tally.clone(), disk: OnceCell::new() });
    let mut running = Lanes::new();
    for lane in 0..lanes {
        let keeper = Lane::new(dial.clone(), tally.clone(), &job.options);
        let (job, sink) = (job.clone(), sink.clone());
        running.spawn(
            async move {
                let greeting = || Greeting::Pull {
                    job: id,
                    lane,
                    lanes,
                    path: job.path.clone(),
                    patterns: job.options.exclude.patterns().clone(),
                    extent: job.options.wishes.delete,
                    keep: job.options.wishes.keep,
                    quick: job.options.quick,
                    sink: sink.clone(),
                    verify: job.options.verify,
                };
                keeper.keep(|connection| job.pull(connection, greeting(), lane)).await
            }
            .instrument(info_span!("connection", lane)),
        );
    }
    running.settle(&tally, &pace).await
}
