//! Packets and connections in files, for Wireshark and qvis.
//!
//! ```no_run
//! use afteryou_utp::{Dump, Endpoint, EndpointConfig};
//! use std::fs::File;
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let dump = Dump::default().pcapng(File::create("utp.pcapng")?).qlog("logs")?;
//! let config = EndpointConfig { dump: dump.clone(), ..EndpointConfig::background() };
//! let endpoint = Endpoint::bind("0.0.0.0:4000".parse()?, config)?;
//! // … connect, accept, transfer …
//! endpoint.close().await;
//! dump.flush()?; // the error of a file, if there was one
//! # Ok(())
//! # }
//! ```
//!
//! A thread of its own writes the files, at most 50 ms later. A disk that is full or slow stops no connection: records are skipped and
//! counted in [`Dump::statistics`].
//!
//! **Capture.** Every datagram of the socket, in both directions, as an IP packet with made-up IP and UDP headers. Received ones have the
//! kernel's time of arrival where it is known. A socket bound to any address appears as 0.0.0.0 or ::. Times are those of the endpoint's
//! clock; the wall clock was read once, when the socket was bound.
//!
//! **Logs.** A qlog file for each connection: its packets with their uTP headers, acknowledgements, losses, expired timers, the window and
//! the delays of the controller, handshake and end. Numbers of packets are those of data transmissions; a packet that takes none has none.
//! A received packet's `length` is without padding. A connection that a peer opens has a file once that peer has completed the handshake.
//! Until then the first records wait in memory, of all openings together at most a mebibyte besides their headers.
//!
//! Without an endpoint the program hands datagrams to [`Dump::sent`] and [`Dump::received`], and makes logged connections with
//! [`Dump::connect`] and [`Dump::accept`].

mod capture;
mod logs;
mod openings;

pub use afteryou_trace::spool::Totals as DumpStatistics;

use afteryou_base::Time;
use afteryou_trace::spool::Spool;
use capture::Capture;
use logs::Logs;
use std::io::{self, Write};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The files of one endpoint or of several; the default has none. Clones are the same files.
#[must_use = "options return it changed"]
#[derive(Clone, Debug)]
pub struct Dump {
    /// Most bytes of all files.
    limit: u64,
    /// Bytes of each payload in the capture.
    snap: usize,
    spool: Option<Spool>,
    capture: Option<Arc<Capture>>,
    logs: Option<Arc<Logs>>,
    socket: Socket,
}

/// The socket whose packets are written.
#[derive(Clone, Copy, Debug)]
struct Socket {
    local: SocketAddr,
    /// Wall clock at time zero of the socket's clock, since 1970.
    zero: Duration,
    /// Its interface in the capture.
    interface: u32,
}

impl Default for Dump {
    fn default() -> Dump {
        let local = SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0));
        let socket = Socket { local, zero: Duration::ZERO, interface: 0 };
        Dump { limit: u64::MAX, snap: usize::MAX, spool: None, capture: None, logs: None, socket }
    }
}

impl Dump {
    /// Writes every datagram to `out`, such as a new file or a pipe to Wireshark.
    pub fn pcapng(mut self, out: impl Write + Send + 'static) -> Dump {
        let file = self.spool().file(out);
        self.capture = Some(Arc::new(Capture::begin(file)));
        self
    }

    /// Writes a file for each connection into `folder`, which is made if it is not there.
    ///
    /// # Errors
    /// A folder that cannot be made or read, or has logs already.
    pub fn qlog(mut self, folder: impl Into<PathBuf>) -> io::Result<Dump> {
        let spool = self.spool().clone();
        self.logs = Some(Arc::new(Logs::begin(folder.into(), spool)?));
        Ok(self)
    }

    /// Writes at most `bytes` bytes into all files together. Then everything else is skipped.
    pub fn at_most(mut self, bytes: u64) -> Dump {
        self.limit = bytes;
        self.spool.iter().for_each(|spool| spool.set_limit(bytes));
        self
    }

    /// Captures at most `bytes` bytes of each datagram; uTP's header has 20.
    pub fn snap(self, bytes: usize) -> Dump {
        Dump { snap: bytes, ..self }
    }

    /// Returns the same files for the socket at `local`, which becomes an interface of the capture. An endpoint does so
    /// itself. `wall` is the reading of the wall clock at the time `now` of the clock that all further calls have.
    pub fn bound(mut self, local: SocketAddr, now: Time, wall: SystemTime) -> Dump {
        let wall = wall.duration_since(UNIX_EPOCH).unwrap_or_default();
        let zero = wall.saturating_sub(Duration::from_nanos(now.0));
        let interface = self.capture.as_ref().map_or(0, |capture| capture.interface(local));
        self.socket = Socket { local, zero, interface };
        self
    }

    /// Returns whether datagrams are captured.
    pub fn captures(&self) -> bool {
        self.capture.is_some()
    }

    /// Logs a datagram that leaves for `to`. `tos` has DSCP and ECN.
    pub fn sent(&self, at: Time, to: SocketAddr, tos: u8, datagram: &[u8]) {
        self.packet(at, (self.socket.local, to), tos, datagram);
    }

    /// Logs a datagram of `from` that has arrived.
    pub fn received(&self, at: Time, from: SocketAddr, tos: u8, datagram: &[u8]) {
        self.packet(at, (from, self.socket.local), tos, datagram);
    }

    fn packet(&self, at: Time, (from, to): (SocketAddr, SocketAddr), tos: u8, datagram: &[u8]) {
        let Some(capture) = &self.capture else { return };
        let at = self.socket.zero + Duration::from_nanos(at.0);
        capture.packet(
            self.socket.interface,
            at,
            &afteryou_trace::udp::Datagram { from, to, tos },
            datagram,
            self.snap,
        );
    }

    /// Begins the log of a connection, if there are logs.
    pub(crate) fn log(&self, now: Time, opening: &Opening) -> Option<afteryou_trace::qlog::Connection> {
        let reference = self.socket.zero + Duration::from_nanos(now.0);
        self.logs.as_ref().map(|logs| logs.log(now, reference, self.socket.local, opening))
    }

    /// Returns how the files are doing.
    pub fn statistics(&self) -> DumpStatistics {
        self.spool.as_ref().map(Spool::totals).unwrap_or_default()
    }

    /// Waits until everything so far is in the files. Call it before the program ends.
    ///
    /// # Errors
    /// The first error of a file, once.
    pub fn flush(&self) -> io::Result<()> {
        self.spool.as_ref().map_or(Ok(()), Spool::flush)
    }

    fn spool(&mut self) -> &Spool {
        self.spool.get_or_insert_with(|| Spool::new(self.limit))
    }
}

/// A connection that begins.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Opening {
    pub peer: SocketAddr,
    /// Ids of the packets to this end and to the peer.
    pub ids: (u16, u16),
    /// This end sends the SYN.
    pub opens: bool,
}
