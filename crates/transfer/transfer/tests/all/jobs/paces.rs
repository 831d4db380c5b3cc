//! How fast a job goes.

use super::moves::limit;
use super::support::{client_endpoint, options, Far, Link};
use crate::disk::common::{content, Pair};
use afteryou_transfer::job::{get, send, JobOptions, ListenOptions, Service};
use afteryou_transfer::pace::{Limit, Owner, Pace};
use std::time::{Duration, Instant};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_obeys_pause_resume_and_a_change_of_rate() {
    let pair = Pair::new();
    pair.write("file", &content(20_000_000, 1));
    let far = Far::receive(&pair);
    let (events, options) = options();
    let pace = options.pace.clone();
    pace.set(Owner::User, limit(4_000_000));
    let start = Instant::now();
    let job = tokio::spawn(send(far.dialer(), pair.source(), options));
    events.until_moved(4_000_000).await;
    let took = start.elapsed().as_secs_f64();
    assert!((0.8..2.5).contains(&took), "4 MB at 4 MB/s took {took} s");
    pace.set(Owner::Control, Limit { max_rate: None, paused: true });
    tokio::time::sleep(Duration::from_millis(500)).await;
    let paused_at = events.moved();
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(events.moved(), paused_at);
    pace.set(Owner::Control, Limit::NONE);
    pace.set(Owner::User, Limit::NONE);
    let resumed = Instant::now();
    job.await.unwrap().unwrap();
    assert!(resumed.elapsed() < Duration::from_secs(3));
    pair.assert_same();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sink_sets_the_pace_of_the_source() {
    let pair = Pair::new();
    pair.write("file", &content(4_000_000, 1));
    let far = Far::serve(&pair);
    let (events, options) = options();
    let pace = options.pace.clone();
    pace.set(Owner::User, limit(1_000_000));
    let job = tokio::spawn(get(far.dialer(), Vec::new(), pair.store(), options));
    tokio::time::sleep(Duration::from_millis(1500)).await;
    let moved = events.moved();
    assert!((500_000..2_000_000).contains(&moved), "{moved} bytes in 1.5 s at 1 MB/s");
    pace.set(Owner::User, Limit::NONE);
    let start = Instant::now();
    job.await.unwrap().unwrap();
    assert!(start.elapsed() < Duration::from_secs(2));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_listening_sink_sets_the_pace_of_whoever_sends() {
    let pair = Pair::new();
    pair.write("file", &content(2_000_000, 1));
    let pace = Pace::new();
    pace.set(Owner::User, limit(1_000_000));
    let options_there = ListenOptions { pace, ..ListenOptions::default() };
    let far = Far::start_with(Service::Receive(pair.store()), options_there);
    let start = Instant::now();
    send(far.dialer(), pair.source(), options().1).await.unwrap();
    let took = start.elapsed().as_secs_f64();
    assert!((1.5..4.0).contains(&took), "2 MB at 1 MB/s took {took} s");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn on_a_slow_path_a_pause_is_felt_within_a_second() {
    tokio::join!(paused_on_a_slow_path(1), paused_on_a_slow_path(4));
}

async fn paused_on_a_slow_path(connections: usize) {
    let pair = Pair::new();
    for i in 0..8 {
        pair.write(&format!("{i}"), &content(2_000_000, i));
    }
    let options_there = ListenOptions { groups_in_events: true, ..ListenOptions::default() };
    let far = Far::start_with(Service::Receive(pair.store()), options_there);
    let link = Link::to(far.address, 250_000.0, Duration::from_millis(20)).await;
    let dialer = far.dialer_over(link.address, &client_endpoint());
    let options = JobOptions { connections, ..options().1 };
    let pace = options.pace.clone();
    let job = tokio::spawn(send(dialer, pair.source(), options));
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert!(far.events.group_bytes() > 200_000, "{}", far.events.group_bytes());
    pace.set(Owner::Control, Limit { max_rate: None, paused: true });
    tokio::time::sleep(Duration::from_secs(1)).await;
    let paused_at = far.events.group_bytes();
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(far.events.group_bytes(), paused_at, "{connections} connections");
    pace.set(Owner::Control, Limit::NONE);
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(far.events.group_bytes() > paused_at + 50_000);
    job.abort();
    far.stop().await;
}
