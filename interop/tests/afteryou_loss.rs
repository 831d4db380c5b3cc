//! Our endpoint and the real libutp over a lossy path.

#[path = "support/ours.rs"]
mod ours;
mod support;
#[path = "support/wide.rs"]
mod wide;

use std::time::Duration;

use afteryou_interop::{Finish, Job, Loss, Options};
use ours::{bind, join, losing, open, stays_within_what_libutp_takes, transfer, with_controller, Opens, V4};
use support::pattern;
use tokio::io::AsyncWriteExt;

const KIB: usize = 1 << 10;

fn lossy(send: &[u8], loss: Loss) -> Job {
    let options = Options { loss, ..Options::default() };
    Job { send: send.to_vec(), finish: Finish::HalfClose, options, ..Job::default() }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn every_byte_arrives_although_datagrams_are_lost_in_both_directions() {
    for (per_mille, there, back) in [(10, 2048 * KIB, 256 * KIB), (50, 1024 * KIB, 64 * KIB)] {
        for (controller, opens) in [("ledbat++", Opens::Ours), ("cubic", Opens::Libutp)] {
            let endpoint = bind(V4, with_controller(controller));
            let job = lossy(&pattern(back), losing(per_mille, 1));
            let both = transfer(&endpoint, opens, &pattern(there), job).await;
            println!(
                "{per_mille} per mille, {controller}, {opens:?} opens: {:?}, {:?} libutp got {:?}",
                both.took, both.ours.statistics, both.libutp.got
            );
            assert!(both.libutp.sent.dropped > 0 && both.libutp.got.dropped > 0);
            assert!(both.ours.statistics.retransmissions > 0);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn holes_in_endless_windows_take_the_sender_no_further_ahead_than_libutp_buffers() {
    let endpoint = bind(V4, wide::window(64 << 20));
    // Neither the controller nor the peer's window stops the sender.
    let mut job = lossy(b"", losing(10, 1));
    job.options.recv_buffer = Some(16 << 20);
    let both = transfer(&endpoint, Opens::Ours, &pattern(8 << 20), job).await;
    println!("{:?}, {:?} libutp got {:?}", both.took, both.ours.statistics, both.libutp.got);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn without_acks_the_sender_stops_after_1023_packets() {
    let endpoint = bind(V4, wide::window(64 << 20));
    let mut job = lossy(b"", Loss { sent_per_mille: 1000, ..Loss::default() });
    job.finish = Finish::KeepOpen;
    job.options.recv_buffer = Some(16 << 20);
    let (mut stream, peer) = open(&endpoint, Opens::Ours, job).await;
    let data = pattern(4 << 20);
    stream.write_all(&data).await.unwrap();
    tokio::time::sleep(Duration::from_millis(400)).await;
    assert_eq!(stream.statistics().max_packets_outstanding, 1023);
    stream.monitor().abort();
    let libutp = join(peer).await;
    stays_within_what_libutp_takes(&stream.statistics(), &libutp);
    assert!(data.starts_with(&libutp.received) && !libutp.received.is_empty(), "{libutp:?}");
}
