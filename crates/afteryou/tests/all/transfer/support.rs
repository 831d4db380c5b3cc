//! Processes of the built command, each test's in a place of its own.

use afteryou_transfer::ticket::Ticket;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::net::UdpSocket;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

/// Long enough for a machine that is busy with other tests.
pub const PATIENCE: Duration = Duration::from_secs(25);

/// A place of its own for each test: no test sees another one's jobs, keys or files.
pub struct Place(pub tempfile::TempDir);

impl Place {
    pub fn new() -> Place {
        Place(tempfile::tempdir().expect("a directory"))
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Makes a file of `bytes` bytes that nobody can guess or compress.
    pub fn file(&self, name: &str, bytes: usize) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        let mut state = bytes as u64 | 1;
        let content: Vec<u8> = std::iter::repeat_with(|| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 56) as u8
        })
        .take(bytes)
        .collect();
        fs::write(&path, content).expect("a file");
        path
    }

    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_afteryou"));
        command.args(words).current_dir(self.0.path()).stdin(Stdio::null());
        command.env("AFTERYOU_STATE", self.path("state")).env("AFTERYOU_CONTROL_DIR", self.path("control"));
        command
    }

    pub fn run(&self, words: &[&str]) -> Output {
        self.command(words).output().expect("it starts")
    }

    pub fn start(&self, words: &[&str]) -> Running {
        let mut command = self.command(words);
        Running::new(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it starts"))
    }

    /// Starts `receive` or `serve`, and returns its ticket, too.
    pub fn listen(&self, words: &[&str]) -> (Running, String) {
        let mut running = self.start(&[words, &["--listen", "127.0.0.1:0"]].concat());
        let ticket = running.line();
        assert!(ticket.starts_with("afteryou1"), "{ticket:?}");
        (running, ticket)
    }

    /// Returns a ticket to a port that never answers, and the socket that holds the port. The port of a receiver that was killed
    /// would be free for the receiver of another test.
    pub fn silent(&self) -> (UdpSocket, String) {
        let (_receive, line) = self.listen(&["receive", "archive"]);
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        let mut ticket: Ticket = line.parse().unwrap();
        ticket.addresses[0].port = socket.local_addr().unwrap().port();
        (socket, ticket.to_line().unwrap())
    }

    pub fn ctl(&self, job: &Running, what: &[&str]) -> String {
        let pid = job.child.id().to_string();
        let output = self.run(&[&["ctl", "--job", &pid], what].concat());
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        text(&output.stdout)
    }

    /// Waits until the job reports this of itself.
    pub fn wait_for(&self, job: &Running, wanted: impl Fn(&serde_json::Value) -> bool) -> serde_json::Value {
        let began = Instant::now();
        let pid = job.child.id().to_string();
        loop {
            let output = self.run(&["ctl", "--job", &pid, "--json"]);
            if let Ok(status) = serde_json::from_slice(&output.stdout) {
                if wanted(&status) {
                    return status;
                }
            }
            assert!(began.elapsed() < PATIENCE, "{} {}", text(&output.stdout), text(&output.stderr));
            std::thread::sleep(Duration::from_millis(30));
        }
    }
}

/// A process that does not outlive its test.
pub struct Running {
    pub child: Child,
    stdout: Option<BufReader<std::process::ChildStdout>>,
}

impl Running {
    pub fn new(mut child: Child) -> Running {
        let stdout = child.stdout.take().map(BufReader::new);
        Running { child, stdout }
    }

    pub fn line(&mut self) -> String {
        let mut line = String::new();
        self.stdout.as_mut().expect("stdout").read_line(&mut line).expect("a line");
        line.trim_end().to_owned()
    }

    pub fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_raw(self.child.id() as i32).expect("a process");
        rustix::process::kill_process(pid, signal).expect("it runs");
    }

    /// Waits for its end; returns its exit code, and its stdout and stderr.
    pub fn end(mut self) -> (Option<i32>, String, String) {
        let began = Instant::now();
        let code = loop {
            match self.child.try_wait().expect("a child") {
                Some(status) => break status.code(),
                None if began.elapsed() > PATIENCE => panic!("it does not end"),
                None => std::thread::sleep(Duration::from_millis(20)),
            }
        };
        let (mut out, mut err) = (String::new(), String::new());
        self.stdout.take().expect("stdout").read_to_string(&mut out).expect("text");
        self.child.stderr.take().expect("stderr").read_to_string(&mut err).expect("text");
        (code, out, err)
    }

    pub fn kill(mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("a child");
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits until this is so, and returns how long it took.
pub fn wait_until(what: &str, is: impl Fn() -> bool) -> Duration {
    let began = Instant::now();
    while !is() {
        assert!(began.elapsed() < PATIENCE, "it is not so that {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
    began.elapsed()
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

pub fn same(one: &Path, other: &Path) -> bool {
    fs::read(one).expect("sent") == fs::read(other).unwrap_or_default()
}

/// Returns all events.
pub fn events(stdout: &str) -> Vec<serde_json::Value> {
    stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect()
}

pub fn finished(stdout: &str) -> serde_json::Value {
    events(stdout).into_iter().rfind(|event| event["event"] == "finished").expect("it finished")
}
