//! CPU seconds per GB of streams over loopback, both ends together, and how often the threads wake up for a packet.
//!
//! ```sh
//! cargo run --release -p afteryou-utp --example stream_cost -- [bytes, 5e8] [runs of each, 3] [--check]
//! ```
//!
//! Each end has a runtime of its own with one worker, then with two. A stream keeps one worker busy at most, so the
//! idler of two has nothing to do. With `--check` the exit code is 1 if it wakes up 0.1 times a packet or more often,
//! or if two workers cost more than 1.25 times as much as one.

#[cfg(target_os = "linux")]
#[path = "../tests/all/support/fixed.rs"]
mod fixed;

/// An idle worker's wake-ups for a packet are fewer.
const MOST_WAKEUPS: f64 = 0.1;
/// A second worker may cost at most this multiple of one.
const MOST_COST: f64 = 1.25;

#[cfg(target_os = "linux")]
fn main() {
    let (flags, numbers): (Vec<_>, Vec<_>) = std::env::args().skip(1).partition(|arg| arg.starts_with("--"));
    let number = |index: usize, default| {
        numbers.get(index).and_then(|text| text.parse::<f64>().ok()).unwrap_or(default)
    };
    let (bytes, runs) = (number(0, 5e8).max(1e6) as u64, number(1, 3.0).max(1.0) as usize);
    let mut fails = false;
    for mbit in [None, Some(100), Some(20)] {
        // A slow stream gets two seconds.
        let bytes = mbit.map_or(bytes, |mbit| bytes.min(mbit * 1_000_000 / 8 * 2));
        let mut costs = [Vec::new(), Vec::new()];
        let mut wakeups = Vec::new();
        for _ in 0..runs {
            for workers in [1, 2] {
                let run = measure::run(workers, bytes, mbit);
                println!("{workers} workers: {run}");
                costs[workers - 1].push(run.cpu_s_per_gb);
                wakeups.extend((workers == 2).then_some(run.idle_wakeups));
            }
        }
        let [one, two] = costs.map(median);
        let wakeups = median(wakeups);
        let what = mbit.map_or("as fast as it goes".into(), |mbit| format!("at {mbit} Mbit/s"));
        println!(
            "{what}, medians of {runs}: {one:.2} CPU s/GB with one worker, {two:.2} with two, whose idler wakes up {wakeups:.3} times a packet"
        );
        fails |= wakeups >= MOST_WAKEUPS || two > MOST_COST * one;
    }
    if flags.iter().any(|flag| flag == "--check") && fails {
        eprintln!(
            "more than {MOST_WAKEUPS} wake-ups, or {MOST_COST} times the cost: see `endpoint/driver.rs`"
        );
        std::process::exit(1);
    }
}

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("needs Linux, which counts each thread's wake-ups ({MOST_WAKEUPS}, {MOST_COST})");
}

#[cfg(target_os = "linux")]
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

#[cfg(target_os = "linux")]
mod measure {
    use super::fixed::Fixed;
    use afteryou_base::Dscp;
    use afteryou_utp::{Endpoint, EndpointConfig};
    use nix::sys::resource::{getrusage, UsageWho};
    use nix::sys::time::TimeValLike;
    use std::collections::BTreeMap;
    use std::net::SocketAddr;
    use std::sync::Arc;
    use std::time::{Duration, Instant};
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::runtime::{Builder, Runtime};

    /// Cost of one transfer.
    pub(super) struct Run {
        pub cpu_s_per_gb: f64,
        /// Wake-ups for each data packet of the idler worker, on the side where there are more.
        pub idle_wakeups: f64,
        mbit: f64,
        losses: u64,
        /// Wake-ups for each data packet by thread.
        threads: BTreeMap<String, f64>,
    }

    impl std::fmt::Display for Run {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            let Run { cpu_s_per_gb, mbit, losses, threads, .. } = self;
            write!(f, "{cpu_s_per_gb:.2} CPU s/GB, {mbit:.0} Mbit/s, {losses} losses; wake-ups a packet:")?;
            threads.iter().try_for_each(|(name, wakeups)| write!(f, " {name} {wakeups:.3}"))
        }
    }

    pub(super) fn run(workers: usize, bytes: u64, mbit: Option<u64>) -> Run {
        let [sending, receiving] = ["send", "recv"].map(|name| runtime(name, workers));
        let receiver = receiving.block_on(async { bind(mbit) });
        let to = receiver.local_addr().expect("open");
        let sender = sending.block_on(async { bind(mbit) });
        let reading = receiving.spawn(async move {
            let mut stream = receiver.accept().await.expect("an endpoint that is open accepts");
            let (mut buf, mut received) = (vec![0; 1 << 18], 0);
            loop {
                match stream.read(&mut buf).await.expect("the sender ends in good order") {
                    0 => return received,
                    n => received += n as u64,
                }
            }
        });
        let (began, cpu, before) = (Instant::now(), cpu_s(), wakeups());
        let writing = sending.spawn(write(sender, to, bytes));
        // A worker that takes over from the other one leaves it idle: the idler of each moment counts.
        let (mut idle, mut earlier) = ([0; 2], before.clone());
        while !writing.is_finished() {
            std::thread::sleep(Duration::from_millis(50));
            let now = wakeups();
            let woken = |name: &String| now[name] - earlier.get(name).copied().unwrap_or(0);
            for (idle, side) in idle.iter_mut().zip(["send", "recv"]) {
                *idle += now.keys().filter(|name| name.starts_with(side)).map(woken).min().unwrap_or(0);
            }
            earlier = now;
        }
        let (received, statistics) = sending.block_on(async { (reading.await, writing.await) });
        let (took, cpu, after) = (began.elapsed().as_secs_f64(), cpu_s() - cpu, wakeups());
        let statistics = statistics.expect("the writer does not panic");
        assert_eq!(received.expect("the reader does not panic"), bytes);
        let per_packet = |name: &String, count: u64| {
            let count = count - before.get(name).copied().unwrap_or(0);
            count as f64 / statistics.data_packets_sent as f64
        };
        let threads: BTreeMap<String, f64> =
            after.iter().map(|(name, count)| (name.clone(), per_packet(name, *count))).collect();
        Run {
            cpu_s_per_gb: cpu / (bytes as f64 / 1e9),
            idle_wakeups: idle[0].max(idle[1]) as f64 / statistics.data_packets_sent as f64,
            mbit: bytes as f64 * 8e-6 / took,
            losses: statistics.losses,
            threads,
        }
    }

    async fn write(sender: Endpoint, to: SocketAddr, bytes: u64) -> afteryou_utp::Statistics {
        let mut stream = sender.connect(to).await.expect("loopback works");
        let chunk = vec![7; 1 << 18];
        let mut left = bytes;
        while left > 0 {
            let n = left.min(chunk.len() as u64);
            stream.write_all(&chunk[..n as usize]).await.expect("the receiver reads to the end");
            left -= n;
        }
        stream.shutdown().await.expect("the receiver acknowledges the end");
        stream.statistics()
    }

    /// Binds an endpoint with CUBIC, or with a controller that sends `mbit` Mbit/s.
    fn bind(mbit: Option<u64>) -> Endpoint {
        let any_port = SocketAddr::from(([127, 0, 0, 1], 0));
        let fixed = |mbit: u64| {
            let pacing_rate = Some(mbit * 1_000_000 / 8);
            EndpointConfig::new(
                Arc::new(move |_| Box::new(Fixed { cwnd: 4 << 20, pacing_rate })),
                Dscp::DEFAULT,
            )
        };
        let config = mbit.map_or_else(EndpointConfig::foreground, fixed);
        Endpoint::bind(any_port, config).expect("loopback works")
    }

    /// Builds a runtime whose threads are called `name`-0 and so on.
    fn runtime(name: &'static str, workers: usize) -> Runtime {
        let next = std::sync::atomic::AtomicUsize::new(0);
        let name = move || format!("{name}-{}", next.fetch_add(1, std::sync::atomic::Ordering::Relaxed));
        let mut builder = Builder::new_multi_thread();
        builder
            .worker_threads(workers)
            .enable_all()
            .thread_name_fn(name)
            .build()
            .expect("threads are to be had")
    }

    /// Returns the CPU seconds of this process so far, user and system.
    fn cpu_s() -> f64 {
        let usage = getrusage(UsageWho::RUSAGE_SELF).expect("a process can ask for its own usage");
        (usage.user_time().num_microseconds() + usage.system_time().num_microseconds()) as f64 / 1e6
    }

    /// Returns how often each thread has waited for something so far: what it waited for woke it up.
    fn wakeups() -> BTreeMap<String, u64> {
        let mut wakeups = BTreeMap::new();
        for task in std::fs::read_dir("/proc/self/task").expect("Linux has /proc").flatten() {
            let Ok(status) = std::fs::read_to_string(task.path().join("status")) else { continue };
            let field = |name: &str| {
                status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default().trim().to_string()
            };
            let count: u64 = field("voluntary_ctxt_switches:").parse().unwrap_or(0);
            *wakeups.entry(field("Name:")).or_insert(0) += count;
        }
        wakeups
    }
}
