//! Which sockets can be steered.

use super::original::Original;
use super::system::{self, TcpInfo};
use rustix::net::sockopt::socket_linger;
use std::io;
use std::os::fd::BorrowedFd;
use std::time::Duration;

/// Whether a socket can be steered.
#[derive(Debug)]
pub enum Fitness {
    /// It can be steered: its settings before.
    Fit(Original),
    /// It may be, later.
    NotYet,
    /// It never is.
    Never,
}

/// Returns whether a socket can be steered.
///
/// # Errors
/// As getsockopt.
pub fn fitness(socket: BorrowedFd<'_>, info: &TcpInfo) -> io::Result<Fitness> {
    if !info.is_open() {
        return Ok(if info.is_listening() { Fitness::Never } else { Fitness::NotYet });
    }
    // A program that waits for a certain number of bytes could wait for ever for a smaller window.
    let waits_for_more = system::receive_low_water(socket)? > 1;
    // The last to close such a socket waits until its data are sent, and that could be this process.
    let lingers = socket_linger(socket)?.is_some_and(|time| time > Duration::ZERO);
    if waits_for_more || lingers {
        return Ok(Fitness::Never);
    }
    Ok(Fitness::Fit(Original::of(socket, info)?))
}
