//! The real libutp in the testbed, beside our uTP with libutp's recovery and with its own: the findings of Al-Saadi et al. 2017.
//!
//! ```text
//! (cd interop && cargo build --release --example utp_peer)
//! testbed_libutp interop/target/release/examples/utp_peer [--seconds 60]
//! ```
//!
//! Alone over FQ-CoDel at short round trips: utilisation, and the times in which the link sent nothing of the flow for more than 0.1 s.
//! Beside the kernel's CUBIC over PIE: the flow's part of what left the link. Each run is printed as it ends; one that the machine
//! was too slow for says so.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "linux")]
use linux::main;

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("SKIPPED: the testbed runs on Linux only");
}
