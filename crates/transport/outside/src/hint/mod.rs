//! Asks the system itself to make a connection of this process a background transfer, where it has means of its own.
//!
//! | system | call | effect |
//! |---|---|---|
//! | macOS | SO_TRAFFIC_CLASS = SO_TC_BK_SYS (xnu, `bsd/netinet/in_tclass.c`) | LEDBAT for sending, rLEDBAT for receiving; none on loopback |
//! | Windows 10, build 20348, and newer | SIO_PRIORITY_HINT, very low for both directions (`mstcpip.h`) | LEDBAT for sending, its receiver's part for receiving |
//! | others | none | see [`Error::None`]; on Linux `linux::Own` steers instead |
//!
//! Neither call requires privileges. Both are written from the systems' headers and sources, and were compiled, not measured.

#[cfg(any(target_os = "macos", windows))]
mod system;

use socket2::SockRef;
use std::fmt;
use std::io;
use thiserror::Error;

/// The means that a system has accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hinted {
    /// macOS: the traffic class of the system's own background transfers.
    TrafficClass,
    /// Windows: the lowest priority of sender and receiver.
    PriorityHint,
}

impl fmt::Display for Hinted {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let means = match self {
            Hinted::TrafficClass => "SO_TRAFFIC_CLASS",
            Hinted::PriorityHint => "SIO_PRIORITY_HINT",
        };
        write!(formatter, "this system's own background receiving is on ({means})")
    }
}

/// The reason why a connection stays an ordinary one.
#[derive(Debug, Error)]
pub enum Error {
    /// The system has no such call.
    #[error("this system has no background receiving of its own")]
    None,
    /// The system refuses the call.
    #[error("this system's own background receiving could not be switched on: {0}; the transfer does not give way")]
    Refused(#[from] io::Error),
}

/// Makes a TCP connection a background transfer in both directions, by the system's own means. It may be called before or after the
/// connection is established.
///
/// ```no_run
/// let stream = std::net::TcpStream::connect("192.0.2.1:80")?;
/// match afteryou_outside::hint::background(&stream) {
///     Ok(hinted) => println!("{hinted}"),
///     Err(error) => println!("{error}"),
/// }
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// [`Error::None`] on systems without the call, Linux among them; [`Error::Refused`] if an older system rejects it.
pub fn background<'s>(socket: impl Into<SockRef<'s>>) -> Result<Hinted, Error> {
    set(&socket.into())
}

#[cfg(target_os = "macos")]
fn set(socket: &SockRef<'_>) -> Result<Hinted, Error> {
    system::set_background_class(socket)?;
    Ok(Hinted::TrafficClass)
}

#[cfg(windows)]
fn set(socket: &SockRef<'_>) -> Result<Hinted, Error> {
    system::set_lowest_priority(socket)?;
    Ok(Hinted::PriorityHint)
}

#[cfg(not(any(target_os = "macos", windows)))]
fn set(_socket: &SockRef<'_>) -> Result<Hinted, Error> {
    Err(Error::None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn a_connection_is_in_the_background_exactly_where_the_system_has_a_call_for_that() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let hinted = background(&stream);
        match cfg!(any(target_os = "macos", windows)) {
            true => assert!(hinted.is_ok(), "{hinted:?}"),
            false => assert!(matches!(hinted, Err(Error::None)), "{hinted:?}"),
        }
    }
}
