//! The job of a libutp peer.

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use crate::error::Error;
use crate::loss::Loss;

/// How the libutp end closes once everything is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finish {
    /// Read until the other end's FIN, then close.
    CloseAfterEof,
    /// Close at once. libutp still delivers what was written, then a FIN; what
    /// arrives from now on is acked and thrown away.
    Close,
    /// Send the FIN at once (`utp_shutdown`), read on until the other end's
    /// FIN, then close.
    HalfClose,
    /// Close when this many bytes have been received.
    CloseAfterReceiving(usize),
    /// Never close; ended by `stop`, the deadline or an error. The other end
    /// then sees a peer that vanished without a FIN.
    KeepOpen,
}

/// The work of one libutp end.
#[derive(Clone, Debug)]
pub struct Job {
    /// Bytes to write. An accepting libutp can write only after the first data
    /// from the other end.
    pub send: Vec<u8>,
    /// The way to close.
    pub finish: Finish,
    /// The loop ends after this time at the latest.
    pub deadline: Duration,
    /// Settings of the end.
    pub options: Options,
}

impl Default for Job {
    /// Sends nothing, reads until the FIN, has 30 seconds.
    fn default() -> Self {
        Job {
            send: Vec::new(),
            finish: Finish::CloseAfterEof,
            deadline: Duration::from_secs(30),
            options: Options::default(),
        }
    }
}

/// Settings of one libutp end. `None` leaves libutp's own default.
#[derive(Clone, Debug)]
pub struct Options {
    /// The loopback address to bind, with a port chosen by the system.
    pub bind: IpAddr,
    /// Receive buffer in bytes, the most it advertises as window (default
    /// 1 MiB). A libutp sender stalls on a window below one packet.
    pub recv_buffer: Option<u32>,
    /// Send buffer in bytes, the most it has in flight (default 1 MiB).
    pub send_buffer: Option<u32>,
    /// Target queueing delay, used in microseconds (default 100 ms).
    pub target_delay: Option<Duration>,
    /// Largest UDP payload in bytes, uTP header included (defaults: 1402 on
    /// IPv4, 1232 on IPv6).
    pub udp_mtu: Option<u16>,
    /// First sequence number; a connecting end uses it as connection id too.
    /// libutp's default comes from an unseeded `rand()`.
    pub first_seq: Option<u16>,
    /// How fast received bytes are taken out of the receive buffer, in bytes
    /// per second; `None` is at once.
    pub read_rate: Option<u32>,
    /// Datagrams to lose.
    pub loss: Loss,
    /// How long to keep answering datagrams (with resets) when the connection
    /// is over, as a program with more connections would.
    pub linger: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            bind: IpAddr::V4(Ipv4Addr::LOCALHOST),
            recv_buffer: None,
            send_buffer: None,
            target_delay: None,
            udp_mtu: None,
            first_seq: None,
            read_rate: None,
            loss: Loss::default(),
            linger: Duration::from_millis(200),
        }
    }
}

impl Options {
    /// Refuses values on which libutp's asserts would abort the process.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let int = u64::from(i32::MAX.unsigned_abs());
        let micros = |d: Duration| u64::try_from(d.as_micros()).unwrap_or(u64::MAX);
        let limits = [
            ("recv_buffer", self.recv_buffer.map(u64::from), 1, int),
            ("send_buffer", self.send_buffer.map(u64::from), 1, int),
            ("target_delay", self.target_delay.map(micros), 1, int),
            ("udp_mtu", self.udp_mtu.map(u64::from), 576, 65_507),
            ("read_rate", self.read_rate.map(u64::from), 1, int),
            ("sent_per_mille", Some(u64::from(self.loss.sent_per_mille)), 0, 1000),
            ("received_per_mille", Some(u64::from(self.loss.received_per_mille)), 0, 1000),
        ];
        for (name, value, min, max) in limits {
            if let Some(value) = value.filter(|v| *v < min || *v > max) {
                return Err(Error::Option { name, value, min, max });
            }
        }
        Ok(())
    }
}
