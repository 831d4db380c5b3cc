//! Our endpoint and the real libutp over a lossy path.

#[path = "support/ours.rs"]
mod ours;
mod support;

use afteryou_interop::{Finish, Job, Loss, Options};
use ours::{bind, losing, transfer, with_controller, Opens, V4};
use support::pattern;

const KIB: usize = 1 << 10;

fn lossy(send: &[u8], loss: Loss) -> Job {
    let options = Options { loss, ..Options::default() };
    Job { send: send.to_vec(), finish: Finish::HalfClose, options, ..Job::default() }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn every_byte_arrives_although_datagrams_are_lost_in_both_directions() {
    for (per_mille, there, back) in [(10, 2048 * KIB, 256 * KIB), (50, 1024 * KIB, 64 * KIB)] {
        for (seed, controller) in (1..).zip(["ledbat++", "cubic"]) {
            for opens in [Opens::Ours, Opens::Libutp] {
                let endpoint = bind(V4, with_controller(controller));
                let job = lossy(&pattern(back), losing(per_mille, seed));
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
}
