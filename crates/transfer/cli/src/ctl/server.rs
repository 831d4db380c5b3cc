//! The job's side: answers questions while it runs.

use super::protocol::{obey, Answer, Job, Question, Status, LONGEST};
use super::{metrics, place};
use crate::tally::JobTally;
use afteryou_base::lock::EvenPoisoned;
use afteryou_transfer::pace::Pace;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::watch;

/// A client has its question ready.
const PATIENCE: Duration = Duration::from_secs(5);

/// A socket that is answered; it is gone with this.
pub struct Server {
    socket: PathBuf,
    /// None if it went at once.
    identity: Option<place::Identity>,
    task: tokio::task::JoinHandle<()>,
}

/// The subject of questions.
#[derive(Clone)]
struct Answerer {
    job: Arc<Job>,
    tally: Arc<Mutex<JobTally>>,
    pace: Pace,
    stop: watch::Sender<bool>,
}

impl Server {
    /// Answers at this process's socket in `directory` (None: the usual one), and sends `true` into `stop` when asked to.
    ///
    /// # Errors
    /// A directory that cannot be made, belongs to somebody else or is open to others, and a socket that cannot be bound there.
    pub fn start(
        directory: Option<&Path>,
        job: Job,
        tally: Arc<Mutex<JobTally>>,
        pace: Pace,
        stop: watch::Sender<bool>,
    ) -> anyhow::Result<Server> {
        let directory = place::directory(directory)?;
        place::tidy(&directory);
        let (listener, socket) = place::listen(&directory, std::process::id())?;
        let identity = place::identity_of(&socket);
        listener.set_nonblocking(true)?;
        let listener = UnixListener::from_std(listener)?;
        let answerer = Answerer { job: Arc::new(job), tally, pace, stop };
        let task = tokio::spawn(async move {
            loop {
                match listener.accept().await {
                    Ok((stream, _)) => drop(tokio::spawn(answer(stream, answerer.clone()))),
                    // Too many files are open, for instance: that passes.
                    Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
                }
            }
        });
        Ok(Server { socket, identity, task })
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
        if let Some(identity) = self.identity {
            place::remove(&self.socket, identity);
        }
    }
}

async fn answer(stream: UnixStream, answerer: Answerer) {
    let (read, mut write) = stream.into_split();
    let mut line = String::new();
    let mut read = BufReader::new(read.take(LONGEST));
    let Ok(Ok(_)) = tokio::time::timeout(PATIENCE, read.read_line(&mut line)).await else { return };
    if line.starts_with(metrics::GET) {
        // Unread bytes of the request would reset the connection on close.
        while line.trim_end() != "" {
            line.clear();
            let Ok(Ok(1..)) = tokio::time::timeout(PATIENCE, read.read_line(&mut line)).await else { break };
        }
        let text = metrics::answer(&answerer.status());
        let _ = tokio::time::timeout(PATIENCE, write.write_all(text.as_bytes())).await;
        return;
    }
    let question = serde_json::from_str(&line);
    let answer = match &question {
        Ok(question) => answerer.obey(*question),
        Err(error) => Answer::Refused { reason: format!("the job does not understand: {error}") },
    };
    if let Ok(mut text) = serde_json::to_string(&answer) {
        text.push('\n');
        let _ = tokio::time::timeout(PATIENCE, write.write_all(text.as_bytes())).await;
    }
    // After the answer, which would be lost with the process.
    if question.is_ok_and(|question| question == Question::Stop) {
        answerer.stop.send_replace(true);
    }
}

impl Answerer {
    fn obey(&self, question: Question) -> Answer {
        match question {
            Question::Status => tracing::trace!("ctl asks for the status"),
            _ => tracing::info!(?question, "ctl"),
        }
        obey(question, &self.pace);
        Answer::Status(self.status())
    }

    fn status(&self) -> Status {
        let tally = self.tally.lock().even_poisoned();
        Status::of(&self.job, &tally, &self.pace, Instant::now())
    }
}
