//! Makes a TCP socket background traffic with the means of its system, and returns what that managed.
//!
//! ```
//! use std::net::{TcpListener, TcpStream};
//!
//! let server = TcpListener::bind("127.0.0.1:0")?;
//! let stream = TcpStream::connect(server.local_addr()?)?;
//! let background = afteryou_background::set_background(&stream)?;
//! println!("{background}");
//! if let Err(missing) = background.rule {
//!     println!("its uploads take what TCP takes: {missing}");
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | system | rule | what it governs | mark |
//! |---|---|---|---|
//! | Linux | TCP_CONGESTION: the best of [`CONTROLLERS`] that this process may choose | sending | DSCP LE (RFC 8622), and SO_PRIORITY 1 |
//! | macOS | SO_TRAFFIC_CLASS = SO_TC_BK_SYS (xnu, `bsd/netinet/in_tclass.c`) | LEDBAT for sending, rLEDBAT for receiving; none on loopback | DSCP LE |
//! | Windows 10, build 20348, and newer | SIO_PRIORITY_HINT, very low for both directions (`mstcpip.h`) | LEDBAT for sending, its receiver's part for receiving | none: its policies mark |
//! | others | none | | DSCP LE, where the system permits it |
//!
//! No call requires privileges. Those of macOS and Windows are written from the systems' headers and sources, and were compiled, not measured.
//!
//! # When to call it
//! Call it on a connection, right after `connect` or `accept`. On Linux a route with `congctl` replaces the controller of an unconnected socket when that
//! connects. A second call has the same effect as one.
//!
//! On Linux the connections of a listener inherit its mark and its controller, unless such a route replaces that. They do not inherit the priority. A
//! socket that has one of afteryou's controllers already, by a route or as the default, keeps it.
//!
//! # Which controllers of Linux yield
//! The book's page about queues has the measurements. Linux' own `vegas` leaves CUBIC 83 to 90 % of a link, and is the last of [`CONTROLLERS`]. `lp` is not
//! among them: it takes a NewReno's share. Neither is `cdg`, which takes up to 27 % in a short buffer. `nv` was not measured.
//!
//! No module is loaded: only controllers that the kernel lists already are tried. An attempt with another name would start `modprobe` if the
//! process has CAP_NET_ADMIN, which took 42 ms in User-mode Linux 6.1.
//!
//! # Tests
//! `tests/all` reads packets in a network namespace. Those of `afteryou-kernel` do the same with its controllers loaded, as root and as a user without privileges.

#[cfg(any(target_os = "linux", test))]
mod choice;
mod fact;
#[cfg(target_os = "linux")]
mod linux;
mod mark;
#[cfg(any(unix, windows))]
mod system;

pub use fact::{Background, Missing, Rule};
#[cfg(any(unix, windows))]
pub use system::set_background_raw;

use socket2::{SockRef, Type};
use std::io;
use thiserror::Error;

/// Names of controllers of Linux that yield, the best first. All but the last are afteryou's.
pub const CONTROLLERS: [&str; 5] = ["afteryou", "ay_ledbatpp", "ay_fledbat", "ay_ledbat", "vegas"];

/// The reason why nothing was set.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// The system refuses to describe the socket.
    #[error("this is not an open socket: {0}")]
    NotOpen(#[from] io::Error),
    /// The socket sends no packets of IP, such as one of the family AF_UNIX.
    #[error("this socket is neither of IPv4 nor of IPv6; pass one that is")]
    NotInternet,
}

/// Makes a socket background traffic, as far as the system permits, and returns what was managed.
///
/// A UDP socket is marked; the rule that sends is its program's own.
///
/// # Errors
/// It is not an open socket of IP. Means that the system lacks or refuses are no errors, but facts of [`Background`].
pub fn set_background<'s>(socket: impl Into<SockRef<'s>>) -> Result<Background, Error> {
    let socket = socket.into();
    let families = mark::families(&socket)?;
    let is_stream = socket.r#type()? == Type::STREAM;
    let mark = mark::set(&socket, families).map_err(|error| error.to_string());
    // After the mark: setting it sets the priority of IPv4 sockets, too.
    let low_priority = set_low_priority(&socket);
    let rule = if is_stream { set_rule(&socket) } else { Err(Missing::NotTcp) };
    Ok(Background { rule, mark, low_priority })
}

#[cfg(target_os = "linux")]
fn set_rule(socket: &SockRef<'_>) -> Result<Rule, Missing> {
    linux::choose_controller(socket)
}

#[cfg(target_os = "macos")]
fn set_rule(socket: &SockRef<'_>) -> Result<Rule, Missing> {
    system::set_background_class(socket).map_err(|error| Missing::Refused(error.to_string()))?;
    Ok(Rule::TrafficClass)
}

#[cfg(windows)]
fn set_rule(socket: &SockRef<'_>) -> Result<Rule, Missing> {
    system::set_lowest_priority(socket).map_err(|error| Missing::Refused(error.to_string()))?;
    Ok(Rule::PriorityHint)
}

#[cfg(not(any(target_os = "linux", target_os = "macos", windows)))]
fn set_rule(_: &SockRef<'_>) -> Result<Rule, Missing> {
    Err(Missing::NoMeans)
}

#[cfg(target_os = "linux")]
fn set_low_priority(socket: &SockRef<'_>) -> bool {
    linux::set_low_priority(socket).is_ok()
}

#[cfg(not(target_os = "linux"))]
fn set_low_priority(_: &SockRef<'_>) -> bool {
    false
}

/// The program in the book's page is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../../docs/src/background.md")]
struct BookPage;
