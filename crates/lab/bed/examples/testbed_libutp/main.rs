//! The findings of Al-Saadi et al. 2017 in the testbed: the real libutp, our uTP with libutp's controller and recovery, with its
//! controller alone, and as it is by default.
//!
//! ```text
//! cargo build --release -p afteryou-interop --features libutp --bin utp_peer
//! testbed_libutp target/release/utp_peer [--seconds 60] [--only SENDER]
//! testbed_libutp target/release/utp_peer --loss [--seconds 60] [--seeds 5] [--check]
//! ```
//!
//! Alone over FQ-CoDel at short round trips: utilisation, and the times in which the link sent nothing of the flow for more
//! than 0.1 s. Beside the kernel's CUBIC over PIE: the flow's part of what left the link. Each run is printed as it ends;
//! one that the machine was too slow for is marked.
//!
//! With `--loss`: goodput alone on 20 Mbit/s and 50 ms with 1 % and 5 % of loss, the real libutp beside ours with its controller and our
//! recovery, means of several seeds. `--check` fails if ours is below 0.97 of libutp's.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
mod loss;
#[cfg(target_os = "linux")]
mod senders;
#[cfg(target_os = "linux")]
use linux::main;

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("SKIPPED: the testbed runs on Linux only");
}
