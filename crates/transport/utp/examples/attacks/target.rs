//! The endpoint under attack, its honest peers, and what it costs.

use afteryou_utp::{Endpoint, EndpointConfig, EndpointStatistics};
use std::error::Error;
use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::task::{JoinHandle, JoinSet};

/// Errors of an attack's set-up.
pub type Failure = Box<dyn Error + Send + Sync>;

const REQUEST: [u8; 100] = [1; 100];
const ANSWER: [u8; 1000] = [2; 1000];

/// An endpoint that answers each connection's request.
pub struct Target {
    endpoint: Arc<Endpoint>,
    pub address: SocketAddr,
    serving: JoinHandle<()>,
    watching: JoinHandle<()>,
    most: Arc<Most>,
    before: u64,
}

/// The largest values seen, bytes.
#[derive(Default)]
struct Most {
    accounted: AtomicU64,
    resident: AtomicU64,
}

/// The outcome of an attack.
pub struct Verdict {
    pub served: usize,
    pub of: usize,
    pub slowest: Duration,
    /// The bound of that.
    pub within: Duration,
    /// Memory by the endpoint's account, and its limit, bytes.
    pub accounted: (u64, u64),
    /// How much the process grew, bytes.
    pub grown: u64,
    pub statistics: EndpointStatistics,
    /// Counters of the attacker.
    pub attack: String,
    /// It did what it should have.
    pub attacked: bool,
}

impl Verdict {
    pub fn is_met(&self) -> bool {
        let in_time = self.served == self.of && self.slowest <= self.within;
        in_time && self.accounted.0 <= self.accounted.1 && self.grown <= self.accounted.1 && self.attacked
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mb = |bytes: u64| bytes as f64 / 1e6;
        writeln!(f, "{}", if self.is_met() { "met" } else { "MISSED" })?;
        writeln!(f, "  {}", self.attack)?;
        let (slowest, within) = (self.slowest.as_secs_f64(), self.within.as_secs_f64());
        writeln!(
            f,
            "  served {} of {}, the slowest after {slowest:.3} s (≤ {within} s)",
            self.served, self.of
        )?;
        let (accounted, limit) = (mb(self.accounted.0), mb(self.accounted.1));
        writeln!(
            f,
            "  memory {accounted:.1} MB, the process grew by {:.1} MB (≤ {limit:.1} MB)",
            mb(self.grown)
        )?;
        write!(f, "  {:?}", self.statistics)
    }
}

impl Target {
    pub fn start() -> Result<Target, Failure> {
        let endpoint =
            Arc::new(Endpoint::bind((Ipv4Addr::LOCALHOST, 0).into(), EndpointConfig::foreground())?);
        let (address, most, before) = (endpoint.local_addr()?, Arc::new(Most::default()), resident());
        let serving = tokio::spawn(serve(Arc::clone(&endpoint)));
        let watching = tokio::spawn(watch(Arc::clone(&endpoint), Arc::clone(&most)));
        Ok(Target { endpoint, address, serving, watching, most, before })
    }

    pub fn statistics(&self) -> EndpointStatistics {
        self.endpoint.statistics()
    }

    /// Lets `count` honest peers connect, each from its own address if `spread`, ask and get their answer. Returns how long
    /// each took that was served within `patience`.
    pub async fn serve_honest(&self, count: u8, patience: Duration) -> Vec<Duration> {
        let mut peers = JoinSet::new();
        for i in 0..count {
            let (to, began) = (self.address, Instant::now());
            peers.spawn(async move {
                let exchange =
                    tokio::time::timeout(patience, exchange(Ipv4Addr::new(127, 200, 0, 1 + i), to));
                match exchange.await {
                    Ok(Ok(())) => return Some(began.elapsed()),
                    Ok(Err(error)) => eprintln!("honest peer {i}: {error}"),
                    Err(_) => eprintln!("honest peer {i} gives up after {patience:?}"),
                }
                None
            });
        }
        peers.join_all().await.into_iter().flatten().collect()
    }

    /// Ends it and sums up.
    pub fn verdict(
        self,
        served: &[Duration],
        of: u8,
        within: Duration,
        attack: String,
        attacked: bool,
    ) -> Verdict {
        let statistics = self.statistics();
        self.watching.abort();
        self.serving.abort();
        let most = |value: &AtomicU64| value.load(Ordering::Relaxed);
        Verdict {
            served: served.len(),
            of: of.into(),
            slowest: served.iter().max().copied().unwrap_or_default(),
            within,
            accounted: (most(&self.most.accounted), statistics.memory_limit),
            grown: most(&self.most.resident).saturating_sub(self.before),
            statistics,
            attack,
            attacked,
        }
    }
}

async fn serve(endpoint: Arc<Endpoint>) {
    while let Ok(mut stream) = endpoint.accept().await {
        tokio::spawn(async move {
            let mut request = [0; REQUEST.len()];
            stream.read_exact(&mut request).await?;
            stream.write_all(&ANSWER).await?;
            stream.shutdown().await
        });
    }
}

async fn watch(endpoint: Arc<Endpoint>, most: Arc<Most>) {
    loop {
        most.accounted.fetch_max(endpoint.statistics().memory, Ordering::Relaxed);
        most.resident.fetch_max(resident(), Ordering::Relaxed);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Sends a request and reads its answer.
async fn exchange(from: Ipv4Addr, to: SocketAddr) -> Result<(), Failure> {
    let endpoint = Endpoint::bind((from, 0).into(), EndpointConfig::foreground())?;
    let mut stream = endpoint.connect(to).await?;
    stream.write_all(&REQUEST).await?;
    stream.flush().await?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await?;
    match answer == ANSWER {
        true => Ok(()),
        false => Err(format!("the answer has {} bytes", answer.len()).into()),
    }
}

/// Returns the resident memory of this process, bytes.
fn resident() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: Option<u64> = statm.split(' ').nth(1).and_then(|pages| pages.parse().ok());
    pages.unwrap_or(0) * 4096
}
