//! The UDP socket of an endpoint: large buffers and the service class.

use socket2::{Domain, Protocol, Socket, Type};
use std::io;
use std::net::SocketAddr;

/// Asked of the kernel for each direction, bytes. With the usual 208 KiB a burst of 150 packets overflows.
const BUFFER: usize = 4 << 20;

/// Binds a non-blocking UDP socket whose packets carry `dscp` and zero ECN bits. Also returns whether the system took
/// the DSCP; some only pretend.
pub(super) fn bind(addr: SocketAddr, dscp: u8) -> io::Result<(std::net::UdpSocket, bool)> {
    let socket = Socket::new(Domain::for_address(addr), Type::DGRAM, Some(Protocol::UDP))?;
    // Less than asked for is still useful.
    let _ = socket.set_recv_buffer_size(BUFFER);
    let _ = socket.set_send_buffer_size(BUFFER);
    let dscp_set = set_dscp(&socket, addr, dscp).is_ok();
    if addr.is_ipv6() {
        socket.set_only_v6(true)?;
    }
    socket.bind(&addr.into())?;
    socket.set_nonblocking(true)?;
    Ok((socket.into(), dscp_set))
}

/// The two low bits of the byte are ECN and stay zero: we do not read marks, so we must not ask for them.
fn set_dscp(socket: &Socket, addr: SocketAddr, dscp: u8) -> io::Result<()> {
    let tos = u32::from(dscp) << 2;
    if addr.is_ipv4() {
        return socket.set_tos_v4(tos);
    }
    set_traffic_class(socket, tos)
}

#[cfg(not(windows))]
fn set_traffic_class(socket: &Socket, tos: u32) -> io::Result<()> {
    socket.set_tclass_v6(tos)
}

#[cfg(windows)]
fn set_traffic_class(_: &Socket, _: u32) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
