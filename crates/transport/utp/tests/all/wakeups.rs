//! A stream keeps one worker of a runtime busy and leaves the others alone.
#![cfg(target_has_atomic = "64")] // runtimes count parked workers only there

use crate::support::fixed;

use afteryou_base::Dscp;
use afteryou_utp::{Endpoint, EndpointConfig};
use fixed::Fixed;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::runtime::{Builder, Runtime};

/// The stream's rate: each packet finds both ends waiting.
const BYTES_PER_SECOND: u64 = 2_500_000;
/// An idle worker wakes up less often for a packet.
const MOST_WAKEUPS: f64 = 0.1;

fn bind() -> Endpoint {
    let config = EndpointConfig::new(
        Arc::new(|_| Box::new(Fixed { cwnd: 4 << 20, pacing_rate: Some(BYTES_PER_SECOND) })),
        Dscp::DEFAULT,
    );
    Endpoint::bind(SocketAddr::from(([127, 0, 0, 1], 0)), config).unwrap()
}

fn two_workers() -> Runtime {
    Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

/// Returns how often each worker has waited so far: what it waited for woke it up.
fn waits(runtime: &Runtime) -> [u64; 2] {
    [0, 1].map(|worker| runtime.metrics().worker_park_count(worker))
}

#[test]
fn a_worker_with_nothing_to_do_is_not_woken_for_packets() {
    let [sending, receiving] = [(); 2].map(|()| two_workers());
    let receiver = receiving.block_on(async { bind() });
    let to = receiver.local_addr().unwrap();
    let reading = receiving.spawn(async move {
        let mut all = Vec::new();
        receiver.accept().await.unwrap().read_to_end(&mut all).await.unwrap();
        all.len() as u64
    });
    let writing = sending.spawn(async move {
        let mut stream = bind().connect(to).await.unwrap();
        stream.write_all(&vec![7; BYTES_PER_SECOND as usize]).await.unwrap();
        stream.shutdown().await.unwrap();
        stream.statistics()
    });
    // A worker that takes over from the other one leaves it idle: the idler of each moment counts.
    let mut idle = [0; 2];
    let mut before = [waits(&sending), waits(&receiving)];
    while !writing.is_finished() {
        std::thread::sleep(Duration::from_millis(20));
        let after = [waits(&sending), waits(&receiving)];
        for side in 0..2 {
            idle[side] += (after[side][0] - before[side][0]).min(after[side][1] - before[side][1]);
        }
        before = after;
    }
    let statistics = sending.block_on(writing).unwrap();
    assert_eq!(receiving.block_on(reading).unwrap(), BYTES_PER_SECOND);
    let per_packet = idle.map(|count| count as f64 / statistics.data_packets_sent as f64);
    assert!(per_packet.iter().all(|idle| *idle < MOST_WAKEUPS), "{per_packet:?}, {statistics:?}");
}
