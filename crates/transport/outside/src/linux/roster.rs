//! Sockets of this process that are steered without a search: their owner adds them.
//!
//! A search of thousands of descriptors takes long, and `pidfd_getfd`, which it uses, may be refused. A roster has neither problem, and a
//! socket that is added before its first request has its small window from the first byte on.

use super::fitness::{fitness, Fitness};
use super::original::Original;
use super::socket::{self, Kind};
use super::system::{self, TcpInfo};
use crate::rule::group::FIRST_WINDOW;
use afteryou_base::lock::EvenPoisoned;
use std::fmt;
use std::os::fd::AsFd;
use std::sync::{Arc, Mutex, Weak};

/// A socket's low-water mark that lifts its buffer to the system's maximum.
const LIFT: i32 = 1 << 30;

/// A socket of this process.
pub(super) trait Socket: AsFd + Send + Sync {}

impl<S: AsFd + Send + Sync> Socket for S {}

/// A socket that was added.
pub(super) struct Added {
    pub socket: Weak<dyn Socket>,
    /// Its settings before its first window, which is no bound of its owner.
    pub original: Original,
    /// Its state then.
    pub info: TcpInfo,
}

impl Added {
    /// Reads a socket, and gives it its first window; `None` if it cannot be steered.
    fn begin<S: AsFd + Send + Sync + 'static>(socket: &Arc<S>) -> Option<Added> {
        let info = system::tcp_info(socket.as_fd()).ok()?;
        let Ok(Fitness::Fit(original)) = fitness(socket.as_fd(), &info) else { return None };
        lift(socket.as_fd());
        let _ = system::set_window_clamp(socket.as_fd(), FIRST_WINDOW as u32);
        let socket: Weak<dyn Socket> = Arc::<S>::downgrade(socket);
        Some(Added { socket, original, info })
    }
}

/// Sockets of this process that are to be steered. Clones are the same roster.
#[derive(Clone, Default)]
pub struct Roster(Arc<Mutex<Vec<Added>>>);

impl Roster {
    /// Adds a connection, which is steered as long as its owner keeps it. Connections within this machine are left alone.
    pub fn add<S: AsFd + Send + Sync + 'static>(&self, socket: &Arc<S>) {
        if !matches!(socket::kind(socket.as_fd()), Kind::Tcp(Some(_))) {
            return;
        }
        self.0.lock().even_poisoned().extend(Added::begin(socket));
    }

    /// Returns what was added since the last call.
    pub(super) fn take(&self) -> Vec<Added> {
        std::mem::take(&mut self.0.lock().even_poisoned())
    }
}

impl fmt::Debug for Roster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Roster")
    }
}

/// Raises the receive buffer to the system's maximum, which needs no right: then the clamp alone bounds the window.
///
/// For a microsecond the socket is readable with many bytes only: a program that calls `recv` just then, and has a blocking socket, waits for as
/// many as it has room for. So such a socket is lifted before it is connected, or when there is much to come.
pub(super) fn lift(socket: std::os::fd::BorrowedFd<'_>) {
    let _ = system::set_receive_low_water(socket, LIFT);
    let _ = system::set_receive_low_water(socket, 1);
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn the_first_window_of_a_socket_on_the_roster_is_no_bound_of_its_owner() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        for bound in [None, Some(20_000)] {
            let stream = Arc::new(TcpStream::connect(listener.local_addr().unwrap()).unwrap());
            if let Some(bound) = bound {
                system::set_window_clamp(stream.as_fd(), bound).unwrap();
            }
            let added = Added::begin(&stream).expect("it can be steered");
            assert_eq!(system::window_clamp(stream.as_fd()).unwrap(), FIRST_WINDOW as u32);
            assert_eq!(added.original.window_clamp, bound);
        }
    }
}
