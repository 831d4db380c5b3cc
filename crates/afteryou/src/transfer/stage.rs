//! What surrounds a job while it runs, whichever it is: its tally, what is shown of it, control from outside, signals,
//! and the timetable.

use super::args::Common;
use super::ctl::Job;
use super::live::{self, View};
use super::summary::summary;
use super::tally::Tally;
use super::{ready, signals, timetable};
use crate::failure::Failure;
use crate::output::{self, complain};
use afteryou_cc::list::Class;
use afteryou_transfer::event::{Event, Listener};
use afteryou_transfer::pace::Pace;
use std::sync::mpsc::{channel, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::watch;

/// How often a view looks again if nothing happens.
const TICK: Duration = Duration::from_millis(200);

/// What the service manager is told anew now and then.
const STATUS_APART: Duration = Duration::from_secs(10);

/// What surrounds a job.
pub struct Stage {
    /// How fast it may go.
    pub pace: Pace,
    tally: Arc<Mutex<Tally>>,
    stop: watch::Sender<bool>,
    messages: Sender<Message>,
    shown: JoinHandle<()>,
    tasks: Vec<tokio::task::JoinHandle<()>>,
    #[cfg(unix)]
    _server: Option<super::ctl::Server>,
}

enum Message {
    Event(Event, Instant),
    Say(String),
    End,
}

impl Stage {
    /// Sets it up, inside a runtime. `at_once` if the job begins now rather than when somebody connects.
    pub fn start(common: &Common, job: Job, at_once: bool) -> Result<Stage, Failure> {
        let (controller, _) = common.controller().controller()?;
        let never_yields = (controller.class == Class::Foreground).then(|| controller.name.to_owned());
        let pace = Pace::new();
        let tally = Tally::new(pace.clone(), never_yields, Instant::now());
        let tally = Arc::new(Mutex::new(if at_once { tally } else { tally.listening() }));
        let stop = watch::Sender::new(false);

        let mut tasks = vec![tokio::spawn(signals::watch(stop.clone()))];
        if let Some(max_rate) = &common.max_rate {
            let task = timetable::follow(max_rate.clone(), job.direction, pace.clone(), tally.clone());
            tasks.push(tokio::spawn(task));
        }
        #[cfg(unix)]
        let server = server(common, job.clone(), &tally, &pace, &stop);

        let view = live::view(common.json, common.quiet, at_once);
        let (messages, received) = channel();
        let their_tally = tally.clone();
        let shown = std::thread::Builder::new()
            .name("view".to_owned())
            .spawn(move || show(view, job.done, &their_tally, &received))?;
        Ok(Stage {
            pace,
            tally,
            stop,
            messages,
            shown,
            tasks,
            #[cfg(unix)]
            _server: server,
        })
    }

    /// Where the job's events go.
    pub fn listener(&self) -> Listener {
        let messages = Mutex::new(self.messages.clone());
        Arc::new(move |event| {
            if matches!(event, Event::Group { .. }) {
                return at_once(&event);
            }
            let _ = locked(&messages).send(Message::Event(event, Instant::now()));
        })
    }

    /// Shows a sentence.
    pub fn say(&self, sentence: String) {
        let _ = self.messages.send(Message::Say(sentence));
    }

    /// Becomes true when somebody wants the job to end.
    pub fn shutdown(&self) -> watch::Receiver<bool> {
        self.stop.subscribe()
    }

    /// To make it end.
    pub fn stopper(&self) -> watch::Sender<bool> {
        self.stop.clone()
    }

    /// Returns when somebody wants the job to end.
    pub async fn stopped(&self) {
        // The sender lives in `self`.
        let _ = self.stop.subscribe().wait_for(|stop| *stop).await;
    }

    /// Takes all down; returns where the job stood.
    pub fn end(self) -> Tally {
        ready::stopping();
        self.tasks.iter().for_each(tokio::task::JoinHandle::abort);
        let _ = self.messages.send(Message::End);
        let _ = self.shown.join();
        let tally = locked(&self.tally).clone();
        tally
    }
}

/// A job that cannot be controlled is better than none.
#[cfg(unix)]
fn server(
    common: &Common,
    job: Job,
    tally: &Arc<Mutex<Tally>>,
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

/// The view's thread.
fn show(
    mut view: Box<dyn View>,
    done: &'static str,
    tally: &Mutex<Tally>,
    messages: &std::sync::mpsc::Receiver<Message>,
) {
    let mut told = Instant::now();
    loop {
        let message = messages.recv_timeout(TICK);
        let now = Instant::now();
        match message {
            Ok(Message::Event(event, at)) => {
                let tally = added(tally, &event, at);
                view.event(&event, &tally, now);
                if let (Event::Finished { .. }, Some(end)) = (&event, tally.end) {
                    view.say(&summary(done, end, &tally, at));
                }
            }
            Ok(Message::Say(sentence)) => view.say(&sentence),
            Ok(Message::End) | Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {}
        }
        // A copy, since a terminal that is stopped (Ctrl-S) stops its writer, and `ctl` wants to look, too.
        let tally = locked(tally).clone();
        view.tick(&tally, now);
        if now.saturating_duration_since(told) >= STATUS_APART {
            told = now;
            ready::status(&tally.words(now));
        }
    }
    view.finish();
}

fn added(tally: &Mutex<Tally>, event: &Event, at: Instant) -> Tally {
    let mut tally = locked(tally);
    tally.add(event, at);
    tally.clone()
}

/// What a panicking thread left behind is whole: nobody panics between two writes to it.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Chunk groups are for who counts what a killed process has received: they are told by the thread that received them, and
/// before the group is written.
fn at_once(event: &Event) {
    if let Ok(line) = serde_json::to_string(event) {
        // A reader that has seen enough is no reason to stop the job.
        let _ = output::print(&format!("{line}\n"));
    }
}
