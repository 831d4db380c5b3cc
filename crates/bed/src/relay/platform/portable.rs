//! Everywhere else: what the standard library can do. The TOS byte is neither seen nor kept, a datagram counts as
//! arrived when it is read, and waiting is a series of naps.

use super::{Received, LARGEST_DATAGRAM_BYTES};
use afteryou_cc::Span;
use std::io;
use std::marker::PhantomData;
use std::net::{SocketAddr, UdpSocket};

/// Does a relay on this platform send datagrams on with the TOS or traffic-class byte they came with?
pub const TOS_IS_KEPT: bool = false;

/// No nap is longer: a datagram may arrive meanwhile and nobody wakes us.
const NAP: Span = Span::from_micros(250);

/// Nothing to ask for.
pub fn prepare(_socket: &UdpSocket) -> io::Result<()> {
    Ok(())
}

/// Reads datagrams.
pub struct Receiver {
    payload: Vec<u8>,
}

impl Receiver {
    pub fn new() -> Receiver {
        Receiver { payload: vec![0; LARGEST_DATAGRAM_BYTES] }
    }

    /// The next datagram of `socket`; `WouldBlock` if there is none.
    pub fn receive(&mut self, socket: &UdpSocket) -> io::Result<Received<'_>> {
        let (bytes, from) = socket.recv_from(&mut self.payload)?;
        Ok(Received { payload: &self.payload[..bytes], from, tos: 0, age: Span::ZERO, missed: None })
    }
}

/// Sends one datagram.
pub fn send(socket: &UdpSocket, payload: &[u8], to: SocketAddr, _tos: u8) -> io::Result<()> {
    socket.send_to(payload, to).map(drop)
}

/// Waits for datagrams.
pub struct Poller<'a> {
    sockets: usize,
    lifetime: PhantomData<&'a UdpSocket>,
}

impl<'a> Poller<'a> {
    pub fn new(sockets: impl Iterator<Item = &'a UdpSocket>) -> Poller<'a> {
        Poller { sockets: sockets.count(), lifetime: PhantomData }
    }

    /// Returns after `timeout` or a nap, whichever is shorter.
    pub fn wait(&mut self, timeout: Span) {
        std::thread::sleep(timeout.min(NAP).into());
    }

    /// The sockets, by position, that may have datagrams: all of them.
    pub fn readable(&mut self, into: &mut Vec<usize>) {
        into.clear();
        into.extend(0..self.sockets);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const _: () = assert!(!TOS_IS_KEPT, "this module cannot see the byte");

    #[test]
    fn a_datagram_is_sent_and_found_without_any_help_of_the_platform() {
        let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
        prepare(&socket).unwrap();
        socket.set_nonblocking(true).unwrap();
        let (mut poller, mut readable) = (Poller::new([&socket].into_iter()), Vec::new());
        send(&socket, b"hello", socket.local_addr().unwrap(), 0).unwrap();
        poller.wait(Span::from_millis(1));
        poller.readable(&mut readable);
        assert_eq!(readable, [0]);
        let mut receiver = Receiver::new();
        let received = receiver.receive(&socket).unwrap();
        assert_eq!((received.payload, received.from), (&b"hello"[..], socket.local_addr().unwrap()));
        assert_eq!(receiver.receive(&socket).err().unwrap().kind(), io::ErrorKind::WouldBlock);
    }
}
