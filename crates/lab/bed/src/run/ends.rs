//! The ends of a connection over a transport of our own: what a transfer and a flow of the testbed need of it.

use super::watched::Watched;
use crate::error::Error;
use afteryou_base::Time;
use std::future::Future;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use tokio::io::{AsyncRead, AsyncWrite};

/// The sending end before it connects.
pub(crate) trait Client: Send + Sync + 'static {
    /// Takes the bytes to send. Its shutdown waits until the peer has acknowledged all of them.
    type Stream: AsyncWrite + Unpin + Send + Sync;

    /// Returns the address of its socket.
    fn address(&self) -> io::Result<SocketAddr>;

    /// Returns the time on its controller's clock.
    fn now(&self) -> Time;

    /// Connects to a server.
    fn connect(&self, to: SocketAddr) -> impl Future<Output = io::Result<(Self::Stream, Watched)>> + Send;

    /// Returns whether the peer has acknowledged the first `written` bytes.
    fn has_acknowledged(stream: &Self::Stream, written: u64) -> bool;
}

/// The receiving end.
pub(crate) trait Server: Send + Sync + 'static {
    /// Gives the bytes received.
    type Stream: AsyncRead + Unpin + Send;

    /// Returns the address at which it listens.
    fn address(&self) -> io::Result<SocketAddr>;

    /// Accepts a connection.
    fn accept(&self) -> impl Future<Output = io::Result<(Self::Stream, Watched)>> + Send;
}

/// Runs work where a socket is to be.
type Inside<'a> = &'a dyn Fn(&mut (dyn FnMut() + Send)) -> Result<(), Error>;

/// A place for a socket. Sockets are opened within a tokio runtime.
pub(crate) struct Place<'a> {
    address: SocketAddr,
    inside: Inside<'a>,
}

impl<'a> Place<'a> {
    /// Creates a place at `address`, where `inside` runs the work of opening.
    pub(crate) fn new(address: SocketAddr, inside: Inside<'a>) -> Place<'a> {
        Place { address, inside }
    }

    /// Returns a port of loopback.
    pub(crate) fn on_loopback() -> Place<'static> {
        let inside = &|open: &mut (dyn FnMut() + Send)| {
            open();
            Ok(())
        };
        Place { address: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), inside }
    }

    /// Opens a socket there.
    pub(crate) fn bind<S: Send>(
        &self,
        open: impl FnOnce(SocketAddr) -> io::Result<S> + Send,
    ) -> Result<S, Error> {
        let address = self.address;
        let (mut open, mut opened) = (Some(open), None);
        (self.inside)(&mut || opened = open.take().map(|open| open(address)))?;
        opened.ok_or(Error::Crashed)?.map_err(|source| Error::Socket { address, source })
    }
}
