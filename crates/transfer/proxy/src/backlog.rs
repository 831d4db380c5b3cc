//! Bounds what lies unread in the kernel when a reader is slow.
//!
//! The kernel takes what a sender sends until its buffer is full, 6 MB a connection or more, since steering lifts the bound: the window is as large
//! as the network allows.
//! A proxy whose client is slow reads no faster than the client, so the rest would stay in the kernel. So all sockets are looked at a few
//! times a second. Where much was unread each time, the buffer is bounded: from then on the window opens as the client reads, and the sender
//! has the client's rate. When a socket was empty some times, the kernel may size its buffer again.

use afteryou_base::lock::EvenPoisoned;
use afteryou_outside::linux::{bound_unread, unbound_unread};
use std::os::fd::AsFd;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;
use tokio::net::TcpStream;

/// Time between two looks.
const APART: Duration = Duration::from_millis(100);
/// Unread bytes that are a backlog: a reader that is merely busy for a moment has fewer, or only once.
const BACKLOG: u64 = 128 << 10;
/// Looks in a row that decide.
const LOOKS: u32 = 2;
/// Payload that a slow reader's buffer is bounded to, bytes. Kernels before 6.17 allow 208 KiB without rights.
const BOUND: usize = 192 << 10;

/// All sockets of a proxy.
#[derive(Clone, Debug, Default)]
pub(crate) struct Backlogs(Arc<Mutex<Vec<Watched>>>);

#[derive(Debug)]
struct Watched {
    socket: Weak<TcpStream>,
    /// Looks in a row that speak for a change.
    looks: u32,
    is_bounded: bool,
}

impl Backlogs {
    /// Watches a socket as long as its owner keeps it.
    pub fn add(&self, socket: &Arc<TcpStream>) {
        let watched = Watched { socket: Arc::downgrade(socket), looks: 0, is_bounded: false };
        self.0.lock().even_poisoned().push(watched);
    }

    /// Looks at the sockets from time to time, indefinitely.
    pub async fn watch(self) {
        let mut ticks = tokio::time::interval(APART);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            self.0.lock().even_poisoned().retain_mut(Watched::look);
        }
    }
}

impl Watched {
    /// Looks at the socket; returns whether it is there still.
    fn look(&mut self) -> bool {
        let Some(socket) = self.socket.upgrade() else { return false };
        let Ok(unread) = rustix::io::ioctl_fionread(socket.as_fd()) else { return true };
        let speaks_for_change = match self.is_bounded {
            false => unread >= BACKLOG,
            true => unread == 0,
        };
        self.looks = if speaks_for_change { self.looks + 1 } else { 0 };
        if self.looks >= LOOKS {
            self.looks = 0;
            self.is_bounded = match self.is_bounded {
                false => bound_unread(socket.as_fd(), BOUND).is_ok(),
                true => unbound_unread(socket.as_fd()).is_err(),
            };
        }
        true
    }
}
