//! The window that a receiver advertises, and its socket's buffer.

use crate::support;
use crate::support::fixed;

use afteryou_base::{Dscp, Span};
use afteryou_utp::{Config, Endpoint, EndpointConfig};
use fixed::Fixed;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use support::{Path, Plan, Socket, World};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::runtime::Builder;

/// Linux' default buffer, and a host that wakes up at once.
const LINUX: u64 = 2 * 212_992;
const AT_ONCE: Span = Span::ZERO;

fn bulk(path: Path, plans: Vec<Plan>, socket: Option<Socket>) -> World {
    let mut world = World::new(path, plans);
    world.socket = socket;
    world
}

/// Returns the path's share that flows get between two instants in ms, and packets that the socket's buffer dropped. What
/// waited behind a gap that was closed meanwhile would make the share more than all.
fn run(world: &mut World, from_ms: u64, to_ms: u64) -> (f64, u64) {
    world.run_until(to_ms);
    let received: u64 = world.flows.iter().map(|flow| flow.received_between(from_ms, to_ms)).sum();
    let share = received as f64 / world.payload_capacity(from_ms, to_ms);
    (share.min(1.0), world.socket.as_ref().map_or(0, |socket| socket.drops))
}

/// Returns the share of 1 Gbit/s that one full buffer in each sleep makes up.
fn buffers_per_sleep(sleep_ms: u64) -> f64 {
    let payload = u64::from(Config::default().payload);
    let world = World::new(Path::new(1000, 50), vec![Plan::bulk("cubic", 0)]);
    (Socket::packets(LINUX, payload) * payload) as f64 / world.payload_capacity(0, sleep_ms)
}

#[test]
fn a_fast_short_path_overflows_no_buffer_however_long_its_reader_sleeps() {
    for sleep_ms in [4, 20, 60] {
        for flows in [1, 4] {
            let plans = || (0..flows).map(|_| Plan::bulk("cubic", 0)).collect();
            let socket = |is_known| Some(Socket::new(LINUX, Span::from_millis(sleep_ms), is_known));
            let case = format!("{sleep_ms} ms, {flows} flows");
            let (share, drops) = run(&mut bulk(Path::new(1000, 50), plans(), socket(true)), 300, 1_000);
            let (unlimited, dropped) =
                run(&mut bulk(Path::new(1000, 50), plans(), socket(false)), 300, 1_000);
            assert!(dropped > 100, "{case}: {dropped} without a limit");
            assert_eq!(drops, 0, "{case}");
            // A buffer is passed on in each sleep, and no more: a figure beyond that has one sleep too many in it. A quarter of the
            // buffer is left to the system, see `SocketBuffer`.
            let unlimited = unlimited.min(buffers_per_sleep(sleep_ms));
            assert!(share > 0.75 * unlimited, "{case}: {share}, {unlimited} without a limit");
        }
    }
}

#[test]
fn a_path_that_holds_more_than_the_buffer_is_filled() {
    // 20 Mbit/s and 250 ms are 625 kB, four times what the buffer holds.
    for (mbit, rtt_ms) in [(20, 250), (100, 135)] {
        for flows in [1, 4] {
            let plans = || (0..flows).map(|_| Plan::bulk("cubic", rtt_ms)).collect();
            let world = |socket| bulk(Path::new(mbit, 100), plans(), socket);
            let (share, drops) = run(&mut world(Some(Socket::new(LINUX, AT_ONCE, true))), 3_000, 8_000);
            let (unlimited, _) = run(&mut world(None), 3_000, 8_000);
            assert_eq!(drops, 0);
            assert!(
                share > 0.99 * unlimited,
                "{mbit} Mbit/s, {rtt_ms} ms, {flows} flows: {share}, {unlimited} without a limit"
            );
        }
    }
}

#[test]
fn a_queue_much_longer_than_its_path_is_no_reason_to_slow_down() {
    // LEDBAT's own queue, 100 ms on a path of 5 ms, is 1.25 MB.
    for (controller, mbit, rtt_ms) in
        [("ledbat", 100, 5), ("ledbat++", 100, 5), ("cubic", 20, 5), ("cubic", 20, 50)]
    {
        let world = |socket| bulk(Path::new(mbit, 500), vec![Plan::bulk(controller, rtt_ms)], socket);
        let (mut limited, mut unlimited) = (world(Some(Socket::new(LINUX, AT_ONCE, true))), world(None));
        let [share, without] = [&mut limited, &mut unlimited].map(|world| run(world, 4_000, 12_000).0);
        let [queue, its] = [&limited, &unlimited].map(|world| world.sojourn_percentile(50, 4_000, 12_000));
        let case = format!("{controller}, {mbit} Mbit/s, {rtt_ms} ms");
        assert!(share > 0.99 * without, "{case}: {share}, {without} without a limit");
        assert!(queue > 0.9 * its, "{case}: {queue} ms of queue, {its} without a limit");
    }
}

#[test]
fn a_slow_start_on_a_far_path_is_not_held_up() {
    for rtt_ms in [50, 135, 250] {
        let bytes = 4_000_000;
        let plan = || vec![Plan::bulk("cubic", rtt_ms).sending(bytes)];
        let took = [Some(Socket::new(LINUX, AT_ONCE, true)), None].map(|socket| {
            let mut world = bulk(Path::new(200, 200), plan(), socket);
            assert!(world.run_to_completion(60_000));
            world.flows[0].finished_at.expect("it is complete").as_secs_f64()
        });
        assert!(took[0] < 1.05 * took[1], "{rtt_ms} ms: {took:?}");
    }
}

/// Packets that are sent one by one.
const SINGLE: usize = 20;

#[test]
fn a_host_that_sleeps_again_and_again_loses_little_of_what_waits_in_its_socket() {
    let bind = || {
        let any_port = SocketAddr::from(([127, 0, 0, 1], 0));
        let config = EndpointConfig::new(
            Arc::new(|_| Box::new(Fixed { cwnd: 1 << 30, pacing_rate: None })),
            Dscp::DEFAULT,
        );
        Endpoint::bind(any_port, config).unwrap()
    };
    let receiving = Builder::new_current_thread().enable_all().build().unwrap();
    let sending = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let receiver = receiving.block_on(async { bind() });
    let to = receiver.local_addr().unwrap();
    let bytes = 60_000_000;
    let writing = sending.spawn(async move {
        let mut stream = bind().connect(to).await.unwrap();
        // A few packets one by one show how short the path is.
        for _ in 0..SINGLE {
            stream.write_all(&[7]).await.unwrap();
            stream.flush().await.unwrap();
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        stream.write_all(&vec![7; bytes - SINGLE]).await.unwrap();
        stream.shutdown().await.unwrap();
        stream.statistics()
    });
    let mut stream = receiving.block_on(receiver.accept()).unwrap();
    let (mut buf, mut received) = (vec![0; 1 << 18], 0);
    // Nothing drives the endpoint between two reads: what arrives stays in the socket.
    for round in 0.. {
        match receiving.block_on(stream.read(&mut buf)).unwrap() {
            0 => break,
            n => received += n,
        }
        if received > 1_000_000 && round % 64 == 0 {
            std::thread::sleep(Duration::from_millis(200));
        }
    }
    assert_eq!(received, bytes);
    drop(stream);
    receiving.block_on(async {
        let statistics = writing.await.unwrap();
        // None on a quiet machine; where the sender's threads sleep, too, that looks like a path. Without a limit it is one in five.
        assert!(statistics.losses < statistics.data_packets_sent / 20, "{statistics:?}");
    });
}
