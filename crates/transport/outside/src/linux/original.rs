//! Settings of a socket before it was steered, and their return.

use super::in_kernel::is_of_a_run;
use super::socket::{self, Process};
use super::system::{self, TcpInfo};
use super::tree;
use rustix::net::sockopt::{set_tcp_congestion, socket_recv_buffer_size, tcp_congestion};
use rustix::process::{pidfd_open, Pid, PidfdFlags};
use std::collections::HashMap;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// A window that no socket reaches: its buffer is the bound.
const UNBOUNDED_WINDOW: u32 = 1 << 30;
/// The kernel bounds a window by this at least while it connects, bytes: a window without a scale.
const CONNECTING: u32 = 65_535;
/// The congestion control that replaces BBR meanwhile, where there is no background rule.
pub const REPLACEMENT: &str = "reno";

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
    pub fn of(socket: BorrowedFd<'_>, info: &TcpInfo) -> io::Result<Original> {
        let clamp = system::window_clamp(socket)?;
        let is_own = system::has_own_receive_buffer(socket)
            || is_below_the_kernels(clamp, socket_recv_buffer_size(socket)?, info);
        Ok(Original {
            window_clamp: is_own.then_some(clamp),
            pacing_rate: info.max_pacing_rate,
            congestion_control: None,
        })
    }

    /// Gives a socket its settings back. A setting that it refuses stays: it may have been closed meanwhile.
    pub fn give_back(&self, socket: BorrowedFd<'_>) {
        // Only of one whose mark was 1: it is larger for a microsecond while the buffer is lifted, and the process may have died there.
        let _ = system::set_receive_low_water(socket, 1);
        let _ = system::set_window_clamp(socket, self.window_clamp.unwrap_or(UNBOUNDED_WINDOW));
        let _ = system::set_max_pacing_rate(socket, self.pacing_rate);
        // The program may have chosen another one since.
        if let Some(name) = self.congestion_control.as_ref().filter(|_| is_replaced(socket)) {
            let _ = set_tcp_congestion(socket, name);
        }
    }
}

fn is_replaced(socket: BorrowedFd<'_>) -> bool {
    tcp_congestion(socket).is_ok_and(|name| name == REPLACEMENT || is_of_a_run(&name))
}

/// Returns whether a bound is smaller than any that the kernel chooses, so that the program must have set it. The kernel's is half of the
/// buffer but for a packet before data come; with them it follows the share of payload in the packets' memory, seldom below a quarter.
fn is_below_the_kernels(clamp: u32, buffer: usize, info: &TcpInfo) -> bool {
    if info.is_connecting() {
        return clamp < CONNECTING;
    }
    let buffer = u32::try_from(buffer).unwrap_or(u32::MAX);
    match info.bytes_received {
        0 if buffer / 2 > info.advmss.saturating_mul(2) => clamp.saturating_add(info.advmss) < buffer / 2,
        0 => clamp < buffer / 2,
        _ => clamp < buffer / 4,
    }
}

/// Restores sockets. One that is not where it was is looked for in all processes. Returns those that are there and may not be touched.
pub fn restore(sockets: Vec<(Place, Original)>) -> Vec<Place> {
    let mut left: HashMap<u64, (Place, Original)> =
        sockets.into_iter().map(|(place, original)| (place.cookie, (place, original))).collect();
    let places: Vec<Place> = left.values().map(|(place, _)| *place).collect();
    for place in places {
        restore_at(place.pid, place.fd, &mut left);
    }
    let elsewhere = if left.is_empty() { Vec::new() } else { tree::all() };
    for pid in elsewhere {
        tree::sockets(pid).for_each(|(fd, _)| restore_at(pid, fd, &mut left));
    }
    let is_refused = |place: &Place| {
        duplicate_at(place.pid, place.fd).is_err_and(|error| error.kind() == io::ErrorKind::PermissionDenied)
    };
    left.into_values().map(|(place, _)| place).filter(is_refused).collect()
}

/// Restores the socket at a place and takes it out of those that are left, if it is one of them.
fn restore_at(pid: i32, fd: i32, left: &mut HashMap<u64, (Place, Original)>) {
    let Ok(socket) = duplicate_at(pid, fd) else { return };
    let known = socket::cookie(socket.as_fd()).ok().and_then(|cookie| left.remove(&cookie));
    if let Some((_, original)) = known {
        original.give_back(socket.as_fd());
    }
}

fn duplicate_at(pid: i32, fd: i32) -> io::Result<OwnedFd> {
    let pid = Pid::from_raw(pid).ok_or(io::ErrorKind::NotFound)?;
    let process = pidfd_open(pid, PidfdFlags::empty())?;
    socket::duplicate(&Process::Other(process), fd, None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn a_window_that_the_program_has_bounded_is_kept_and_one_that_the_kernel_chose_is_not() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let original = |stream: &TcpStream| {
            let info = system::tcp_info(stream.as_fd()).unwrap();
            Original::of(stream.as_fd(), &info).unwrap()
        };
        for bound in [None, Some(20_000)] {
            let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            if let Some(bound) = bound {
                system::set_window_clamp(stream.as_fd(), bound).unwrap();
            }
            assert_eq!(original(&stream).window_clamp, bound);
            let before = original(&stream);
            system::set_window_clamp(stream.as_fd(), 5000).unwrap();
            system::set_receive_low_water(stream.as_fd(), 1 << 20).unwrap();
            before.give_back(stream.as_fd());
            assert_eq!(system::window_clamp(stream.as_fd()).unwrap(), bound.unwrap_or(UNBOUNDED_WINDOW));
            assert_eq!(system::receive_low_water(stream.as_fd()).unwrap(), 1);
        }
    }
}
