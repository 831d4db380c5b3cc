//! Settings of a socket before it was steered, and their return.

use super::socket::{self, Process};
use super::system;
use super::tree;
use rustix::process::{pidfd_open, Pid, PidfdFlags};
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

/// A window that no socket reaches: its buffer is the bound.
const UNBOUNDED_WINDOW: u32 = 1 << 30;

/// A descriptor of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The process.
    pub pid: i32,
    /// Number of the descriptor.
    pub fd: i32,
    /// The socket's cookie: the descriptor may mean another one by now.
    pub cookie: u64,
}

/// Settings of a socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Original {
    /// Bound of its window, bytes; `None` if the kernel sized it.
    pub window_clamp: Option<u32>,
    /// Largest rate, bytes a second; all bits set: none.
    pub pacing_rate: u64,
    /// Congestion control, if another one has its place.
    pub congestion_control: Option<String>,
}

impl Original {
    /// Reads the settings of a socket.
    ///
    /// # Errors
    /// As getsockopt.
    pub fn of(socket: BorrowedFd<'_>) -> io::Result<Original> {
        let window_clamp = match system::has_own_receive_buffer(socket) {
            true => Some(system::window_clamp(socket)?),
            false => None,
        };
        Ok(Original { window_clamp, pacing_rate: system::max_pacing_rate(socket)?, congestion_control: None })
    }

    /// Gives a socket its settings back. A setting that it refuses stays: it may have been closed meanwhile.
    pub fn give_back(&self, socket: BorrowedFd<'_>) {
        let _ = system::set_window_clamp(socket, self.window_clamp.unwrap_or(UNBOUNDED_WINDOW));
        let _ = system::set_max_pacing_rate(socket, self.pacing_rate);
        if let Some(name) = &self.congestion_control {
            let _ = rustix::net::sockopt::set_tcp_congestion(socket, name);
        }
    }
}

/// Restores sockets of `root` and its descendants. One that has moved to another process of them is found there.
pub fn restore(root: i32, mut sockets: Vec<(Place, Original)>) {
    sockets.retain(|(place, original)| !restore_at(place.pid, place.fd, place.cookie, original));
    if sockets.is_empty() {
        return;
    }
    for pid in tree::descendants(root) {
        for fd in tree::sockets(pid) {
            sockets.retain(|(place, original)| !restore_at(pid, fd, place.cookie, original));
        }
    }
}

/// Restores one socket if it is at that place.
fn restore_at(pid: i32, fd: i32, cookie: u64, original: &Original) -> bool {
    let Some(pid) = Pid::from_raw(pid) else { return false };
    let Ok(process) = pidfd_open(pid, PidfdFlags::empty()) else { return false };
    let Ok(socket) = socket::duplicate(&Process::Other(process), fd, Some(cookie)) else { return false };
    original.give_back(socket.as_fd());
    true
}
