//! Our end of a connection with libutp.
#![allow(dead_code)] // each test file uses its own part

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::{Duration, Instant};

use afteryou_base::Dscp;
use afteryou_cc::list;
use afteryou_interop::{Ended, Handle, Job, LibutpPeer, Loss, Outcome, UtpFailure};
use afteryou_utp::{Endpoint, EndpointConfig, Statistics, Stream};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::time::timeout;

pub const V4: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
pub const V6: IpAddr = IpAddr::V6(Ipv6Addr::LOCALHOST);

/// Longer than any of these tests takes; only failing ones wait for it.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// What became of our end.
#[derive(Debug)]
pub struct Ours {
    pub received: Vec<u8>,
    pub statistics: Statistics,
}

/// What happened at both ends.
pub struct Both {
    pub ours: Ours,
    pub libutp: Outcome,
    pub took: Duration,
}

/// Which end opens the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opens {
    Ours,
    Libutp,
}

/// Returns an endpoint's settings with a controller of the list.
pub fn with_controller(name: &'static str) -> EndpointConfig {
    let entry = list::find(name).unwrap();
    EndpointConfig::new(Arc::new(move |setup| entry.build(&[], setup).unwrap()), Dscp::DEFAULT)
}

pub fn bind(ip: IpAddr, config: EndpointConfig) -> Endpoint {
    Endpoint::bind(SocketAddr::new(ip, 0), config).unwrap()
}

pub fn has_ipv6() -> bool {
    let has = UdpSocket::bind((V6, 0)).is_ok();
    if !has {
        eprintln!("left out: this machine has no ipv6 loopback");
    }
    has
}

/// Returns the address families that this machine has.
pub fn families() -> Vec<IpAddr> {
    [V4, V6].into_iter().filter(|ip| *ip == V4 || has_ipv6()).collect()
}

/// Connects the endpoint with a libutp that does `job`.
pub async fn open(endpoint: &Endpoint, opens: Opens, mut job: Job) -> (Stream, Handle) {
    job.options.bind = endpoint.local_addr().unwrap().ip();
    let opened = async {
        match opens {
            Opens::Ours => {
                let peer = LibutpPeer::accept_one(job).unwrap();
                (endpoint.connect(peer.local_addr()).await.unwrap(), peer)
            }
            Opens::Libutp => {
                let peer = LibutpPeer::connect(endpoint.local_addr().unwrap(), job).unwrap();
                (endpoint.accept().await.unwrap(), peer)
            }
        }
    };
    timeout(PATIENCE, opened).await.expect("no connection came up")
}

/// Writes everything and ends our direction while reading to the peer's end.
pub async fn exchange(stream: Stream, send: &[u8]) -> Ours {
    let monitor = stream.monitor();
    let (mut read, mut write) = tokio::io::split(stream);
    let writing = async {
        write.write_all(send).await.expect("writing failed");
        write.shutdown().await.expect("shutdown failed");
    };
    let mut received = Vec::new();
    let reading = async {
        read.read_to_end(&mut received).await.expect("reading failed");
    };
    let done = timeout(PATIENCE, async { tokio::join!(writing, reading) }).await;
    let statistics = monitor.statistics().unwrap_or_default();
    assert!(done.is_ok(), "stuck after receiving {} bytes: {statistics:?}", received.len());
    Ours { received, statistics }
}

/// Waits for libutp without holding up the runtime.
pub async fn join(peer: Handle) -> Outcome {
    let joined = tokio::task::spawn_blocking(|| peer.join(PATIENCE)).await;
    joined.unwrap().expect("libutp did not finish")
}

/// Sends `there` to libutp while it does `job`, and checks that every byte
/// arrived at both ends, that both saw the other's end, and no error.
pub async fn transfer(endpoint: &Endpoint, opens: Opens, there: &[u8], mut job: Job) -> Both {
    job.deadline = PATIENCE;
    // Nothing but the connection's own packets is expected after its end.
    job.options.linger = Duration::ZERO;
    let back = job.send.clone();
    let lossy = job.options.loss != Loss::default();
    // Opening can take long while other tests have libutp.
    let (stream, peer) = open(endpoint, opens, job).await;
    let started = Instant::now();
    let ours = exchange(stream, there).await;
    let took = started.elapsed();
    let libutp = join(peer).await;
    assert!(libutp.received == there, "ours to libutp: {} of {}", libutp.received.len(), there.len());
    assert!(ours.received == back, "libutp to ours: {} of {}", ours.received.len(), back.len());
    // Our end answers libutp's FIN for three more seconds. Who misses that
    // answer again and again on a lossy path is reset.
    let missed_the_last_ack = lossy && libutp.error == Some(UtpFailure::Reset);
    let clean = libutp.closed && libutp.error.is_none();
    assert!(libutp.got_eof && (clean || missed_the_last_ack), "{libutp:?}");
    assert_eq!(libutp.ended, Ended::Done, "{libutp:?}");
    stays_within_what_libutp_takes(&ours.statistics, &libutp);
    Both { ours, libutp, took }
}

/// Asserts that our sender and our receiver keep to what libutp takes: it buffers 1023 packets behind a gap and reads 4
/// bytes of bitmap for sure.
pub fn stays_within_what_libutp_takes(ours: &Statistics, libutp: &Outcome) {
    assert!(ours.max_packets_outstanding <= 1023, "{ours:?}");
    assert!(libutp.got.furthest_ahead <= 1023, "{libutp:?}");
    assert!(libutp.got.longest_sack <= 4, "{libutp:?}");
}

/// Returns a law by which `per_mille` of the datagrams in each direction get lost.
pub fn losing(per_mille: u16, seed: u64) -> Loss {
    Loss { sent_per_mille: per_mille, received_per_mille: per_mille, seed, ..Loss::default() }
}

pub fn mbit_per_second(bytes: usize, took: Duration) -> f64 {
    bytes as f64 * 8e-6 / took.as_secs_f64()
}
