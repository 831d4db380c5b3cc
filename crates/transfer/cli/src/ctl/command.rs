//! `afteryou ctl`: finds the job, asks it, and prints its answer.

use super::protocol::{Answer, Question, Status};
use crate::figures::RateUnit;
use crate::log::{self, LogArgs};
use afteryou_terminal::output;
use afteryou_terminal::Failure;
use clap::{Args, Subcommand};
use std::path::PathBuf;

/// Arguments of `afteryou ctl`.
#[derive(Args, Clone, Debug)]
#[command(after_help = AFTER_HELP, subcommand_value_name = "WHAT", subcommand_help_heading = "What to do")]
pub struct CtlArgs {
    /// The action; without it, all running jobs are listed.
    #[command(subcommand)]
    pub what: Option<What>,

    /// Process ID of the job; not needed if only one runs
    #[arg(long, value_name = "PID", global = true)]
    pub job: Option<u32>,

    /// Print one JSON object per line for each job
    #[arg(long, global = true)]
    pub json: bool,

    /// Options of the log.
    #[command(flatten)]
    pub log: LogArgs,

    /// Directory of running jobs; usually afteryou in $XDG_RUNTIME_DIR
    #[arg(long, value_name = "DIR", global = true, env = "AFTERYOU_CONTROL_DIR", hide_env_values = true)]
    pub control_dir: Option<PathBuf>,
}

/// The action on a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Subcommand)]
pub enum What {
    /// Show the status of running jobs.
    Status,
    /// Pause the transfer; the connection stays open.
    Pause,
    /// Continue after a pause.
    Resume,
    /// Limit the rate, in place of earlier limits.
    Rate {
        /// 5Mbit/s (bits), or as rclone has it (bytes): 512k
        #[arg(value_name = "RATE", value_parser = rate)]
        max_rate: Given,
    },
    /// Lift all limits and pauses set here; a timetable takes effect again at its next change.
    Off,
    /// End the job; stored data stay, and the same command continues from there.
    Stop,
}

const AFTER_HELP: &str = "\
Examples:
  afteryou ctl                     status of all your running jobs
  afteryou ctl pause               pauses the only running job
  afteryou ctl --job 4711 rate 5Mbit/s
  sudo AFTERYOU_CONTROL_DIR=/run/afteryou/photos afteryou ctl     status of a service

Exit codes:
  0  done
  1  there is no such job, or it did not answer
  2  the command line is invalid, or several jobs run and --job is missing";

/// A rate as the user writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Given {
    bytes: u64,
    unit: RateUnit,
}

impl Given {
    /// Shows a rate in the same unit.
    fn shown(self, bytes: u64) -> String {
        self.unit.rate(bytes)
    }
}

fn rate(text: &str) -> Result<Given, String> {
    if text.trim().eq_ignore_ascii_case("off") {
        return Err("off is no rate: use `afteryou ctl off`".to_owned());
    }
    let rate: afteryou_rate::Rate =
        text.parse().map_err(|error: afteryou_rate::ParseError| error.to_string())?;
    Ok(Given { bytes: rate.bytes_per_second(), unit: RateUnit::of(text) })
}

impl What {
    fn question(self) -> Question {
        match self {
            What::Status => Question::Status,
            What::Pause => Question::Pause,
            What::Resume => Question::Resume,
            What::Rate { max_rate } => Question::Rate { max_rate: max_rate.bytes },
            What::Off => Question::Off,
            What::Stop => Question::Stop,
        }
    }
}

/// The answer of a job.
#[derive(serde::Serialize)]
struct Answered {
    #[serde(flatten)]
    status: Status,
    /// The action of the job, if one was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    did: Option<String>,
    #[serde(skip)]
    ends: bool,
}

impl Answered {
    fn status(status: Status) -> Answered {
        Answered { status, did: None, ends: false }
    }
}

/// "4711 send photos: paused; 42 % of …". A job that ends has no course.
impl std::fmt::Display for Answered {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Answered { status, did, ends } = self;
        write!(f, "{}: ", status.name())?;
        match did {
            Some(did) if *ends => f.write_str(did),
            Some(did) => write!(f, "{did}; {}", status.course()),
            None => f.write_str(&status.course()),
        }
    }
}

impl What {
    /// Describes the change of a job from `before` to `after`; None for a question.
    fn done(self, before: &Status, after: &Status) -> Option<String> {
        let did = match self {
            What::Status => return None,
            What::Pause if before.paused => "was paused already".to_owned(),
            What::Pause => "paused".to_owned(),
            What::Resume if !before.paused => "was not paused".to_owned(),
            What::Resume if after.paused => "no longer paused here, but still by the peer".to_owned(),
            What::Resume => "resumed".to_owned(),
            What::Rate { max_rate } => match after.max_rate {
                Some(smaller) if smaller < max_rate.bytes => {
                    format!(
                        "limited to {}, and by the peer to {}",
                        max_rate.shown(max_rate.bytes),
                        max_rate.shown(smaller)
                    )
                }
                _ => format!("limited to {}", max_rate.shown(max_rate.bytes)),
            },
            What::Off if after.paused || after.max_rate.is_some() => {
                "limits and pauses set here are lifted, those of the peer remain".to_owned()
            }
            What::Off => "all limits and pauses lifted".to_owned(),
            What::Stop => {
                "ends now; what arrived stays, and the same command continues from there".to_owned()
            }
        };
        Some(did)
    }
}

/// Runs `afteryou ctl`.
///
/// # Errors
/// No such job, no job or several where one is meant, a job that does not answer, a system without Unix sockets.
pub fn run(args: &CtlArgs) -> Result<(), Failure> {
    log::start(&args.log, false);
    let answers = answers(args)?;
    let mut text = String::new();
    for answered in &answers {
        text += &match args.json {
            true => serde_json::to_string(answered)?,
            // What a job moves has names from elsewhere in it.
            false => output::printable(&answered.to_string()),
        };
        text.push('\n');
    }
    if answers.is_empty() && !args.json {
        text += "no job runs\n";
    }
    output::print(&text)
}

#[cfg(not(unix))]
fn answers(_: &CtlArgs) -> Result<Vec<Answered>, Failure> {
    Err(anyhow::anyhow!(
        "jobs can only be controlled on systems with Unix sockets; here, end them and begin anew"
    )
    .into())
}

/// Returns the answers of the job that was meant, or of all.
#[cfg(unix)]
fn answers(args: &CtlArgs) -> Result<Vec<Answered>, Failure> {
    let directory = super::place::directory(args.control_dir.as_deref())?;
    #[cfg(target_os = "linux")]
    restore_sockets(&directory);
    let running = running(&directory)?;
    let Some(what) = args.what else {
        let wanted = |status: &Status| args.job.is_none_or(|pid| pid == status.pid);
        let found: Vec<_> = running.into_iter().filter(wanted).collect();
        return match args.job {
            Some(pid) if found.is_empty() => Err(no_job(pid)),
            _ => Ok(found.into_iter().map(Answered::status).collect()),
        };
    };
    let pid = choose(args.job, &running)?;
    let socket = super::place::socket(&directory, pid);
    let status = ask(&socket, what.question())?;
    let before = running.iter().find(|status| status.pid == pid);
    let did = before.and_then(|before| what.done(before, &status));
    Ok(vec![Answered { status, did, ends: what == What::Stop }])
}

/// Restores the sockets of programs whose `afteryou run` was killed, both processes of it.
#[cfg(target_os = "linux")]
fn restore_sockets(directory: &std::path::Path) {
    for pid in afteryou_outside::linux::record::repair(directory).refused {
        output::complain(&format!(
            "afteryou: connections of process {pid} are still limited by a run that was killed, and may not be touched: \
             restart that program\n"
        ));
    }
}

/// Returns the job that is meant.
fn choose(job: Option<u32>, running: &[Status]) -> Result<u32, Failure> {
    match (job, running) {
        (Some(pid), _) if running.iter().any(|status| status.pid == pid) => Ok(pid),
        (Some(pid), _) => Err(no_job(pid)),
        (None, [only]) => Ok(only.pid),
        (None, []) => {
            Err(anyhow::anyhow!("no job runs: begin one with `afteryou send`, get, receive or serve").into())
        }
        (None, several) => {
            let jobs: Vec<_> =
                several.iter().map(|job| format!("{} ({} {})", job.pid, job.command, job.what)).collect();
            Err(Failure::usage(format!(
                "{} jobs run: choose one with --job: {}",
                jobs.len(),
                jobs.join(", ")
            )))
        }
    }
}

fn no_job(pid: u32) -> Failure {
    anyhow::anyhow!("there is no job {pid}: `afteryou ctl` lists those that run").into()
}

/// Returns the status of the jobs that answer. Sockets that nobody listens to any more are removed.
#[cfg(unix)]
fn running(directory: &std::path::Path) -> Result<Vec<Status>, Failure> {
    super::place::tidy(directory);
    let mut running = Vec::new();
    for (_, socket) in super::place::jobs(directory)? {
        match ask(&socket, Question::Status) {
            Ok(status) => running.push(status),
            Err(error) if is_gone(&error) => super::place::remove_stale(&socket),
            // It ended meanwhile, or is too busy to be asked.
            Err(error) => output::complain(&format!("afteryou: {}: {error:#}\n", socket.display())),
        }
    }
    Ok(running)
}

#[cfg(unix)]
fn is_gone(error: &anyhow::Error) -> bool {
    let kind = error.downcast_ref::<std::io::Error>().map(std::io::Error::kind);
    kind == Some(std::io::ErrorKind::ConnectionRefused)
}

#[cfg(unix)]
fn ask(socket: &std::path::Path, question: Question) -> anyhow::Result<Status> {
    use anyhow::Context;
    use std::io::{BufRead, BufReader, Read, Write};
    use std::time::Duration;

    /// A job that does not answer within this hangs.
    const PATIENCE: Duration = Duration::from_secs(3);

    tracing::debug!(socket = %socket.display(), ?question, "asking");
    let mut stream = std::os::unix::net::UnixStream::connect(socket)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    writeln!(stream, "{}", serde_json::to_string(&question)?).context("the job does not listen")?;
    let mut line = String::new();
    let mut reader = BufReader::new(stream.take(super::protocol::LONGEST));
    reader.read_line(&mut line).context("the job does not answer")?;
    match serde_json::from_str(&line).context("the job's answer makes no sense: is it another version?")? {
        Answer::Status(status) => Ok(status),
        Answer::Refused { reason } => Err(anyhow::anyhow!("{reason}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(pid: u32) -> Status {
        Status { pid, command: "send".to_owned(), what: "photos".to_owned(), ..Status::default() }
    }

    #[test]
    fn every_verb_reports_what_it_did() {
        let paused = |paused, max_rate| Status { paused, max_rate, ..job(7) };
        let (runs, stands) = (paused(false, None), paused(true, None));
        let rate = What::Rate { max_rate: rate("5Mbit/s").unwrap() };
        for (what, before, after, expected) in [
            (What::Pause, &runs, &stands, "paused"),
            (What::Pause, &stands, &stands, "was paused already"),
            (What::Resume, &stands, &runs, "resumed"),
            (What::Resume, &runs, &runs, "was not paused"),
            (What::Resume, &stands, &stands, "no longer paused here, but still by the peer"),
            (rate, &runs, &paused(false, Some(625_000)), "limited to 5 Mbit/s"),
            (rate, &runs, &paused(false, Some(125_000)), "limited to 5 Mbit/s, and by the peer to 1 Mbit/s"),
            (What::Off, &stands, &runs, "all limits and pauses lifted"),
            (What::Off, &stands, &stands, "limits and pauses set here are lifted, those of the peer remain"),
        ] {
            assert_eq!(what.done(before, after).as_deref(), Some(expected), "{what:?}");
        }
        assert!(What::Stop.done(&runs, &runs).unwrap().starts_with("ends now"));
        assert_eq!(What::Status.done(&runs, &runs), None);
    }

    #[test]
    fn one_job_needs_no_name_and_several_do() {
        assert_eq!(choose(None, &[job(7)]).unwrap(), 7);
        assert_eq!(choose(Some(8), &[job(7), job(8)]).unwrap(), 8);
        let error = choose(None, &[job(7), job(8)]).unwrap_err();
        let expected = "2 jobs run: choose one with --job: 7 (send photos), 8 (send photos)";
        assert_eq!((error.to_string().as_str(), error.code()), (expected, 2));
        let error = choose(Some(9), &[job(7)]).unwrap_err();
        assert_eq!(
            (error.to_string().as_str(), error.code()),
            ("there is no job 9: `afteryou ctl` lists those that run", 1)
        );
        assert!(choose(None, &[]).unwrap_err().to_string().starts_with("no job runs"));
    }
}
