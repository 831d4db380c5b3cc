//! Jobs whose path, or whose other side, goes away.

use super::moves::limit;
use super::support::{client_endpoint, options, Far, Way};
use crate::disk::common::{content, Pair};
use afteryou_transfer::event::Event;
use afteryou_transfer::job::{get, send, JobOptions, ListenOptions, Service};
use afteryou_transfer::pace::Owner;
use afteryou_transfer::Error;
use std::net::UdpSocket;
use std::time::{Duration, Instant};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_an_outage_of_ten_seconds_data_flows_within_two() {
    // Both directions of a job at the same time, so that they wait together.
    let (silence, back_within) = (Duration::from_secs(10), Duration::from_secs(2));
    tokio::join!(outage(false, silence, back_within), outage(true, silence, back_within));
}

/// `cargo test -p afteryou-transfer --test all -- --ignored ten_minutes` (ten minutes)
#[tokio::test(flavor = "multi_thread")]
#[ignore = "takes ten minutes"]
async fn after_an_outage_of_ten_minutes_the_job_goes_on_by_itself() {
    // By then both sides have given up the connection; attempts come every ten seconds.
    let (silence, back_within) = (Duration::from_secs(600), Duration::from_secs(15));
    tokio::join!(outage(false, silence, back_within), outage(true, silence, back_within));
}

async fn outage(pulled: bool, silence: Duration, back_within: Duration) {
    let pair = Pair::new();
    pair.write("file", &content(30_000_000, 1));
    let far = if pulled { Far::serve(&pair) } else { Far::receive(&pair) };
    let way = Way::to(far.address).await;
    let (events, options) = options();
    let options = JobOptions { give_up_after: None, ..options };
    let pace = options.pace.clone();
    pace.set(Owner::User, limit(4_000_000));
    let dialer = far.dialer_over(way.address, &client_endpoint());
    let job = match pulled {
        false => tokio::spawn(send(dialer, pair.source(), options)),
        true => tokio::spawn(get(dialer, Vec::new(), pair.store(), options)),
    };
    events.until_moved(4_000_000).await;
    way.cut(true);
    tokio::time::sleep(silence).await;
    let counter = if pulled { &way.to_client } else { &way.to_server };
    let before = counter.load(std::sync::atomic::Ordering::Relaxed);
    way.cut(false);
    let start = Instant::now();
    // More than handshakes.
    while counter.load(std::sync::atomic::Ordering::Relaxed) < before + 500_000 {
        assert!(start.elapsed() < back_within, "no data {back_within:?} after the outage, pulled: {pulled}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    println!("pulled {pulled}: 500 kB within {:?} after an outage of {silence:?}", start.elapsed());
    pace.set(Owner::User, afteryou_transfer::pace::Limit::NONE);
    let summary = job.await.unwrap().unwrap();
    assert_eq!(summary.failed, 0);
    pair.assert_same();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_changes_its_address_goes_on_without_a_new_connection() {
    let pair = Pair::new();
    pair.write("file", &content(20_000_000, 1));
    let far = Far::receive(&pair);
    let (events, options) = options();
    let pace = options.pace.clone();
    pace.set(Owner::User, limit(5_000_000));
    let endpoint = client_endpoint();
    let job = tokio::spawn(send(far.dialer_over(far.address, &endpoint), pair.source(), options));
    for address in ["127.0.0.2:0", "127.0.0.1:0"] {
        events.until_moved(events.moved() + 2_000_000).await;
        endpoint.rebind(UdpSocket::bind(address).unwrap()).unwrap();
    }
    events.until_moved(events.moved() + 2_000_000).await;
    pace.set(Owner::User, afteryou_transfer::pace::Limit::NONE);
    let summary = job.await.unwrap().unwrap();
    assert_eq!(summary.bytes_moved, 20_000_000);
    assert_eq!((events.connections(), far.events.connections()), (1, 1));
    pair.assert_same();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_that_dies_at_any_moment_goes_on_where_it_was() {
    let pair = Pair::new();
    let files = 60;
    for i in 0..files {
        pair.write(&format!("d/{i}"), &content(if i % 10 == 0 { 2_000_000 } else { 30_000 }, i));
    }
    let total = files / 10 * 2_000_000 + files * 9 / 10 * 30_000;
    let mut random = 7_u64;
    let mut kills = 0;
    let mut received = 0;
    for attempt in 0.. {
        let options_there = ListenOptions { groups_in_events: true, ..ListenOptions::default() };
        let far = Far::start_with(Service::Receive(pair.store()), options_there);
        let (_, options) = options();
        options.pace.set(Owner::User, limit(6_000_000));
        if attempt >= 30 {
            options.pace.set(Owner::User, afteryou_transfer::pace::Limit::NONE);
        }
        let job = tokio::spawn(send(far.dialer(), pair.source(), options));
        if attempt >= 30 {
            job.await.unwrap().unwrap();
            received += far.events.group_bytes();
            break;
        }
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        tokio::time::sleep(Duration::from_millis(30 + (random >> 33) % 60)).await;
        kills += usize::from(!job.is_finished());
        received += match attempt % 2 {
            0 => {
                job.abort();
                let events = far.events.clone();
                far.stop().await;
                events.group_bytes()
            }
            _ => {
                let events = far.events.clone();
                far.abort().await;
                job.abort();
                // Threads end soon after their tasks.
                tokio::time::sleep(Duration::from_millis(50)).await;
                events.group_bytes()
            }
        };
    }
    pair.assert_same();
    // Per kill at most the group that was being written of each file that was open: one large one and a few small ones.
    assert!(received >= total, "{received} of {total} bytes");
    let again = received - total;
    println!("{kills} kills, {again} bytes received twice");
    assert!(kills > 15, "only {kills} of the kills hit");
    let bound = kills as u64 * (16 * 1024 * 2 + 16 * 30_000);
    assert!(again <= bound, "{again} bytes were received twice, bound {bound}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_listening_side_that_comes_back_is_found() {
    let pair = Pair::new();
    pair.write("file", &content(8_000_000, 1));
    let far = Far::receive(&pair);
    let (events, options) = options();
    let pace = options.pace.clone();
    pace.set(Owner::User, limit(4_000_000));
    let job = tokio::spawn(send(far.dialer(), pair.source(), options));
    events.until_moved(2_000_000).await;
    let far = far.restart(Service::Receive(pair.store())).await;
    pace.set(Owner::User, afteryou_transfer::pace::Limit::NONE);
    let summary = job.await.unwrap().unwrap();
    assert_eq!((summary.stored_files, summary.failed), (1, 0));
    assert_eq!(events.connections(), 2);
    assert!(events.all().iter().any(|event| matches!(event, Event::Disconnected { .. })));
    far.stop().await;
    pair.assert_same();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_gives_up_when_told_to() {
    let pair = Pair::new();
    pair.write("file", b"content");
    let far = Far::receive(&pair);
    let way = Way::to(far.address).await;
    way.cut(true);
    let (_, options) = options();
    let options = JobOptions { give_up_after: Some(Duration::from_secs(1)), ..options };
    let result = send(far.dialer_over(way.address, &client_endpoint()), pair.source(), options).await;
    assert!(matches!(result, Err(Error::GaveUp { .. })), "{result:?}");
}
