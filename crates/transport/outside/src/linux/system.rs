//! The socket options that no safe crate has: everything unsafe of this crate.

#![allow(unsafe_code)] // see each block

use rustix::io::FdFlags;
use rustix::time::{clock_gettime, ClockId};
use std::io;
use std::mem::{size_of, MaybeUninit};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::time::Duration;

/// SO_BUF_LOCK (Linux 5.15), which libc has for some targets only.
const SO_BUF_LOCK: libc::c_int = 72;
/// SO_MAX_PACING_RATE.
const SO_MAX_PACING_RATE: libc::c_int = 47;
/// TCP_WINDOW_CLAMP.
const TCP_WINDOW_CLAMP: libc::c_int = 10;

/// TCP_INFO's least round-trip time before there is one.
pub const NO_RTT: u32 = u32::MAX;

/// TCP_INFO as far as it is used; the kernel's structure only grows at its end (linux/tcp.h). Fields that a kernel lacks are zero.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct TcpInfo {
    /// State of the connection: 1 established, 2 SYN sent.
    pub state: u8,
    ca_state: u8,
    retransmits: u8,
    probes: u8,
    backoff: u8,
    options: u8,
    /// Window scales, that of the peer in the low half.
    pub window_scales: u8,
    delivery_flags: u8,
    rto: u32,
    ato: u32,
    /// Payload of a sent packet, bytes.
    pub snd_mss: u32,
    /// Payload of packets received of late, bytes.
    pub rcv_mss: u32,
    /// Packets that are not acknowledged.
    pub unacked: u32,
    /// Of those, acknowledged selectively.
    pub sacked: u32,
    /// Of those, held for lost.
    pub lost: u32,
    retrans: u32,
    fackets: u32,
    last: [u32; 4],
    pmtu: u32,
    rcv_ssthresh: u32,
    /// Smoothed round-trip time, µs.
    pub rtt: u32,
    rttvar: u32,
    snd_ssthresh: u32,
    /// Congestion window, packets.
    pub snd_cwnd: u32,
    /// Payload of a packet that this end accepts, bytes.
    pub advmss: u32,
    reordering: u32,
    /// Round-trip time by received data, µs.
    pub rcv_rtt: u32,
    rcv_space: u32,
    /// Packets sent again.
    pub total_retrans: u32,
    pacing_rate: u64,
    /// Largest rate that is set, bytes a second; all bits set: none.
    pub max_pacing_rate: u64,
    bytes_acked: u64,
    /// Payload bytes received.
    pub bytes_received: u64,
    segs_out: u32,
    /// Packets received.
    pub segs_in: u32,
    /// Bytes that wait to be sent.
    pub notsent_bytes: u32,
    /// Least round-trip time of the last minutes, µs; all bits set: none.
    pub min_rtt: u32,
    data_segs_in: u32,
    data_segs_out: u32,
    delivery_rate: u64,
    busy_time: u64,
    rwnd_limited: u64,
    sndbuf_limited: u64,
    /// Packets delivered to the peer.
    pub delivered: u32,
    delivered_ce: u32,
    bytes_sent: u64,
    bytes_retrans: u64,
    dsack_dups: u32,
    reord_seen: u32,
    /// Packets received out of order.
    pub rcv_ooopack: u32,
    snd_wnd: u32,
}

/// States of TCP.
const ESTABLISHED: u8 = 1;
const SYN_SENT: u8 = 2;
const CLOSE_WAIT: u8 = 8;
const LISTEN: u8 = 10;

impl TcpInfo {
    /// Returns whether this is a connection that can move data, or one that is being made.
    pub fn is_open(&self) -> bool {
        matches!(self.state, ESTABLISHED | SYN_SENT | CLOSE_WAIT)
    }

    /// Returns whether the peer has not answered yet.
    pub fn is_connecting(&self) -> bool {
        self.state == SYN_SENT
    }

    /// Returns whether the socket takes connections and is none.
    pub fn is_listening(&self) -> bool {
        self.state == LISTEN
    }
}

/// Reads TCP_INFO.
///
/// # Errors
/// As getsockopt: the descriptor is no TCP socket.
pub fn tcp_info(socket: BorrowedFd<'_>) -> io::Result<TcpInfo> {
    let mut info = MaybeUninit::<TcpInfo>::zeroed();
    let mut length = size_of::<TcpInfo>() as libc::socklen_t;
    // SAFETY: the kernel writes `length` bytes at most, and all bits zero is a valid `TcpInfo`, whose fields are numbers.
    unsafe {
        let done = libc::getsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            info.as_mut_ptr().cast(),
            &raw mut length,
        );
        if done != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(info.assume_init())
    }
}

/// Sets the bound of the receive window, bytes.
///
/// # Errors
/// As setsockopt.
pub fn set_window_clamp(socket: BorrowedFd<'_>, bytes: u32) -> io::Result<()> {
    set(socket, libc::IPPROTO_TCP, TCP_WINDOW_CLAMP, i32::try_from(bytes).unwrap_or(i32::MAX))
}

/// Returns the bound of the receive window, bytes.
///
/// # Errors
/// As getsockopt.
pub fn window_clamp(socket: BorrowedFd<'_>) -> io::Result<u32> {
    get::<i32>(socket, libc::IPPROTO_TCP, TCP_WINDOW_CLAMP).map(|bytes| bytes.unsigned_abs())
}

/// Sets how many bytes make a socket readable.
///
/// # Errors
/// As setsockopt.
pub fn set_receive_low_water(socket: BorrowedFd<'_>, bytes: i32) -> io::Result<()> {
    set(socket, libc::SOL_SOCKET, libc::SO_RCVLOWAT, bytes)
}

/// Returns how many bytes make a socket readable.
///
/// # Errors
/// As getsockopt.
pub fn receive_low_water(socket: BorrowedFd<'_>) -> io::Result<i32> {
    get(socket, libc::SOL_SOCKET, libc::SO_RCVLOWAT)
}

/// Returns whether the program has set the receive buffer itself; false on kernels before 5.15, which do not say.
pub fn has_own_receive_buffer(socket: BorrowedFd<'_>) -> bool {
    const RECEIVE: i32 = 2;
    get::<i32>(socket, libc::SOL_SOCKET, SO_BUF_LOCK).is_ok_and(|locks| locks & RECEIVE != 0)
}

/// Lets the kernel size the receive buffer again.
///
/// # Errors
/// The kernel is older than 5.15.
pub fn unlock_receive_buffer(socket: BorrowedFd<'_>) -> io::Result<()> {
    set(socket, libc::SOL_SOCKET, SO_BUF_LOCK, 0i32)
}

/// Sets the largest sending rate, bytes a second; all bits set: none.
///
/// # Errors
/// As setsockopt.
pub fn set_max_pacing_rate(socket: BorrowedFd<'_>, bytes_per_second: u64) -> io::Result<()> {
    set(socket, libc::SOL_SOCKET, SO_MAX_PACING_RATE, usize::try_from(bytes_per_second).unwrap_or(usize::MAX))
}

/// Takes a descriptor that this process has inherited for itself, and keeps it from processes that this one starts.
///
/// # Errors
/// It is one of the standard streams, or not open.
pub fn take_inherited(descriptor: i32) -> io::Result<OwnedFd> {
    const STANDARD: i32 = 2;
    if descriptor <= STANDARD {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    // SAFETY: borrowed for one call, which fails if it is not open.
    rustix::io::fcntl_setfd(unsafe { BorrowedFd::borrow_raw(descriptor) }, FdFlags::CLOEXEC)?;
    // SAFETY: it is open, and the process that started this one made it for nobody else.
    Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
}

/// Returns a duplicate of a descriptor of this process.
///
/// # Errors
/// It is not open.
pub fn duplicate_own(descriptor: i32) -> io::Result<OwnedFd> {
    if descriptor < 0 {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    // SAFETY: borrowed for one call, which fails if it is not open. Whatever it is by then, only the duplicate is used.
    Ok(rustix::io::fcntl_dupfd_cloexec(unsafe { BorrowedFd::borrow_raw(descriptor) }, 0)?)
}

/// Returns the processor time that this thread has used.
pub fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let nanoseconds = u32::try_from(time.tv_nsec).unwrap_or_default();
    Duration::new(u64::try_from(time.tv_sec).unwrap_or_default(), nanoseconds)
}

/// A number as the kernel takes it: any bits are valid.
trait Number: Copy + Default {}
impl Number for i32 {}
impl Number for usize {}

fn set<N: Number>(
    socket: BorrowedFd<'_>,
    level: libc::c_int,
    option: libc::c_int,
    value: N,
) -> io::Result<()> {
    // SAFETY: the value outlives the call, which reads its bytes.
    let done = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            level,
            option,
            (&raw const value).cast(),
            size_of::<N>() as libc::socklen_t,
        )
    };
    match done {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

fn get<N: Number>(socket: BorrowedFd<'_>, level: libc::c_int, option: libc::c_int) -> io::Result<N> {
    let mut value = N::default();
    let mut length = size_of::<N>() as libc::socklen_t;
    // SAFETY: the kernel writes `length` bytes at most into the value, for which any bits are valid.
    let done = unsafe {
        libc::getsockopt(socket.as_raw_fd(), level, option, (&raw mut value).cast(), &raw mut length)
    };
    match done {
        0 => Ok(value),
        _ => Err(io::Error::last_os_error()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::os::fd::AsFd;

    #[test]
    fn the_places_of_tcp_info_are_those_of_the_kernel() {
        assert_eq!(std::mem::offset_of!(TcpInfo, rtt), 68);
        assert_eq!(std::mem::offset_of!(TcpInfo, rcv_rtt), 92);
        assert_eq!(std::mem::offset_of!(TcpInfo, bytes_received), 128);
        assert_eq!(std::mem::offset_of!(TcpInfo, delivered), 192);
        assert_eq!(std::mem::offset_of!(TcpInfo, rcv_ooopack), 224);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut sender = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut receiver, _) = listener.accept().unwrap();
        sender.write_all(&[7; 10_000]).unwrap();
        receiver.read_exact(&mut [0; 10_000]).unwrap();
        let info = tcp_info(receiver.as_fd()).unwrap();
        assert_eq!((info.state, info.bytes_received), (1, 10_000));
        assert!(tcp_info(sender.as_fd()).unwrap().snd_mss > 500);
    }

    #[test]
    fn what_is_set_is_read_again() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let socket = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let socket = socket.as_fd();
        set_window_clamp(socket, 50_000).unwrap();
        assert_eq!(window_clamp(socket).unwrap(), 50_000);
        assert_eq!(tcp_info(socket).unwrap().max_pacing_rate, u64::MAX);
        set_max_pacing_rate(socket, 123_456).unwrap();
        assert_eq!(tcp_info(socket).unwrap().max_pacing_rate, 123_456);
        set_receive_low_water(socket, 3).unwrap();
        assert_eq!(receive_low_water(socket).unwrap(), 3);
        assert!(!has_own_receive_buffer(socket));
    }
}
