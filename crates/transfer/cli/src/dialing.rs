//! `afteryou send` and `afteryou get`, from the command line's words to the end of the job.

use super::args::{is_standard, Common, Dialing, GetArgs, SendArgs, Target};
use super::ctl::Job;
use super::pipes::{self, Temporary};
use super::qlogs::Logs;
use super::stage::{First, Stage};
use super::summary;
use super::timetable::Direction;
use super::{downloads, network, sources};
use afteryou_terminal::output::printable;
use afteryou_terminal::Failure;
use afteryou_trace::qlog::Vantage;
use afteryou_transfer::dial::Dialer;
use afteryou_transfer::job::{self, Dial, JobOptions, Outgoing, Summary};
use afteryou_transfer::source::{Input, Source};
use afteryou_transfer::ssh::FarEnd;
use afteryou_transfer::store::{Allow, Store, StoreOptions};
use afteryou_transfer::ticket::Role;
use std::future::Future;
use std::net::{Ipv6Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Runs `afteryou send`.
pub async fn send(args: &SendArgs) -> Result<(), Failure> {
    let (paths, target) = args.paths_and_target()?;
    let job =
        Job { command: "send", done: "sent", direction: Direction::Up, what: names(&paths), store: None };
    let stage = Stage::start(&args.common, job, first(&target))?;
    let Some((paths, input)) = with_input(&stage, args, paths).await? else {
        return Err(Failure::Stopped(summary::stopped(&stage.end().0)));
    };
    let mut options = sources::options(&args.common, args.symlinks, &args.choice)?;
    options.keep = args.keeping.keep();
    options.quick = args.mirroring.quick;
    options.verify = args.mirroring.verify;
    let source = Source::of(&paths, options).map_err(Failure::usage)?;
    let source = match input {
        Some((name, input)) => source.with_input(&name, input).map_err(Failure::usage)?,
        None => source,
    };
    let wishes = args.wishes();
    let delete = wishes.delete;
    run(stage, target, Role::Receive, &args.common, &args.dialing, delete, |options| {
        let outgoing = Outgoing::begin(source, JobOptions { wishes, ..options })?;
        Ok(|dial, _| outgoing.send(dial))
    })
    .await
}

/// Returns what happens first: a bar must not paint over the question for a password.
fn first(target: &Target) -> First {
    match target {
        Target::Ticket { .. } => First::Dials,
        Target::Ssh { .. } => First::AsksSsh,
    }
}

/// Returns the paths of files, and standard input with its name. `None`: somebody ended the job meanwhile.
async fn with_input(
    stage: &Stage,
    args: &SendArgs,
    mut paths: Vec<PathBuf>,
) -> Result<Option<(Vec<PathBuf>, Option<(String, Input)>)>, Failure> {
    let input = paths.iter().position(|path| is_standard(path));
    let (Some(input), Some(name)) = (input, args.name.clone()) else { return Ok(Some((paths, None))) };
    paths.remove(input);
    tokio::select! {
        kept = tokio::task::spawn_blocking(|| pipes::keep(std::io::stdin().lock())) => {
            Ok(Some((paths, Some((name, kept??)))))
        }
        () = stage.stopped() => Ok(None),
    }
}

/// Runs `afteryou get`.
pub async fn get(args: &GetArgs) -> Result<(), Failure> {
    if let Some(asked) = args.downloads()? {
        return downloads::get(args, asked).await;
    }
    let (target, directory) = args.target_and_directory()?;
    let output = is_standard(&directory).then(Temporary::new).transpose()?;
    let directory = output.as_ref().map_or(directory, |output| output.path().to_owned());
    sources::check_directory(&directory)?;
    let exclude = args.choice.filter()?;
    let (wishes, quick, verify) = (args.wishes(), args.mirroring.quick, args.mirroring.verify);
    // A dry run makes no directory: what would go into one that is not there is compared with an empty one.
    let empty = (wishes.dry_run && !directory.exists()).then(Temporary::new).transpose()?;
    let mut store = StoreOptions::default();
    store.allow = Allow::all();
    let store = Store::open(empty.as_ref().map_or(&*directory, |empty| empty.path()), store)?;
    let job = Job {
        command: "get",
        done: "received",
        direction: Direction::Down,
        what: format!(
            "into {}",
            if output.is_some() { "standard output".into() } else { printable(&directory.to_string_lossy()) }
        ),
        store: Some(store.clone()),
    };
    let stage = Stage::start(&args.common, job, first(&target))?;
    let delete = wishes.delete;
    run(stage, target, Role::Serve, &args.common, &args.dialing, delete, |options| {
        let options = JobOptions { wishes, exclude, quick, verify, ..options };
        Ok(|dial, path: String| job::get(dial, path.into_bytes(), store, options))
    })
    .await?;
    output.map_or(Ok(()), |output| pipes::pour(&output, std::io::stdout().lock()))
}

/// Begins the job, finds the peer, runs the job with it until it is done or stopped, and reports the outcome. A source
/// walks and hashes while ssh starts the peer.
async fn run<B, J>(
    stage: Stage,
    target: Target,
    role: Role,
    common: &Common,
    dialing: &Dialing,
    delete: bool,
    begin: impl FnOnce(JobOptions) -> Result<B, afteryou_transfer::Error>,
) -> Result<(), Failure>
where
    B: FnOnce(Arc<dyn Dial>, String) -> J,
    J: Future<Output = Result<Summary, afteryou_transfer::Error>>,
{
    let any = SocketAddr::from((Ipv6Addr::UNSPECIFIED, 0));
    let command = if role == Role::Receive { "send" } else { "get" };
    let prepared = Logs::begin(common, command, Vantage::Client).and_then(|logs| {
        let socket = network::socket(common, any)?;
        Ok((logs, network::endpoint(&socket, None)?))
    });
    let (logs, endpoint) = match prepared {
        Ok(prepared) => prepared,
        Err(failure) => {
            _ = stage.end();
            return Err(failure);
        }
    };
    let options = JobOptions {
        connections: usize::from(dialing.connections),
        pace: stage.pace.clone(),
        listener: stage.listener(),
        state_of: network::state_of(),
        give_up_after: dialing.give_up_after.map(|time| Duration::from_micros(time.0.as_micros())),
        groups_in_events: common.json_groups,
        ..JobOptions::default()
    };
    let many = dialing.connections > 1;
    let job = async {
        let begun = begin(options)?;
        let (ticket, path, far_end) = match target {
            Target::Ticket { ticket, path } => (ticket, path, None),
            Target::Ssh { via, path } => {
                tracing::info!("starting the peer over ssh");
                let far_end = via.start(role).await?;
                (far_end.ticket().clone(), path, Some(far_end))
            }
        };
        tracing::info!(path, fingerprint = %ticket.fingerprint, "connecting with {ticket}");
        let dial = Dialer::new(endpoint.clone(), &ticket, network::transports(common, many, &logs)?)?;
        beside(far_end, begun(Arc::new(dial), path)).await
    };
    let outcome = tokio::select! {
        biased;
        outcome = job => outcome.map(Some),
        () = stage.stopped() => Ok(None),
    };
    network::leave(&endpoint).await;
    let (tally, output) = stage.end();
    let logged = logs.finish();
    let Some(summary) = outcome? else { return Err(Failure::Stopped(summary::stopped(&tally))) };
    let verdict = summary::verdict(&summary, "the same command tries them again", common.strict, delete);
    summary::with_output(verdict, output)?;
    logged
}

/// Runs the job for as long as the peer that ssh started is there.
async fn beside(
    far_end: Option<FarEnd>,
    job: impl Future<Output = Result<Summary, afteryou_transfer::Error>>,
) -> Result<Summary, Failure> {
    let Some(mut far_end) = far_end else { return Ok(job.await?) };
    let summary = tokio::select! {
        biased;
        summary = job => summary?,
        status = far_end.ended() => {
            let status = status?;
            let hint = "run the same command again to continue from there";
            return Err(anyhow::anyhow!("the peer that ssh started has ended ({status}): {hint}").into());
        }
    };
    far_end.finish().await?;
    Ok(summary)
}

/// Returns the paths' names: "photos, backup.tar".
fn names(paths: &[PathBuf]) -> String {
    let names: Vec<_> = paths.iter().map(|path| printable(&path.to_string_lossy())).collect();
    names.join(", ")
}
