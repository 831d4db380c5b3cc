//! The testbed's requirements that this machine meets.

use crate::error::Error;
use crate::net::{Family, Plan, Topology};
use crate::system::{self, Urgency};
use std::thread;

/// Optional features, beside namespaces and devices, which are needed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ready {
    /// The wire gets real-time priority, which round-trip times of 10 ms or less need.
    pub is_real_time: bool,
    /// The kernel has IPv6. Without it programs get no IPv6 address, and all else is the same.
    pub has_ipv6: bool,
    /// The kernel's congestion controls.
    pub congestion_controls: String,
}

/// Where the kernel lists them.
const PRESENT: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";

/// Builds the network of a run and takes it down again.
///
/// # Errors
/// The first thing that is missing, with what to do.
pub fn ready() -> Result<Ready, Error> {
    let topology = Topology::build(&Plan { mtu: 1500, socket_buffer: 1 << 20, flows: Vec::new() })?;
    let real_time = || system::become_real_time(Urgency::Wire);
    let real_time = thread::Builder::new().spawn(real_time).map_err(Error::Thread)?;
    Ok(Ready {
        is_real_time: real_time.join().map_err(|_| Error::Crashed)?.is_ok(),
        has_ipv6: topology.families().contains(&Family::V6),
        congestion_controls: present(),
    })
}

/// Returns the names of the kernel's congestion controls.
pub(super) fn present() -> String {
    std::fs::read_to_string(PRESENT).unwrap_or_default().trim().to_owned()
}
