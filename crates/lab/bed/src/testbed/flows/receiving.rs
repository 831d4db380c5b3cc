//! The receiving end of a flow. A connection is found by its sender's port.

use super::course::Course;
use super::Shared;
use crate::error::Error;
use crate::net::{Side, Topology};
use crate::run::ends::Server;
use crate::run::log::Log;
use crate::run::quic::Quic;
use afteryou_base::lock::EvenPoisoned;
use afteryou_outside::rule::Direction;
use afteryou_utp::{Endpoint, EndpointConfig};
use socket2::{Domain, Socket, Type};
use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::net::{TcpListener, TcpStream, UdpSocket};

/// Read at a time, bytes.
const CHUNK: usize = 64 << 10;
/// Connections that may wait to be accepted.
const BACKLOG: i32 = 1024;

/// A receiver at work; its tasks end with the runtime.
#[derive(Clone)]
pub(super) struct Receiver {
    pub(super) address: SocketAddr,
    courses: Arc<Mutex<BTreeMap<u16, Arc<Course>>>>,
    /// Payload of datagrams.
    pub(super) datagram_bytes: Arc<AtomicU64>,
}

/// A receiver to be opened.
pub(super) struct Listening {
    pub(super) index: usize,
    pub(super) flow: String,
    pub(super) log: Arc<Log>,
    pub(super) at: IpAddr,
    pub(super) shared: Shared,
}

impl Receiver {
    fn new(address: SocketAddr) -> Receiver {
        Receiver { address, courses: Arc::default(), datagram_bytes: Arc::default() }
    }

    /// Expects a connection from this port.
    pub(super) fn expect(&self, port: u16, course: &Arc<Course>) {
        self.courses.lock().even_poisoned().insert(port, Arc::clone(course));
    }

    fn take(&self, from: SocketAddr) -> Option<Arc<Course>> {
        self.courses.lock().even_poisoned().remove(&from.port())
    }
}

impl Listening {
    pub(super) fn tcp(self, topology: &Topology) -> Result<Receiver, Error> {
        let address = SocketAddr::new(self.at, 0);
        let listener = self.inside(topology, address, || {
            let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
            socket.bind(&address.into())?;
            socket.listen(BACKLOG)?;
            socket.set_nonblocking(true)?;
            TcpListener::from_std(socket.into())
        })?;
        let receiver = Receiver::new(self.address(address, listener.local_addr())?);
        let accepted = receiver.clone();
        self.shared.runtime.clone().spawn(async move {
            loop {
                match listener.accept().await {
                    Ok((stream, from)) => {
                        let steered = self.steered(&stream);
                        self.read(stream, accepted.take(from), steered);
                    }
                    Err(error) => self.shared.broken.set(&self.flow, error),
                }
            }
        });
        Ok(receiver)
    }

    pub(super) fn utp(self, topology: &Topology, config: EndpointConfig) -> Result<Receiver, Error> {
        let address = SocketAddr::new(self.at, 0);
        let endpoint = self.inside(topology, address, || Endpoint::bind(address, config))?;
        let receiver = Receiver::new(self.address(address, endpoint.local_addr())?);
        let accepted = receiver.clone();
        self.shared.runtime.clone().spawn(async move {
            while let Ok(stream) = endpoint.accept().await {
                let course = accepted.take(stream.peer_addr());
                self.read(stream, course, None);
            }
        });
        Ok(receiver)
    }

    pub(super) fn quic(self, topology: &Topology, quic: &Quic) -> Result<Receiver, Error> {
        let address = SocketAddr::new(self.at, 0);
        let endpoint = self.inside(topology, address, || quic.receiver(address))?;
        let receiver = Receiver::new(self.address(address, endpoint.address())?);
        let (accepted, runtime) = (receiver.clone(), self.shared.runtime.clone());
        let listening = Arc::new(self);
        runtime.spawn(async move {
            while let Some(incoming) = endpoint.incoming().await {
                let (listening, accepted) = (Arc::clone(&listening), accepted.clone());
                // A handshake takes a round trip, and others begin meanwhile.
                tokio::spawn(async move {
                    let Ok(connection) = incoming.await else { return };
                    let course = accepted.take(connection.remote_address());
                    while let Ok(stream) = connection.accept_uni().await {
                        listening.read(stream, course.clone(), None);
                    }
                });
            }
        });
        Ok(receiver)
    }

    pub(super) fn datagrams(self, topology: &Topology) -> Result<Receiver, Error> {
        let address = SocketAddr::new(self.at, 0);
        let socket = self.inside(topology, address, || {
            let socket = std::net::UdpSocket::bind(address)?;
            socket.set_nonblocking(true)?;
            UdpSocket::from_std(socket)
        })?;
        let receiver = Receiver::new(self.address(address, socket.local_addr())?);
        let bytes = Arc::clone(&receiver.datagram_bytes);
        self.shared.runtime.clone().spawn(async move {
            let mut buffer = [0; 2048];
            loop {
                // An error is the answer to a packet of someone else.
                let Ok(length) = socket.recv(&mut buffer).await else { continue };
                bytes.fetch_add(length as u64, Ordering::Relaxed);
                self.log.received(self.shared.timing.now(), length as u64);
            }
        });
        Ok(receiver)
    }

    /// Hands over a connection's socket if the flow is steered at this end, for as long as what is returned lives.
    fn steered(&self, stream: &TcpStream) -> Option<Arc<OwnedFd>> {
        let steered = &self.shared.steered;
        if !steered.has(self.index, Direction::Down) {
            return None;
        }
        let socket = Arc::new(stream.as_fd().try_clone_to_owned().ok()?);
        steered.take(self.index, Direction::Down, &socket);
        Some(socket)
    }

    /// Opens a socket in the receivers' namespace.
    fn inside<S: Send>(
        &self,
        topology: &Topology,
        address: SocketAddr,
        open: impl FnOnce() -> io::Result<S> + Send,
    ) -> Result<S, Error> {
        let runtime = &self.shared.runtime;
        let opened = topology.namespace(Side::Receivers).run(|| {
            let _inside = runtime.enter();
            open()
        })?;
        opened.map_err(|source| Error::Socket { address, source })
    }

    fn address(&self, asked: SocketAddr, got: io::Result<SocketAddr>) -> Result<SocketAddr, Error> {
        got.map_err(|source| Error::Socket { address: asked, source })
    }

    /// Reads a connection to its end, and keeps `steered` until then.
    fn read<S: AsyncRead + Unpin + Send + 'static>(
        &self,
        mut stream: S,
        course: Option<Arc<Course>>,
        steered: Option<Arc<OwnedFd>>,
    ) {
        let (log, timing) = (Arc::clone(&self.log), self.shared.timing);
        self.shared.runtime.spawn(async move {
            let mut buffer = vec![0; CHUNK];
            // An error is a sender that was cut off.
            while let Ok(bytes @ 1..) = stream.read(&mut buffer).await {
                log.received(timing.now(), bytes as u64);
                if let Some(course) = &course {
                    course.receive(bytes as u64);
                }
            }
            drop(steered);
        });
    }
}
