//! Many connections over one UDP socket, as tokio streams.

mod batch;
mod begin;
mod budget;
mod cookies;
mod driver;
mod farewells;
mod handle;
mod places;
mod random;
mod resets;
mod socket;
mod socket_buffer;
mod stream;
mod table;
mod watched;

pub use stream::{Monitor, Stream};

use crate::config::Config;
use crate::error::Error;
use afteryou_base::lock::EvenPoisoned;
use afteryou_base::param::Settings;
use afteryou_base::{Dscp, Time};
use afteryou_cc::cubic::Cubic;
use afteryou_cc::ledbatpp::LedbatPp;
use afteryou_cc::{cubic, Controller, Setup};
use socket_buffer::SocketBuffer;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

/// When a connection that is not answered is tried once more under another id: libutp answers a SYN once and ignores it
/// when it is repeated, so an answer that got lost stays lost. A little later than the first resend.
const SECOND_TRY: Duration = Duration::from_millis(3500);

/// Makes the controller of a new connection.
pub type MakeController = Arc<dyn Fn(Setup) -> Box<dyn Controller> + Send + Sync>;

/// Settings of an endpoint.
#[derive(Clone)]
pub struct EndpointConfig {
    /// Settings of its connections.
    pub connection: Config,
    /// Controller of its connections.
    pub controller: MakeController,
    /// Service class of every packet.
    pub dscp: Dscp,
    /// Whether connections come in, too.
    pub accepts: bool,
    /// Most connections at a time; those that linger do not count. Of those that come in, one IPv4 address or IPv6 /64 gets no more than stay free, so half
    /// of them at most.
    pub max_connections: usize,
    /// Most connections that come in and have not finished their handshake. Beyond that, a newcomer is answered and takes no
    /// place before its first packet.
    pub max_half_open: usize,
    /// Most connections waiting for [`Endpoint::accept`].
    pub backlog: usize,
    /// Memory for all connections together, bytes; see [`EndpointStatistics::memory`]. As it is used up, advertised windows and send buffers
    /// shrink, and data that arrives out of order is refused first.
    pub memory: u64,
    /// Receive buffer to ask of the system for the socket, bytes. Linux grants `net.core.rmem_max` at most. The limit
    /// of a peer's data in flight follows the buffer that the connection was granted.
    pub receive_buffer: usize,
    /// Files for Wireshark and qvis; none by default.
    #[cfg(feature = "dump")]
    pub dump: crate::Dump,
}

/// How an endpoint is doing, and the limits that hold for it now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EndpointStatistics {
    /// Connections, those that are being opened included, those that linger not.
    pub connections: usize,
    /// Connections that are over and still answer a peer that has missed the last acknowledgement.
    pub lingering: usize,
    /// Connections that came in and have not finished their handshake.
    pub half_open: usize,
    /// SYNs that were answered without a place, because all of them were taken.
    pub answered_without_place: u64,
    /// Connections without any payload so far that were ended for the sake of newcomers, because all places were taken.
    pub displaced: u64,
    /// Memory that connections take, bytes: payload received and not read, written and not acknowledged, with what is kept
    /// about each packet, and some 8 kB for each connection.
    pub memory: u64,
    /// The limit of that, bytes.
    pub memory_limit: u64,
    /// Bytes that each connection may hold in each direction now: out-of-order data and data to be sent up to that, all received
    /// data up to twice that. A sixth of what is left for data, so it shrinks as others take more.
    pub share: u64,
    /// Connections that wait for [`Endpoint::accept`].
    pub waiting: usize,
    /// Most connections that one IPv4 address or IPv6 /64 may have among those that come in now: as many as are free.
    pub places_per_address: usize,
    /// Limit of [`connections`](EndpointStatistics::connections).
    pub max_connections: usize,
    /// Limit of [`half_open`](EndpointStatistics::half_open).
    pub max_half_open: usize,
    /// Limit of [`waiting`](EndpointStatistics::waiting).
    pub backlog: usize,
    /// How the files of [`EndpointConfig::dump`] are doing.
    #[cfg(feature = "dump")]
    pub dump: crate::DumpStatistics,
}

impl EndpointConfig {
    /// Returns the configuration for bulk data that nobody shall notice: LEDBAT++ that returns quickly after yielding,
    /// marked lower effort.
    pub fn background() -> EndpointConfig {
        let controller = |setup: Setup| Box::new(LedbatPp::background(setup.mss)) as Box<dyn Controller>;
        EndpointConfig::new(Arc::new(controller), Dscp::LE)
    }

    /// Returns the configuration for what people wait for: CUBIC, unmarked.
    pub fn foreground() -> EndpointConfig {
        let controller = |setup: Setup| {
            Box::new(Cubic::new(&Settings::defaults(cubic::PARAMS), setup.mss)) as Box<dyn Controller>
        };
        EndpointConfig::new(Arc::new(controller), Dscp::DEFAULT)
    }

    /// Creates a configuration with a controller and a service class of your own.
    pub fn new(controller: MakeController, dscp: Dscp) -> EndpointConfig {
        EndpointConfig {
            connection: Config { ecn: true, ..Config::default().searching() },
            controller,
            dscp,
            accepts: true,
            max_connections: 3000,
            max_half_open: 1000,
            backlog: 128,
            memory: 64 << 20,
            receive_buffer: 4 << 20,
            #[cfg(feature = "dump")]
            dump: crate::Dump::default(),
        }
    }
}

impl Default for EndpointConfig {
    fn default() -> EndpointConfig {
        EndpointConfig::background()
    }
}

/// A UDP socket with its connections. Dropping it lets the open streams end in good order.
#[must_use = "its connections end once an endpoint is dropped"]
pub struct Endpoint {
    inner: Arc<Inner>,
    local_addr: SocketAddr,
    dscp_is_set: bool,
}

struct Inner {
    config: EndpointConfig,
    epoch: Instant,
    table: Mutex<table::Table>,
    endpoints: AtomicUsize,
}

impl Inner {
    fn now(&self) -> Time {
        Time(u64::try_from(self.epoch.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }

    fn instant(&self, at: Time) -> tokio::time::Instant {
        (self.epoch + Duration::from_nanos(at.0)).into()
    }

    fn table(&self) -> MutexGuard<'_, table::Table> {
        self.table.lock().even_poisoned()
    }

    /// Returns whether the endpoint is dropped and all its connections have ended.
    fn is_done(&self) -> bool {
        self.endpoints.load(Ordering::Acquire) == 0 && self.table().is_empty()
    }
}

impl Endpoint {
    /// Binds a UDP socket at `addr` (an IPv6 one takes IPv6 only) and runs it on the current tokio runtime.
    ///
    /// # Errors
    /// The system's error about the socket.
    pub fn bind(addr: SocketAddr, mut config: EndpointConfig) -> io::Result<Endpoint> {
        let socket = socket::bind(addr, config.receive_buffer)?;
        let buffer = SocketBuffer::new(socket::receive_buffer(&socket));
        let local_addr = socket.local_addr()?;
        let searches = config.connection.max_payload > config.connection.payload;
        let socket = socket::Socket::new(socket, config.dscp, searches)?;
        if !socket.sends_whole() {
            config.connection.max_payload = config.connection.payload; // a probe in fragments shows nothing
        }
        let dscp_is_set = socket.dscp_is_set();
        let epoch = Instant::now();
        #[cfg(feature = "dump")]
        {
            config.dump = config.dump.bound(local_addr, Time::ZERO, std::time::SystemTime::now());
        }
        let inner = Arc::new(Inner {
            table: Mutex::new(table::Table::new(config.memory)),
            config,
            epoch,
            endpoints: AtomicUsize::new(1),
        });
        inner.table().socket_buffer = buffer;
        tokio::spawn(driver::drive(Arc::clone(&inner), socket));
        Ok(Endpoint { inner, local_addr, dscp_is_set })
    }

    /// Returns the time on its clock, which its controllers' events have.
    pub fn now(&self) -> Time {
        self.inner.now()
    }

    /// Returns the address at which it listens.
    ///
    /// # Errors
    /// [`Error::EndpointClosed`] once its socket has failed: the port may be another program's by now.
    pub fn local_addr(&self) -> io::Result<SocketAddr> {
        match self.inner.table().dead {
            true => Err(Error::EndpointClosed.into()),
            false => Ok(self.local_addr),
        }
    }

    /// Returns the endpoint's counters.
    pub fn statistics(&self) -> EndpointStatistics {
        self.inner.table().statistics(&self.inner.config)
    }

    /// Returns whether the system took the service class.
    pub fn dscp_is_set(&self) -> bool {
        self.dscp_is_set
    }

    /// Opens a connection.
    ///
    /// # Errors
    /// [`Error::Unreachable`] after 21 s without an answer, [`Error::Refused`] at a reset.
    pub async fn connect(&self, peer: SocketAddr) -> Result<Stream, Error> {
        let first = self.open(peer)?;
        tokio::select! {
            result = first.connected() => return result.map(|()| first),
            () = tokio::time::sleep(SECOND_TRY) => {}
        }
        let Ok(second) = self.open(peer) else {
            return first.connected().await.map(|()| first); // no room for a second one
        };
        // Whichever is answered; the other is taken back before it reaches the peer's application.
        let (result, one, other) = tokio::select! {
            result = first.connected() => (result, first, second),
            result = second.connected() => (result, second, first),
        };
        other.monitor().abort();
        result.map(|()| one)
    }

    fn open(&self, peer: SocketAddr) -> Result<Stream, Error> {
        let now = self.inner.now();
        let handle = self.inner.table().open(&self.inner.config, now, peer, random::random_u16)?;
        Ok(Stream::new(Arc::clone(&self.inner), handle))
    }

    /// Waits for a connection that comes in.
    ///
    /// # Errors
    /// [`Error::EndpointClosed`] once the endpoint is closed.
    pub async fn accept(&self) -> Result<Stream, Error> {
        std::future::poll_fn(|cx| {
            let mut table = self.inner.table();
            if let Some(handle) = table.take_accepted() {
                return Poll::Ready(Ok(Stream::new(Arc::clone(&self.inner), handle)));
            }
            if table.closing || table.dead {
                return Poll::Ready(Err(Error::EndpointClosed));
            }
            table.acceptor = Some(cx.waker().clone());
            Poll::Pending
        })
        .await
    }

    /// Takes no more connections and waits until all have ended: what was written has arrived, or its stream failed.
    pub async fn close(&self) {
        let waiting: Vec<_> = {
            let mut table = self.inner.table();
            table.closing = true;
            table.acceptor.take().into_iter().for_each(Waker::wake);
            std::iter::from_fn(|| table.take_accepted()).collect()
        };
        // Connections that nobody has accepted end here.
        waiting.into_iter().for_each(|handle| drop(Stream::new(Arc::clone(&self.inner), handle)));
        std::future::poll_fn(|cx| {
            let mut table = self.inner.table();
            if table.dead || table.is_empty() {
                return Poll::Ready(());
            }
            table.closer = Some(cx.waker().clone());
            Poll::Pending
        })
        .await
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        self.inner.endpoints.fetch_sub(1, Ordering::Release);
        let now = self.inner.now();
        let mut table = self.inner.table();
        table.closing = true;
        while let Some(handle) = table.take_accepted() {
            table.detach(now, handle);
        }
        table.driver.take().into_iter().for_each(Waker::wake);
    }
}
