//! The lower-effort mark, in the headers of IPv4 and IPv6.

use crate::Error;
use socket2::SockRef;
use std::io;
use std::net::SocketAddr;

/// Which headers the packets of a socket may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Families {
    v4: bool,
    v6: bool,
}

/// Returns the families that a socket may send to.
///
/// # Errors
/// It is not an open socket of IP.
pub fn families(socket: &SockRef<'_>) -> Result<Families, Error> {
    let local = socket.local_addr()?.as_socket().ok_or(Error::NotInternet)?;
    let SocketAddr::V6(local) = local else { return Ok(Families { v4: true, v6: false }) };
    let (is_any, is_mapped) = (local.ip().is_unspecified(), local.ip().to_ipv4_mapped().is_some());
    // Before it is bound or connected, a socket of IPv6 may be for both.
    Ok(Families { v4: is_mapped || is_any && !socket.only_v6()?, v6: !is_mapped })
}

/// Marks the packets of a socket.
///
/// # Errors
/// The system's.
#[cfg(not(windows))]
pub fn set(socket: &SockRef<'_>, families: Families) -> io::Result<()> {
    let tos = u32::from(afteryou_base::Dscp::LE.tos(0));
    if families.v6 {
        socket.set_tclass_v6(tos)?;
    }
    if families.v4 {
        socket.set_tos_v4(tos)?;
    }
    Ok(())
}

/// Marks nothing: Windows ignores IP_TOS.
///
/// # Errors
/// Always.
#[cfg(windows)]
pub fn set(_: &SockRef<'_>, _: Families) -> io::Result<()> {
    Err(io::Error::other("on Windows a policy marks: New-NetQosPolicy"))
}
