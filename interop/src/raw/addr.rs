//! Socket addresses in C form.

use std::mem;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr};

use libc::{sockaddr, sockaddr_in, sockaddr_in6, sockaddr_storage, socklen_t};

/// A C socket address with its length in bytes.
pub(super) struct CAddr {
    storage: sockaddr_storage,
    len: usize,
}

impl CAddr {
    pub(super) fn new(addr: SocketAddr) -> Self {
        // SAFETY: these are plain C structs, valid with all bytes zero.
        // `sockaddr_storage` is large and aligned enough for every address.
        unsafe {
            let mut storage: sockaddr_storage = mem::zeroed();
            let len = match addr {
                SocketAddr::V4(v4) => {
                    let mut sin: sockaddr_in = mem::zeroed();
                    sin.sin_family = libc::AF_INET as libc::sa_family_t;
                    sin.sin_port = v4.port().to_be();
                    sin.sin_addr.s_addr = u32::from_ne_bytes(v4.ip().octets());
                    (&raw mut storage).cast::<sockaddr_in>().write(sin);
                    mem::size_of::<sockaddr_in>()
                }
                SocketAddr::V6(v6) => {
                    let mut sin6: sockaddr_in6 = mem::zeroed();
                    sin6.sin6_family = libc::AF_INET6 as libc::sa_family_t;
                    sin6.sin6_port = v6.port().to_be();
                    sin6.sin6_addr.s6_addr = v6.ip().octets();
                    (&raw mut storage).cast::<sockaddr_in6>().write(sin6);
                    mem::size_of::<sockaddr_in6>()
                }
            };
            CAddr { storage, len }
        }
    }

    pub(super) fn as_ptr(&self) -> *const sockaddr {
        (&raw const self.storage).cast()
    }

    pub(super) fn len(&self) -> socklen_t {
        self.len as socklen_t
    }
}

/// Reads a C address.
///
/// # Safety
/// `addr` is null or points to `len` readable bytes.
pub(super) unsafe fn read(addr: *const sockaddr, len: socklen_t) -> Option<SocketAddr> {
    let len = len as usize;
    if addr.is_null() || len < mem::size_of::<sockaddr>() {
        return None;
    }
    match i32::from((*addr).sa_family) {
        libc::AF_INET if len >= mem::size_of::<sockaddr_in>() => {
            let sin = addr.cast::<sockaddr_in>().read_unaligned();
            let ip = Ipv4Addr::from(sin.sin_addr.s_addr.to_ne_bytes());
            Some((ip, u16::from_be(sin.sin_port)).into())
        }
        libc::AF_INET6 if len >= mem::size_of::<sockaddr_in6>() => {
            let sin6 = addr.cast::<sockaddr_in6>().read_unaligned();
            let ip = Ipv6Addr::from(sin6.sin6_addr.s6_addr);
            Some((ip, u16::from_be(sin6.sin6_port)).into())
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{read, CAddr};

    #[test]
    fn an_address_reads_back_as_written() {
        for text in ["127.0.0.1:6881", "[::1]:65535"] {
            let addr = text.parse().unwrap();
            let c = CAddr::new(addr);
            // SAFETY: pointer and length are of the same live value.
            let back = unsafe { read(c.as_ptr(), c.len()) };
            assert_eq!(back, Some(addr));
        }
    }
}
