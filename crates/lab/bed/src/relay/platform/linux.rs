//! Linux: `ppoll` waits with the precision of the timer.

use afteryou_base::Span;
use nix::poll::{ppoll, PollFd, PollFlags};
use nix::sys::prctl::set_timerslack;
use std::net::UdpSocket;
use std::os::fd::AsFd;
use std::time::Duration;

/// Waits for datagrams.
pub struct Poller<'a> {
    sockets: Vec<PollFd<'a>>,
}

impl<'a> Poller<'a> {
    pub fn new(sockets: impl Iterator<Item = &'a UdpSocket>) -> Poller<'a> {
        // Timers of this thread may be bundled with others that are 1 µs away, not 50 µs as usual.
        let _ = set_timerslack(1_000);
        Poller { sockets: sockets.map(|socket| PollFd::new(socket.as_fd(), PollFlags::POLLIN)).collect() }
    }

    /// Returns when a datagram is there, or after `timeout` and what the scheduler adds.
    pub fn wait(&mut self, timeout: Span) {
        let waited = ppoll(&mut self.sockets, Some(Duration::from(timeout).into()), None);
        // Nothing but a signal or a lack of memory can be wrong here; do not spin on the latter.
        if waited.is_err_and(|error| error != nix::errno::Errno::EINTR) {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Lists the sockets, by position, that have datagrams now.
    pub fn readable(&mut self, into: &mut Vec<usize>) {
        into.clear();
        self.wait(Span::ZERO);
        let ready = |(position, socket): (usize, &PollFd)| socket.any().unwrap_or(true).then_some(position);
        into.extend(self.sockets.iter().enumerate().filter_map(ready));
    }
}
