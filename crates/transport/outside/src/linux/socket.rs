//! A duplicate of another process's socket, and its kind.

use super::system;
use rustix::net::sockopt::{socket_cookie, socket_protocol};
use rustix::net::{getpeername, ipproto, SocketAddrAny};
use rustix::process::{pidfd_getfd, PidfdGetfdFlags};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{BorrowedFd, OwnedFd};

/// Kinds of sockets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A TCP connection to this address, or one that is being made.
    Tcp(Option<IpAddr>),
    /// A UDP socket that has a peer, as QUIC has.
    Udp(IpAddr),
    /// A UDP socket that has none yet.
    UdpAlone,
    /// Another socket, which is left alone.
    Other,
}

/// The process of a socket.
#[derive(Debug)]
pub enum Process {
    /// The caller, whose descriptors need no call of Linux 5.6, which containers may forbid.
    Own,
    /// Another process.
    Other(OwnedFd),
}

/// Returns a duplicate of a socket of a process, to be held as short as possible. With `cookie`: if it is that socket still.
///
/// # Errors
/// The process or the descriptor is gone, means something else, or may not be touched.
pub fn duplicate(process: &Process, fd: i32, cookie: Option<u64>) -> io::Result<OwnedFd> {
    let socket = match process {
        Process::Own => system::duplicate_own(fd)?,
        Process::Other(process) => pidfd_getfd(process, fd, PidfdGetfdFlags::empty())?,
    };
    match cookie {
        Some(cookie) if socket_cookie(&socket)? != cookie => Err(io::ErrorKind::NotFound.into()),
        _ => Ok(socket),
    }
}

/// Returns the kind of a socket. Connections within this machine are left alone: they meet no queue of a network.
pub fn kind(socket: BorrowedFd<'_>) -> Kind {
    let peer = peer(socket);
    match socket_protocol(socket) {
        Ok(Some(ipproto::TCP)) if peer.is_some_and(|peer| peer.is_loopback()) => Kind::Other,
        Ok(Some(ipproto::TCP)) => Kind::Tcp(peer),
        Ok(Some(ipproto::UDP)) => match peer {
            Some(peer) if peer.is_loopback() => Kind::Other,
            Some(peer) => Kind::Udp(peer),
            None => Kind::UdpAlone,
        },
        _ => Kind::Other,
    }
}

/// Returns the address of the other end, once there is one.
pub fn peer(socket: BorrowedFd<'_>) -> Option<IpAddr> {
    getpeername(socket).ok().flatten().and_then(address)
}

fn address(address: SocketAddrAny) -> Option<IpAddr> {
    let address = SocketAddr::try_from(address).ok()?;
    Some(address.ip().to_canonical())
}

/// Returns the cookie of a socket, which no other one of this machine ever has.
///
/// # Errors
/// As getsockopt.
pub fn cookie(socket: BorrowedFd<'_>) -> io::Result<u64> {
    Ok(socket_cookie(socket)?)
}
