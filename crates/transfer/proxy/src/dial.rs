//! Connections to the hosts that clients ask for.

use crate::backlog::Backlogs;
use crate::error::Error;
use crate::rules::{Client, Rules};
use crate::stream::{Socket, Stream};
use crate::target::Target;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::sync::Semaphore;

/// Longest time for a name and a connection together.
const PATIENCE: Duration = Duration::from_secs(30);
/// Names that are looked up at a time: each takes a thread.
const LOOKUPS: usize = 32;

/// A connection that is being made.
pub type Dialing<'a> = Pin<Box<dyn Future<Output = Result<Box<dyn Stream>, Error>> + Send + 'a>>;

/// A way to reach hosts.
pub trait Dial: Send + Sync {
    /// Connects to a target that a client has asked for.
    ///
    /// # Errors
    /// The client may not go there, or nobody answers.
    fn dial<'a>(&'a self, client: Client, target: &'a Target) -> Dialing<'a>;
}

/// A function that is called with each new connection to a server, before its first byte.
pub type Opened = Arc<dyn Fn(&Arc<TcpStream>) + Send + Sync>;

/// Dials over TCP.
pub(crate) struct Tcp {
    pub rules: Rules,
    pub opened: Option<Opened>,
    pub backlogs: Backlogs,
    pub lookups: Semaphore,
}

impl Tcp {
    pub fn new(rules: Rules, opened: Option<Opened>, backlogs: Backlogs) -> Tcp {
        Tcp { rules, opened, backlogs, lookups: Semaphore::new(LOOKUPS) }
    }

    async fn connect(&self, client: Client, target: &Target) -> Result<Box<dyn Stream>, Error> {
        let addresses = self.resolve(target).await?;
        let (mut allowed, mut refusal) = (Vec::new(), None);
        for address in addresses {
            match self.rules.check(client, address) {
                Ok(()) => allowed.push(address),
                Err(error) => refusal = Some(error),
            }
        }
        if let (true, Some(error)) = (allowed.is_empty(), refusal) {
            return Err(error);
        }
        let stream =
            afteryou_http::dial::first(allowed).await.map_err(|source| Error::Unreachable { source })?;
        tracing::debug!("connected to {target}");
        let socket = Socket::new(stream);
        if let Some(opened) = &self.opened {
            opened(&socket.0);
        }
        self.backlogs.add(&socket.0);
        Ok(Box::new(socket))
    }

    async fn resolve(&self, target: &Target) -> Result<Vec<SocketAddr>, Error> {
        if let Some(address) = target.address() {
            return Ok(vec![SocketAddr::new(address, target.port)]);
        }
        let failed = |source| Error::NoAddress { source };
        let _permit = self.lookups.acquire().await.map_err(|error| failed(io::Error::other(error)))?;
        let found = tokio::net::lookup_host((target.host.as_str(), target.port)).await.map_err(failed)?;
        Ok(found.collect())
    }
}

impl Dial for Tcp {
    fn dial<'a>(&'a self, client: Client, target: &'a Target) -> Dialing<'a> {
        Box::pin(async move {
            tokio::time::timeout(PATIENCE, self.connect(client, target)).await.unwrap_or(Err(Error::Silent))
        })
    }
}
