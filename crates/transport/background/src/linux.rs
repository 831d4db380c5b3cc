//! The means of Linux.

use crate::choice;
use crate::fact::{Missing, Rule};
use socket2::SockRef;
use std::io;

const AVAILABLE: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";

/// TC_PRIO_FILLER (`linux/pkt_sched.h`).
const FILLER: u32 = 1;

/// Chooses the best controller for a TCP socket.
pub fn choose_controller(socket: &SockRef<'_>) -> Result<Rule, Missing> {
    let now = socket.tcp_congestion().map_err(|error| Missing::Refused(error.to_string()))?;
    let now = String::from_utf8_lossy(&now);
    let available = std::fs::read_to_string(AVAILABLE).ok();
    choice::choose(now.trim_end_matches('\0'), available.as_deref(), |name| {
        socket.set_tcp_congestion(name.as_bytes())
    })
}

/// Gives the packets of a socket the priority of those that fill gaps.
///
/// # Errors
/// As setsockopt.
pub fn set_low_priority(socket: &SockRef<'_>) -> io::Result<()> {
    socket.set_priority(FILLER)
}
