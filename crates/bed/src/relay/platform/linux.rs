//! Linux: the TOS byte and the arrival time come with every datagram, the TOS byte goes with it; `ppoll` waits with
//! the precision of the timer.

use super::{Received, LARGEST_DATAGRAM_BYTES};
use afteryou_cc::Span;
use nix::poll::{ppoll, PollFd, PollFlags};
use nix::sys::prctl::set_timerslack;
use nix::sys::socket::{recvmsg, sendmsg, setsockopt, sockopt, ControlMessage, ControlMessageOwned};
use nix::sys::socket::{MsgFlags, SockaddrStorage};
use nix::sys::time::TimeSpec;
use std::io::{self, IoSlice, IoSliceMut};
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::{AsFd, AsRawFd};
use std::time::{Duration, SystemTime};

/// Does a relay on this platform send datagrams on with the TOS or traffic-class byte they came with?
pub const TOS_IS_KEPT: bool = true;

/// Asks for what [`Receiver::receive`] tells.
pub fn prepare(socket: &UdpSocket) -> io::Result<()> {
    match socket.local_addr()? {
        SocketAddr::V4(_) => setsockopt(socket, sockopt::IpRecvTos, &true)?,
        SocketAddr::V6(_) => setsockopt(socket, sockopt::Ipv6RecvTClass, &true)?,
    }
    setsockopt(socket, sockopt::ReceiveTimestampns, &true)?;
    setsockopt(socket, sockopt::RxqOvfl, &1)?;
    Ok(())
}

/// Reads datagrams.
pub struct Receiver {
    payload: Vec<u8>,
    control: Vec<u8>,
}

impl Receiver {
    pub fn new() -> Receiver {
        Receiver {
            payload: vec![0; LARGEST_DATAGRAM_BYTES],
            control: nix::cmsg_space!(i32, u32, TimeSpec, [u64; 8]),
        }
    }

    /// The next datagram of `socket`; `WouldBlock` if there is none.
    pub fn receive(&mut self, socket: &UdpSocket) -> io::Result<Received<'_>> {
        let mut slices = [IoSliceMut::new(&mut self.payload)];
        let flags = MsgFlags::MSG_DONTWAIT;
        let message =
            recvmsg::<SockaddrStorage>(socket.as_raw_fd(), &mut slices, Some(&mut self.control), flags)?;
        let (mut tos, mut age, mut missed) = (0, Span::ZERO, None);
        for control in message.cmsgs()? {
            match control {
                ControlMessageOwned::Ipv4Tos(byte) => tos = byte,
                ControlMessageOwned::Ipv6TClass(class) => tos = class as u8,
                ControlMessageOwned::ScmTimestampns(arrived) => age = age_of(arrived),
                ControlMessageOwned::RxqOvfl(count) => missed = Some(count),
                _ => {}
            }
        }
        let from = message.address.as_ref().and_then(address).ok_or(io::ErrorKind::InvalidData)?;
        let bytes = message.bytes;
        Ok(Received { payload: &self.payload[..bytes], from, tos, age, missed })
    }
}

/// The kernel stamps with the wall clock, which may be set at any time: only the difference to now is used, and a
/// nonsensical one is taken for zero.
fn age_of(arrived: TimeSpec) -> Span {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    now.checked_sub(Duration::from(arrived)).unwrap_or_default().into()
}

fn address(storage: &SockaddrStorage) -> Option<SocketAddr> {
    let v4 = storage.as_sockaddr_in().map(|address| SocketAddr::from(*address));
    v4.or_else(|| storage.as_sockaddr_in6().map(|address| SocketAddr::from(*address)))
}

/// Sends one datagram with this TOS or traffic-class byte.
pub fn send(socket: &UdpSocket, payload: &[u8], to: SocketAddr, tos: u8) -> io::Result<()> {
    let class = i32::from(tos);
    let control = match to {
        SocketAddr::V4(_) => ControlMessage::Ipv4Tos(&tos),
        SocketAddr::V6(_) => ControlMessage::Ipv6TClass(&class),
    };
    let (slices, to) = ([IoSlice::new(payload)], SockaddrStorage::from(to));
    sendmsg(socket.as_raw_fd(), &slices, &[control], MsgFlags::MSG_DONTWAIT, Some(&to))?;
    Ok(())
}

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

    /// The sockets, by position, that have datagrams now.
    pub fn readable(&mut self, into: &mut Vec<usize>) {
        into.clear();
        self.wait(Span::ZERO);
        let ready = |(position, socket): (usize, &PollFd)| socket.any().unwrap_or(true).then_some(position);
        into.extend(self.sockets.iter().enumerate().filter_map(ready));
    }
}
