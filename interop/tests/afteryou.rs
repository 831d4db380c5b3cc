//! Our endpoint and the real libutp carry each other's bytes.

#[path = "support/ours.rs"]
mod ours;
mod support;

use afteryou_interop::{Finish, Job};
use afteryou_utp::EndpointConfig;
use ours::{bind, families, mbit_per_second, transfer, with_controller, Both, Opens, V4};
use support::pattern;

const MIB: usize = 1 << 20;
const BOTH_WAYS: [Opens; 2] = [Opens::Ours, Opens::Libutp];
/// CUBIC has the other tests.
const CONTROLLERS: [&str; 3] = ["ledbat++", "ledbat", "newreno"];

/// Returns a job in which libutp sends these bytes and a FIN at once, and reads on.
fn sending(bytes: &[u8]) -> Job {
    Job { send: bytes.to_vec(), finish: Finish::HalfClose, ..Job::default() }
}

/// Transfers with every combination of who opens and who sends.
async fn in_all_roles(ip: std::net::IpAddr, controller: &'static str, sizes: &[usize]) {
    let endpoint = bind(ip, with_controller(controller));
    for &size in sizes {
        let (data, other) = (pattern(size), pattern(size + 7));
        for opens in BOTH_WAYS {
            // Neither an accepting libutp nor an accepting end of ours reports anything before the opener's first byte.
            let (first, answer) = match opens {
                Opens::Ours => (&b"x"[..], &b""[..]),
                Opens::Libutp => (&b""[..], &b"x"[..]),
            };
            let there = transfer(&endpoint, opens, &data, sending(answer)).await;
            let back = transfer(&endpoint, opens, first, sending(&data)).await;
            let both = transfer(&endpoint, opens, &data, sending(&other)).await;
            let of = |both: &Both| both.took.as_millis();
            println!(
                "{ip} {controller} {size} B, {opens:?} opens: there {} ms, back {} ms, both at once {} ms",
                of(&there),
                of(&back),
                of(&both)
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn every_byte_arrives_in_all_roles_over_both_ip_versions() {
    for ip in families() {
        let sizes = [1, MIB, 8 * MIB];
        in_all_roles(ip, "cubic", if ip == V4 { &sizes } else { &sizes[1..2] }).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn every_byte_arrives_with_each_other_controller() {
    for controller in CONTROLLERS {
        in_all_roles(V4, controller, &[MIB]).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn every_byte_arrives_with_the_ready_made_background_settings() {
    let endpoint = bind(V4, EndpointConfig::background());
    for opens in BOTH_WAYS {
        transfer(&endpoint, opens, &pattern(8 * MIB), sending(&pattern(MIB))).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn sixty_four_mebibytes_pass_in_each_direction() {
    let data = pattern(64 * MIB);
    let endpoint = bind(V4, EndpointConfig::foreground());
    let there = transfer(&endpoint, Opens::Ours, &data, Job::default()).await;
    println!(
        "ours to libutp: {:.0} Mbit/s, {:?}",
        mbit_per_second(data.len(), there.took),
        there.ours.statistics
    );
    let back = transfer(&endpoint, Opens::Libutp, b"", sending(&data)).await;
    println!("libutp to ours: {:.0} Mbit/s, {:?}", mbit_per_second(data.len(), back.took), back.libutp.sent);
}
