//! The UDP socket of an endpoint: the service class, and its registration with the runtime.

use super::watched::Watched;
use afteryou_base::Dscp;
use afteryou_sockets::{Control, Families, Incoming, Messages, Options, Outgoing, TooBig};
use socket2::SockRef;
use std::io;
use std::net::{SocketAddr, UdpSocket};

/// Binds a non-blocking UDP socket, and asks for a receive buffer of `receive_buffer` bytes.
pub(super) fn bind(addr: SocketAddr, receive_buffer: usize) -> io::Result<UdpSocket> {
    let socket = afteryou_sockets::bind(addr, Families::Own)?;
    // Systems cap it as they like, and less is still useful.
    _ = SockRef::from(&socket).set_recv_buffer_size(receive_buffer);
    Ok(socket)
}

/// Returns how large a receive buffer the system has granted, bytes as it counts them.
pub(super) fn receive_buffer(socket: &UdpSocket) -> Option<u64> {
    SockRef::from(socket).recv_buffer_size().ok().map(|bytes| bytes as u64)
}

/// A socket that the current runtime watches.
pub(super) struct Socket {
    watched: Watched,
    control: Control,
    dscp: Dscp,
}

/// The two low bits of an ECN-capable packet: ECT(0) (RFC 3168 §5).
const ECT0: u8 = 0b10;

/// The way in which datagrams leave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Manner {
    /// They may be fragmented on their way.
    pub fragments: bool,
    /// They are ECN-capable.
    pub ecn: bool,
}

impl Manner {
    /// Returns the TOS or traffic-class byte.
    pub(super) fn tos(self, dscp: Dscp) -> u8 {
        dscp.tos(if self.ecn { ECT0 } else { 0 })
    }
}

impl Socket {
    /// Creates a socket that the current runtime watches, whose packets carry `dscp`. With `searches` they are not
    /// fragmented, and routers' reports are kept.
    pub(super) fn new(socket: UdpSocket, dscp: Dscp, searches: bool) -> io::Result<Socket> {
        let tos = Manner::default().tos(dscp);
        let (whole, reports) = (searches, searches);
        let options = Options {
            own_tos: Some(tos),
            tos: true,
            arrival: true,
            batches: true,
            whole,
            reports,
            ..Options::default()
        };
        let control = Control::new(SockRef::from(&socket), options)?;
        Ok(Socket { watched: Watched::new(socket)?, control, dscp })
    }

    /// Returns whether the system took the service class; some only pretend.
    pub(super) fn dscp_is_set(&self) -> bool {
        self.control.own_tos().is_some()
    }

    /// Returns whether a search for the path MTU can work: packets leave whole or not at all.
    pub(super) fn sends_whole(&self) -> bool {
        !self.control.may_fragment()
    }

    /// Takes the reports of routers that have come since the last call. There are none unless a call has failed.
    pub(super) fn take_too_big(&self) -> Vec<TooBig> {
        let mut found = Vec::new();
        self.control.take_too_big(self.watched.socket(), &mut found);
        found
    }

    /// Returns the memory of the datagrams that wait to be read, as the system counts it.
    pub(super) fn waiting_memory(&self) -> Option<u32> {
        self.control.waiting_memory(self.watched.socket())
    }

    /// Reads the next datagram, if there is one.
    pub(super) fn try_recv_from(&self, messages: &mut Messages, buf: &mut [u8]) -> io::Result<Incoming> {
        self.watched.try_read(|socket| self.control.receive(socket, messages, buf))
    }

    /// Completes when there may be a datagram.
    pub(super) async fn readable(&mut self) -> io::Result<()> {
        self.watched.readable().await
    }

    /// Sends datagrams of `segment` bytes each, the last one of what is left, as soon as the system takes them.
    pub(super) async fn send_to(
        &self,
        bytes: &[u8],
        segment: usize,
        peer: SocketAddr,
        manner: Manner,
    ) -> io::Result<()> {
        let tos = manner.tos(self.dscp);
        let outgoing = Outgoing { tos, segment: Some(segment), ..Outgoing::new(peer, bytes) };
        self.when_writable(|socket| self.send(socket, &outgoing, manner.fragments)).await
    }

    /// Repeats `send` until the system does not refuse it.
    async fn when_writable(&self, mut send: impl FnMut(SockRef<'_>) -> io::Result<()>) -> io::Result<()> {
        loop {
            match self.watched.try_send(&mut send) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.watched.writable().await?,
                result => return result,
            }
        }
    }

    fn send(&self, socket: SockRef<'_>, outgoing: &Outgoing<'_>, fragments: bool) -> io::Result<()> {
        match fragments {
            true => self.control.send_fragmentable(socket, outgoing),
            false => self.control.send(socket, outgoing),
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::time::Duration;
    use tokio::time::timeout;

    fn local() -> SocketAddr {
        SocketAddr::from(([127, 0, 0, 1], 0))
    }

    #[test]
    fn the_receive_buffer_is_as_large_as_asked_for_where_the_system_allows_it() {
        // Every system grants these, and Linux doubles them.
        let granted = [20_000, 100_000].map(|bytes| receive_buffer(&bind(local(), bytes).unwrap()).unwrap());
        assert!((20_000..=40_000).contains(&granted[0]), "{granted:?}");
        assert!((100_000..=200_000).contains(&granted[1]), "{granted:?}");
    }

    // Elsewhere a refusal that is made up brings no report of the system that it is over.
    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn a_packet_that_the_system_refuses_is_sent_again_once_it_takes_packets() {
        let socket = Socket::new(bind(local(), 4 << 20).unwrap(), Dscp::DEFAULT, false).unwrap();
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
        let [here, there] = [(); 2].map(|()| bind(local(), 4 << 20).unwrap());
        let (from, to) = (here.local_addr().unwrap(), there.local_addr().unwrap());
        let [here, mut there] = [here, there].map(|socket| Socket::new(socket, Dscp::LE, false).unwrap());
        for round in 0..3 {
            for _ in 0..=round {
                here.send_to(&[round], 1, to, Manner::default()).await.unwrap();
            }
            timeout(Duration::from_secs(60), there.readable()).await.unwrap().unwrap();
            let mut buf = [0; 10];
            for _ in 0..=round {
                let incoming = there.try_recv_from(&mut Messages::default(), &mut buf).unwrap();
                assert_eq!((incoming.bytes, incoming.from), (1, from));
                assert_eq!(buf[0], round);
            }
            assert_eq!(
                there.try_recv_from(&mut Messages::default(), &mut buf).unwrap_err().kind(),
                io::ErrorKind::WouldBlock
            );
        }
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn a_train_arrives_as_one_batch_with_the_kernels_time() {
        let [from, mut to] =
            [(); 2].map(|()| Socket::new(bind(local(), 4 << 20).unwrap(), Dscp::LE, false).unwrap());
        let address = to.watched.socket().local_addr().unwrap().as_socket().unwrap();
        from.send_to(&[7; 5500], 1000, address, Manner::default()).await.unwrap();
        timeout(Duration::from_secs(60), to.readable()).await.unwrap().unwrap();
        let incoming = to.try_recv_from(&mut Messages::default(), &mut [0; 65_536]).unwrap();
        assert_eq!((incoming.bytes, incoming.stride), (5500, 1000));
        assert!(incoming.arrived.is_some());
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn packets_carry_the_service_class_and_are_ecn_capable_only_if_asked_for() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let address = address.parse().unwrap();
            let [from, to] = [(); 2].map(|()| bind(address, 4 << 20).unwrap());
            let seeing = Options { tos: true, ..Options::default() };
            let control = Control::new(SockRef::from(&to), seeing).unwrap();
            let from = Socket::new(from, Dscp::LE, false).unwrap();
            assert!(from.dscp_is_set());
            to.set_nonblocking(false).unwrap();
            to.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
            // A train is cut into datagrams, each of which has the byte.
            let ecn = address.is_ipv4();
            let manner = Manner { ecn, ..Manner::default() };
            from.send_to(&[7; 2500], 1000, to.local_addr().unwrap(), manner).await.unwrap();
            for bytes in [1000, 1000, 500] {
                let incoming =
                    control.receive(SockRef::from(&to), &mut Messages::default(), &mut [0; 3000]).unwrap();
                assert_eq!(
                    (incoming.bytes, incoming.tos),
                    (bytes, Some(0b0000_0100 | if ecn { ECT0 } else { 0 }))
                );
            }
        }
    }
}
