//! A place for code that looks after the sockets, such as a controller of the receive window.

use std::any::Any;
use std::io;
use tokio::net::{TcpSocket, TcpStream};

/// Takes part in each TCP connection of a download. A proxy's connection counts, too.
pub trait SocketHook: Send + Sync {
    /// Acts before a connection is opened. Several addresses may be tried at once, each with a socket of its own.
    ///
    /// # Errors
    /// A socket that must not be used; the next address is tried.
    fn opening(&self, _socket: &TcpSocket) -> io::Result<()> {
        Ok(())
    }

    /// Acts when a connection is open, before the first byte is sent. The returned value is dropped when the download has
    /// done with the connection. A server may have closed it by then: a hook that uses the descriptor later needs a duplicate of it.
    ///
    /// # Errors
    /// A connection that must not be used; the download tries another one.
    fn connected(&self, _stream: &TcpStream) -> io::Result<Box<dyn Any + Send>> {
        Ok(Box::new(()))
    }
}

/// Does nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoHook;

impl SocketHook for NoHook {}
