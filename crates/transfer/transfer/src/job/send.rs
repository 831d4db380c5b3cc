//! Push: the side that connects is the source.

use super::lane::Lane;
use super::{new_id, Dial, JobOptions, Lanes, Summary};
use crate::error::Error;
use crate::session::{self, source, End};
use crate::source::Source;
use crate::tally::Tally;
use crate::threads::on_thread;
use crate::wire::{Greeting, Wishes};
use crate::work::Work;
use std::sync::Arc;
use tracing::{info_span, Instrument};

/// Sends files and directories, and returns when all are settled. Dropping the future gives the job up; what arrived
/// is kept by the peer.
///
/// # Errors
/// As [`Outgoing::begin`] and [`Outgoing::send`].
pub async fn send(dial: Arc<dyn Dial>, source: Source, options: JobOptions) -> Result<Summary, Error> {
    Outgoing::begin(source, options)?.send(dial).await
}

/// A job that has begun before its peer is known: it walks and hashes while the peer is being started.
pub struct Outgoing {
    work: Arc<Work>,
    options: JobOptions,
    wishes: Wishes,
}

impl Outgoing {
    /// Begins to walk and hash. Dropping the value gives the job up.
    ///
    /// # Errors
    /// A system that gives no threads.
    pub fn begin(source: Source, options: JobOptions) -> Result<Self, Error> {
        let wishes = Wishes { keep: source.keep(), ..options.wishes.clone() };
        let tally = Tally::new(options.listener.clone(), options.groups_in_events);
        let tally = Arc::new(tally.naming(source.filters().own.clone()));
        Ok(Self { work: Arc::new(Work::start(source, tally)?), options, wishes })
    }

    /// Sends everything to this peer, as [`send`] does.
    ///
    /// # Errors
    /// A peer that refuses or breaks the protocol, and no connection for as long as [`JobOptions::give_up_after`]. A file that fails is in the
    /// summary.
    pub async fn send(self, dial: Arc<dyn Dial>) -> Result<Summary, Error> {
        let Self { work, options, wishes } = self;
        let tally = work.tally().clone();
        let job = new_id()?;
        let lanes = options.lanes();
        let mut running = Lanes::new();
        for lane in 0..lanes {
            let keeper = Lane::new(dial.clone(), tally.clone(), &options);
            let (work, pace, state_of) = (work.clone(), options.pace.clone(), options.state_of.clone());
            let wishes = wishes.clone();
            running.spawn(
                async move {
                    let role = || source::Role {
                        work: work.clone(),
                        paces: vec![pace.clone()],
                        far_end: pace.clone(),
                        state_of: state_of.clone(),
                        lane,
                        lanes,
                        extent: wishes.delete,
                        window: session::LARGE_WINDOW,
                    };
                    let greeting = || Greeting::Push { job, lane, wishes: wishes.clone() };
                    keeper.keep(|connection| push(connection, greeting(), role(), job)).await
                }
                .instrument(info_span!("connection", lane)),
            );
        }
        running.settle(&tally, &options.pace).await
    }
}

async fn push(
    connection: quinn::Connection,
    greeting: Greeting,
    role: source::Role,
    job: [u8; 16],
) -> Result<(), End> {
    let session = async {
        let (control, sink) = session::admitted(&connection, &greeting).await?;
        let work = role.work.clone();
        let looked = on_thread("look", move || work.source().refuse_sink_inside(&job, &sink)).await;
        looked.and_then(|looked| looked).map_err(End::Failed)?;
        source::run(&connection, control, role).await
    };
    let result = session.await;
    session::close(&connection, &result);
    result
}
