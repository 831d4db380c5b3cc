//! `afteryou send` and `afteryou get`, from the command line's words to the end of the job.

use super::args::{Common, Dialing, GetArgs, SendArgs, Target};
use super::ctl::Job;
use super::stage::Stage;
use super::summary;
use super::timetable::Direction;
use super::{network, sources};
use crate::failure::Failure;
use afteryou_transfer::dial::Dialer;
use afteryou_transfer::job::{self, Dial, JobOptions, Summary};
use afteryou_transfer::source::Source;
use afteryou_transfer::ssh::FarEnd;
use afteryou_transfer::store::{Store, StoreOptions};
use afteryou_transfer::ticket::Role;
use std::future::Future;
use std::net::{Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// `afteryou send`.
pub async fn send(args: &SendArgs) -> Result<(), Failure> {
    let (paths, target) = args.paths_and_target()?;
    let job = Job { command: "send", done: "sent", direction: Direction::Up, what: names(&paths) };
    let source = Source::of(&paths, sources::options(&args.common, args.symlinks)).map_err(Failure::usage)?;
    let stage = Stage::start(&args.common, job, true)?;
    run(stage, target, Role::Receive, &args.common, &args.dialing, |dial, _, options| {
        job::send(dial, source, options)
    })
    .await
}

/// `afteryou get`.
pub async fn get(args: &GetArgs) -> Result<(), Failure> {
    let (target, directory) = args.target_and_directory()?;
    let store = Store::open(&directory, StoreOptions::default())?;
    let job = Job {
        command: "get",
        done: "received",
        direction: Direction::Down,
        what: format!("into {}", directory.display()),
    };
    let stage = Stage::start(&args.common, job, true)?;
    run(stage, target, Role::Serve, &args.common, &args.dialing, |dial, path, options| {
        job::get(dial, path.into_bytes(), store, options)
    })
    .await
}

/// Finds the far end, runs what `begin` makes until it is done or told to end, and says what came of it.
async fn run<J: Future<Output = Result<Summary, afteryou_transfer::Error>>>(
    stage: Stage,
    target: Target,
    role: Role,
    common: &Common,
    dialing: &Dialing,
    begin: impl FnOnce(Arc<dyn Dial>, String, JobOptions) -> J,
) -> Result<(), Failure> {
    let outcome = tokio::select! {
        biased;
        outcome = attempt(&stage, target, role, common, dialing, begin) => outcome,
        () = stage.stopped() => Ok(None),
    };
    let tally = stage.end();
    match outcome? {
        None => Err(Failure::Stopped(summary::stopped(&tally))),
        Some(summary) if summary.failed > 0 => {
            let failed = super::figures::count(summary.failed, "file");
            let hint = "what went wrong stands above; the same command tries them again";
            Err(anyhow::anyhow!("{failed} failed: {hint}").into())
        }
        Some(_) => Ok(()),
    }
}

async fn attempt<J: Future<Output = Result<Summary, afteryou_transfer::Error>>>(
    stage: &Stage,
    target: Target,
    role: Role,
    common: &Common,
    dialing: &Dialing,
    begin: impl FnOnce(Arc<dyn Dial>, String, JobOptions) -> J,
) -> Result<Option<Summary>, Failure> {
    let (ticket, path, mut far_end) = match target {
        Target::Ticket { ticket, path } => (ticket, path, None),
        Target::Ssh { via, path } => {
            let far_end = via.start(role).await?;
            (far_end.ticket().clone(), path, Some(far_end))
        }
    };
    let any = SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0));
    let endpoint = network::endpoint(&network::socket(common, any)?, None)?;
    let dial = Dialer::new(endpoint.clone(), &ticket, network::transport(common, dialing.connections > 1)?)?;
    let options = JobOptions {
        connections: usize::from(dialing.connections),
        pace: stage.pace.clone(),
        listener: stage.listener(),
        state_of: network::state_of(),
        give_up_after: dialing.give_up_after.map(|time| Duration::from_micros(time.0.as_micros())),
        groups_in_events: common.json_groups,
    };
    let summary = tokio::select! {
        biased;
        summary = begin(Arc::new(dial), path, options) => summary?,
        failure = gone(&mut far_end) => return Err(failure),
    };
    network::leave(&endpoint).await;
    if let Some(far_end) = far_end {
        far_end.finish().await?;
    }
    Ok(Some(summary))
}

/// Returns when the far end that ssh started is gone; never if there is none.
async fn gone(far_end: &mut Option<FarEnd>) -> Failure {
    let Some(far_end) = far_end else { return std::future::pending().await };
    match far_end.ended().await {
        Ok(status) => anyhow::anyhow!(
            "the far end that ssh started has ended ({status}): run the same command again to go on from there"
        )
        .into(),
        Err(error) => error.into(),
    }
}

/// "photos, backup.tar".
fn names(paths: &[PathBuf]) -> String {
    paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ")
}
