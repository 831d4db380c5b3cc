//! The proxy on a socket.

use crate::backlog::Backlogs;
use crate::credentials::Credentials;
use crate::dial::{Opened, Tcp};
use crate::error::Error;
use crate::rules::{Client, Rules};
use crate::service::Service;
use crate::shared::Limits;
use crate::stream::Socket;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;

/// Clients that wait to be let in.
const WAITING: u32 = 1024;
/// Time until another client is waited for after an error.
const AFTER_ERROR: Duration = Duration::from_millis(100);

/// Options of a proxy.
#[derive(Clone)]
pub struct Options {
    /// All clients have to give them. Required for addresses that other hosts reach.
    pub credentials: Option<Credentials>,
    /// Most connections of clients at a time; others wait.
    pub connections: usize,
    /// Longest times.
    pub limits: Limits,
    /// Called with each new connection to a server, before its first byte.
    pub opened: Option<Opened>,
}

impl Default for Options {
    fn default() -> Options {
        Options { credentials: None, connections: 2000, limits: Limits::default(), opened: None }
    }
}

/// A proxy that listens.
pub struct Proxy {
    listener: TcpListener,
    address: SocketAddr,
    service: Service,
    backlogs: Backlogs,
    permits: Arc<Semaphore>,
    connections: usize,
}

/// The number of a proxy's clients.
#[derive(Clone, Debug)]
pub struct Clients {
    permits: Arc<Semaphore>,
    most: usize,
}

impl Clients {
    /// Returns how many are connected.
    pub fn count(&self) -> usize {
        self.most - self.permits.available_permits()
    }

    /// Returns how many may be connected.
    pub fn most(&self) -> usize {
        self.most
    }
}

impl Proxy {
    /// Listens at an address.
    ///
    /// # Errors
    /// The address is in use or not this host's; or other hosts reach it, and there are no credentials.
    pub async fn listen(address: SocketAddr, options: Options) -> Result<Proxy, Error> {
        if !address.ip().to_canonical().is_loopback() && options.credentials.is_none() {
            return Err(Error::Open { address });
        }
        let listener = bound(address).map_err(|source| Error::Listen { address, source })?;
        let own = listener.local_addr().map_err(|source| Error::Listen { address, source })?;
        let backlogs = Backlogs::default();
        let dialer = Tcp::new(Rules { own: vec![own] }, options.opened, backlogs.clone());
        let service = Service::new(options.credentials, options.limits, Arc::new(dialer));
        let permits = Arc::new(Semaphore::new(options.connections));
        Ok(Proxy { listener, address: own, service, backlogs, permits, connections: options.connections })
    }

    /// Returns the address at which it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the number of its clients, while it runs.
    pub fn clients(&self) -> Clients {
        Clients { permits: self.permits.clone(), most: self.connections }
    }

    /// Serves clients until this is dropped, which closes all connections.
    pub async fn run(self) {
        let mut tasks = JoinSet::new();
        tasks.spawn(self.backlogs.clone().watch());
        loop {
            let accepted = tokio::select! {
                accepted = self.listener.accept() => accepted,
                Some(_) = tasks.join_next() => continue,
            };
            let (stream, peer) = match accepted {
                Ok(accepted) => accepted,
                // Too many files are open, for instance: that passes.
                Err(error) => {
                    tracing::warn!("no client can be let in: {error}");
                    tokio::time::sleep(AFTER_ERROR).await;
                    continue;
                }
            };
            let Some(permit) = self.permit(&mut tasks).await else { return };
            let (socket, service) = (self.taken(stream), self.service.clone());
            tasks.spawn(async move {
                service.serve(Client::of(peer.ip()), socket).await;
                drop(permit);
            });
        }
    }

    /// Waits until there is room for a client.
    async fn permit(&self, tasks: &mut JoinSet<()>) -> Option<OwnedSemaphorePermit> {
        loop {
            tokio::select! {
                // It is never closed.
                permit = self.permits.clone().acquire_owned() => return permit.ok(),
                Some(_) = tasks.join_next() => {}
            }
        }
    }

    fn taken(&self, stream: TcpStream) -> Socket {
        let socket = Socket::new(stream);
        self.backlogs.add(&socket.0);
        socket
    }
}

fn bound(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = match address {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    // A proxy that is started again finds connections of the last one. On Windows others could take the address then.
    #[cfg(not(windows))]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(WAITING)
}
