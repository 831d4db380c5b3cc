//! CPU seconds per GB on loopback, sender and receiver together: quinn as it comes (CUBIC, its own socket) and with our
//! controller and our socket. Runs alternate, so that a busy machine disturbs both alike; the medians are compared.
//!
//! `cargo run --release -p afteryou-quic --example cost -- [bytes, 1e9] [runs of each, 5] [--check]`
//!
//! With `--check` the exit code is 1 if ours costs more than 1.1 times as much.

#[cfg(unix)]
#[allow(dead_code)] // the tests use the rest
#[path = "../tests/all/common.rs"]
mod common;

/// Ours may cost at most this multiple of what quinn's own costs.
const MOST: f64 = 1.1;
/// Written at a time, bytes.
const CHUNK: usize = 1 << 20;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    Plain,
    Ours,
}

fn main() {
    let (flags, numbers): (Vec<_>, Vec<_>) = std::env::args().skip(1).partition(|arg| arg.starts_with("--"));
    let number = |index: usize, default| {
        numbers.get(index).and_then(|text| text.parse::<f64>().ok()).unwrap_or(default)
    };
    let (bytes, runs) = (number(0, 1e9).max(1e6), number(1, 5.0).max(1.0) as usize);
    let (mut plain, mut ours) = (Vec::new(), Vec::new());
    for _ in 0..runs {
        for (kind, costs) in [(Kind::Plain, &mut plain), (Kind::Ours, &mut ours)] {
            let run = measure::run(kind, bytes as u64);
            println!("{kind:?}: {:.2} CPU s/GB, {:.0} Mbit/s, {}", run.cpu_s_per_gb, run.mbit, run.remark);
            costs.push(run.cpu_s_per_gb);
        }
    }
    let (plain, ours) = (median(plain), median(ours));
    let ratio = ours / plain;
    println!(
        "medians of {runs}: quinn as it comes {plain:.2}, ours {ours:.2} CPU s/GB: {ratio:.3} times as much"
    );
    if flags.iter().any(|flag| flag == "--check") && ratio > MOST {
        eprintln!("more than {MOST} times: profile `Socket` and `Adapter`");
        std::process::exit(1);
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The cost of one transfer.
struct Run {
    cpu_s_per_gb: f64,
    mbit: f64,
    remark: String,
}

#[cfg(unix)]
mod measure {
    use super::{common, Kind, Run, CHUNK};
    use afteryou_quic::background_transport;
    use nix::sys::resource::{getrusage, UsageWho};
    use nix::sys::time::TimeValLike;
    use quinn::{Endpoint, TransportConfig};
    use std::time::Instant;

    /// Returns the CPU seconds of this process so far, user and system.
    fn cpu_s() -> f64 {
        let usage = getrusage(UsageWho::RUSAGE_SELF).expect("a process can ask for its own usage");
        (usage.user_time().num_microseconds() + usage.system_time().num_microseconds()) as f64 / 1e6
    }

    pub(super) fn run(kind: Kind, bytes: u64) -> Run {
        common::runtime().block_on(transfer(kind, bytes)).expect("loopback works")
    }

    fn transport(kind: Kind) -> TransportConfig {
        match kind {
            Kind::Plain => TransportConfig::default(),
            Kind::Ours => background_transport(),
        }
    }

    fn endpoints(kind: Kind) -> Result<(Endpoint, Endpoint), common::Failure> {
        let here = "127.0.0.1:0";
        Ok(match kind {
            Kind::Plain => {
                let config = common::server_config(transport(kind));
                (Endpoint::server(config, here.parse()?)?, Endpoint::client(here.parse()?)?)
            }
            Kind::Ours => (common::server(here, transport(kind)).0, common::client(here).0),
        })
    }

    async fn transfer(kind: Kind, bytes: u64) -> Result<Run, common::Failure> {
        let (server, client) = endpoints(kind)?;
        let to = server.local_addr()?;
        let receiver = tokio::spawn(async move {
            let connection = server.accept().await.ok_or("closed")?.await?;
            let (mut answer, mut stream) = connection.accept_bi().await?;
            let mut received = 0;
            while let Some(chunk) = stream.read_chunk(CHUNK, true).await? {
                received += chunk.bytes.len() as u64;
            }
            answer.finish()?;
            connection.closed().await;
            Ok::<_, common::Failure>(received)
        });
        let connection = common::connect(&client, to, transport(kind)).await?;
        let (mut stream, mut answer) = connection.open_bi().await?;
        let (data, start, cpu) = (vec![7; CHUNK], Instant::now(), cpu_s());
        let mut left = bytes;
        while left > 0 {
            let now = left.min(CHUNK as u64);
            stream.write_all(&data[..now as usize]).await?;
            left -= now;
        }
        stream.finish()?;
        answer.read_to_end(0).await?;
        let (cpu, time) = (cpu_s() - cpu, start.elapsed().as_secs_f64());
        let path = connection.stats().path;
        connection.close(0u32.into(), b"");
        if receiver.await?? != bytes {
            return Err("bytes are missing".into());
        }
        let remark = format!("{} of {} packets lost", path.lost_packets, path.sent_packets);
        Ok(Run { cpu_s_per_gb: cpu / bytes as f64 * 1e9, mbit: bytes as f64 * 8e-6 / time, remark })
    }
}

#[cfg(not(unix))]
mod measure {
    pub(super) fn run(_: super::Kind, _: u64) -> super::Run {
        eprintln!("this system's CPU times are not read: run it on a Unix");
        std::process::exit(2);
    }
}
