//! Tries of the steering, on a connection and on a child of the caller's own.

use super::system;
use crate::probe::Reading;
use afteryou_base::Span;
use rustix::io::Errno;
use rustix::process::{pidfd_getfd, pidfd_open, Pid, PidfdFlags, PidfdGetfdFlags};
use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::{Command, Stdio};

/// A low-water mark that lifts a socket's buffer to the system's maximum.
const LIFT: i32 = 1 << 30;
/// A pidfd_getfd of Linux 5.6.
const FIRST: (u32, u32) = (5, 6);
/// Yama refuses all processes without rights from this ptrace_scope on.
const YAMA_REFUSES: u32 = 2;

/// A connection of the caller's own, whose window it sets.
#[derive(Debug)]
pub struct Tried {
    socket: OwnedFd,
}

impl Tried {
    /// Raises the buffer of a connection before its first data, so that only the window bounds it. A duplicate of the socket is kept, and
    /// the connection ends only when that is dropped, too.
    ///
    /// # Errors
    /// It is no TCP socket, or the system refuses the options.
    pub fn new(socket: BorrowedFd<'_>) -> io::Result<Tried> {
        system::set_receive_low_water(socket, LIFT)?;
        system::set_receive_low_water(socket, 1)?;
        Ok(Tried { socket: socket.try_clone_to_owned()? })
    }

    /// Bounds the receive window, bytes.
    ///
    /// # Errors
    /// As setsockopt.
    pub fn set_window(&self, bytes: u32) -> io::Result<()> {
        system::set_window_clamp(self.socket.as_fd(), bytes)
    }

    /// Returns the payload of a packet that this end accepts, bytes.
    ///
    /// # Errors
    /// As getsockopt.
    pub fn mss(&self) -> io::Result<u32> {
        Ok(system::tcp_info(self.socket.as_fd())?.advmss)
    }

    /// Reads the connection.
    ///
    /// # Errors
    /// As getsockopt.
    pub fn read(&self) -> io::Result<Reading> {
        let info = system::tcp_info(self.socket.as_fd())?;
        let span = |us: u32| Span::from_micros(u64::from(us)).nonzero();
        Ok(Reading {
            bytes: info.bytes_received,
            rtt: span(info.rcv_rtt),
            least_rtt: span(info.min_rtt).filter(|_| info.min_rtt != u32::MAX),
            out_of_order: info.rcv_ooopack,
        })
    }
}

/// Whether the sockets of child processes can be reached.
#[derive(Debug)]
pub enum Reach {
    /// They can.
    Works,
    /// The kernel is older than 5.6 and has no pidfd_getfd.
    OldKernel {
        /// The release, as `uname -r` prints it.
        release: String,
    },
    /// Yama's ptrace_scope refuses it.
    Yama {
        /// The value of ptrace_scope.
        scope: u32,
    },
    /// A seccomp filter refuses it, as those of containers do.
    Seccomp,
    /// It fails for another reason.
    Failed(io::Error),
}

/// Returns whether the sockets of child processes can be reached, by trying it with a child.
pub fn reach() -> Reach {
    let child = Command::new("cat").stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    let mut child = match child {
        Ok(child) => child,
        Err(error) => return Reach::Failed(error),
    };
    let tried = duplicate_first(i32::try_from(child.id()).unwrap_or_default());
    // Its input ends.
    drop(child.stdin.take());
    let _ = child.wait();
    meaning(tried, &release(), seccomp(), yama())
}

/// Returns whether this kernel lacks pidfd_getfd, or hides it.
pub fn lacks_pidfd_getfd() -> bool {
    let own = i32::try_from(std::process::id()).unwrap_or_default();
    matches!(duplicate_first(own), Err(Errno::NOSYS))
}

/// Tries to duplicate the standard input of a process.
fn duplicate_first(pid: i32) -> Result<(), Errno> {
    let process = pidfd_open(Pid::from_raw(pid).ok_or(Errno::SRCH)?, PidfdFlags::empty())?;
    pidfd_getfd(process, 0, PidfdGetfdFlags::empty()).map(drop)
}

fn meaning(tried: Result<(), Errno>, release: &str, has_seccomp: bool, yama: Option<u32>) -> Reach {
    match tried {
        Ok(()) => Reach::Works,
        Err(Errno::NOSYS) if version(release).is_none_or(|version| version < FIRST) => {
            Reach::OldKernel { release: release.to_owned() }
        }
        // Filters of containers hide calls that they do not know.
        Err(Errno::NOSYS) => Reach::Seccomp,
        Err(Errno::PERM | Errno::ACCESS) => match yama {
            Some(scope) if scope >= YAMA_REFUSES => Reach::Yama { scope },
            _ if has_seccomp => Reach::Seccomp,
            _ => Reach::Failed(Errno::PERM.into()),
        },
        Err(error) => Reach::Failed(error.into()),
    }
}

fn release() -> String {
    fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default().trim().to_owned()
}

/// Parses major and minor number.
fn version(release: &str) -> Option<(u32, u32)> {
    let mut numbers = release.split(|character: char| !character.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

/// Returns whether this process has a filter of system calls.
fn seccomp() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    status.lines().any(|line| line.starts_with("Seccomp:") && !line.trim_end().ends_with('0'))
}

fn yama() -> Option<u32> {
    fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope").ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn the_reason_for_a_refusal_is_found() {
        let (denied, absent) = (Err(Errno::PERM), Err(Errno::NOSYS));
        assert!(matches!(meaning(Ok(()), "6.1.0", true, Some(1)), Reach::Works));
        assert!(
            matches!(meaning(absent, "5.4.0-1-amd64", false, None), Reach::OldKernel { release } if release == "5.4.0-1-amd64")
        );
        assert!(matches!(meaning(absent, "6.1.0", true, None), Reach::Seccomp));
        assert!(matches!(meaning(denied, "6.1.0", true, Some(2)), Reach::Yama { scope: 2 }));
        assert!(matches!(meaning(denied, "6.1.0", true, Some(1)), Reach::Seccomp));
        assert!(matches!(meaning(denied, "6.1.0", false, Some(0)), Reach::Failed(_)));
    }

    #[test]
    fn a_kernel_that_has_the_call_is_not_taken_for_an_old_one() {
        let is_new = version(&release()).is_some_and(|version| version >= FIRST);
        assert!(!is_new || seccomp() || !lacks_pidfd_getfd());
        assert!(!matches!(reach(), Reach::OldKernel { .. }) || !is_new);
    }

    #[test]
    fn a_connection_is_read_and_its_window_set() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut sender = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut receiver, _) = listener.accept().unwrap();
        let tried = Tried::new(receiver.as_fd()).unwrap();
        tried.set_window(30_000).unwrap();
        assert_eq!(system::window_clamp(receiver.as_fd()).unwrap(), 30_000);
        sender.write_all(&[7; 5000]).unwrap();
        receiver.read_exact(&mut [0; 5000]).unwrap();
        assert_eq!(tried.read().unwrap().bytes, 5000);
        assert!(tried.mss().unwrap() > 500);
    }
}
