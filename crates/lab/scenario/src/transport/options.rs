//! The settings of each transport, read.

use super::table::{ACKS, EVERY_PACKET, LIBUTP, LIBUTP_200MS, LIBUTP_MOD, SACK};
use afteryou_base::param::Settings;
use afteryou_base::Span;

/// How acknowledgements are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acking {
    /// After this many full packets…
    pub every: u32,
    /// …or after this time.
    pub delay: Span,
}

/// How losses are found and repaired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovery {
    /// RACK-TLP (RFC 8985) and PRR (RFC 9937).
    Rack,
    /// Three duplicate acks or their like in SACK, and the pipe (RFC 6675). As in ns-2, a timeout is not undone, needless or not.
    Sack,
}

/// How uTP finds and repairs losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UtpRecovery {
    /// Packet and time thresholds on transmissions, tail probes.
    Modern,
    /// As libutp does.
    Libutp,
    /// As libutp does, with a shortest timeout of 200 ms.
    Libutp200ms,
    /// As libutp-mod does.
    LibutpMod,
}

/// Settings of TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpOptions {
    /// Initial window, packets.
    pub iw: u32,
    /// Receive window, bytes.
    pub rwnd: u64,
    /// When the receiver acknowledges.
    pub ack: Acking,
    /// Lower bound of the retransmission timeout.
    pub min_rto: Span,
    /// How losses are found.
    pub recovery: Recovery,
    /// Spread packets over the round trip.
    pub pacing: bool,
    /// Time by which paced sending runs ahead.
    pub timer_slack: Span,
    /// ECN-capable.
    pub ecn: bool,
    /// An ack counts as at most one packet.
    pub count_acks: bool,
    /// How much faster the receiver's clock runs, parts in a million.
    pub skew_ppm: i32,
}

/// Settings of uTP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UtpOptions {
    /// Receive buffer, bytes.
    pub rwnd: u64,
    /// When the receiver acknowledges.
    pub ack: Acking,
    /// Lower bound of the retransmission timeout.
    pub min_rto: Span,
    /// How losses are found.
    pub recovery: UtpRecovery,
    /// Time by which paced sending runs ahead.
    pub timer_slack: Span,
    /// ECN-capable.
    pub ecn: bool,
    /// How much faster the receiver's clock runs, parts in a million.
    pub skew_ppm: i32,
}

/// Settings of QUIC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuicOptions {
    /// Receive window, bytes.
    pub rwnd: u64,
    /// A lone packet is acknowledged after this time.
    pub ack_delay: Span,
}

fn skew_ppm(settings: &Settings<'_>) -> i32 {
    settings.number("skew").round() as i32
}

fn utp_recovery(word: &str) -> UtpRecovery {
    match word {
        LIBUTP => UtpRecovery::Libutp,
        LIBUTP_200MS => UtpRecovery::Libutp200ms,
        LIBUTP_MOD => UtpRecovery::LibutpMod,
        _ => UtpRecovery::Modern,
    }
}

fn acking(settings: &Settings<'_>) -> Acking {
    let every = if settings.choice("ack") == EVERY_PACKET { 1 } else { 2 };
    Acking { every, delay: settings.time("ack_delay") }
}

impl TcpOptions {
    pub(super) fn new(settings: &Settings<'_>) -> TcpOptions {
        TcpOptions {
            iw: settings.count("iw") as u32,
            rwnd: settings.bytes("rwnd"),
            ack: acking(settings),
            min_rto: settings.time("min_rto"),
            recovery: if settings.choice("recovery") == SACK { Recovery::Sack } else { Recovery::Rack },
            pacing: settings.flag("pacing"),
            timer_slack: settings.time("timer_slack"),
            ecn: settings.flag("ecn"),
            count_acks: settings.choice("counting") == ACKS,
            skew_ppm: skew_ppm(settings),
        }
    }
}

impl UtpOptions {
    pub(super) fn new(settings: &Settings<'_>) -> UtpOptions {
        UtpOptions {
            rwnd: settings.bytes("rwnd"),
            ack: acking(settings),
            min_rto: settings.time("min_rto"),
            recovery: utp_recovery(settings.choice("recovery")),
            timer_slack: settings.time("timer_slack"),
            ecn: settings.flag("ecn"),
            skew_ppm: skew_ppm(settings),
        }
    }
}

impl QuicOptions {
    pub(super) fn new(settings: &Settings<'_>) -> QuicOptions {
        QuicOptions { rwnd: settings.bytes("rwnd"), ack_delay: settings.time("ack_delay") }
    }
}
