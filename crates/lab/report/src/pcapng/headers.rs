//! Headers of packets that carry none: IPv4 with TCP or UDP, from an engine's report of a packet.
//!
//! Payload bytes are all zero and are not captured, so checksums follow from headers and lengths alone. Connections have
//! addresses and ports by their flow and number. A header that lists SACK blocks, or opens a connection, is longer than the
//! simulator's, which charges each packet of a flow the same overhead.

use super::segments::Segments;
use super::template::{Changes, Template};
use afteryou_scenario::passage::{CodePoint, Content, Ecn, Passage};
use afteryou_scenario::transport::Protocol;
use afteryou_scenario::Flow;
use afteryou_trace::udp::{ipv4, udp};
use etherparse::{IpNumber, Ipv4Header, TcpHeader, TcpOptionElement};
use std::collections::BTreeMap;

/// Port of receivers, without a dissector of its own in Wireshark: payload is not captured.
const SERVER_PORT: u16 = 5001;
/// Port of receivers of uTP.
pub const UTP_PORT: u16 = 6881;
/// First port of senders (RFC 6335 §6).
const CLIENT_PORTS: u16 = 49152;
/// IP, TCP and timestamps: a flow with less overhead has no timestamps.
const WITH_TIMESTAMPS: u64 = 52;
/// Most that a window is scaled by (RFC 7323 §2.3).
const MOST_SCALE: u8 = 14;

/// The headers of one flow's packets.
pub struct Headers {
    sender: [u8; 4],
    receiver: [u8; 4],
    payload: u64,
    timestamps: bool,
    /// Whether it negotiates ECN.
    ecn: bool,
    /// The receiver's window as it is announced, and its scale.
    window: (u16, u8),
    connections: BTreeMap<u32, Connection>,
}

/// A TCP connection.
struct Connection {
    segments: Segments,
    /// Headers of segments, and of acknowledgements without SACK blocks.
    data: Template,
    acks: Template,
}

/// Returns the addresses of a flow's ends: 10.0.0.1 and 10.128.0.1 for the first one.
pub fn addresses(flow: usize) -> [[u8; 4]; 2] {
    let host = (flow as u32 + 1) & 0x007f_ffff;
    [0x0a00_0000 | host, 0x0a80_0000 | host].map(u32::to_be_bytes)
}

impl Headers {
    /// Returns the headers of the flow with this index.
    pub fn of(flow: &Flow, index: usize) -> Headers {
        let [sender, receiver] = addresses(index);
        let format = flow.packet_format();
        let (ecn, rwnd) = match flow.transport.protocol() {
            Ok(Protocol::Tcp(options)) => (options.ecn, options.rwnd),
            _ => (false, u64::from(u16::MAX)),
        };
        let scale = (0..MOST_SCALE).find(|scale| rwnd >> scale <= u64::from(u16::MAX)).unwrap_or(MOST_SCALE);
        Headers {
            sender,
            receiver,
            payload: format.payload.bytes(),
            timestamps: format.overhead.bytes() >= WITH_TIMESTAMPS,
            ecn,
            window: ((rwnd >> scale).min(u16::MAX.into()) as u16, scale),
            connections: BTreeMap::new(),
        }
    }

    /// Writes the headers of a packet behind what `into` holds; returns the length of the IP packet with its payload.
    pub fn write(&mut self, passage: &Passage<'_>, into: &mut Vec<u8>) -> u32 {
        match passage.content {
            Content::Utp { head, payload } => {
                let length = self.udp(passage, UTP_PORT, head.len() as u64 + u64::from(payload), into);
                into.extend_from_slice(head);
                length
            }
            Content::Whole { packet } => {
                into.extend_from_slice(packet);
                packet.len() as u32
            }
            Content::Datagram { .. } => self.udp(passage, SERVER_PORT, self.payload, into),
            _ => self.tcp(passage, into),
        }
    }

    fn udp(&self, passage: &Passage<'_>, port: u16, payload: u64, into: &mut Vec<u8>) -> u32 {
        let udp = udp(ports(passage, port), payload);
        let ip = self.ip(passage, IpNumber::UDP, udp.length);
        into.extend_from_slice(&ip.to_bytes());
        into.extend_from_slice(&udp.to_bytes());
        ip.total_len.into()
    }

    fn tcp(&mut self, passage: &Passage<'_>, into: &mut Vec<u8>) -> u32 {
        let connection = match self.connections.get_mut(&passage.connection) {
            Some(connection) => connection,
            None => {
                let new = self.connection(passage);
                self.connections.entry(passage.connection).or_insert(new)
            }
        };
        let Connection { segments, data, acks } = connection;
        let tos = passage.dscp.tos(passage.ecn.bits());
        match passage.content {
            Content::Segment { number, payload, tsval, tsecr, cwr, .. } => {
                segments.see(number, payload.into());
                let (sequence, clocks) = (sequence(segments, number), [tsval, tsecr]);
                let changes = Changes { tos, payload, sequence, acknowledgment: 1, cwr, clocks, ece: false };
                data.write(&changes, into)
            }
            Content::Ack { cumulative, tsval, tsecr, blocks: [], ece } => {
                let (acknowledgment, clocks) = (sequence(segments, cumulative), [tsval, tsecr]);
                let changes =
                    Changes { tos, payload: 0, sequence: 1, acknowledgment, ece, clocks, cwr: false };
                acks.write(&changes, into)
            }
            _ => self.rare(passage, into),
        }
    }

    /// Makes the headers of a connection that is seen for the first time.
    fn connection(&self, passage: &Passage<'_>) -> Connection {
        let template = |is_reply: bool| {
            let plain = Passage { is_reply, dscp: CodePoint::DEFAULT, ecn: Ecn::NotEct, ..*passage };
            let [source_port, destination_port] = ports(&plain, SERVER_PORT);
            let mut header = TcpHeader::new(source_port, destination_port, 0, self.window.0);
            header.ack = true;
            if self.timestamps {
                _ = header.set_options(&[TcpOptionElement::Timestamp(0, 0)]); // twelve bytes always fit
            }
            Template::of(&self.ip(&plain, IpNumber::TCP, 0), &header)
        };
        Connection { segments: Segments::of(self.payload), data: template(false), acks: template(true) }
    }

    /// Writes a header that opens a connection or lists SACK blocks.
    fn rare(&self, passage: &Passage<'_>, into: &mut Vec<u8>) -> u32 {
        let Some(Connection { segments, .. }) = self.connections.get(&passage.connection) else { return 0 };
        let mut header = self.tcp_header(passage, segments);
        // Three blocks of SACK and the timestamps are the most that anybody sends, and fit.
        _ = header.set_options(&self.options(passage, segments));
        let ip = self.ip(passage, IpNumber::TCP, header.header_len_u16());
        header.checksum = header.calc_checksum_ipv4(&ip, &[]).unwrap_or_default();
        into.extend_from_slice(&ip.to_bytes());
        into.extend_from_slice(&header.to_bytes());
        ip.total_len.into()
    }

    fn tcp_header(&self, passage: &Passage<'_>, segments: &Segments) -> TcpHeader {
        let [source_port, destination_port] = ports(passage, SERVER_PORT);
        let (window, _) = self.window;
        let header = TcpHeader::new(source_port, destination_port, 0, window);
        match passage.content {
            Content::Ack { cumulative, ece, .. } => {
                let acknowledgment_number = sequence(segments, cumulative);
                TcpHeader { sequence_number: 1, acknowledgment_number, ack: true, ece, ..header }
            }
            // RFC 3168 §6.1.1: a SYN offers ECN by both flags, its answer accepts by one.
            Content::Syn { .. } => TcpHeader { syn: true, ece: self.ecn, cwr: self.ecn, ..header },
            _ => TcpHeader { syn: true, ack: true, acknowledgment_number: 1, ece: self.ecn, ..header },
        }
    }

    fn options(&self, passage: &Passage<'_>, segments: &Segments) -> Vec<TcpOptionElement> {
        let mut options = Vec::with_capacity(4);
        let (tsval, tsecr) = match passage.content {
            Content::Ack { tsval, tsecr, .. } | Content::SynAck { tsval, tsecr } => (tsval, tsecr),
            Content::Syn { tsval } => (tsval, 0), // RFC 7323 §3.2: no ACK bit, nothing echoed
            _ => (0, 0),
        };
        if self.timestamps {
            options.push(TcpOptionElement::Timestamp(tsval, tsecr));
        }
        match passage.content {
            Content::Syn { .. } | Content::SynAck { .. } => options.extend([
                TcpOptionElement::MaximumSegmentSize(self.payload.min(u16::MAX.into()) as u16),
                TcpOptionElement::SelectiveAcknowledgementPermitted,
                TcpOptionElement::WindowScale(self.window.1),
            ]),
            Content::Ack { blocks: [first, more @ ..], .. } => {
                let block = |(from, to): (u32, u32)| (sequence(segments, from), sequence(segments, to));
                let more = [0, 1, 2].map(|i| more.get(i).copied().map(block));
                options.push(TcpOptionElement::SelectiveAcknowledgement(block(*first), more));
            }
            _ => {}
        }
        options
    }

    fn ip(&self, passage: &Passage<'_>, protocol: IpNumber, payload: u16) -> Ipv4Header {
        let (source, destination) = match passage.is_reply {
            false => (self.sender, self.receiver),
            true => (self.receiver, self.sender),
        };
        let tos = passage.dscp.tos(passage.ecn.bits());
        ipv4(source, destination, tos, protocol, payload)
    }
}

/// Returns the sequence number of a segment's first byte. Byte 0 of a stream is its SYN (RFC 9293 §3.4).
fn sequence(segments: &Segments, number: u32) -> u32 {
    (1 + segments.place(number)) as u32
}

/// Returns source and destination; the receiver listens on `port`.
fn ports(passage: &Passage<'_>, port: u16) -> [u16; 2] {
    let client = CLIENT_PORTS + (passage.connection % u32::from(u16::MAX - CLIENT_PORTS)) as u16;
    match passage.is_reply {
        false => [client, port],
        true => [port, client],
    }
}
