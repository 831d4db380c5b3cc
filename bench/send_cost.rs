//! Measures the cost of `send` and `receive`: CPU seconds for a gigabyte over loopback, disk and hashing included.
//!
//! `cargo run --release --example send_cost [MEGABYTES] [RUNS] [--check]`
//!
//! Ways, interleaved, medians of RUNS (3), also of the ratios of each round: the commands as they are (LEDBAT++, our marking
//! socket), the same with CUBIC, the same jobs on quinn's own socket with quinn's CUBIC (this program, started twice as the
//! two ends), and what is needed at least: bare quinn in one process that neither reads nor hashes nor writes, `cp` of the
//! file, and BLAKE3 of it once at each end, on one thread. Bare quinn is quinn as it comes, with datagrams of 1452 bytes.
//! The others have what loopback and [`path_mtu`] permit. The last two lines change the lengths: the commands with CUBIC and
//! 1452 bytes, and bare quinn with what loopback permits. `--check` fails if the first needs more than 1.1 times the third.
//! It also fails if the commands with CUBIC need more than 1.1 times the sum of what is needed. That holds as they are or
//! with datagrams of 1452 bytes at both sides of the ratio.

mod support;

use afteryou_quic::path_mtu;
use nix::sys::resource::{getrusage, UsageWho};
use nix::sys::time::TimeValLike;
use std::path::Path;
use std::time::Instant;
use support::{free_address, median, noise, program, Result, Running};

const MOST: f64 = 1.1;

/// Names of the ways.
const OURS: &str = "send and receive";
const OURS_CUBIC: &str = "the same with CUBIC";
const PLAIN: &str = "the same on quinn's socket and CUBIC";
const QUINN: &str = "bare quinn: no disk, no hash";
const CP: &str = "cp";
const BLAKE3: &str = "BLAKE3, once at each end";
const OURS_SHORT: &str = "CUBIC, datagrams of 1452 bytes";
const QUINN_LONG: &str = "bare quinn, long datagrams";

/// A way, and what it took.
struct Way<'a> {
    name: &'static str,
    run: Box<dyn Fn() -> Result<(f64, f64)> + 'a>,
    /// CPU seconds for each gigabyte, run by run.
    cpu: Vec<f64>,
    /// Wall seconds.
    wall: Vec<f64>,
}

impl<'a> Way<'a> {
    fn of(name: &'static str, run: impl Fn() -> Result<(f64, f64)> + 'a) -> Way<'a> {
        Way { name, run: Box::new(run), cpu: Vec::new(), wall: Vec::new() }
    }
}

/// Returns the CPU time of ended children, s.
fn of_children() -> Result<f64> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    Ok((usage.user_time().num_microseconds() + usage.system_time().num_microseconds()) as f64 / 1e6)
}

/// Returns the CPU seconds and wall seconds of one transfer between two processes of `program`.
fn processes(program: &Path, folder: &Path, file: &Path, options: &[&str]) -> Result<(f64, f64)> {
    let far = folder.join("far");
    std::fs::create_dir_all(&far)?;
    let text = |path: &Path| path.to_str().map(str::to_owned).ok_or("a name that is not UTF-8");
    let (far_text, file_text, listen) = (text(&far)?, text(file)?, free_address()?.to_string());
    let before = of_children()?;
    let words = ["receive", &far_text, "--listen", &listen, "--address", &listen, "--once"];
    let mut receive = Running::of(program, folder, &[&words, options].concat())?;
    let ticket = receive.ticket()?;
    let started = Instant::now();
    let mut send = Running::of(program, folder, &[&["send", &file_text, &ticket], options].concat())?;
    let well = send.wait()? && receive.wait()?;
    let wall = started.elapsed().as_secs_f64();
    if !well {
        return Err("a transfer failed".into());
    }
    std::fs::remove_dir_all(&far)?;
    Ok((of_children()? - before, wall))
}

/// Returns the CPU seconds and wall seconds of copying the file on the disk.
fn copied(folder: &Path, file: &Path) -> Result<(f64, f64)> {
    let (to, before, started) = (folder.join("copy"), of_children()?, Instant::now());
    let status = std::process::Command::new("cp").args(["--reflink=never"]).arg(file).arg(&to).status()?;
    let wall = started.elapsed().as_secs_f64();
    std::fs::remove_file(&to)?;
    match status.success() {
        true => Ok((of_children()? - before, wall)),
        false => Err("cp failed".into()),
    }
}

/// Returns the CPU seconds and wall seconds of hashing the file from memory, once for each end.
fn hashed(content: &[u8]) -> Result<(f64, f64)> {
    let (before, started) = (bare::of_self()?, Instant::now());
    for _ in 0..2 {
        std::hint::black_box(blake3::hash(std::hint::black_box(content)));
    }
    Ok((bare::of_self()? - before, started.elapsed().as_secs_f64()))
}

fn main() -> Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.first().map(String::as_str) {
        Some("receive") => return plain::receive(&words),
        Some("send") => return plain::send(&words),
        _ => {}
    }
    let (ours, plain) = (program()?, std::env::current_exe()?);
    let check = words.iter().any(|word| word == "--check");
    let mut numbers = words.iter().filter_map(|word| word.parse::<usize>().ok());
    let (megabytes, runs) = (numbers.next().unwrap_or(1000), numbers.next().unwrap_or(3));
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("file.bin");
    let content = noise(1, megabytes * 1_000_000);
    std::fs::write(&file, &content)?;
    let gigabytes = megabytes as f64 / 1e3;
    let cubic = ["--controller", "cubic", "--dscp", "default"];
    let short = [&cubic[..], &["--route-mtu", "1500"]].concat();
    let ends = |program, options| processes(program, folder.path(), &file, options);
    let mut ways = [
        Way::of(OURS, || ends(&ours, &[])),
        Way::of(OURS_CUBIC, || ends(&ours, &cubic)),
        Way::of(PLAIN, || ends(&plain, &[])),
        Way::of(QUINN, || bare::run(megabytes, false)),
        Way::of(CP, || copied(folder.path(), &file)),
        Way::of(BLAKE3, || hashed(&content)),
        Way::of(OURS_SHORT, || ends(&ours, &short)),
        Way::of(QUINN_LONG, || bare::run(megabytes, true)),
    ];
    for run in 0..=runs {
        for way in &mut ways {
            let (cpu, wall) = (way.run)()?;
            // The first round warms the page cache.
            if run > 0 {
                way.cpu.push(cpu / gigabytes);
                way.wall.push(wall / gigabytes);
            }
        }
    }
    println!("{:<40} {:>12} {:>12}", format!("{megabytes} MB, median of {runs}"), "CPU s/GB", "wall s/GB");
    for Way { name, cpu, wall, .. } in &ways {
        println!("{name:<40} {:>12.2} {:>12.2}", median(cpu), median(wall));
    }
    let cpu = |name: &str, run: usize| {
        ways.iter().find(|way| way.name == name).and_then(|way| way.cpu.get(run)).copied().unwrap_or(f64::NAN)
    };
    // Ratios of one round each: a machine that is slower for some minutes is so for both sides.
    let middle = |ratio: &dyn Fn(usize) -> f64| median(&(0..runs).map(ratio).collect::<Vec<_>>());
    let ratio = middle(&|run| cpu(OURS, run) / cpu(PLAIN, run));
    println!("ours / plain quinn: {ratio:.3} (asked: <= {MOST})");
    let beside =
        |ours, quinn| middle(&|run| cpu(ours, run) / (cpu(quinn, run) + cpu(CP, run) + cpu(BLAKE3, run)));
    let (needed, equal) = (beside(OURS_CUBIC, QUINN), beside(OURS_SHORT, QUINN));
    println!("with CUBIC / bare quinn + cp + BLAKE3 at each end: {needed:.3} (asked: <= {MOST})");
    println!("the same, datagrams of 1452 bytes in both: {equal:.3} (asked: <= {MOST})");
    println!("the same, long datagrams in both: {:.3}", beside(OURS_CUBIC, QUINN_LONG));
    let holds = [ratio, needed, equal].iter().all(|ratio| *ratio <= MOST);
    if check && !holds {
        return Err("too much CPU for what it does".into());
    }
    Ok(())
}

/// Quinn as it comes, in this process.
mod bare {
    use super::{path_mtu, Instant, Result};
    use nix::sys::resource::{getrusage, UsageWho};
    use nix::sys::time::TimeValLike;
    use quinn::rustls::pki_types::PrivatePkcs8KeyDer;
    use quinn::{ClientConfig, Endpoint, EndpointConfig, ServerConfig, TokioRuntime, TransportConfig};
    use std::net::{SocketAddr, UdpSocket};
    use std::sync::Arc;

    pub fn of_self() -> Result<f64> {
        let usage = getrusage(UsageWho::RUSAGE_SELF)?;
        Ok((usage.user_time().num_microseconds() + usage.system_time().num_microseconds()) as f64 / 1e6)
    }

    /// Runs one transfer with datagrams as long as loopback takes, or with quinn's own.
    pub fn run(megabytes: usize, long: bool) -> Result<(f64, f64)> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        let (before, started) = (of_self()?, Instant::now());
        runtime.block_on(transfer(megabytes, long))?;
        Ok((of_self()? - before, started.elapsed().as_secs_f64()))
    }

    async fn transfer(megabytes: usize, long: bool) -> Result<()> {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()])?;
        let certificate = made.cert.der().clone();
        let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
        let loopback = SocketAddr::from(([127, 0, 0, 1], 0));
        let server = ServerConfig::with_single_cert(vec![certificate.clone()], key.into())?;
        let endpoint = |server: Option<ServerConfig>| {
            let config = if long { path_mtu::endpoint_config() } else { EndpointConfig::default() };
            Endpoint::new(config, server, UdpSocket::bind(loopback)?, Arc::new(TokioRuntime))
        };
        let server = endpoint(Some(server))?;
        let address = server.local_addr()?;
        let mut roots = quinn::rustls::RootCertStore::empty();
        roots.add(certificate)?;
        let mut transport = TransportConfig::default();
        if long {
            transport.mtu_discovery_config(Some(path_mtu::search(address)));
        }
        let mut config = ClientConfig::with_root_certificates(Arc::new(roots))?;
        config.transport_config(Arc::new(transport));
        let mut client = endpoint(None)?;
        client.set_default_client_config(config);
        let receiver = tokio::spawn(async move {
            let connection = server.accept().await?.await.ok()?;
            let mut stream = connection.accept_uni().await.ok()?;
            let mut bytes = 0;
            while let Ok(Some(chunk)) = stream.read_chunk(1 << 20, true).await {
                bytes += chunk.bytes.len();
            }
            connection.close(0u32.into(), b"done");
            Some(bytes)
        });
        let connection = client.connect(address, "localhost")?.await?;
        let mut stream = connection.open_uni().await?;
        let block = bytes::Bytes::from(vec![7; 1_000_000]);
        for _ in 0..megabytes {
            stream.write_chunk(block.clone()).await?;
        }
        stream.finish()?;
        match receiver.await? {
            Some(bytes) if bytes == megabytes * 1_000_000 => Ok(()),
            other => Err(format!("bare quinn delivered {other:?} bytes").into()),
        }
    }
}

/// The two ends of a job on quinn as it comes: its socket, its CUBIC. They take the words that the commands take.
mod plain {
    use super::{path_mtu, Result};
    use afteryou_transfer::dial::Dialer;
    use afteryou_transfer::guard::{Guard, Limits};
    use afteryou_transfer::identity::Identity;
    use afteryou_transfer::job::{self, JobOptions, ListenOptions, Service};
    use afteryou_transfer::source::{Source, SourceOptions};
    use afteryou_transfer::store::{Store, StoreOptions};
    use afteryou_transfer::ticket::{Address, Host, Role, Ticket};
    use afteryou_transfer::tls;
    use quinn::{Endpoint, TokioRuntime};
    use std::net::{SocketAddr, UdpSocket};
    use std::path::{Path, PathBuf};
    use std::sync::Arc;

    fn endpoint(at: SocketAddr, server: Option<quinn::ServerConfig>) -> Result<Endpoint> {
        let (config, socket) = (path_mtu::endpoint_config(), UdpSocket::bind(at)?);
        Ok(Endpoint::new(config, server, socket, Arc::new(TokioRuntime))?)
    }

    /// Runs `receive DIR --listen ADDRESS ...`
    pub fn receive(words: &[String]) -> Result<()> {
        let [_, directory, _, listen, ..] = words else { return Err("receive DIR --listen ADDRESS".into()) };
        let (directory, listen): (&Path, SocketAddr) = (Path::new(directory), listen.parse()?);
        let identity = Identity::ephemeral()?;
        let role = Role::Receive;
        let secret = identity.secret(role, directory)?;
        let mut server = tls::server(&identity, &[tls::Admission { role, secret: secret.clone() }])?;
        server.transport_config(Arc::new(afteryou_transfer::transport()));
        let runtime = tokio::runtime::Runtime::new()?;
        let _inside = runtime.enter();
        let endpoint = endpoint(listen, Some(server))?;
        let addresses = vec![Address { host: Host::Ip(listen.ip()), port: listen.port() }];
        let ticket = Ticket { role, fingerprint: identity.fingerprint(), secret, addresses }.to_line()?;
        println!("{}", serde_json::json!({ "event": "ticket", "ticket": ticket }));
        let service = Service::Receive(Store::open(directory, StoreOptions::default())?);
        let options = ListenOptions { once: true, ..ListenOptions::default() };
        let (_keep, shutdown) = tokio::sync::watch::channel(false);
        let door = Guard::new(endpoint.clone(), Limits::default());
        runtime.block_on(job::listen(door, service, options, shutdown))?;
        endpoint.close(0u32.into(), b"");
        runtime.block_on(endpoint.wait_idle());
        Ok(())
    }

    /// Runs `send FILE TICKET ...`
    pub fn send(words: &[String]) -> Result<()> {
        let [_, file, ticket, ..] = words else { return Err("send FILE TICKET".into()) };
        let runtime = tokio::runtime::Runtime::new()?;
        let _inside = runtime.enter();
        let endpoint = endpoint(SocketAddr::from(([127, 0, 0, 1], 0)), None)?;
        let transport = |remote| {
            let mut transport = afteryou_transfer::transport();
            transport.mtu_discovery_config(Some(path_mtu::search(remote)));
            Arc::new(transport)
        };
        let dial = Dialer::new(endpoint.clone(), &ticket.parse::<Ticket>()?, transport)?;
        let source = Source::of(&[PathBuf::from(file)], SourceOptions::default())?;
        runtime.block_on(job::send(Arc::new(dial), source, JobOptions::default()))?;
        endpoint.close(0u32.into(), b"");
        runtime.block_on(endpoint.wait_idle());
        Ok(())
    }
}
