//! A UDP socket for quinn that marks its packets.
//!
//! quinn's own socket writes the whole TOS or traffic-class byte of every datagram, with nothing but ECN in it: a DSCP set
//! on the socket is lost. This one puts both into the byte, and remembers the byte that came last from each remote
//! address, so that a program can tell whether the network keeps the mark.
//!
//! # How
//! On Linux sending and receiving are `sendmsg` and `recvmsg` with control messages, segmentation offload in both
//! directions included; quinn's code prepares the socket (no fragments, offloads, what is told with a datagram). quinn's
//! receiving could not be used either, since it passes on the two ECN bits alone. Elsewhere quinn's code does it all and
//! no DSCP is sent: [`DSCP_IS_SENT`] tells.
//!
//! # Errors
//! Datagrams may be lost, and QUIC sends again, so only "would block" is an error of sending. A datagram larger than
//! the path (EMSGSIZE) was a probe for the MTU. Where segmentation offload fails (EIO, EINVAL) it is turned off and the
//! segments go out one by one. Errors of receiving that tell of datagrams sent before (ECONNREFUSED and the like) are
//! passed over.

#[cfg(target_os = "linux")]
#[path = "linux.rs"]
mod platform;
#[cfg(not(target_os = "linux"))]
#[path = "portable.rs"]
mod platform;
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "only Linux tells the byte"))]
mod seen;

pub use platform::DSCP_IS_SENT;

use platform::Receiver;
use quinn::udp::{RecvMeta, Transmit, UdpSocketState};
use quinn::{AsyncUdpSocket, EndpointConfig, ServerConfig, TokioRuntime, UdpPoller};
use seen::Seen;
use socket2::{Domain, Protocol, Type};
use std::fmt;
use std::future::Future;
use std::io::{self, IoSliceMut};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{ready, Context, Poll};
use tokio::io::Interest;

/// DSCP of the lower-effort class (RFC 8622).
pub const DSCP_LE: u8 = 0b00_0001;

/// Asked of the kernel for each direction, bytes. With the usual 208 KiB a burst of 150 packets overflows.
const BUFFER: usize = 4 << 20;

/// A UDP socket for a quinn endpoint whose packets carry a service class.
pub struct Socket {
    io: tokio::net::UdpSocket,
    state: UdpSocketState,
    dscp: AtomicU8,
    /// Segmentation offload has failed.
    offload_failed: AtomicBool,
    inbox: Mutex<Inbox>,
}

#[derive(Default)]
struct Inbox {
    receiver: Receiver,
    seen: Seen,
}

/// An endpoint on this socket, on the current tokio runtime. To move an endpoint to another socket, see
/// [`quinn::Endpoint::rebind_abstract`].
///
/// # Errors
/// What the system says of the socket.
pub fn endpoint(
    socket: Arc<Socket>,
    config: EndpointConfig,
    server: Option<ServerConfig>,
) -> io::Result<quinn::Endpoint> {
    quinn::Endpoint::new_with_abstract_socket(config, server, socket, Arc::new(TokioRuntime))
}

impl Socket {
    /// Binds a UDP socket on the current tokio runtime. One bound to `[::]` takes IPv4, too, where the system can.
    ///
    /// # Errors
    /// What the system says of the socket.
    pub fn bind(addr: SocketAddr, dscp: u8) -> io::Result<Arc<Socket>> {
        let socket = socket2::Socket::new(Domain::for_address(addr), Type::DGRAM, Some(Protocol::UDP))?;
        if addr.is_ipv6() {
            // Some systems have no sockets for both; one for IPv6 alone still serves.
            let _ = socket.set_only_v6(false);
        }
        socket.bind(&addr.into())?;
        Socket::from_std(socket.into(), dscp)
    }

    /// Takes a socket that is bound already.
    ///
    /// # Errors
    /// What the system says of the socket.
    pub fn from_std(socket: std::net::UdpSocket, dscp: u8) -> io::Result<Arc<Socket>> {
        // Makes it non-blocking, too.
        let state = UdpSocketState::new((&socket).into())?;
        // Less than asked for is still useful.
        let _ = state.set_send_buffer_size((&socket).into(), BUFFER);
        let _ = state.set_recv_buffer_size((&socket).into(), BUFFER);
        Ok(Arc::new(Socket {
            io: tokio::net::UdpSocket::from_std(socket)?,
            state,
            dscp: AtomicU8::new(dscp & 0x3F),
            offload_failed: AtomicBool::new(false),
            inbox: Mutex::default(),
        }))
    }

    /// The service class of packets sent from now on: six bits, the upper two of `dscp` are ignored.
    pub fn set_dscp(&self, dscp: u8) {
        self.dscp.store(dscp & 0x3F, Ordering::Relaxed);
    }

    /// The service class of packets sent now.
    pub fn dscp(&self) -> u8 {
        self.dscp.load(Ordering::Relaxed)
    }

    /// The TOS or traffic-class byte, DSCP and ECN, of the newest packet from `remote`. None where the platform does not
    /// tell, or if too many others have sent since.
    pub fn tos_from(&self, remote: SocketAddr) -> Option<u8> {
        self.inbox().seen.get(remote)
    }

    /// As [`tos_from`](Socket::tos_from), for everybody who has sent lately, the earliest first.
    pub fn tos_seen(&self) -> Vec<(SocketAddr, u8)> {
        self.inbox().seen.all()
    }

    fn inbox(&self) -> MutexGuard<'_, Inbox> {
        // A panic elsewhere while it was locked is no reason to panic here, too.
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The byte for a packet with these ECN bits.
    #[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "only Linux sends it"))]
    fn tos(&self, ecn: Option<quinn::udp::EcnCodepoint>) -> u8 {
        self.dscp() << 2 | ecn.map_or(0, |ecn| ecn as u8)
    }
}

impl AsyncUdpSocket for Socket {
    fn create_io_poller(self: Arc<Self>) -> Pin<Box<dyn UdpPoller>> {
        Box::pin(WritePoller { socket: self, waiting: None })
    }

    fn try_send(&self, transmit: &Transmit<'_>) -> io::Result<()> {
        self.io.try_io(Interest::WRITABLE, || platform::send(self, transmit))
    }

    fn poll_recv(
        &self,
        cx: &mut Context<'_>,
        bufs: &mut [IoSliceMut<'_>],
        meta: &mut [RecvMeta],
    ) -> Poll<io::Result<usize>> {
        loop {
            ready!(self.io.poll_recv_ready(cx))?;
            let received = self.io.try_io(Interest::READABLE, || {
                let inbox = &mut *self.inbox();
                platform::receive(self, inbox, bufs, meta)
            });
            match received {
                Ok(count) => return Poll::Ready(Ok(count)),
                Err(error) if is_about_the_past(&error) => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.io.local_addr()
    }

    fn max_transmit_segments(&self) -> usize {
        match self.offload_failed.load(Ordering::Relaxed) {
            true => 1,
            false => self.state.max_gso_segments(),
        }
    }

    fn max_receive_segments(&self) -> usize {
        self.state.gro_segments()
    }

    fn may_fragment(&self) -> bool {
        self.state.may_fragment()
    }
}

/// Nothing there after all, or news of a datagram sent before: not a reason to end an endpoint.
fn is_about_the_past(error: &io::Error) -> bool {
    use io::ErrorKind::*;
    matches!(
        error.kind(),
        WouldBlock | Interrupted | ConnectionRefused | ConnectionReset | HostUnreachable | NetworkUnreachable
    )
}

impl fmt::Debug for Socket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Socket").field("io", &self.io).field("dscp", &self.dscp()).finish_non_exhaustive()
    }
}

type Waiting = Pin<Box<dyn Future<Output = io::Result<()>> + Send + Sync>>;

/// Lets one task wait until the socket takes datagrams again.
struct WritePoller {
    socket: Arc<Socket>,
    waiting: Option<Waiting>,
}

impl UdpPoller for WritePoller {
    fn poll_writable(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        let waiting = this.waiting.get_or_insert_with(|| {
            let socket = Arc::clone(&this.socket);
            Box::pin(async move { socket.io.writable().await })
        });
        let result = ready!(waiting.as_mut().poll(cx));
        this.waiting = None;
        Poll::Ready(result)
    }
}

impl fmt::Debug for WritePoller {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WritePoller").field("socket", &self.socket).finish_non_exhaustive()
    }
}
