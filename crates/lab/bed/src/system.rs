//! The five system calls that no safe crate offers: everything unsafe of the testbed, in one place.

#![allow(unsafe_code)] // see each block

use nix::errno::Errno;
use nix::libc;
use std::ffi::CString;
use std::fs::File;
use std::io;
use std::mem;
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Makes `file`, which has /dev/net/tun open, a TUN device of this name in the caller's network namespace: whole IP packets
/// without a header before them.
pub fn make_tun(file: &File, name: &str) -> io::Result<()> {
    let name = CString::new(name)?;
    // SAFETY: all bits zero is a valid `ifreq`, a C structure of numbers.
    let mut request: libc::ifreq = unsafe { mem::zeroed() };
    let places = request.ifr_name.len() - 1;
    if name.as_bytes().len() > places {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    for (place, byte) in request.ifr_name.iter_mut().zip(name.as_bytes()) {
        *place = *byte as libc::c_char;
    }
    request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI) as libc::c_short;
    // SAFETY: the descriptor is open and the request outlives the call; the kernel writes the name back into it.
    let done = unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF as _, &mut request) };
    Errno::result(done).map(drop).map_err(io::Error::from)
}

/// The threads of a run that cannot wait for a core, the most urgent last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Urgency {
    /// The applications at both ends.
    Ends = 1,
    /// The wire, on which both ends depend.
    Wire = 2,
}

/// Puts the calling thread among the real-time threads (SCHED_FIFO).
pub fn become_real_time(urgency: Urgency) -> io::Result<()> {
    // The kernel's sched_param is this number alone. The call goes around the C library, since musl's always fails.
    let priority = urgency as libc::c_int;
    // SAFETY: the number outlives the call; 0 is the calling thread.
    let done =
        unsafe { libc::syscall(libc::SYS_sched_setscheduler, 0, libc::SCHED_FIFO, &raw const priority) };
    Errno::result(done).map(drop).map_err(io::Error::from)
}

/// Lets the program that `command` starts get SIGKILL when the thread that starts it ends.
pub fn die_with_thread(command: &mut Command) {
    let parent = nix::unistd::getpid();
    let ask = move || {
        // SAFETY: a system call with numbers only.
        let done = unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL, 0, 0, 0) };
        Errno::result(done)?;
        // A parent that was killed since the fork sends no signal any more.
        match nix::unistd::getppid() == parent {
            true => Ok(()),
            false => Err(Errno::ESRCH.into()),
        }
    };
    // SAFETY: between fork and exec this makes two system calls and neither allocates nor locks.
    unsafe { command.pre_exec(ask) };
}

/// The kernel's view of a connection (TCP_INFO).
#[derive(Clone, Copy, Debug)]
pub struct TcpInfo {
    /// State of the congestion control: 0 open, 1 disorder, 2 CWR, 3 recovery, 4 loss.
    pub state: u8,
    /// Segments outstanding.
    pub unacked: u32,
    /// Slow-start threshold, segments.
    pub ssthresh: u32,
    /// Bytes acknowledged so far.
    pub bytes_acked: u64,
    /// Least round-trip time of the last minutes, µs; `u32::MAX` before the first.
    pub min_rtt_us: u32,
    /// Congestion window, segments.
    pub cwnd: u32,
    /// Payload of a segment, bytes.
    pub mss: u32,
    /// Smoothed round-trip time, µs.
    pub srtt_us: u32,
    /// Segments sent again.
    pub retransmissions: u32,
    /// Segments with data sent, those sent again included.
    pub data_segments: u32,
    /// Estimate of the rate of delivery, bytes per second.
    pub delivery_rate: u64,
}

/// Reads [`TcpInfo`] of a connection. The places are those of `struct tcp_info` in linux/tcp.h, which only grows at its end; libc's
/// own structure ends too early.
pub fn tcp_info(socket: &impl AsRawFd) -> io::Result<TcpInfo> {
    let mut info = [0_u8; 192];
    let mut length = info.len() as libc::socklen_t;
    let place = info.as_mut_ptr().cast();
    // SAFETY: the descriptor is open, and the kernel writes no more than `length` bytes into `info`, which outlives the call.
    let done = unsafe {
        libc::getsockopt(socket.as_raw_fd(), libc::IPPROTO_TCP, libc::TCP_INFO, place, &mut length)
    };
    Errno::result(done)?;
    let word = |at: usize| info[at..].first_chunk().map_or(0, |bytes| u32::from_ne_bytes(*bytes));
    let long = |at: usize| info[at..].first_chunk().map_or(0, |bytes| u64::from_ne_bytes(*bytes));
    Ok(TcpInfo {
        state: info[1],
        unacked: word(24),
        ssthresh: word(76),
        bytes_acked: long(120),
        min_rtt_us: word(148),
        mss: word(16),
        srtt_us: word(68),
        cwnd: word(80),
        retransmissions: word(100),
        data_segments: word(156),
        delivery_rate: long(160),
    })
}

/// Returns the bytes that were written to a connection and are not acknowledged (SIOCOUTQ).
pub fn unacknowledged(socket: &impl AsRawFd) -> io::Result<u64> {
    let mut bytes: libc::c_int = 0;
    // SAFETY: the descriptor is open, and the kernel writes one integer into `bytes`, which outlives the call.
    let done = unsafe { libc::ioctl(socket.as_raw_fd(), libc::TIOCOUTQ, &raw mut bytes) };
    Errno::result(done)?;
    Ok(u64::try_from(bytes).unwrap_or(0))
}
