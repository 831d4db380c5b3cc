//! Pull: the side that connects is the sink.

use super::lane::Lane;
use super::tally::Tally;
use super::{new_id, Dial, JobOptions, Lanes, Summary};
use crate::entry::EntryPath;
use crate::error::Error;
use crate::session::{self, sink, End};
use crate::store::mirror::Mirror;
use crate::store::Store;
use crate::wire::{Greeting, Why};
use std::sync::Arc;
use tracing::{info_span, Instrument};

/// A name that the peer made up would otherwise replace whatever has it in the store's directory.
fn only_below(path: &[u8], store: Store) -> sink::Consider {
    let Some(name) = path.rsplit(|&byte| byte == b'/').next().filter(|name| !name.is_empty()) else {
        return Arc::new(move |entry| store.consider(entry));
    };
    let name = name.to_vec();
    let is_below = move |path: &EntryPath| path.0.split(|&byte| byte == b'/').next() == Some(&name);
    Arc::new(move |entry| match is_below(&entry.path) && entry.link.as_ref().is_none_or(&is_below) {
        true => store.consider(entry),
        false => Err(Why::Refused("it was not asked for".into())),
    })
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
    let (extent, keep) = (options.wishes.delete, options.wishes.keep);
    let mirror = extent.then(|| Arc::new(Mirror::new(store.clone())));
    let consider = only_below(&path, store);
    let mut running = Lanes::new();
    for lane in 0..lanes {
        let keeper = Lane::new(dial.clone(), tally.clone(), &options);
        let (tally, pace, consider, path) =
            (tally.clone(), options.pace.clone(), consider.clone(), path.clone());
        let (mirror, patterns) = (mirror.clone(), options.patterns.clone());
        running.spawn(
            async move {
                let role = || sink::Role {
                    consider: consider.clone(),
                    mirror: mirror.clone(),
                    tally: tally.clone(),
                    pace: pace.clone(),
                    lane,
                    window: session::LARGE_WINDOW,
                };
                let (path, patterns) = (path.clone(), patterns.clone());
                let greeting = || {
                    let (path, patterns) = (path.clone(), patterns.clone());
                    Greeting::Pull { job, lane, lanes, path, patterns, extent, keep }
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
