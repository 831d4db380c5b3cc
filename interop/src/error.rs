//! Errors around a libutp peer.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use crate::outcome::Outcome;

/// Why a libutp peer could not be started or did not finish.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// libutp is in use in this process, by the calling thread or for too long.
    #[error(
        "libutp is already running in this process; join or drop the other handle first, \
         or use `LibutpPeer::pair` for two ends at once"
    )]
    Busy,
    /// The loopback UDP socket could not be set up.
    #[error("could not set up a udp socket on {addr}; check that this loopback address exists")]
    Socket {
        /// The address asked for.
        addr: SocketAddr,
        /// The cause given by the system.
        source: io::Error,
    },
    /// Only loopback is used, and both ends need the same address family.
    #[error("{to} cannot be reached from {bind}; use loopback addresses of one family for both")]
    Address {
        /// [`crate::Options::bind`].
        bind: IpAddr,
        /// The address to connect to, or `bind` again.
        to: IpAddr,
    },
    /// An option has a value that libutp would abort on.
    #[error("option `{name}` is {value}; set it to between {min} and {max}")]
    Option {
        /// The field of [`crate::Options`] or [`crate::Loss`].
        name: &'static str,
        /// The value given.
        value: u64,
        /// The smallest usable value.
        min: u64,
        /// The largest usable value.
        max: u64,
    },
    /// libutp refused to create a context or a socket.
    #[error("libutp gave no {what}; check that the bundled version still has api version 2")]
    Libutp {
        /// The requested value.
        what: &'static str,
    },
    /// The thread for libutp could not be started.
    #[error("could not start the libutp thread; free some threads and run again")]
    Spawn(#[source] io::Error),
    /// The peer was still busy after the given time. It has been stopped.
    #[error(
        "the libutp peer was not done after {after:?} and was stopped; look at what it got so \
         far, or allow more time: {partial:?}"
    )]
    NotDone {
        /// How long [`crate::Handle::join`] waited.
        after: Duration,
        /// The outcomes until then, one for each end.
        partial: Vec<Outcome>,
    },
    /// The thread ended without a result.
    #[error("the libutp thread ended without a result; look for a panic message above")]
    Died,
}
