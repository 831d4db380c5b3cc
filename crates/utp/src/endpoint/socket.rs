//! The UDP socket of an endpoint: large buffers, the service class, and its registration with the runtime.

use socket2::{Domain, Protocol, Type};
use std::io;
use std::net::{SocketAddr, UdpSocket};
use tokio::io::Interest;

/// Asked of the kernel for each direction, bytes. With the usual 208 KiB a burst of 150 packets overflows.
const BUFFER: usize = 4 << 20;

/// Binds a non-blocking UDP socket whose packets carry `dscp` and zero ECN bits. Also returns whether the system took
/// the DSCP; some only pretend.
pub(super) fn bind(addr: SocketAddr, dscp: u8) -> io::Result<(UdpSocket, bool)> {
    let socket = socket2::Socket::new(Domain::for_address(addr), Type::DGRAM, Some(Protocol::UDP))?;
    // Less than asked for is still useful.
    let _ = socket.set_recv_buffer_size(BUFFER);
    let _ = socket.set_send_buffer_size(BUFFER);
    let dscp_set = set_dscp(&socket, addr, dscp).is_ok();
    if addr.is_ipv6() {
        socket.set_only_v6(true)?;
    }
    socket.bind(&addr.into())?;
    socket.set_nonblocking(true)?;
    Ok((socket.into(), dscp_set))
}

/// How large a receive buffer the system has granted, bytes as it counts them.
pub(super) fn receive_buffer(socket: &UdpSocket) -> Option<u64> {
    socket2::SockRef::from(socket).recv_buffer_size().ok().map(|bytes| bytes as u64)
}

/// The two low bits of the byte are ECN and stay zero: we do not read marks, so we must not ask for them.
fn set_dscp(socket: &socket2::Socket, addr: SocketAddr, dscp: u8) -> io::Result<()> {
    let tos = u32::from(dscp) << 2;
    if addr.is_ipv4() {
        return socket.set_tos_v4(tos);
    }
    set_traffic_class(socket, tos)
}

#[cfg(not(windows))]
fn set_traffic_class(socket: &socket2::Socket, tos: u32) -> io::Result<()> {
    socket.set_tclass_v6(tos)
}

#[cfg(windows)]
fn set_traffic_class(_: &socket2::Socket, _: u32) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(unix)]
type Registered = tokio::io::unix::AsyncFd<UdpSocket>;
#[cfg(not(unix))]
type Registered = tokio::net::UdpSocket;

/// A socket that the current runtime watches.
///
/// Only for reading, where the system allows it: Linux reports a UDP socket writable after each packet that has left it, so
/// a worker that waits for events would wake up for each packet sent.
pub(super) struct Socket(Registered);

impl Socket {
    pub(super) fn new(socket: UdpSocket) -> io::Result<Socket> {
        register(socket, Interest::READABLE).map(Socket)
    }

    /// Takes a datagram, if there is one.
    #[cfg(unix)]
    pub(super) fn try_recv_from(&self, buf: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        let mut is_asked = false;
        let result = self.0.try_io(Interest::READABLE, |socket| {
            is_asked = true;
            socket.recv_from(buf)
        });
        match is_asked {
            true => result,
            // The runtime has not looked yet, but who wants to know that the buffer is empty has to.
            false => self.0.get_ref().recv_from(buf),
        }
    }

    /// Takes a datagram, if there is one that the runtime has seen.
    #[cfg(not(unix))]
    pub(super) fn try_recv_from(&self, buf: &mut [u8]) -> io::Result<(usize, SocketAddr)> {
        self.0.try_recv_from(buf)
    }

    /// Completes when there may be a datagram.
    pub(super) async fn readable(&self) -> io::Result<()> {
        self.0.readable().await.map(drop)
    }

    /// Sends a datagram, as soon as the system takes it.
    pub(super) async fn send_to(&self, datagram: &[u8], peer: SocketAddr) -> io::Result<()> {
        #[cfg(unix)]
        return self.when_writable(|socket| socket.send_to(datagram, peer).map(drop)).await;
        #[cfg(not(unix))]
        self.0.send_to(datagram, peer).await.map(drop)
    }

    /// Repeats `send` until the system does not refuse it. Only then is the socket watched for writing, under a second
    /// descriptor.
    #[cfg(unix)]
    async fn when_writable(&self, mut send: impl FnMut(&UdpSocket) -> io::Result<()>) -> io::Result<()> {
        loop {
            match send(self.0.get_ref()) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                result => return result,
            }
            let watched = register(self.0.get_ref().try_clone()?, Interest::WRITABLE)?;
            watched.writable().await?.retain_ready();
        }
    }
}

/// Has the current runtime watch a socket. The interest is a wish: elsewhere than on Unix sockets are watched for both.
#[cfg(unix)]
#[allow(deprecated)] // Its replacement is unsafe; what it warns of, a type that changes its descriptor, is not given here.
fn register(socket: UdpSocket, interest: Interest) -> io::Result<Registered> {
    Registered::with_interest(socket, interest)
}

#[cfg(not(unix))]
fn register(socket: UdpSocket, _: Interest) -> io::Result<Registered> {
    Registered::from_std(socket)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::time::Duration;
    use tokio::time::timeout;

    fn local() -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], 0))
    }

    #[tokio::test]
    async fn a_packet_that_the_system_refuses_is_sent_again_once_it_takes_packets() {
        let socket = Socket::new(bind(local(), 0).unwrap().0).unwrap();
        let mut tries = 0;
        let sending = socket.when_writable(|_| {
            tries += 1;
            if tries < 3 {
                Err(io::ErrorKind::WouldBlock.into())
            } else {
                Ok(())
            }
        });
        timeout(Duration::from_secs(60), sending).await.unwrap().unwrap();
        assert_eq!(tries, 3);
    }

    #[tokio::test]
    async fn datagrams_are_reported_and_read_until_none_is_left() {
        let [here, there] = [(); 2].map(|()| bind(local(), 0).unwrap().0);
        let (from, to) = (here.local_addr().unwrap(), there.local_addr().unwrap());
        let [here, there] = [here, there].map(|socket| Socket::new(socket).unwrap());
        for round in 0..3 {
            for _ in 0..=round {
                here.send_to(&[round], to).await.unwrap();
            }
            timeout(Duration::from_secs(60), there.readable()).await.unwrap().unwrap();
            let mut buf = [0; 10];
            for _ in 0..=round {
                assert_eq!(there.try_recv_from(&mut buf).unwrap(), (1, from));
                assert_eq!(buf[0], round);
            }
            assert_eq!(there.try_recv_from(&mut buf).unwrap_err().kind(), io::ErrorKind::WouldBlock);
        }
    }
}
