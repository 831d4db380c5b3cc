//! The settings of each transport, read.

use super::recovery::{Recovery, UtpRecovery};
use super::table::{quic, tcp, utp, ACK_EVERY, SKEW, TIMER_SLACK};
use afteryou_base::param::{Key, Settings};
use afteryou_base::Span;

/// How acknowledgements are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acking {
    /// After this many full packets…
    pub every: u32,
    /// …or after this time.
    pub delay: Span,
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
    pub skew_ppm: i16,
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
    pub skew_ppm: i16,
}

/// Settings of QUIC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuicOptions {
    /// Receive window, bytes.
    pub rwnd: u64,
    /// A lone packet is acknowledged after this time.
    pub ack_delay: Span,
}

/// Returns the skew in whole parts in a million, of which the key allows a thousand.
fn skew_ppm(settings: &Settings<'_>) -> i16 {
    settings.get(&SKEW).round() as i16
}

fn acking(settings: &Settings<'_>, delay: &Key<Span>) -> Acking {
    Acking { every: settings.get(&ACK_EVERY), delay: settings.get(delay) }
}

impl TcpOptions {
    pub(super) fn new(settings: &Settings<'_>) -> TcpOptions {
        TcpOptions {
            iw: settings.get(&tcp::IW) as u32,
            rwnd: settings.get(&tcp::RWND),
            ack: acking(settings, &tcp::ACK_DELAY),
            min_rto: settings.get(&tcp::MIN_RTO),
            recovery: settings.get(&tcp::RECOVERY),
            pacing: settings.get(&tcp::PACING),
            timer_slack: settings.get(&TIMER_SLACK),
            ecn: settings.get(&tcp::ECN),
            count_acks: settings.get(&tcp::COUNTS_ACKS),
            skew_ppm: skew_ppm(settings),
        }
    }
}

impl UtpOptions {
    pub(super) fn new(settings: &Settings<'_>) -> UtpOptions {
        UtpOptions {
            rwnd: settings.get(&utp::RWND),
            ack: acking(settings, &utp::ACK_DELAY),
            min_rto: settings.get(&utp::MIN_RTO),
            recovery: settings.get(&utp::RECOVERY),
            timer_slack: settings.get(&TIMER_SLACK),
            ecn: settings.get(&utp::ECN),
            skew_ppm: skew_ppm(settings),
        }
    }
}

impl QuicOptions {
    pub(super) fn new(settings: &Settings<'_>) -> QuicOptions {
        QuicOptions { rwnd: settings.get(&quic::RWND), ack_delay: settings.get(&quic::ACK_DELAY) }
    }
}
