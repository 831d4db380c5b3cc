//! The words of the format, as far as they are used.

use serde::Serialize;

/// The first record of a file.
#[derive(Serialize)]
pub struct Header<'a> {
    pub qlog_version: &'static str,
    pub qlog_format: &'static str,
    pub title: &'a str,
    pub trace: Trace<'a>,
}

#[derive(Serialize)]
pub struct Trace<'a> {
    pub title: &'a str,
    pub vantage_point: VantagePoint<'a>,
    pub common_fields: CommonFields<'a>,
}

#[derive(Serialize)]
pub struct VantagePoint<'a> {
    pub name: &'a str,
    #[serde(rename = "type")]
    pub kind: Vantage,
}

/// The end of a connection that is logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Vantage {
    /// It opens connections.
    Client,
    /// It accepts them.
    Server,
}

#[derive(Serialize)]
pub struct CommonFields<'a> {
    pub protocol_type: [&'a str; 1],
    pub time_format: &'static str,
    pub reference_time: f64,
}

impl<'a> Header<'a> {
    /// The header of the sender of `flow`; `title` is the run's.
    pub fn new(title: &'a str, flow: &'a str, protocol: &'a str, vantage: Vantage) -> Header<'a> {
        Header {
            qlog_version: "0.3",
            qlog_format: "JSON-SEQ",
            title,
            trace: Trace {
                title: flow,
                vantage_point: VantagePoint { name: flow, kind: vantage },
                common_fields: CommonFields {
                    protocol_type: [protocol],
                    time_format: "relative",
                    reference_time: 0.0,
                },
            },
        }
    }
}

/// All other records.
#[derive(Serialize)]
pub struct Event<T> {
    /// Time, ms.
    pub time: f64,
    pub name: &'static str,
    pub data: T,
}

/// `transport:packet_sent`, `transport:packet_received` and `recovery:packet_lost`.
#[derive(Serialize)]
pub struct Packet<'a> {
    pub header: PacketHeader,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub raw: Option<Raw>,
    #[serde(skip_serializing_if = "<[Frame]>::is_empty")]
    pub frames: &'a [Frame<'a>],
}

#[derive(Serialize)]
pub struct PacketHeader {
    pub packet_type: &'static str,
    pub packet_number: u64,
}

impl PacketHeader {
    /// A packet with this number. Readers require a type.
    pub fn new(packet_number: u64) -> PacketHeader {
        PacketHeader { packet_type: "1RTT", packet_number }
    }
}

#[derive(Serialize)]
pub struct Raw {
    pub length: u64,
}

#[derive(Serialize)]
#[serde(tag = "frame_type", rename_all = "snake_case")]
pub enum Frame<'a> {
    Stream {
        stream_id: u64,
        offset: u64,
        length: u64,
    },
    Ack {
        /// First and last number of each range.
        acked_ranges: &'a [(u64, u64)],
        /// Marked packets so far.
        #[serde(skip_serializing_if = "Option::is_none")]
        ce: Option<u64>,
    },
}

/// `recovery:congestion_state_updated`.
#[derive(Serialize)]
pub struct Phase {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<&'static str>,
    pub new: &'static str,
}

/// `recovery:loss_timer_updated`.
#[derive(Serialize)]
pub struct LossTimer {
    pub timer_type: &'static str,
    pub event_type: &'static str,
}

impl LossTimer {
    /// The retransmission timer expired.
    pub const EXPIRED: LossTimer = LossTimer { timer_type: "pto", event_type: "expired" };
}

/// `afteryou:spurious_loss`: a packet that was reported lost has arrived.
#[derive(Serialize)]
pub struct Spurious {
    pub packet_number: u64,
    /// The reduction of this recovery is undone.
    pub undo: bool,
}

/// `afteryou:idle`: sending starts again after a silence.
#[derive(Serialize)]
pub struct Silence {
    /// Its length, ms.
    pub idle_for: f64,
}
