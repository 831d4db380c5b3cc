//! Runs the real `afteryou` command for the examples that measure `send` and `receive`.

#![allow(dead_code)] // each example uses its part

pub mod certificates;

use serde_json::Value;
use std::error::Error;
use std::io::{BufRead, BufReader, Read};
use std::net::{SocketAddr, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

/// The failure of an example.
pub type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Words for a command behind an emulated link, which it would take for loopback.
pub const ETHERNET: [&str; 2] = ["--route-mtu", "1500"];

/// Returns the command, built beside the example.
pub fn program() -> Result<PathBuf> {
    let path = std::env::current_exe()?.with_file_name("").join("../afteryou");
    let path = path.with_extension(std::env::consts::EXE_EXTENSION);
    path.canonicalize()
        .map_err(|error| format!("{}: {error}; run `cargo build --release` first", path.display()).into())
}

/// Returns a UDP port of the loopback that nobody had a moment ago, each time another one. It is below those that a system
/// gives out by itself, so no other socket gets it before the command listens there.
pub fn free_address() -> Result<SocketAddr> {
    const FIRST: u16 = 20_000;
    const PORTS: u16 = 10_000;
    static ASKED: AtomicU16 = AtomicU16::new(0);
    // Examples that run at the same time begin at different ports.
    let begin = (std::process::id() % u32::from(PORTS)) as u16;
    for _ in 0..PORTS {
        let number = begin.wrapping_add(ASKED.fetch_add(1, Ordering::Relaxed));
        let address = SocketAddr::from(([127, 0, 0, 1], FIRST + number % PORTS));
        if UdpSocket::bind(address).is_ok() {
            return Ok(address);
        }
    }
    Err("no UDP port from 20000 to 29999 is free on the loopback".into())
}

/// A line of a command's JSON, with when it came.
pub struct Line {
    /// When.
    pub at: Instant,
    /// The event and its fields.
    pub value: Value,
}

impl Line {
    /// Returns whether it is this event.
    pub fn is(&self, event: &str) -> bool {
        self.value["event"] == event
    }

    /// Returns a number in it, zero if it is not there.
    pub fn number(&self, name: &str) -> u64 {
        self.value[name].as_u64().unwrap_or(0)
    }
}

/// A running `afteryou`, ended when it is dropped.
pub struct Running {
    child: Child,
    lines: Receiver<Line>,
}

impl Running {
    /// Starts `afteryou` with `--json`; its state and its sockets stay in `state`.
    pub fn start(state: &Path, words: &[&str]) -> Result<Running> {
        Running::of(&program()?, state, words)
    }

    /// Starts another program that takes the same words.
    pub fn of(program: &Path, state: &Path, words: &[&str]) -> Result<Running> {
        let mut child = Command::new(program)
            .args(words)
            .arg("--json")
            .env("XDG_STATE_HOME", state)
            .env("XDG_RUNTIME_DIR", state)
            .env("XDG_CACHE_HOME", state)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()?;
        let stdout = child.stdout.take().ok_or("no stdout")?;
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || read_lines(stdout, &sender));
        Ok(Running { child, lines })
    }

    /// Returns the process's id.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits for the next line, if one comes in time.
    pub fn next(&self, patience: Duration) -> Option<Line> {
        self.lines.recv_timeout(patience).ok()
    }

    /// Returns the ticket that it prints first.
    pub fn ticket(&self) -> Result<String> {
        let deadline = Instant::now() + Duration::from_secs(20);
        while let Some(line) = self.next(deadline.saturating_duration_since(Instant::now())) {
            if let Some(ticket) = line.value["ticket"].as_str() {
                return Ok(ticket.to_owned());
            }
        }
        Err("no ticket came".into())
    }

    /// Returns everything that has come so far.
    pub fn drain(&self) -> Vec<Line> {
        self.lines.try_iter().collect()
    }

    /// Returns whether it has ended, and well.
    pub fn ended(&mut self) -> Result<Option<bool>> {
        Ok(self.child.try_wait()?.map(|status| status.success()))
    }

    /// Waits for its end; returns whether it went well.
    pub fn wait(&mut self) -> Result<bool> {
        Ok(self.child.wait()?.success())
    }

    /// Kills the process, and waits for the end.
    pub fn kill(&mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.kill();
    }
}

fn read_lines(stdout: impl Read, sender: &mpsc::Sender<Line>) {
    for text in BufReader::new(stdout).lines().map_while(std::result::Result::ok) {
        let Ok(value) = serde_json::from_str(&text) else {
            eprintln!("not JSON: {text}");
            continue;
        };
        if sender.send(Line { at: Instant::now(), value }).is_err() {
            return;
        }
    }
}

/// Returns bytes that nothing can compress, the same for the same seed.
pub fn noise(seed: u64, bytes: usize) -> Vec<u8> {
    let mut reader = blake3::Hasher::new().update(&seed.to_be_bytes()).finalize_xof();
    let mut content = vec![0; bytes];
    reader.fill(&mut content);
    content
}

/// Returns the value below which a part `p` of `values` lies.
pub fn quantile(values: &mut [f64], p: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let index = (values.len() as f64 * p).ceil() as usize;
    values.get(index.saturating_sub(1)).copied().unwrap_or(f64::NAN)
}

/// Returns the middle of `values`.
pub fn median(values: &[f64]) -> f64 {
    quantile(&mut values.to_vec(), 0.5)
}
