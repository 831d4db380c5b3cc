//! How many short connections a second two endpoints with default settings carry on loopback: connect, a request of 100
//! bytes, an answer of 1000 bytes, and an end in both directions.
//!
//! ```sh
//! cargo run --release -p afteryou-utp --example connection_rate -- --check
//! ```
//! `--check` exits with 1 below 4000 connections a second or if any fails. `--seconds 10` (the default) must be longer than connections
//! linger, 3 s, or the limits are not reached; `--at-a-time` is 128. Both endpoints run in this process, so the figure is bound by CPU time: that of one
//! connection, both ends together, is printed.
//!
//! `--beside-tcp` takes turns with the kernel's TCP, three each of `--seconds`, and prints the ratio of the medians; with `--check` 0.6 is required.

use afteryou_utp::{Endpoint, EndpointConfig, EndpointStatistics};
use std::error::Error;
use std::future::Future;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// Connections at a time, as many as may wait to be accepted.
const AT_A_TIME: usize = 128;
/// Least rate for `--check`, connections a second.
const REQUIRED: f64 = 4000.0;
/// Least part of kernel TCP's rate for `--beside-tcp --check`.
const REQUIRED_OF_TCP: f64 = 0.6;
/// Turns of each transport.
const TURNS: usize = 3;
const REQUEST: [u8; 100] = [1; 100];
const ANSWER: [u8; 1000] = [2; 1000];

#[derive(Default)]
struct Counters {
    done: AtomicU64,
    failed: AtomicU64,
    slowest_us: AtomicU64,
}

/// Reasons for a connection's failure.
type Failure = Box<dyn Error + Send + Sync>;

impl Counters {
    fn count(&self, outcome: Result<Duration, Failure>) {
        match outcome {
            Ok(took) => {
                self.done.fetch_add(1, Ordering::Relaxed);
                self.slowest_us.fetch_max(took.as_micros() as u64, Ordering::Relaxed);
            }
            Err(error) => {
                eprintln!("{error}");
                self.failed.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let seconds = number(&arguments, "--seconds")?.unwrap_or(10.0);
    let at_a_time = number(&arguments, "--at-a-time")?.map_or(AT_A_TIME, |number| number as usize);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let duration = Duration::from_secs_f64(seconds);
    let has = |name: &str| arguments.iter().any(|argument| argument == name);
    let is_met = match has("--beside-tcp") {
        true => {
            runtime.block_on(beside_tcp(duration, at_a_time))?.is_some_and(|part| part >= REQUIRED_OF_TCP)
        }
        false => runtime.block_on(measure(duration, at_a_time))?.is_some_and(|rate| rate >= REQUIRED),
    };
    Ok(if has("--check") && !is_met { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Returns the median rate as a part of kernel TCP's, if no connection has failed.
async fn beside_tcp(duration: Duration, at_a_time: usize) -> Result<Option<f64>, Box<dyn Error>> {
    let (mut ours, mut tcp) = (Vec::new(), Vec::new());
    for _ in 0..TURNS {
        ours.push(measure(duration, at_a_time).await?);
        tcp.push(measure_tcp(duration, at_a_time).await?);
    }
    let part = median(ours).zip(median(tcp)).map(|(ours, tcp)| ours / tcp);
    part.into_iter().for_each(|part| println!("uTP carries {part:.2} of what kernel TCP carries"));
    Ok(part)
}

fn median(rates: Vec<Option<f64>>) -> Option<f64> {
    let mut rates = rates.into_iter().collect::<Option<Vec<f64>>>()?;
    rates.sort_by(f64::total_cmp);
    rates.get(rates.len() / 2).copied()
}

/// Returns the number that follows `name`.
fn number(arguments: &[String], name: &str) -> Result<Option<f64>, Box<dyn Error>> {
    let Some(at) = arguments.iter().position(|argument| argument == name) else { return Ok(None) };
    let number = arguments.get(at + 1).ok_or_else(|| format!("{name} requires a number"))?;
    Ok(Some(number.parse()?))
}

/// Returns the connections a second, if none has failed.
async fn measure(duration: Duration, at_a_time: usize) -> Result<Option<f64>, Box<dyn Error>> {
    let bind = || {
        Endpoint::bind("127.0.0.1:0".parse()?, EndpointConfig::foreground()).map_err(Box::<dyn Error>::from)
    };
    let (client, server) = (Arc::new(bind()?), Arc::new(bind()?));
    let to = server.local_addr()?;
    let (serving, connecting) = (tokio::spawn(serve(Arc::clone(&server))), Arc::clone(&client));
    let connect = move || {
        let client = Arc::clone(&connecting);
        async move { Ok(client.connect(to).await?) }
    };
    let rate = run("uTP", connect, duration, at_a_time).await?;
    serving.abort();
    print("client", client.statistics());
    print("server", server.statistics());
    Ok(rate)
}

/// Measures as [`measure`] does, over the kernel's TCP.
async fn measure_tcp(duration: Duration, at_a_time: usize) -> Result<Option<f64>, Box<dyn Error>> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let to = listener.local_addr()?;
    let serving = tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(answer(stream));
        }
    });
    let rate =
        run("kernel TCP", move || async move { Ok(TcpStream::connect(to).await?) }, duration, at_a_time)
            .await?;
    serving.abort();
    Ok(rate)
}

/// Lets a number of tasks open, use and close connections one after the other. Returns connections a second, if none has failed.
async fn run<C, F, S>(
    name: &str,
    connect: C,
    duration: Duration,
    at_a_time: usize,
) -> Result<Option<f64>, Box<dyn Error>>
where
    C: Fn() -> F + Clone + Send + Sync + 'static,
    F: Future<Output = Result<S, Failure>> + Send,
    S: AsyncRead + AsyncWrite + Unpin + Send,
{
    let counters = Arc::new(Counters::default());
    let (began, cpu_before) = (Instant::now(), cpu_time());
    let clients: Vec<_> = (0..at_a_time)
        .map(|_| {
            let (connect, counters) = (connect.clone(), Arc::clone(&counters));
            tokio::spawn(async move {
                while began.elapsed() < duration {
                    counters.count(exchange(&connect).await);
                }
            })
        })
        .collect();
    for task in clients {
        task.await?;
    }
    let took = began.elapsed().as_secs_f64();
    let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    let (done, failed) = (count(&counters.done), count(&counters.failed));
    let rate = done as f64 / took;
    println!("{name}: {done} connections in {took:.1} s, {rate:.0} a second, {failed} failed");
    println!("the slowest took {:.1} ms", count(&counters.slowest_us) as f64 / 1000.0);
    if let (Some(before), Some(after)) = (cpu_before, cpu_time()) {
        let us = (after - before) / (done + failed).max(1) as f64 * 1e6;
        println!(
            "{us:.0} µs of CPU time for each, both ends together; {:.2} cores busy",
            (after - before) / took
        );
    }
    Ok((failed == 0).then_some(rate))
}

fn print(who: &str, statistics: EndpointStatistics) {
    let EndpointStatistics { connections, lingering, memory, .. } = statistics;
    println!("{who}: {connections} connections, {lingering} linger, {memory} bytes of memory");
}

async fn serve(server: Arc<Endpoint>) {
    while let Ok(stream) = server.accept().await {
        tokio::spawn(answer(stream));
    }
}

async fn answer(mut stream: impl AsyncRead + AsyncWrite + Unpin) -> std::io::Result<()> {
    let mut request = [0; REQUEST.len()];
    stream.read_exact(&mut request).await?;
    stream.write_all(&ANSWER).await?;
    stream.shutdown().await
}

/// Runs one connection; returns how long it took.
async fn exchange<F, S>(connect: impl Fn() -> F) -> Result<Duration, Failure>
where
    F: Future<Output = Result<S, Failure>>,
    S: AsyncRead + AsyncWrite + Unpin,
{
    let started = Instant::now();
    let mut stream = connect().await?;
    stream.write_all(&REQUEST).await?;
    stream.shutdown().await?;
    let mut answer = Vec::with_capacity(ANSWER.len());
    stream.read_to_end(&mut answer).await?;
    if answer.len() != ANSWER.len() {
        return Err(format!("the answer has {} bytes", answer.len()).into());
    }
    Ok(started.elapsed())
}

/// Returns the CPU time of this process, s; on Linux only.
fn cpu_time() -> Option<f64> {
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let fields: Vec<&str> = stat.rsplit(')').next()?.split_whitespace().collect();
    let ticks = |at: usize| fields.get(at)?.parse::<f64>().ok();
    Some((ticks(11)? + ticks(12)?) / 100.0)
}
