//! A UDP socket for quinn that marks its packets.
//!
//! quinn's own socket writes the whole TOS or traffic-class byte of every datagram, with nothing but ECN in it. A DSCP
//! set on the socket is lost. This one puts both into the byte, and remembers the last byte from each remote address,
//! so a program can find out whether the network keeps the mark.
//!
//! Control messages, batches and their fallbacks are those of `afteryou-sockets`. Where datagrams cannot carry a byte of
//! their own, no DSCP is sent: [`DSCP_IS_SENT`].
//!
//! # Errors
//! Datagrams may be lost, and QUIC sends again, so only "would block" is an error of sending. A datagram larger than
//! the path (EMSGSIZE) was a probe for the MTU. Errors of receiving about datagrams sent before (ECONNREFUSED and the
//! like) are passed over.

mod seen;
#[cfg(all(test, target_os = "linux"))]
mod tests;

pub use afteryou_sockets::TOS_IS_CARRIED as DSCP_IS_SENT;

use crate::driver::{self, pacing_runtime};
use afteryou_base::lock::EvenPoisoned;
use afteryou_base::Dscp;
use afteryou_sockets::{Control, Families, Messages, Options, Outgoing};
use quinn::udp::{EcnCodepoint, RecvMeta, Transmit};
use quinn::{AsyncUdpSocket, EndpointConfig, ServerConfig, TokioRuntime, UdpPoller};
use seen::Seen;
use socket2::SockRef;
use std::fmt;
use std::future::Future;
use std::io::{self, IoSliceMut};
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{ready, Context, Poll};
use tokio::io::Interest;

/// A UDP socket for a quinn endpoint whose packets carry a service class.
pub struct Socket {
    io: tokio::net::UdpSocket,
    control: Control,
    /// The byte that packets carry, without ECN.
    tos: AtomicU8,
    inbox: Mutex<Inbox>,
}

#[derive(Default)]
struct Inbox {
    messages: Messages,
    seen: Seen,
}

/// Creates an endpoint on this socket, on the current tokio runtime. Controllers with a rate pace its packets. To move an
/// endpoint to another socket, see [`quinn::Endpoint::rebind_abstract`].
///
/// # Errors
/// The system's error about the socket.
pub fn endpoint(
    socket: Arc<Socket>,
    config: EndpointConfig,
    server: Option<ServerConfig>,
) -> io::Result<quinn::Endpoint> {
    let runtime = pacing_runtime(Arc::new(TokioRuntime));
    quinn::Endpoint::new_with_abstract_socket(config, server, socket, runtime)
}

impl Socket {
    /// Binds a UDP socket on the current tokio runtime. One bound to `[::]` takes IPv4, too, where the system can.
    ///
    /// # Errors
    /// The system's error about the socket.
    pub fn bind(addr: SocketAddr, dscp: Dscp) -> io::Result<Arc<Socket>> {
        Socket::from_std(afteryou_sockets::bind(addr, Families::Both)?, dscp)
    }

    /// Takes a socket that is bound already.
    ///
    /// # Errors
    /// The system's error about the socket.
    pub fn from_std(socket: std::net::UdpSocket, dscp: Dscp) -> io::Result<Arc<Socket>> {
        socket.set_nonblocking(true)?;
        afteryou_sockets::set_buffers(SockRef::from(&socket));
        let options =
            Options { tos: true, destination: true, batches: true, whole: true, ..Options::default() };
        Ok(Arc::new(Socket {
            control: Control::new(SockRef::from(&socket), options)?,
            io: tokio::net::UdpSocket::from_std(socket)?,
            tos: AtomicU8::new(dscp.tos(0)),
            inbox: Mutex::default(),
        }))
    }

    /// Sets the service class of packets sent from now on.
    pub fn set_dscp(&self, dscp: Dscp) {
        self.tos.store(dscp.tos(0), Ordering::Relaxed);
    }

    /// Returns the service class of packets sent now.
    pub fn dscp(&self) -> Dscp {
        Dscp::of_tos(self.tos.load(Ordering::Relaxed))
    }

    /// Returns the TOS or traffic-class byte, DSCP and ECN, of the newest packet from `remote`. None where the platform does
    /// not report it, or if too many others have sent since.
    pub fn tos_from(&self, remote: SocketAddr) -> Option<u8> {
        self.inbox().seen.get(remote)
    }

    /// Returns what [`tos_from`](Socket::tos_from) does, for everybody who has sent lately, the earliest first.
    pub fn tos_seen(&self) -> Vec<(SocketAddr, u8)> {
        self.inbox().seen.all()
    }

    fn inbox(&self) -> MutexGuard<'_, Inbox> {
        self.inbox.lock().even_poisoned()
    }

    /// Sends one datagram or several of equal size. One that could not be sent counts as lost.
    fn send(&self, transmit: &Transmit<'_>) -> io::Result<()> {
        let outgoing = Outgoing {
            to: transmit.destination,
            tos: self.dscp().tos(transmit.ecn.map_or(0, |ecn| ecn as u8)),
            payload: transmit.contents,
            segment: transmit.segment_size,
            from: transmit.src_ip,
        };
        match self.control.send(SockRef::from(&self.io), &outgoing) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Err(error),
            _ => Ok(()),
        }
    }

    /// Reads the next buffer of datagrams.
    fn receive(&self, buffer: &mut [u8]) -> io::Result<RecvMeta> {
        let Inbox { messages, seen } = &mut *self.inbox();
        let incoming = self.control.receive(SockRef::from(&self.io), messages, buffer)?;
        if let Some(tos) = incoming.tos {
            seen.note(incoming.from, tos);
        }
        Ok(RecvMeta {
            addr: incoming.from,
            len: incoming.bytes,
            stride: incoming.stride,
            ecn: incoming.ecn.and_then(EcnCodepoint::from_bits),
            dst_ip: incoming.to,
        })
    }
}

impl AsyncUdpSocket for Socket {
    fn create_io_poller(self: Arc<Self>) -> Pin<Box<dyn UdpPoller>> {
        Box::pin(WritePoller { socket: self, waiting: None })
    }

    fn try_send(&self, transmit: &Transmit<'_>) -> io::Result<()> {
        driver::depart(|| self.io.try_io(Interest::WRITABLE, || self.send(transmit)))
    }

    fn poll_recv(
        &self,
        cx: &mut Context<'_>,
        bufs: &mut [IoSliceMut<'_>],
        meta: &mut [RecvMeta],
    ) -> Poll<io::Result<usize>> {
        let (Some(buffer), Some(meta)) = (bufs.first_mut(), meta.first_mut()) else {
            return Poll::Ready(Ok(0));
        };
        loop {
            ready!(self.io.poll_recv_ready(cx))?;
            match self.io.try_io(Interest::READABLE, || self.receive(buffer)) {
                Ok(received) => {
                    *meta = received;
                    return Poll::Ready(Ok(1));
                }
                Err(error) if is_about_the_past(&error) => {}
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.io.local_addr()
    }

    fn max_transmit_segments(&self) -> usize {
        self.control.send_segments()
    }

    fn max_receive_segments(&self) -> usize {
        self.control.receive_segments()
    }

    fn may_fragment(&self) -> bool {
        self.control.may_fragment()
    }
}

/// Returns whether an error means nothing to read after all, or is news of a datagram sent before: not a reason to end an
/// endpoint.
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
