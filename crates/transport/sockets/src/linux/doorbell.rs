//! A descriptor that becomes readable once for all the datagrams that come.
//!
//! # Model
//! A runtime that watches a socket is woken by each datagram that arrives, even while the program reads: the kernel reports
//! edges. A [`Doorbell`] is between them. It rings once, and then the socket is not watched until somebody waits again.
//!
//! ```text
//!            arm                     a datagram                  answer
//! silent ───────────► armed ──────────────────────► ringing ──────────────► silent
//! ```
//!
//! While the bell is silent, a datagram wakes nobody.
//!
//! # Source
//! epoll(7): an epoll descriptor is readable while it has events, so one can watch another; `EPOLLONESHOT` turns an event off after
//! its first report.

use rustix::event::epoll::{self, CreateFlags, EventData, EventFlags};
use rustix::event::Timespec;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};

/// Rings when a socket has something to read, an error included. It is a descriptor that becomes readable then.
#[derive(Debug)]
pub struct Doorbell {
    watching: OwnedFd,
}

impl Doorbell {
    /// Creates a silent doorbell for `socket`. The socket must outlive it.
    ///
    /// # Errors
    /// The process has no descriptor left.
    pub fn new(socket: impl AsFd) -> io::Result<Doorbell> {
        let watching = epoll::create(CreateFlags::CLOEXEC)?;
        // Errors are reported whatever is asked for; `ONESHOT` turns those off, too, once they were reported.
        epoll::add(&watching, socket, EventData::new_u64(0), EventFlags::ONESHOT)?;
        Ok(Doorbell { watching })
    }

    /// Arms it to ring at the next datagram, or at once if one waits already.
    ///
    /// # Errors
    /// `socket` is not that of [`Doorbell::new`].
    pub fn arm(&self, socket: impl AsFd) -> io::Result<()> {
        let once = EventFlags::IN | EventFlags::ONESHOT;
        Ok(epoll::modify(&self.watching, socket, EventData::new_u64(0), once)?)
    }

    /// Silences it. Returns `false` if it has not rung: then it is armed as before.
    ///
    /// # Errors
    /// None that is known.
    pub fn answer(&self) -> io::Result<bool> {
        let mut events = [MaybeUninit::uninit()];
        let (rung, _) = epoll::wait(&self.watching, &mut events, Some(&Timespec::default()))?;
        Ok(!rung.is_empty())
    }
}

impl AsFd for Doorbell {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.watching.as_fd()
    }
}

impl AsRawFd for Doorbell {
    fn as_raw_fd(&self) -> RawFd {
        self.watching.as_raw_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{bind, Families};
    use rustix::event::{poll, PollFd, PollFlags};
    use std::net::UdpSocket;

    fn rings(bell: &Doorbell) -> bool {
        let mut watched = [PollFd::new(bell, PollFlags::IN)];
        poll(&mut watched, Some(&Timespec::default())).unwrap() > 0
    }

    fn pair() -> [UdpSocket; 2] {
        let sockets = [(); 2].map(|()| bind("127.0.0.1:0".parse().unwrap(), Families::Own).unwrap());
        sockets[0].connect(sockets[1].local_addr().unwrap()).unwrap();
        sockets
    }

    #[test]
    fn it_rings_only_when_armed_and_once_for_all_that_comes() {
        let [from, to] = pair();
        let bell = Doorbell::new(&to).unwrap();
        from.send(&[1]).unwrap();
        assert!(!rings(&bell) && !bell.answer().unwrap(), "it was not armed");
        bell.arm(&to).unwrap();
        assert!(rings(&bell), "a datagram waits already");
        from.send(&[2]).unwrap();
        assert!(bell.answer().unwrap() && !bell.answer().unwrap());
        from.send(&[3]).unwrap();
        assert!(!rings(&bell), "it was answered");
        let mut buf = [0; 10];
        while to.recv(&mut buf).is_ok() {}
        bell.arm(&to).unwrap();
        assert!(!rings(&bell), "nothing waits");
        from.send(&[4]).unwrap();
        assert!(rings(&bell));
        assert_eq!(to.recv(&mut buf).unwrap(), 1);
        assert!(!bell.answer().unwrap(), "somebody has read it");
        from.send(&[5]).unwrap();
        assert!(rings(&bell), "still armed");
    }

    #[test]
    fn it_rings_for_an_error() {
        let [socket, other] = pair();
        drop(other);
        let bell = Doorbell::new(&socket).unwrap();
        bell.arm(&socket).unwrap();
        // Nobody is there, which ICMP reports.
        socket.send(&[1]).unwrap();
        assert!(bell.answer().unwrap());
        assert!(socket
            .recv(&mut [0; 10])
            .is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused));
    }
}
