//! Moves the data and prints the table.

use afteryou_bed::net::Namespace;
use afteryou_kernel::{Loaded, NAMES};
use nix::sched::{sched_setaffinity, CpuSet};
use nix::sys::resource::{getrusage, UsageWho};
use nix::sys::time::TimeValLike;
use nix::unistd::Pid;
use socket2::{Domain, Socket, Type};
use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::process::{Command, ExitCode};
use std::thread;
use std::time::{Duration, Instant};

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Bytes of a transfer.
const BYTES: usize = 1_000_000_000;
/// Bytes of a call of the kernel.
const BLOCK: usize = 64 << 10;
/// Largest ratio of a rule's time to CUBIC's.
const RULE: f64 = 1.1;
/// Largest ratio of CUBIC's time while rules are loaded to that without.
const OTHER: f64 = 1.02;
const CUBIC: &str = "cubic";
const RECEIVER: &str = "10.0.0.2";

/// Two namespaces with a pair of veth between them.
struct Path {
    sender: Namespace,
    receiver: Namespace,
}

/// The time of a transfer.
#[derive(Clone, Copy)]
struct Cost {
    processor: Duration,
    wall: Duration,
}

/// The transfers of a connection's kind.
struct Row {
    name: String,
    most: f64,
    costs: Vec<Cost>,
}

pub fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<bool, Failure> {
    let (rounds, is_checked) = settings()?;
    let path = match Path::new() {
        Ok(path) => path,
        Err(error) => {
            println!("SKIPPED: {error}");
            return Ok(true);
        }
    };
    if let Err(error) = Loaded::new() {
        println!("SKIPPED: {error}");
        return Ok(true);
    }
    let row = |name: &str, most| Row { name: name.to_owned(), most, costs: Vec::new() };
    let mut bare = row("cubic, nothing loaded", f64::INFINITY);
    let rules = NAMES.iter().map(|name| (*name, row(name, RULE)));
    // BBR paces, as the rule `afteryou` does.
    let paced = is_present("bbr")?.then(|| ("bbr", row("bbr", f64::INFINITY)));
    let mut beside: Vec<(&str, Row)> =
        std::iter::once((CUBIC, row("cubic, rules loaded", OTHER))).chain(rules).chain(paced).collect();
    // The first transfer fills caches.
    path.transfer(CUBIC)?;
    for _ in 0..rounds {
        bare.costs.push(path.transfer(CUBIC)?);
        let _loaded = Loaded::new()?;
        for (name, row) in &mut beside {
            row.costs.push(path.transfer(name)?);
        }
    }
    println!("| connection | processor s/GB | Gbit/s | ratio to CUBIC alone | at most |");
    println!("|---|--:|--:|--:|--:|");
    print(&bare, &bare);
    beside.iter().for_each(|(_, row)| print(row, &bare));
    let holds = beside.iter().all(|(_, row)| row.ratio(&bare) <= row.most);
    Ok(holds || !is_checked)
}

/// Returns whether the kernel has this congestion control.
fn is_present(name: &str) -> std::io::Result<bool> {
    let present = fs::read_to_string("/proc/sys/net/ipv4/tcp_available_congestion_control")?;
    Ok(present.split_whitespace().any(|other| other == name))
}

fn settings() -> Result<(u32, bool), Failure> {
    let (mut rounds, mut is_checked) = (15, false);
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--rounds" => rounds = arguments.next().ok_or("--rounds needs a value")?.parse()?,
            "--check" => is_checked = true,
            other => return Err(format!("unknown argument {other}: see the head of this file").into()),
        }
    }
    Ok((rounds, is_checked))
}

impl Row {
    /// Returns the median ratio of the processor time to that of the other row in the same round.
    fn ratio(&self, to: &Row) -> f64 {
        let pairs = self.costs.iter().zip(&to.costs);
        median(pairs.map(|(own, other)| own.processor.as_secs_f64() / other.processor.as_secs_f64()))
    }
}

fn print(row: &Row, bare: &Row) {
    let gigabytes = BYTES as f64 / 1e9;
    let most = if row.most.is_finite() { row.most.to_string() } else { "–".to_owned() };
    println!(
        "| {} | {:.3} | {:.1} | {:.3} | {most} |",
        row.name,
        median(row.costs.iter().map(|cost| cost.processor.as_secs_f64() / gigabytes)),
        median(row.costs.iter().map(|cost| gigabytes * 8.0 / cost.wall.as_secs_f64())),
        row.ratio(bare),
    );
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut sorted: Vec<f64> = values.collect();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

impl Path {
    fn new() -> Result<Path, Failure> {
        let (sender, receiver) = (Namespace::new()?, Namespace::new()?);
        let mut sleep = Command::new("sleep");
        sleep.arg("60");
        // A process names the namespace to ip; it ends with the namespace.
        let inside = receiver.spawn(sleep)?.id();
        command(&sender, &format!("ip link add wire type veth peer name wire netns {inside}"))?;
        for (namespace, address) in [(&sender, "10.0.0.1"), (&receiver, RECEIVER)] {
            command(namespace, &format!("ip addr add {address}/24 dev wire"))?;
            command(namespace, "ip link set wire up")?;
        }
        Ok(Path { sender, receiver })
    }

    /// Moves the bytes over a connection with this congestion control.
    fn transfer(&self, controller: &str) -> Result<Cost, Failure> {
        let listener = self.receiver.run(|| TcpListener::bind((RECEIVER, 0)))??;
        let address = listener.local_addr()?;
        let mut socket = self.sender.run(|| connect(controller, address))??;
        let (mut peer, _) = listener.accept()?;
        let (began, before) = (Instant::now(), processor_time()?);
        thread::scope(|threads| -> Result<(), Failure> {
            let reader = threads.spawn(move || -> Result<(), Failure> {
                stay_on(1)?;
                let mut block = vec![0; BLOCK];
                let mut left = BYTES;
                while left > 0 {
                    match peer.read(&mut block)? {
                        0 => return Err("the connection ended early".into()),
                        read => left -= read,
                    }
                }
                Ok(())
            });
            let writer = threads.spawn(move || -> Result<(), Failure> {
                stay_on(0)?;
                let block = vec![0; BLOCK];
                let mut left = BYTES;
                while left > 0 {
                    left -= socket.write(&block[..left.min(BLOCK)])?;
                }
                Ok(())
            });
            [reader, writer]
                .into_iter()
                .try_for_each(|end| end.join().unwrap_or_else(|_| Err("an end panicked".into())))
        })?;
        Ok(Cost { processor: processor_time()? - before, wall: began.elapsed() })
    }
}

fn connect(controller: &str, address: SocketAddr) -> std::io::Result<Socket> {
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
    socket.set_tcp_congestion(controller.as_bytes())?;
    socket.connect(&address.into())?;
    Ok(socket)
}

/// Keeps the calling thread on a core, on a machine with several.
fn stay_on(core: usize) -> Result<(), Failure> {
    if thread::available_parallelism()?.get() < 2 {
        return Ok(());
    }
    let mut cores = CpuSet::new();
    cores.set(core)?;
    Ok(sched_setaffinity(Pid::from_raw(0), &cores)?)
}

/// Runs a command inside.
fn command(namespace: &Namespace, line: &str) -> Result<(), Failure> {
    let mut words = line.split(' ');
    let program = words.next().ok_or("no program")?;
    let output = namespace.run(|| Command::new(program).args(words).output())??;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!("{line}: {}", String::from_utf8_lossy(&output.stderr).trim_end()).into()),
    }
}

/// Returns the processor time of this process and of the kernel's threads that handle packets.
fn processor_time() -> Result<Duration, Failure> {
    let usage = getrusage(UsageWho::RUSAGE_SELF)?;
    let own_us = (usage.user_time() + usage.system_time()).num_microseconds();
    let mut all = Duration::from_micros(own_us.try_into()?);
    for entry in fs::read_dir("/proc")? {
        let folder = entry?.path();
        let is_ours =
            fs::read_to_string(folder.join("comm")).is_ok_and(|name| name.starts_with("ksoftirqd/"));
        if is_ours {
            let text = fs::read_to_string(folder.join("schedstat"))?;
            let ran_ns = text.split(' ').next().ok_or("an empty schedstat")?;
            all += Duration::from_nanos(ran_ns.parse()?);
        }
    }
    Ok(all)
}
