//! The cost of changed files on the wire, beside rsync: `cargo run --release --example delta -- [DIR] [MB]`.
//!
//! Each case is a file of 300 MB (or MB) and a newer version: appended, inserted, scattered changes, renamed. Ours is
//! sent over a real QUIC connection on the loopback. Its bytes are those of all datagrams in both directions with 28
//! bytes of headers each. rsync's are the bytes that `rsync -a --no-whole-file` writes to and reads from its remote
//! shell. They are without ssh and without headers, so rsync is favoured. The comparison requires an installed rsync.

use afteryou_transfer::dial::Dialer;
use afteryou_transfer::guard::{Guard, Limits};
use afteryou_transfer::identity::Identity;
use afteryou_transfer::job::{self, Dial, DialError, Dialling, JobOptions, ListenOptions, Service};
use afteryou_transfer::source::{Source, SourceOptions};
use afteryou_transfer::store::{Store, StoreOptions};
use afteryou_transfer::ticket::{Address, Role, Secret, Ticket};
use afteryou_transfer::tls::{self, Admission};
use afteryou_transfer::transport;
use quinn::{Connection, Endpoint};
use std::error::Error;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use tokio::sync::watch;

type Fallible<T> = Result<T, Box<dyn Error>>;

/// Bytes of the headers of IPv4 and UDP.
const HEADERS: u64 = 28;

#[tokio::main]
async fn main() -> Fallible<()> {
    let mut arguments = std::env::args().skip(1);
    let dir = arguments.next().map_or_else(std::env::temp_dir, PathBuf::from);
    let megabytes: usize = arguments.next().map_or(Ok(300), |text| text.parse())?;
    let old = noise(megabytes * 1_000_000, 1);
    println!("{:10} {:>12} {:>12} {:>6}", "case", "ours", "rsync", "ratio");
    for case in ["append", "insert", "scattered", "rename"] {
        let base = tempfile::tempdir_in(&dir)?;
        let new = changed(case, &old);
        let name = if case == "rename" { "new name" } else { "file" };
        std::fs::create_dir(base.path().join("from"))?;
        std::fs::write(base.path().join("from").join(name), &new)?;
        for to in ["ours", "rsync"] {
            std::fs::create_dir(base.path().join(to))?;
            std::fs::write(base.path().join(to).join("file"), &old)?;
        }
        let ours = ours(base.path()).await?;
        let rsync = rsync(base.path())?;
        for to in ["ours", "rsync"] {
            let arrived = std::fs::read(base.path().join(to).join(name))?;
            assert!(arrived == new, "{to} stored something else");
        }
        println!("{case:10} {ours:>12} {rsync:>12} {:>6.2}", ours as f64 / rsync as f64);
    }
    Ok(())
}

/// Returns bytes that nothing makes smaller.
fn noise(bytes: usize, seed: u64) -> Vec<u8> {
    let mut noise = vec![0; bytes];
    blake3::Hasher::new().update(&seed.to_le_bytes()).finalize_xof().fill(&mut noise);
    noise
}

fn changed(case: &str, old: &[u8]) -> Vec<u8> {
    let middle = old.len() / 2 + 12_345;
    match case {
        "append" => [old, &noise(1_000_000, 2)].concat(),
        "insert" => [&old[..middle], &noise(1_000_000, 2), &old[middle..]].concat(),
        "scattered" => {
            // One block of 4 KiB in a hundred.
            let mut new = old.to_vec();
            for (index, block) in new.chunks_exact_mut(4096).step_by(100).enumerate() {
                block.copy_from_slice(&noise(4096, 3 + index as u64));
            }
            new
        }
        _ => old.to_vec(),
    }
}

/// Connects, and keeps the connections so that their packets can be counted.
struct Counting {
    dialer: Dialer,
    connections: Mutex<Vec<Connection>>,
}

impl Dial for Counting {
    fn dial(&self) -> Dialling<'_> {
        Box::pin(async {
            let connection =
                self.dialer.dial().await.map_err(|error| DialError::Unreachable(error.to_string()))?;
            self.connections.lock().expect("no thread panics").push(connection.clone());
            Ok(connection)
        })
    }
}

async fn ours(base: &Path) -> Fallible<u64> {
    let identity = Identity::ephemeral()?;
    let secret = Secret::new([7; 16]);
    let mut server = tls::server(&identity, &[Admission { role: Role::Receive, secret: secret.clone() }])?;
    server.transport_config(Arc::new(transport()));
    let limits = Limits::default();
    limits.apply(&mut server);
    let endpoint = Endpoint::server(server, SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
    let address = endpoint.local_addr()?;
    let store = Store::open(&base.join("ours"), StoreOptions::default())?;
    let (shutdown, ending) = watch::channel(false);
    let far = tokio::spawn(job::listen(
        Guard::new(endpoint, limits),
        Service::Receive(store),
        ListenOptions::default(),
        ending,
    ));
    let ticket = Ticket {
        role: Role::Receive,
        fingerprint: identity.fingerprint(),
        secret,
        addresses: vec![Address::from(address)],
    };
    let client = Endpoint::client(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))?;
    let dialer = Dialer::new(client, &ticket, |_| Arc::new(transport()))?;
    let dial = Arc::new(Counting { dialer, connections: Mutex::default() });
    let paths: Vec<PathBuf> = std::fs::read_dir(base.join("from"))?
        .map(|entry| Ok(entry?.path()))
        .collect::<std::io::Result<_>>()?;
    let source = Source::of(&paths, SourceOptions::default())?;
    job::send(dial.clone(), source, JobOptions::default()).await?;
    let connections = dial.connections.lock().expect("no thread panics").clone();
    let bytes = connections.iter().map(|connection| {
        let stats = connection.stats();
        let (sent, received) = (stats.udp_tx, stats.udp_rx);
        sent.bytes + received.bytes + HEADERS * (sent.datagrams + received.datagrams)
    });
    let bytes = bytes.sum();
    shutdown.send_replace(true);
    far.await??;
    Ok(bytes)
}

/// Runs rsync through a remote shell that runs its command here.
fn rsync(base: &Path) -> Fallible<u64> {
    let shell = base.join("shell");
    std::fs::write(&shell, "#!/bin/sh\nshift\nexec \"$@\"\n")?;
    let mut sources: Vec<PathBuf> = Vec::new();
    for entry in std::fs::read_dir(base.join("from"))? {
        sources.push(entry?.path());
    }
    let output = Command::new("rsync")
        .args(["-a", "--no-whole-file", "--ignore-times", "--stats", "--no-human-readable", "-e"])
        .arg(format!("sh {}", shell.display()))
        .args(sources)
        .arg(format!("host:{}/", base.join("rsync").display()))
        .output()?;
    let text = String::from_utf8(output.stdout)?;
    let total = |what: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(what));
        line.and_then(|line| line.trim().replace(',', "").parse::<u64>().ok())
    };
    match (total("Total bytes sent:"), total("Total bytes received:")) {
        (Some(sent), Some(received)) => Ok(sent + received),
        _ => {
            Err(format!("rsync said nothing of its bytes: {}", String::from_utf8_lossy(&output.stderr))
                .into())
        }
    }
}
