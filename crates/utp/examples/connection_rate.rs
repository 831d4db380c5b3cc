//! How many short connections a second two endpoints with default settings carry on loopback: connect, a request of 100
//! bytes, an answer of 1000 bytes, and an end in both directions.
//!
//! ```sh
//! cargo run --release -p afteryou-utp --example connection_rate -- --check
//! ```
//! `--check` exits with 1 below 4000 connections a second or if any fails. `--seconds 10` (the default) must be longer than connections
//! linger, 3 s, or the limits are not reached; `--at-a-time` is 128. Both endpoints run in this process, so the figure is bound by CPU time: that of one
//! connection, both ends together, is printed.

use afteryou_utp::{Endpoint, EndpointConfig, EndpointStatistics};
use std::error::Error;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// Connections at a time, as many as may wait to be accepted.
const AT_A_TIME: usize = 128;
/// Least rate for `--check`, connections a second.
const REQUIRED: f64 = 4000.0;
const REQUEST: [u8; 100] = [1; 100];
const ANSWER: [u8; 1000] = [2; 1000];

#[derive(Default)]
struct Counters {
    done: AtomicU64,
    failed: AtomicU64,
    slowest_us: AtomicU64,
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let seconds = number(&arguments, "--seconds")?.unwrap_or(10.0);
    let at_a_time = number(&arguments, "--at-a-time")?.map_or(AT_A_TIME, |number| number as usize);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let rate = runtime.block_on(measure(Duration::from_secs_f64(seconds), at_a_time))?;
    let is_met = rate.is_some_and(|rate| rate >= REQUIRED);
    let checks = arguments.iter().any(|argument| argument == "--check");
    Ok(if checks && !is_met { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// The number that follows `name`.
fn number(arguments: &[String], name: &str) -> Result<Option<f64>, Box<dyn Error>> {
    let Some(at) = arguments.iter().position(|argument| argument == name) else { return Ok(None) };
    let number = arguments.get(at + 1).ok_or_else(|| format!("{name} requires a number"))?;
    Ok(Some(number.parse()?))
}

/// Connections a second, if none has failed.
async fn measure(duration: Duration, at_a_time: usize) -> Result<Option<f64>, Box<dyn Error>> {
    let bind = || {
        Endpoint::bind("127.0.0.1:0".parse()?, EndpointConfig::foreground()).map_err(Box::<dyn Error>::from)
    };
    let (client, server) = (Arc::new(bind()?), Arc::new(bind()?));
    let to = server.local_addr()?;
    let serving = tokio::spawn(serve(Arc::clone(&server)));
    let counters = Arc::new(Counters::default());
    let (began, cpu_before) = (Instant::now(), cpu_time());
    let clients: Vec<_> = (0..at_a_time)
        .map(|_| {
            let (client, counters) = (Arc::clone(&client), Arc::clone(&counters));
            tokio::spawn(async move {
                while began.elapsed() < duration {
                    let started = Instant::now();
                    match exchange(&client, to).await {
                        Ok(()) => counters.done.fetch_add(1, Ordering::Relaxed),
                        Err(error) => {
                            eprintln!("{error}");
                            counters.failed.fetch_add(1, Ordering::Relaxed)
                        }
                    };
                    counters.slowest_us.fetch_max(started.elapsed().as_micros() as u64, Ordering::Relaxed);
                }
            })
        })
        .collect();
    for task in clients {
        task.await?;
    }
    let took = began.elapsed().as_secs_f64();
    serving.abort();
    let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    let (done, failed) = (count(&counters.done), count(&counters.failed));
    let rate = done as f64 / took;
    println!("{done} connections in {took:.1} s, {rate:.0} a second, {failed} failed");
    println!("the slowest took {:.1} ms", count(&counters.slowest_us) as f64 / 1000.0);
    if let (Some(before), Some(after)) = (cpu_before, cpu_time()) {
        let us = (after - before) / (done + failed).max(1) as f64 * 1e6;
        println!(
            "{us:.0} µs of CPU time for each, both ends together; {:.2} cores busy",
            (after - before) / took
        );
    }
    print("client", client.statistics());
    print("server", server.statistics());
    Ok((failed == 0).then_some(rate))
}

fn print(who: &str, statistics: EndpointStatistics) {
    let EndpointStatistics { connections, lingering, memory, .. } = statistics;
    println!("{who}: {connections} connections, {lingering} linger, {memory} bytes of memory");
}

async fn serve(server: Arc<Endpoint>) {
    while let Ok(mut stream) = server.accept().await {
        tokio::spawn(async move {
            let mut request = [0; REQUEST.len()];
            stream.read_exact(&mut request).await?;
            stream.write_all(&ANSWER).await?;
            stream.shutdown().await
        });
    }
}

async fn exchange(client: &Endpoint, to: std::net::SocketAddr) -> Result<(), Box<dyn Error + Send + Sync>> {
    let mut stream = client.connect(to).await?;
    stream.write_all(&REQUEST).await?;
    stream.shutdown().await?;
    let mut answer = Vec::with_capacity(ANSWER.len());
    stream.read_to_end(&mut answer).await?;
    if answer.len() != ANSWER.len() {
        return Err(format!("the answer has {} bytes", answer.len()).into());
    }
    Ok(())
}

/// CPU time of this process, s; on Linux only.
fn cpu_time() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<&str> = stat.rsplit(')').next()?.split_whitespace().collect();
    let ticks = |at: usize| fields.get(at)?.parse::<f64>().ok();
    Some((ticks(11)? + ticks(12)?) / 100.0)
}
