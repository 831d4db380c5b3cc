//! Two calls that no safe crate has, and sockets that are numbers: everything unsafe of this crate.

#![allow(unsafe_code)] // see each block

use crate::{set_background, Background, Error};
#[cfg(any(target_os = "macos", windows))]
use socket2::SockRef;
use std::io;

/// Does the same as [`set_background`] for the number of a descriptor, or of a SOCKET on Windows: for interfaces to other languages.
///
/// # Errors
/// As [`set_background`]; [`Error::NotOpen`] for a number that no socket has, such as -1.
///
/// # Safety
/// Nothing else closes the socket during the call.
#[cfg(unix)]
pub unsafe fn set_background_raw(socket: i64) -> Result<Background, Error> {
    /// EBADF, the same on all systems.
    const NONE: i32 = 9;
    let descriptor = i32::try_from(socket).ok().filter(|descriptor| *descriptor >= 0);
    let descriptor = descriptor.ok_or_else(|| io::Error::from_raw_os_error(NONE))?;
    // SAFETY: it is not -1, and nothing closes it. If it is not open, the system refuses it.
    set_background(&unsafe { std::os::fd::BorrowedFd::borrow_raw(descriptor) })
}

/// Does the same as [`set_background`] for the number of a descriptor, or of a SOCKET on Windows: for interfaces to other languages.
///
/// # Errors
/// As [`set_background`]; [`Error::NotOpen`] for a number that no socket has, such as -1.
///
/// # Safety
/// Nothing else closes the socket during the call.
#[cfg(windows)]
pub unsafe fn set_background_raw(socket: i64) -> Result<Background, Error> {
    use windows_sys::Win32::Networking::WinSock::{INVALID_SOCKET, WSAENOTSOCK};
    let socket = u64::try_from(socket).ok().filter(|socket| *socket != INVALID_SOCKET as u64);
    let socket = socket.ok_or_else(|| io::Error::from_raw_os_error(WSAENOTSOCK))?;
    // SAFETY: it is not INVALID_SOCKET, and nothing closes it. If it is not open, the system refuses it.
    set_background(&unsafe { std::os::windows::io::BorrowedSocket::borrow_raw(socket) })
}

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
