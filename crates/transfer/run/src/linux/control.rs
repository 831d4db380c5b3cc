//! Answers `afteryou ctl`: status, rates, pauses and the end of a run or a proxy.
//!
//! A thread answers at the socket, so that a slow client does not delay the steering, which looks at the shared state in each tick.

use afteryou_base::lock::EvenPoisoned;
use afteryou_transfer_cli::ctl::place::{self, Identity};
use afteryou_transfer_cli::ctl::{Answer, Question, Status, LONGEST};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// A client has its question ready.
const PATIENCE: Duration = Duration::from_secs(5);
/// Time until another client is waited for after an error.
const AFTER_ERROR: Duration = Duration::from_millis(100);

/// Requests that hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Requests {
    /// Bound of each direction, bytes a second.
    pub max_rate: Option<u64>,
    /// All connections trickle.
    pub is_paused: bool,
    /// The program is to end.
    pub is_to_end: bool,
}

impl Requests {
    /// Applies a question.
    fn obey(&mut self, question: Question) {
        match question {
            Question::Status => {}
            Question::Pause => self.is_paused = true,
            Question::Resume => self.is_paused = false,
            Question::Rate { max_rate } => self.max_rate = Some(max_rate),
            Question::Off => (self.max_rate, self.is_paused) = (None, false),
            Question::Stop => self.is_to_end = true,
        }
    }

    /// Returns the bound of each direction, bytes a second; 0 in a pause.
    pub fn bound(&self) -> Option<f64> {
        match self.is_paused {
            true => Some(0.0),
            false => self.max_rate.map(|rate| rate as f64),
        }
    }
}

/// The socket; it is gone with this.
#[derive(Debug)]
pub struct Control {
    shared: Arc<Mutex<Shared>>,
    began: Instant,
    socket: Option<(PathBuf, Identity)>,
}

#[derive(Debug)]
struct Shared {
    status: Status,
    requests: Requests,
}

impl Control {
    /// Answers for process `pid`, a `command` of ours, and what it is about. Without a place for sockets nobody can ask, and nothing else changes.
    pub fn new(pid: u32, command: &str, what: String, max_rate: Option<u64>) -> Control {
        let status = Status { pid, command: command.to_owned(), what, ..Status::default() };
        let requests = Requests { max_rate, ..Requests::default() };
        let shared = Arc::new(Mutex::new(Shared { status, requests }));
        let socket = listen(pid, &shared);
        Control { shared, began: Instant::now(), socket }
    }

    /// Returns the requests that hold.
    pub fn requests(&self) -> Requests {
        self.shared.lock().even_poisoned().requests
    }

    /// Notes the state in words, and the rate, bytes a second.
    pub fn note(&self, words: String, rate: f64) {
        let mut shared = self.shared.lock().even_poisoned();
        shared.status = Status {
            words,
            rate: rate as u64,
            seconds: self.began.elapsed().as_secs(),
            ..shared.status.clone()
        };
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        if let Some((socket, identity)) = self.socket.take() {
            place::remove(&socket, identity);
        }
    }
}

/// Returns the directory of the sockets of running jobs, if there can be one.
pub fn directory() -> Option<PathBuf> {
    let chosen = std::env::var_os("AFTERYOU_CONTROL_DIR").map(PathBuf::from);
    place::directory(chosen.as_deref()).ok()
}

/// Opens the socket and answers there, if there is a place for it.
fn listen(pid: u32, shared: &Arc<Mutex<Shared>>) -> Option<(PathBuf, Identity)> {
    let directory = directory()?;
    place::tidy(&directory);
    let (listener, socket) = place::listen(&directory, pid).ok()?;
    let identity = place::identity_of(&socket)?;
    let shared = Arc::clone(shared);
    thread::Builder::new().name("control".to_owned()).spawn(move || answer_all(&listener, &shared)).ok()?;
    Some((socket, identity))
}

fn answer_all(listener: &UnixListener, shared: &Mutex<Shared>) {
    for stream in listener.incoming() {
        match stream {
            // The next client asks again if this one is not understood.
            Ok(stream) => drop(answer(stream, shared)),
            // Too many files are open, for instance: that passes.
            Err(_) => thread::sleep(AFTER_ERROR),
        }
    }
}

fn answer(mut stream: UnixStream, shared: &Mutex<Shared>) -> std::io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let mut line = String::new();
    BufReader::new((&stream).take(LONGEST)).read_line(&mut line)?;
    let answer = match serde_json::from_str::<Question>(&line) {
        Ok(question) => {
            let mut shared = shared.lock().even_poisoned();
            shared.requests.obey(question);
            let Requests { max_rate, is_paused, .. } = shared.requests;
            Answer::Status(Status { max_rate, paused: is_paused, ..shared.status.clone() })
        }
        Err(error) => Answer::Refused { reason: format!("this question is not understood: {error}") },
    };
    let mut text = serde_json::to_string(&answer)?;
    text.push('\n');
    stream.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_counts_and_a_pause_keeps_the_rate() {
        let mut requests = Requests { max_rate: Some(5), ..Requests::default() };
        requests.obey(Question::Rate { max_rate: 9 });
        requests.obey(Question::Pause);
        assert_eq!(requests.bound(), Some(0.0));
        requests.obey(Question::Resume);
        assert_eq!(requests.bound(), Some(9.0));
        requests.obey(Question::Off);
        assert_eq!(requests.bound(), None);
        requests.obey(Question::Stop);
        assert!(requests.is_to_end);
    }
}
