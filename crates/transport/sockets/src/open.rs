//! Opening sockets.

use socket2::{Domain, Protocol, SockRef, Socket, Type};
use std::io;
use std::net::{SocketAddr, UdpSocket};

/// Asked of the kernel for each direction, bytes. With the usual 208 KiB a burst of 150 packets overflows.
const BUFFER: usize = 4 << 20;

/// Which peers a socket bound to an IPv6 address serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Families {
    /// Those of its own family.
    Own,
    /// IPv4 as well, where the system can: their addresses are then `::ffff:a.b.c.d`.
    Both,
}

/// Opens a non-blocking UDP socket with large buffers.
///
/// # Errors
/// The system's reason: the address is taken, or not of this machine.
pub fn bind(address: SocketAddr, families: Families) -> io::Result<UdpSocket> {
    let socket = Socket::new(Domain::for_address(address), Type::DGRAM, Some(Protocol::UDP))?;
    if address.is_ipv6() {
        match families {
            Families::Own => socket.set_only_v6(true)?,
            // Some systems have no sockets for both families; one for IPv6 alone still serves.
            Families::Both => _ = socket.set_only_v6(false),
        }
    }
    set_buffers(SockRef::from(&socket));
    socket.bind(&address.into())?;
    socket.set_nonblocking(true)?;
    Ok(socket.into())
}

/// Asks for large buffers. Systems cap them as they like, and less is still useful.
pub fn set_buffers(socket: SockRef<'_>) {
    _ = socket.set_recv_buffer_size(BUFFER);
    _ = socket.set_send_buffer_size(BUFFER);
}

/// Sets the byte of datagrams without a control message, for every family that the socket serves.
pub(crate) fn set_own_tos(socket: &SockRef<'_>, tos: u8) -> io::Result<()> {
    if socket.local_addr()?.is_ipv4() {
        return socket.set_tos_v4(tos.into());
    }
    if !socket.only_v6()? {
        socket.set_tos_v4(tos.into())?;
    }
    set_traffic_class(socket, tos.into())
}

#[cfg(not(windows))]
fn set_traffic_class(socket: &SockRef<'_>, tos: u32) -> io::Result<()> {
    socket.set_tclass_v6(tos)
}

#[cfg(windows)]
fn set_traffic_class(_: &SockRef<'_>, _: u32) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
