//! The words of the format, as far as they are used.

use serde::Serialize;
use std::net::IpAddr;

/// Begins each record (RFC 7464).
const SEPARATOR: u8 = 0x1e;

/// Writes a record behind what `into` holds.
pub fn encode(record: &impl Serialize, into: &mut Vec<u8>) {
    into.push(SEPARATOR);
    // Our records have strings for keys, and a vector takes everything.
    _ = serde_json::to_writer(&mut *into, record);
    into.push(b'\n');
}

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

/// The subject of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct About<'a> {
    /// The run, or the program.
    pub title: &'a str,
    /// The sender or the connection.
    pub flow: &'a str,
    /// The transport in capitals, such as `UTP`.
    pub protocol: &'a str,
    /// The end of the connection.
    pub vantage: Vantage,
}

impl<'a> Header<'a> {
    /// Creates the header of a log. Its times count from `reference_ms`, ms since 1970 or since the beginning of an
    /// experiment.
    pub fn new(log: &About<'a>, reference_ms: f64) -> Header<'a> {
        let About { title, flow, protocol, vantage } = *log;
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
                    reference_time: reference_ms,
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

#[derive(Clone, Copy, Serialize)]
pub struct PacketHeader {
    pub packet_type: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packet_number: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub utp: Option<Utp>,
}

impl PacketHeader {
    /// Creates the header of a packet with this number. Readers require a type.
    pub fn new(packet_number: u64) -> PacketHeader {
        PacketHeader { packet_type: "1RTT", packet_number: Some(packet_number), utp: None }
    }
}

/// The header of a uTP packet, field by field (BEP 29).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Utp {
    /// Its type, such as `ST_DATA`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    /// The packet's connection.
    pub connection_id: u16,
    /// The packet's number.
    pub seq_nr: u16,
    /// The newest packet that its sender has received in order.
    pub ack_nr: u16,
    /// Free receive buffer of its sender, bytes.
    pub wnd_size: u32,
    /// Its sender's clock, µs.
    pub timestamp_us: u32,
    /// One-way delay of the newest packet that its sender had received, µs.
    pub timestamp_difference_us: u32,
}

#[derive(Clone, Copy, Serialize)]
pub struct Raw {
    pub length: u64,
    /// Without headers, if the length is with them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payload_length: Option<u64>,
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

/// `connectivity:connection_started`.
#[derive(Serialize)]
pub struct Started<'a> {
    pub ip_version: &'static str,
    pub src_ip: IpAddr,
    pub dst_ip: IpAddr,
    pub protocol: &'a str,
    pub src_port: u16,
    pub dst_port: u16,
    /// The id of packets to this end, in hexadecimal digits.
    pub src_cid: String,
    /// The id of packets to the peer.
    pub dst_cid: String,
}

/// `connectivity:connection_state_updated`.
#[derive(Serialize)]
pub struct StateChange {
    pub old: &'static str,
    pub new: &'static str,
}

/// `connectivity:connection_closed`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Closed {
    /// The end that closed it: `local` or `remote`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<&'static str>,
    /// The reason in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The reason in a word of qlog's.
    pub trigger: &'static str,
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
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packet_number_space: Option<&'static str>,
}

impl LossTimer {
    /// The retransmission timer expired.
    pub const EXPIRED: LossTimer =
        LossTimer { timer_type: "pto", event_type: "expired", packet_number_space: None };
    /// The same before the handshake was answered.
    pub const EXPIRED_IN_HANDSHAKE: LossTimer =
        LossTimer { packet_number_space: Some("initial"), ..LossTimer::EXPIRED };
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
