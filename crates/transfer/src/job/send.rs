//! Push: the side that connects is the source.

use super::lane::Lane;
use super::tally::Tally;
use super::work::Work;
use super::{new_id, Dial, JobOptions, Lanes, Summary};
use crate::error::Error;
use crate::event::Event;
use crate::pace::Pace;
use crate::session::{self, source, End};
use crate::source::Source;
use crate::wire::{Answer, Greeting};
use std::sync::Arc;

/// Sends files and directories, and returns when all are settled. Dropping the future gives the job up; what arrived
/// is kept by the other side.
pub async fn send(dial: Arc<dyn Dial>, source: Source, options: JobOptions) -> Result<Summary, Error> {
    let tally = Arc::new(Tally::new(options.listener.clone(), options.groups_in_events));
    let work = Arc::new(Work::start(source, tally.clone())?);
    let job = new_id()?;
    let lanes = options.connections.clamp(1, usize::from(super::MAX_LANES)) as u16;
    let mut running = Lanes::new();
    for lane in 0..lanes {
        let keeper = Lane::new(dial.clone(), tally.clone(), &options);
        let (work, pace, state_of) = (work.clone(), options.pace.clone(), options.state_of.clone());
        running.spawn(async move {
            let role = || source::Role {
                work: work.clone(),
                paces: vec![pace.clone()],
                far_end: pace.clone(),
                state_of: state_of.clone(),
                lane,
                lanes,
            };
            keeper.keep(|connection| push(connection, Greeting::Push { job, lane }, role())).await
        });
    }
    tokio::select! {
        result = running.finish() => result?,
        () = tally.report() => {}
        () = tell_pace(&options.pace, &tally) => {}
    }
    Ok(tally.finish())
}

async fn push(connection: quinn::Connection, greeting: Greeting, role: source::Role) -> Result<(), End> {
    let result = match session::greet(&connection, &greeting).await {
        Ok((control, Answer::Welcome)) => source::run(&connection, control, role).await,
        Ok((_, Answer::Refused { reason })) => {
            Err(End::Failed(Error::Refused(session::printable(&reason, 500))))
        }
        Ok((_, Answer::Probed { .. })) => Err(End::violation("an answer to another question")),
        Err(end) => Err(end),
    };
    session::close(&connection, &result);
    result
}

/// Tells of each change of the pace, for ever.
pub(super) async fn tell_pace(pace: &Pace, tally: &Tally) {
    let mut changed = pace.changed();
    loop {
        let limit = *changed.borrow_and_update();
        tally.tell(Event::Pace { max_rate: limit.max_rate, paused: limit.paused });
        if changed.changed().await.is_err() {
            return std::future::pending().await;
        }
    }
}
