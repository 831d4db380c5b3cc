//! The other implementations, each in a process of its own.

use afteryou_interop::{Finish, Job, LibutpPeer};
use anyhow::{bail, ensure, Context};
use librqbit_utp::UtpSocketUdp;
use ring::digest::SHA256;
use std::io::{BufRead, BufReader, Read};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

pub struct Peer {
    pub name: &'static str,
    /// The program in the folder `foreign`; none: this one.
    program: Option<&'static str>,
    script: Option<&'static str>,
}

pub const PEERS: [Peer; 5] = [
    Peer { name: "libutp", program: None, script: None },
    Peer { name: "librqbit", program: None, script: None },
    Peer { name: "utp-native", program: Some("node"), script: Some("node/peer.js") },
    Peer { name: "anacrolix", program: Some("anacrolix/peer"), script: None },
    Peer { name: "go-libutp", program: Some("golibutp/peer"), script: None },
];

fn foreign(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("foreign").join(path)
}

impl Peer {
    /// Returns why it cannot be tried.
    pub fn missing(&self) -> Option<String> {
        let made = match (self.program, self.script) {
            (None, _) => return None,
            (Some(_), Some(_)) => foreign("node/node_modules"),
            (Some(program), None) => foreign(program),
        };
        (!made.exists()).then(|| format!("run foreign/build first: there is no {}", made.display()))
    }

    fn command(&self) -> anyhow::Result<Command> {
        let mut command = match (self.program, self.script) {
            (None, _) => Command::new(std::env::current_exe()?),
            (Some(program), Some(_)) => Command::new(program),
            (Some(program), None) => Command::new(foreign(program)),
        };
        match self.script {
            Some(script) => command.arg(foreign(script)),
            None if self.program.is_none() => command.args(["--as", self.name]),
            None => &mut command,
        };
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        Ok(command)
    }

    pub fn receive(&self) -> anyhow::Result<Running> {
        let mut child = self.command()?.arg("receive").spawn()?;
        let lines = BufReader::new(child.stdout.take().context("its output is piped")?);
        Ok(Running { child, lines })
    }

    pub fn send(&self, to: SocketAddr, bytes: usize) -> anyhow::Result<Running> {
        let mut child = self.command()?.args(["send", &to.to_string(), &bytes.to_string()]).spawn()?;
        let lines = BufReader::new(child.stdout.take().context("its output is piped")?);
        Ok(Running { child, lines })
    }
}

/// A peer's process, which ends with it.
pub struct Running {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Running {
    fn line(&mut self) -> anyhow::Result<String> {
        let mut line = String::new();
        self.lines.read_line(&mut line)?;
        ensure!(!line.is_empty(), "it has ended");
        Ok(line.trim().to_owned())
    }

    /// Returns the address at which it listens.
    pub fn address(&mut self) -> anyhow::Result<SocketAddr> {
        Ok(self.line()?.parse()?)
    }

    /// Returns the number of bytes that it has received, and their hash.
    pub fn finish(&mut self) -> anyhow::Result<String> {
        self.line()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

/// Returns the bytes that every sender sends.
pub fn pattern(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|at| (at * 31) as u8).collect()
}

/// Returns number and hash of bytes, as a receiver prints them.
pub fn digest(bytes: &[u8]) -> String {
    let hash = ring::digest::digest(&SHA256, bytes);
    let hex: String = hash.as_ref().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{} {hex}", bytes.len())
}

/// Runs one of the peers that are libraries in this process.
pub async fn run(words: &[String]) -> anyhow::Result<()> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        ["libutp", "receive"] => {
            let job = Job { deadline: Duration::from_secs(120), ..Job::default() };
            let peer = LibutpPeer::accept_one(job)?;
            println!("{}", peer.local_addr());
            println!("{}", digest(&peer.join(Duration::from_secs(130))?.received));
        }
        ["libutp", "send", to, bytes] => {
            let (send, deadline) = (pattern(bytes.parse()?), Duration::from_secs(120));
            let job = Job { send, deadline, finish: Finish::HalfClose, ..Job::default() };
            LibutpPeer::connect(to.parse()?, job)?.join(Duration::from_secs(130))?;
        }
        ["librqbit", "receive"] => {
            let socket = UtpSocketUdp::new_udp(SocketAddr::from(([127, 0, 0, 1], 0))).await?;
            println!("{}", socket.bind_addr());
            let (mut stream, mut received) = (socket.accept().await?, Vec::new());
            stream.read_to_end(&mut received).await?;
            println!("{}", digest(&received));
            stream.shutdown().await?;
        }
        ["librqbit", "send", to, bytes] => {
            let socket = UtpSocketUdp::new_udp(SocketAddr::from(([127, 0, 0, 1], 0))).await?;
            let mut stream = socket.connect(to.parse()?).await?;
            stream.write_all(&pattern(bytes.parse()?)).await?;
            stream.shutdown().await?;
        }
        _ => bail!("no peer is {words:?}"),
    }
    // Acknowledgements may still be asked for.
    tokio::task::spawn_blocking(|| std::io::stdin().read_to_end(&mut Vec::new())).await??;
    Ok(())
}
