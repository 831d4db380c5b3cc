//! A job's surroundings while it runs: its tally, its display, control from outside, signals, and the timetable.

use super::args::Common;
use super::ctl::Job;
use super::live::{self, View};
use super::queue::{self, Message};
use super::summary::{stats, summary};
use super::tally::JobTally;
use super::{ready, signals, timetable};
use crate::log;
use afteryou_base::lock::EvenPoisoned;
use afteryou_cc::list::Class;
use afteryou_terminal::output::{self, complain};
use afteryou_terminal::redact;
use afteryou_terminal::Failure;
use afteryou_transfer::event::{Event, Listener};
use afteryou_transfer::pace::Pace;
use anyhow::Context;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// How often a view looks again if nothing happens.
const TICK: Duration = Duration::from_millis(200);

/// The service manager's status, renewed now and then.
const STATUS_APART: Duration = Duration::from_secs(10);

/// A view that has not ended by then waits for a reader that stalls.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// The first act of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum First {
    /// It looks for its peer.
    Dials,
    /// ssh starts its peer, and may ask for a password on this terminal.
    AsksSsh,
    /// It waits for somebody to connect.
    Listens,
}

/// A job's surroundings.
pub struct Stage {
    /// The rate limit.
    pub pace: Pace,
    tally: Arc<Mutex<JobTally>>,
    stop: watch::Sender<bool>,
    done: &'static str,
    has_stats: bool,
    /// Each file is shown.
    lists: bool,
    is_finished: Arc<AtomicBool>,
    messages: queue::Sender,
    /// The end of the view, and whether its output was complete.
    shown: mpsc::Receiver<io::Result<()>>,
    tasks: Vec<tokio::task::JoinHandle<()>>,
    #[cfg(unix)]
    _server: Option<super::ctl::Server>,
}

impl Stage {
    /// Sets it up, inside a runtime.
    pub fn start(common: &Common, job: Job, first: First) -> Result<Stage, Failure> {
        let (controller, _) = common.controller().controller()?;
        let never_yields = (controller.class == Class::Foreground).then(|| controller.name.to_owned());
        let pace = Pace::new();
        let unit = common.max_rate.as_ref().map(|max_rate| max_rate.unit).unwrap_or_default();
        let tally = JobTally::new(pace.clone(), never_yields, Instant::now()).in_unit(unit);
        let tally = Arc::new(Mutex::new(if first == First::Listens { tally.listening() } else { tally }));
        let stop = watch::Sender::new(false);

        // To the end of the process: a second signal ends the wait for us.
        tokio::spawn(signals::watch(stop.clone()));
        let mut tasks = Vec::new();
        if let Some(max_rate) = &common.max_rate {
            let (clock, limits) = (timetable::SystemClock, max_rate.timetable.clone());
            let task = timetable::follow(limits, job.direction, clock, pace.clone(), tally.clone());
            tasks.push(tokio::spawn(task));
        }
        #[cfg(unix)]
        let server = server(common, job.clone(), &tally, &pace, &stop);

        tracing::info!(
            version = env!("CARGO_PKG_VERSION"),
            command = job.command,
            what = job.what,
            controller = controller.name,
            "the job begins"
        );
        let view = live::view(common, first == First::Dials);
        let (messages, received) = queue::queue();
        log::show_in(messages.clone());
        let (showing, shown) = mpsc::channel();
        let their_tally = tally.clone();
        std::thread::Builder::new()
            .name("view".to_owned())
            .spawn(move || {
                // Nobody may wait for it any more.
                let _ = showing.send(show(view, &their_tally, &received));
            })
            .context("cannot start a thread, raise the limit of processes (ulimit -u)")?;
        Ok(Stage {
            pace,
            tally,
            stop,
            done: job.done,
            has_stats: common.stats,
            lists: common.list || common.json,
            is_finished: Arc::default(),
            messages,
            shown,
            tasks,
            #[cfg(unix)]
            _server: server,
        })
    }

    /// Returns the listener of the job's events.
    pub fn listener(&self) -> Listener {
        let (tally, messages, done) = (self.tally.clone(), self.messages.clone(), self.done);
        let (has_stats, lists) = (self.has_stats, self.lists);
        let is_finished = self.is_finished.clone();
        Arc::new(move |event| {
            if matches!(event, Event::Group { .. }) {
                return at_once(&event);
            }
            is_finished.fetch_or(matches!(event, Event::Finished(_)), Relaxed);
            let end = added(&tally, &event, done, has_stats);
            if !lists && live::is_listed_only(&event) {
                return;
            }
            messages.send(Message::Event(event));
            end.into_iter().for_each(|sentence| messages.send(Message::Say(sentence)));
        })
    }

    /// Shows a sentence.
    pub fn say(&self, sentence: String) {
        self.messages.send(Message::Say(sentence));
    }

    /// Returns whether a job has ended.
    pub fn is_finished(&self) -> bool {
        self.is_finished.load(Relaxed)
    }

    /// Becomes true when somebody requests the job's end.
    pub fn shutdown(&self) -> watch::Receiver<bool> {
        self.stop.subscribe()
    }

    /// Returns the switch that ends the job.
    pub fn stopper(&self) -> watch::Sender<bool> {
        self.stop.clone()
    }

    /// Returns when somebody requests the job's end.
    pub async fn stopped(&self) {
        // The sender lives in `self`.
        let _ = self.stop.subscribe().wait_for(|stop| *stop).await;
    }

    /// Takes all down; returns the job's last state, and the failure of its output for programs.
    pub fn end(self) -> (JobTally, Result<(), Failure>) {
        ready::stopping();
        self.tasks.iter().for_each(tokio::task::JoinHandle::abort);
        self.messages.send(Message::End);
        let output = self.shown.recv_timeout(LAST_WORDS).unwrap_or(Ok(()));
        let tally = self.tally.lock().even_poisoned().clone();
        if let Some(end) = &tally.end {
            ready::status(&summary(self.done, end, &tally, Instant::now()));
        }
        (
            tally,
            output
                .context("cannot write to standard output: events are missing there")
                .map_err(Failure::from),
        )
    }
}

/// Starts the control socket, if it can be: a job that cannot be controlled is better than none.
#[cfg(unix)]
fn server(
    common: &Common,
    job: Job,
    tally: &Arc<Mutex<JobTally>>,
    pace: &Pace,
    stop: &watch::Sender<bool>,
) -> Option<super::ctl::Server> {
    let started = super::ctl::Server::start(
        common.control_dir.as_deref(),
        job,
        tally.clone(),
        pace.clone(),
        stop.clone(),
    );
    started.map_err(|error| complain(&format!("afteryou: no control by `afteryou ctl`: {error:#}\n"))).ok()
}

/// Runs the view's thread.
fn show(mut view: Box<dyn View>, tally: &Mutex<JobTally>, messages: &queue::Receiver) -> io::Result<()> {
    let mut told = Instant::now();
    loop {
        let message = messages.next(TICK);
        let now = Instant::now();
        // A copy, since a terminal that is stopped (Ctrl-S) stops its writer, and the job and `ctl` continue.
        let tally = tally.lock().even_poisoned().clone();
        match message {
            Ok(Message::Event(event)) => view.event(&event, &tally, now),
            // The user may have named a path by a ticket. Names of files stay as they are.
            Ok(Message::Say(sentence)) => view.say(&redact(&sentence)),
            Ok(Message::Log(line)) => view.log(&line),
            Ok(Message::End) | Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {}
        }
        if let Some(files) = messages.missed() {
            view.missed(files);
        }
        view.tick(&tally, now);
        if now.saturating_duration_since(told) >= STATUS_APART {
            told = now;
            ready::status(&tally.words(now));
        }
    }
    view.finish()
}

/// Adds an event; at the end of a job, gives the sentences about it.
fn added(tally: &Mutex<JobTally>, event: &Event, done: &str, has_stats: bool) -> Vec<String> {
    let now = Instant::now();
    let mut tally = tally.lock().even_poisoned();
    tally.add(event, now);
    if !matches!(event, Event::Finished(_)) {
        return Vec::new();
    }
    let end = tally.end.clone().unwrap_or_default();
    let stats = has_stats.then(|| stats(&end, &tally, now));
    stats
        .iter()
        .flat_map(|stats| stats.lines())
        .map(str::to_owned)
        .chain([summary(done, &end, &tally, now)])
        .collect()
}

/// Prints a chunk group at once, for tests that count the bytes received by a killed process. The thread that received a
/// group reports it, before the group is written.
fn at_once(event: &Event) {
    if let Ok(line) = serde_json::to_string(event) {
        // A reader that has seen enough is no reason to stop the job.
        let _ = output::print(&format!("{line}\n"));
    }
}
