//! Reaching the peer of a ticket, over whichever of its addresses answers first.
//!
//! # Model
//! As RFC 8305 (happy eyeballs): the addresses are tried in the ticket's order, each [`STAGGER`] after the one before or at once when
//! that has failed; the first that is through wins and the others are abandoned. "Through" means more than a complete handshake: the
//! peer's HANDSHAKE_DONE has arrived (RFC 9001 §4.1.2), so it has accepted our key. It costs a round trip before the first
//! request and saves every caller from learning of a refusal in the middle of its work.
//!
//! Each address keeps its error. One answer ends the search: a peer that has proven to be the right one and refuses the
//! ticket will do so at its other addresses, too. A stranger at one of the addresses (private addresses mean another
//! machine in another network) does not.
//!
//! A link-local address of IPv6 is tried over each interface of this machine that has such an address, at once: the ticket
//! cannot name one (`interfaces.rs`).
//!
//! # Constants
//! [`STAGGER`] 250 ms, RFC 8305 §5. [`TIMEOUT`] 10 s for each address: three retransmissions of the first packet, at 1, 3 and 7 s.
//!
//! # Not implemented
//! Names are looked up when their turn comes, by the system, and at most `MAX_PER_NAME` of their addresses are tried, one after the other.

use crate::interfaces;
use crate::ticket::{Address, Fingerprint, Host, Role, Ticket};
use crate::tls::{self, TlsError, ACCESS_DENIED, SERVER_NAME};
use afteryou_base::lock::EvenPoisoned;
use quinn::{Connection, ConnectionError, Endpoint, TransportConfig, TransportErrorCode};
use std::collections::HashSet;
use std::fmt;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use thiserror::Error;
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout, Instant};
use tracing::debug;

/// Between the beginnings of two attempts.
pub const STAGGER: Duration = Duration::from_millis(250);

/// For one address.
pub const TIMEOUT: Duration = Duration::from_secs(10);

const MAX_PER_NAME: usize = 4;

/// The interval of checks whether HANDSHAKE_DONE has come: quinn reports it in its statistics only.
const CONFIRMATION_POLL: Duration = Duration::from_millis(1);

/// Why an address did not do.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Failure {
    /// Nothing came back.
    #[error("no answer within {} s: the peer is off, or UDP is blocked on the way", TIMEOUT.as_secs())]
    Silent,
    /// It is the right one and does not have this secret.
    #[error("the peer refused this ticket: it has been replaced by a fresh one, or is for another directory; ask for the present one")]
    Refused,
    /// The place was asked under another address.
    #[error("another address of the ticket leads to the same place")]
    Known,
    /// Somebody else.
    #[error("the peer is not the one of this ticket (its certificate's fingerprint is not {0})")]
    Stranger(Fingerprint),
    /// Nothing under that name.
    #[error("the name cannot be looked up: {0}")]
    Name(String),
    /// No interface leads there.
    #[error("this address is valid on one link only, and no interface here is up that has such an address")]
    NoLink,
    /// It has another version of our protocol.
    #[error("the peer has another version of the protocol: bring both sides to the same version")]
    Protocol,
    /// Anything else.
    #[error("{0}")]
    Other(String),
}

/// One address and what came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// As the ticket has it.
    pub address: Address,
    /// Why not.
    pub failure: Failure,
}

/// No address did.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DialError {
    /// The right one refused.
    #[error("{address}: {failure}", failure = Failure::Refused)]
    Refused {
        /// The peer's address.
        address: Address,
    },
    /// Nobody who fits.
    #[error("cannot reach the peer; tried {}", Tried(.0))]
    Unreachable(Vec<Attempt>),
    /// Our side.
    #[error(transparent)]
    Tls(#[from] TlsError),
}

struct Tried<'a>(&'a [Attempt]);

impl fmt::Display for Tried<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, attempt) in self.0.iter().enumerate() {
            let separator = if index == 0 { "" } else { "; " };
            write!(f, "{separator}{}: {}", attempt.address, attempt.failure)?;
        }
        Ok(())
    }
}

/// Binds a UDP socket for an endpoint, IPv6 and IPv4 at once where the system can. Port 0: any.
///
/// # Errors
/// A port that is taken or not allowed, and a system without UDP.
pub fn udp_socket(port: u16) -> io::Result<UdpSocket> {
    let both = || -> io::Result<UdpSocket> {
        let socket =
            socket2::Socket::new(socket2::Domain::IPV6, socket2::Type::DGRAM, Some(socket2::Protocol::UDP))?;
        socket.set_only_v6(false)?;
        socket.bind(&SocketAddr::from((Ipv6Addr::UNSPECIFIED, port)).into())?;
        Ok(socket.into())
    };
    match both() {
        Err(error) if error.kind() != io::ErrorKind::AddrInUse => {
            UdpSocket::bind((Ipv4Addr::UNSPECIFIED, port))
        }
        result => result,
    }
}

/// Settings of connections to an address.
type TransportFor = dyn Fn(SocketAddr) -> Arc<TransportConfig> + Send + Sync;

/// Connects to the peer of one ticket, again and again if need be.
#[derive(Clone)]
pub struct Dialer {
    endpoint: Endpoint,
    config: quinn::ClientConfig,
    transport: Arc<TransportFor>,
    addresses: Vec<Address>,
    fingerprint: Fingerprint,
    role: Role,
}

/// Addresses that one search has asked.
type Asked = Arc<Mutex<HashSet<SocketAddr>>>;

impl Dialer {
    /// Creates a dialer. `endpoint` may be any; its default configuration is not used. `transport` makes the settings of
    /// connections to an address.
    ///
    /// # Errors
    /// No certificate can be made of the ticket's secret.
    pub fn new(
        endpoint: Endpoint,
        ticket: &Ticket,
        transport: impl Fn(SocketAddr) -> Arc<TransportConfig> + Send + Sync + 'static,
    ) -> Result<Dialer, TlsError> {
        let (config, transport) = (tls::client(ticket)?, Arc::new(transport));
        let (addresses, fingerprint, role) = (ticket.addresses.clone(), ticket.fingerprint, ticket.role);
        Ok(Dialer { endpoint, config, transport, addresses, fingerprint, role })
    }

    /// Returns the listening side's role.
    pub fn role(&self) -> Role {
        self.role
    }

    /// Returns the addresses, in the order in which they are tried.
    pub fn addresses(&self) -> &[Address] {
        &self.addresses
    }

    /// Opens a connection that both sides have agreed to.
    ///
    /// # Errors
    /// [`DialError::Refused`] if a peer at any address refuses the ticket, [`DialError::Unreachable`] if each address failed, with the reason
    /// of each.
    pub async fn dial(&self) -> Result<Connection, DialError> {
        let (mut failed, asked) = (Vec::new(), Asked::default());
        let mut waiting = self.addresses.iter();
        let mut attempts = JoinSet::new();
        let mut next_start = Some(Instant::now());
        loop {
            tokio::select! {
                () = until(next_start), if next_start.is_some() => {
                    next_start = waiting.next().map(|address| {
                        attempts.spawn(self.clone().attempt_named(address.clone(), asked.clone()));
                        Instant::now() + STAGGER
                    });
                    if next_start.is_none() && attempts.is_empty() {
                        return Err(DialError::Unreachable(failed));
                    }
                }
                Some(ended) = attempts.join_next() => match ended {
                    Ok((_, Ok(connection))) => return Ok(connection),
                    Ok((address, Err(Failure::Refused))) => return Err(DialError::Refused { address }),
                    Ok((address, Err(failure))) => {
                        failed.push(Attempt { address, failure });
                        next_start = next_start.map(|_| Instant::now());
                        if next_start.is_none() && attempts.is_empty() {
                            return Err(DialError::Unreachable(failed));
                        }
                    }
                    // Aborted only when this future is dropped.
                    Err(_) => return Err(DialError::Unreachable(failed)),
                },
            }
        }
    }

    async fn attempt_named(self, address: Address, asked: Asked) -> (Address, Result<Connection, Failure>) {
        debug!(%address, "trying");
        let result = self.attempt_new(&address, &asked).await;
        match &result {
            Ok(connection) => {
                let (rtt, remote) = (connection.rtt(), connection.remote_address());
                debug!(%address, %remote, ?rtt, "connected; both sides are authenticated");
            }
            Err(failure) => debug!(%address, %failure, "no connection"),
        }
        (address, result)
    }

    /// Tries this one address and no other.
    ///
    /// # Errors
    /// The reason: silence, a name that cannot be looked up, a peer that refuses the ticket, is another one or has another protocol.
    pub async fn attempt(&self, address: &Address) -> Result<Connection, Failure> {
        self.attempt_new(address, &Asked::default()).await
    }

    /// Tries whatever this address means that was not asked before: equal addresses, and names of one address, are asked
    /// once.
    async fn attempt_new(&self, address: &Address, asked: &Asked) -> Result<Connection, Failure> {
        let mut last = Failure::Known;
        let mut remotes = resolve(address).await?;
        remotes.retain(|remote| asked.lock().even_poisoned().insert(canonical(*remote)));
        if matches!(address.host, Host::Ip(IpAddr::V6(ip)) if ip.is_unicast_link_local()) {
            return self.attempt_at_once(remotes).await;
        }
        for remote in remotes {
            match self.attempt_in_time(remote).await {
                Ok(connection) => return Ok(connection),
                Err(Failure::Refused) => return Err(Failure::Refused),
                Err(failure) => last = failure,
            }
        }
        Err(last)
    }

    /// Tries one address over several interfaces. An answer that gives a reason counts more than silence elsewhere.
    async fn attempt_at_once(&self, remotes: Vec<SocketAddr>) -> Result<Connection, Failure> {
        let mut attempts = JoinSet::new();
        for remote in remotes {
            let dialer = self.clone();
            attempts.spawn(async move { dialer.attempt_in_time(remote).await });
        }
        let mut last = if attempts.is_empty() { Failure::Known } else { Failure::Silent };
        while let Some(ended) = attempts.join_next().await {
            match ended {
                Ok(Ok(connection)) => return Ok(connection),
                Ok(Err(Failure::Refused)) => return Err(Failure::Refused),
                Ok(Err(Failure::Silent)) | Err(_) => {}
                Ok(Err(failure)) => last = failure,
            }
        }
        Err(last)
    }

    async fn attempt_in_time(&self, remote: SocketAddr) -> Result<Connection, Failure> {
        timeout(TIMEOUT, self.attempt_at(remote)).await.unwrap_or(Err(Failure::Silent))
    }

    async fn attempt_at(&self, remote: SocketAddr) -> Result<Connection, Failure> {
        let mut config = self.config.clone();
        config.transport_config((self.transport)(remote));
        let connecting = self.endpoint.connect_with(config, remote, SERVER_NAME);
        let connecting = connecting.map_err(|error| Failure::Other(error.to_string()))?;
        let connection = connecting.await.map_err(|error| self.explain(&error))?;
        confirmed(&connection).await.map_err(|error| self.explain(&error))?;
        Ok(connection)
    }

    /// Explains a connection's end in the words of a ticket.
    fn explain(&self, error: &ConnectionError) -> Failure {
        let denied = TransportErrorCode::crypto(ACCESS_DENIED);
        match error {
            // What we found wrong with them.
            ConnectionError::TransportError(error) if error.code == denied => {
                Failure::Stranger(self.fingerprint)
            }
            // What they found wrong with us.
            ConnectionError::ConnectionClosed(close) if close.error_code == denied => Failure::Refused,
            ConnectionError::ConnectionClosed(close)
                if close.error_code == TransportErrorCode::crypto(NO_APPLICATION_PROTOCOL) =>
            {
                Failure::Protocol
            }
            ConnectionError::VersionMismatch => Failure::Protocol,
            ConnectionError::TimedOut => Failure::Silent,
            error => Failure::Other(error.to_string()),
        }
    }
}

impl fmt::Debug for Dialer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dialer")
            .field("addresses", &self.addresses)
            .field("fingerprint", &self.fingerprint)
            .field("role", &self.role)
            .finish_non_exhaustive()
    }
}

/// TLS alert, RFC 8446 §6.
const NO_APPLICATION_PROTOCOL: u8 = 120;

/// Returns when the peer has accepted our key.
async fn confirmed(connection: &Connection) -> Result<(), ConnectionError> {
    let done = async {
        while connection.stats().frame_rx.handshake_done == 0 {
            sleep(CONFIRMATION_POLL).await;
        }
    };
    tokio::select! {
        biased;
        error = connection.closed() => Err(error),
        () = done => Ok(()),
    }
}

async fn until(deadline: Option<Instant>) {
    if let Some(deadline) = deadline {
        tokio::time::sleep_until(deadline).await;
    }
}

/// Returns the same place in one form.
fn canonical(remote: SocketAddr) -> SocketAddr {
    match remote.ip().to_canonical() {
        ip @ IpAddr::V4(_) => SocketAddr::new(ip, remote.port()),
        // With its scope.
        IpAddr::V6(_) => remote,
    }
}

async fn resolve(address: &Address) -> Result<Vec<SocketAddr>, Failure> {
    match &address.host {
        Host::Ip(IpAddr::V6(ip)) if ip.is_unicast_link_local() => {
            let remotes = interfaces::over_each(*ip, address.port);
            let remotes = remotes.map_err(|error| Failure::Other(error.to_string()))?;
            if remotes.is_empty() {
                Err(Failure::NoLink)
            } else {
                Ok(remotes)
            }
        }
        Host::Ip(ip) => Ok(vec![SocketAddr::new(*ip, address.port)]),
        Host::Name(name) => {
            let looked_up = timeout(TIMEOUT, tokio::net::lookup_host((name.as_str(), address.port))).await;
            let found = looked_up.map_err(|_| Failure::Name("no answer from the name server".into()))?;
            let mut found: Vec<SocketAddr> =
                found.map_err(|error| Failure::Name(error.to_string()))?.collect();
            found.truncate(MAX_PER_NAME);
            debug!(name, ?found, "looked up");
            Ok(found)
        }
    }
}
