//! The settings of a connection, with defaults for the open internet.

use crate::recovery::Recovery;
use afteryou_base::Span;
use afteryou_sender::pacer::TIMER_SLACK;

/// Payload of a packet, bytes. With uTP's 20, UDP's 8 and IP's 20 (40) the packet is 1400 (1420) bytes long, which fits
/// the usual tunnels (WireGuard over IPv6 leaves 1420).
pub const DEFAULT_PAYLOAD: u32 = 1352;
/// Payload at the beginning of a path-MTU search, bytes: a UDP payload of 1200, which every path takes (RFC 8899 §5.1.2).
pub const SEARCH_FROM: u32 = 1180;
/// Payload at the end of a path-MTU search, bytes: that of Ethernet's 1500 over IPv4. Over IPv6 it is 20 less.
pub const SEARCH_TO: u32 = 1452;

/// Settings of a connection.
#[must_use = "options return it changed"]
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Payload of a full packet, bytes, as long as the path is not known to take more.
    pub payload: u32,
    /// Payload of the largest packet that the sender tries on the path, bytes (RFC 8899). If it is no larger than
    /// [`payload`](Config::payload), packets keep that: so it is with 0, the default. An endpoint's default is
    /// [`searching`](Config::searching).
    pub max_payload: u32,
    /// Receive buffer, bytes: the window that the peer may use.
    pub recv_buffer: u64,
    /// Most bytes held for sending, acknowledged ones excluded. Twice the window is enough; more is only asked for.
    pub send_buffer: u64,
    /// Most packets beyond the peer's ack, once it has shown that it reads long bitmaps.
    pub max_packets: usize,
    /// How losses are found and repaired; [`Config::recovering`] sets the timeout that goes with it.
    pub recovery: Recovery,
    /// Lower bound of the retransmission timeout.
    pub min_rto: Span,
    /// An acknowledgement is sent after this many packets…
    pub ack_every: u32,
    /// …or after this time.
    pub ack_delay: Span,
    /// A packet that is not full waits while another such packet is unacknowledged (until flushed).
    pub nagle: bool,
    /// Without any progress for this long the connection fails. So it does if the peer is silent for the time of
    /// [`keepalive`](Config::keepalive) and then answers no question for this long: 89 s with the defaults.
    pub patience: Span,
    /// Something is sent at least this often, for the sake of address translators. A peer that is silent for longer is
    /// asked whether it is there.
    pub keepalive: Span,
    /// Use explicit congestion notification if the peer counts marks, too. Data packets must then leave as ECT(0) while
    /// [`sends_ecn`](crate::Connection::sends_ecn) returns true, and [`Arrival::is_marked`](crate::connection::Arrival) must be true for those that
    /// arrive as CE. An [`Endpoint`](crate::Endpoint) does both.
    pub ecn: bool,
    /// How long a finished connection answers a peer that has missed the last acknowledgement.
    pub linger: Span,
    /// Time by which the machine's timers wake the sender late, which pacing makes good. Zero in a simulation.
    pub timer_slack: Span,
}

/// Packets beyond the peer's ack while it may be a libutp, which drops whatever is further ahead than 1023.
pub const SHORT_PACKETS: usize = 1023;
/// Resends of a SYN before it fails.
pub const SYN_RESENDS: u32 = 2;

impl Default for Config {
    fn default() -> Config {
        Config {
            payload: DEFAULT_PAYLOAD,
            max_payload: 0,
            recv_buffer: 8 << 20,
            send_buffer: 16 << 20,
            max_packets: 8192,
            recovery: Recovery::Modern,
            min_rto: Recovery::Modern.min_rto(),
            ack_every: 2,
            ack_delay: Span::from_millis(25),
            nagle: true,
            patience: Span::from_secs(60),
            keepalive: Span::from_secs(29),
            ecn: false,
            linger: Span::from_secs(3),
            timer_slack: TIMER_SLACK,
        }
    }
}

impl Config {
    /// Returns the same with a search for the path MTU, from [`SEARCH_FROM`] to [`SEARCH_TO`].
    pub fn searching(self) -> Config {
        Config { payload: SEARCH_FROM, max_payload: SEARCH_TO, ..self }
    }

    /// Returns the defaults with this way of recovery and the shortest timeout that belongs to it.
    pub fn recovering(recovery: Recovery) -> Config {
        Config { recovery, min_rto: recovery.min_rto(), ..Config::default() }
    }

    /// Returns the same with values that no connection could work with replaced by the nearest that do.
    pub(crate) fn within_reason(mut self) -> Config {
        self.payload = self.payload.clamp(1, LARGEST_PAYLOAD);
        self.max_payload = self.max_payload.clamp(self.payload, LARGEST_PAYLOAD);
        self.recv_buffer = self.recv_buffer.max(2 * u64::from(self.payload));
        self.max_packets = self.max_packets.max(1);
        // The timeout counts in whole milliseconds: without a bound it would be zero where round trips are shorter.
        self.min_rto = self.min_rto.max(SHORTEST_RTO);
        self.keepalive = self.keepalive.max(Span::from_secs(1));
        self
    }
}

/// Capacity of a UDP datagram beside the header and the longest bitmap, bytes.
const LARGEST_PAYLOAD: u32 = 65_507 - 20 - 2 - 252;

/// Shortest retransmission timeout.
const SHORTEST_RTO: Span = Span::from_millis(1);
