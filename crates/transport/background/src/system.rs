//! The two calls that no safe crate has: everything unsafe of this crate.

#![allow(unsafe_code)] // see each block

use socket2::SockRef;
use std::io;

/// Sets the traffic class of the system's own background transfers, and reads it back: a class that the kernel replaces has no effect.
///
/// # Errors
/// As setsockopt and getsockopt.
#[cfg(target_os = "macos")]
pub fn set_background_class(socket: &SockRef<'_>) -> io::Result<()> {
    use std::os::fd::AsRawFd;
    /// SO_TRAFFIC_CLASS and SO_TC_BK_SYS of xnu's `bsd/sys/socket_private.h`.
    const SO_TRAFFIC_CLASS: libc::c_int = 0x1086;
    const SO_TC_BK_SYS: libc::c_int = 100;
    let class = SO_TC_BK_SYS;
    let mut found: libc::c_int = 0;
    let mut length = size_of::<libc::c_int>() as libc::socklen_t;
    let fd = socket.as_raw_fd();
    // SAFETY: the descriptor is open as long as `socket` lives. The first call reads an int, the second writes at most `length` bytes of one.
    let done = unsafe {
        libc::setsockopt(fd, libc::SOL_SOCKET, SO_TRAFFIC_CLASS, (&raw const class).cast(), length) == 0
            && libc::getsockopt(
                fd,
                libc::SOL_SOCKET,
                SO_TRAFFIC_CLASS,
                (&raw mut found).cast(),
                &raw mut length,
            ) == 0
    };
    match done {
        true if found == class => Ok(()),
        true => Err(io::Error::other(format!("the system made it class {found}"))),
        false => Err(io::Error::last_os_error()),
    }
}

/// Sets the lowest priority for sending and receiving.
///
/// # Errors
/// As WSAIoctl; WSAEOPNOTSUPP or WSAEINVAL before Windows 10, build 20348.
#[cfg(windows)]
pub fn set_lowest_priority(socket: &SockRef<'_>) -> io::Result<()> {
    use std::os::windows::io::AsRawSocket;
    use windows_sys::Win32::Networking::WinSock::{
        SocketPriorityHintVeryLow, WSAIoctl, PRIORITY_STATUS, SIO_PRIORITY_HINT, SOCKET,
    };
    let status = PRIORITY_STATUS { Sender: SocketPriorityHintVeryLow, Receiver: SocketPriorityHintVeryLow };
    let mut returned = 0;
    // SAFETY: the socket is open as long as `socket` lives. The call reads the status, writes the number of bytes that it returns, which
    // are none, and is over when it returns, since it has no OVERLAPPED.
    let failed = unsafe {
        WSAIoctl(
            socket.as_raw_socket() as SOCKET,
            SIO_PRIORITY_HINT,
            (&raw const status).cast(),
            size_of::<PRIORITY_STATUS>() as u32,
            std::ptr::null_mut(),
            0,
            &raw mut returned,
            std::ptr::null_mut(),
            None,
        )
    };
    match failed {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
