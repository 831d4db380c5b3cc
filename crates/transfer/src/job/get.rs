//! Pull: the side that connects is the sink.

use super::lane::Lane;
use super::tally::Tally;
use super::{new_id, Dial, JobOptions, Lanes, Summary};
use crate::entry::{Entry, EntryPath};
use crate::error::Error;
use crate::session::{self, sink, End};
use crate::store::mirror::Mirror;
use crate::store::{Near, Store, Verdict};
use crate::wire::{Glance, Greeting, Why};
use std::sync::Arc;
use tracing::{info_span, Instrument};

/// A store in which nothing but one name and what lies below it may be stored. A name that the peer made up would otherwise
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
}

fn only_below(path: &[u8], store: Store) -> Arc<dyn sink::Look> {
    match path.rsplit(|&byte| byte == b'/').next().filter(|name| !name.is_empty()) {
        None => Arc::new(store),
        Some(name) => Arc::new(Below { name: name.to_vec(), store }),
    }
}

/// Gets what lies at `path` below the directory that the peer serves (empty: all of it), and returns when all is
/// settled. Slashes at the path's end mean nothing; what arrives under another name than the path's last is refused. Dropping the future gives the job up; what arrived is kept.
pub async fn get(
    dial: Arc<dyn Dial>,
    mut path: Vec<u8>,
    store: Store,
    options: JobOptions,
) -> Result<Summary, Error> {
    let tally = Arc::new(Tally::new(options.listener.clone(), options.groups_in_events));
    let job = new_id()?;
    let lanes = options.lanes();
    path.truncate(path.iter().rposition(|&byte| byte != b'/').map_or(0, |last| last + 1));
    let store = store.for_job(options.wishes.clone()).map_err(Error::Paths)?;
    let (extent, keep, quick) = (options.wishes.delete, options.wishes.keep, options.quick);
    let mirror = extent.then(|| Arc::new(Mirror::new(store.clone())));
    let look = only_below(&path, store);
    let mut running = Lanes::new();
    for lane in 0..lanes {
        let keeper = Lane::new(dial.clone(), tally.clone(), &options);
        let (tally, pace, look, path) = (tally.clone(), options.pace.clone(), look.clone(), path.clone());
        let (mirror, patterns) = (mirror.clone(), options.patterns.clone());
        running.spawn(
            async move {
                let role = || sink::Role {
                    look: look.clone(),
                    mirror: mirror.clone(),
                    tally: tally.clone(),
                    pace: pace.clone(),
                    lane,
                    window: session::LARGE_WINDOW,
                };
                let (path, patterns) = (path.clone(), patterns.clone());
                let greeting = || {
                    let (path, patterns) = (path.clone(), patterns.clone());
                    Greeting::Pull { job, lane, lanes, path, patterns, extent, keep, quick }
                };
                keeper.keep(|connection| pull(connection, greeting(), role())).await
            }
            .instrument(info_span!("connection", lane)),
        );
    }
    running.settle(&tally, &options.pace).await
}

async fn pull(connection: quinn::Connection, greeting: Greeting, role: sink::Role) -> Result<(), End> {
    let result = match session::admitted(&connection, &greeting).await {
        Ok(control) => sink::run(&connection, control, role).await,
        Err(end) => Err(end),
    };
    session::close(&connection, &result);
    result
}
