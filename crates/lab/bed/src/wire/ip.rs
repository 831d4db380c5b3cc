//! Headers of IP and of what it carries, as far as the wire needs them. No panic on any bytes.

use etherparse::{LaxNetSlice, LaxSlicedPacket, TransportSlice};
use std::net::IpAddr;

/// The fields of a packet that the wire reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Headers {
    /// To whom it goes.
    pub destination: IpAddr,
    /// TOS or traffic-class byte.
    pub tos: u8,
    /// The protocol's number.
    pub protocol: u8,
    /// Source and destination port; 0 where there are none.
    pub ports: [u16; 2],
    /// TCP's sequence number; 0 of others.
    pub sequence: u32,
    /// TCP's SYN, which takes a sequence number.
    pub is_syn: bool,
    /// Bytes behind the headers of TCP or UDP.
    pub payload: u32,
}

/// The fields of a uTP header (BEP 29) that the wire reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UtpHeader {
    /// It opens the connection, and takes a sequence number.
    pub is_syn: bool,
    /// Sequence number.
    pub sequence: u16,
}

/// Bytes of a uTP header without extensions.
pub const UTP_HEADER: u32 = 20;
/// The type of a uTP packet that opens a connection, in the upper half of its first byte.
const ST_SYN: u8 = 4;

/// The number of TCP among IP's protocols.
pub const TCP: u8 = 6;

impl Headers {
    /// Reads a packet; returns `None` if it is no whole header of IP. Fragments and what is cut have no ports.
    pub fn of(packet: &[u8]) -> Option<Headers> {
        let sliced = LaxSlicedPacket::from_ip(packet).ok()?;
        let (destination, tos, protocol) = match sliced.net? {
            LaxNetSlice::Ipv4(ip) => {
                let header = ip.header();
                let tos = header.dcp().value() << 2 | header.ecn().value();
                (header.destination_addr().into(), tos, ip.payload_ip_number())
            }
            LaxNetSlice::Ipv6(ip) => {
                let header = ip.header();
                (header.destination_addr().into(), header.traffic_class(), ip.payload().ip_number)
            }
            LaxNetSlice::Arp(_) => return None,
        };
        let protocol = protocol.0;
        let other =
            Headers { destination, tos, protocol, ports: [0; 2], sequence: 0, is_syn: false, payload: 0 };
        Some(match sliced.transport {
            Some(TransportSlice::Tcp(tcp)) => Headers {
                ports: [tcp.source_port(), tcp.destination_port()],
                sequence: tcp.sequence_number(),
                is_syn: tcp.syn(),
                payload: tcp.payload().len() as u32,
                ..other
            },
            Some(TransportSlice::Udp(udp)) => Headers {
                ports: [udp.source_port(), udp.destination_port()],
                payload: udp.payload().len() as u32,
                ..other
            },
            _ => other,
        })
    }

    /// Reads the uTP header of a datagram; returns `None` if there is no room for one.
    pub fn utp(&self, packet: &[u8]) -> Option<UtpHeader> {
        let datagram = packet.get(packet.len().checked_sub(self.payload as usize)?..)?;
        let header = datagram.first_chunk::<{ UTP_HEADER as usize }>()?;
        let sequence = u16::from_be_bytes([header[16], header[17]]);
        Some(UtpHeader { is_syn: header[0] >> 4 == ST_SYN, sequence })
    }
}

/// Writes a TOS or traffic-class byte into a packet, with IPv4's checksum kept right (RFC 1624, equation 3).
pub fn set_tos(packet: &mut [u8], tos: u8) {
    match packet.first().map(|byte| byte >> 4) {
        Some(4) if packet.len() >= 20 => {
            let old = u16::from_be_bytes([packet[0], packet[1]]);
            packet[1] = tos;
            let new = u16::from_be_bytes([packet[0], tos]);
            let checksum = u16::from_be_bytes([packet[10], packet[11]]);
            let sum = u32::from(!checksum) + u32::from(!old) + u32::from(new);
            let sum = (sum & 0xffff) + (sum >> 16);
            let sum = (sum & 0xffff) + (sum >> 16);
            packet[10..12].copy_from_slice(&(!(sum as u16)).to_be_bytes());
        }
        Some(6) if packet.len() >= 40 => {
            packet[0] = packet[0] & 0xf0 | tos >> 4;
            packet[1] = packet[1] & 0x0f | tos << 4;
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns whether the header is valid: the sum of a valid one is all ones (RFC 1071).
    fn is_valid(header: &[u8]) -> bool {
        let words = header.chunks(2).map(|word| u32::from(u16::from_be_bytes([word[0], word[1]])));
        let sum: u32 = words.sum();
        (sum & 0xffff) + (sum >> 16) == 0xffff
    }

    /// The header of RFC 1071's usual example: 45 00 00 73 …, checksum b861.
    const EXAMPLE: [u8; 20] = [
        0x45, 0x00, 0x00, 0x73, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11, 0xb8, 0x61, 0xc0, 0xa8, 0x00, 0x01, 0xc0,
        0xa8, 0x00, 0xc7,
    ];

    #[test]
    fn every_tos_byte_can_be_written_and_the_checksum_stays_valid() {
        assert!(is_valid(&EXAMPLE));
        for old in 0..=255 {
            let mut before = EXAMPLE;
            set_tos(&mut before, old);
            for new in 0..=255 {
                let mut packet = before;
                set_tos(&mut packet, new);
                assert!(is_valid(&packet), "{old} to {new}");
                assert_eq!(Headers::of(&packet).unwrap().tos, new);
            }
        }
    }

    #[test]
    fn a_traffic_class_leaves_version_and_flow_label_as_they_are() {
        let mut packet = [0; 40];
        packet[..4].copy_from_slice(&[0x6a, 0xbc, 0xde, 0xf0]);
        assert_eq!(Headers::of(&packet).unwrap().tos, 0xab);
        set_tos(&mut packet, 0x03);
        assert_eq!(packet[..4], [0x60, 0x3c, 0xde, 0xf0]);
    }

    #[test]
    fn a_segment_of_tcp_shows_its_ports_number_and_payload() {
        let mut packet = EXAMPLE.to_vec();
        packet[9] = TCP;
        let tcp = [0x13, 0x89, 0xc0, 0x00, 1, 2, 3, 4, 0, 0, 0, 0, 0x80, 0x02, 0, 0, 0, 0, 0, 0];
        packet.extend(tcp);
        packet.extend([0; 12 + 100]); // timestamps, then data
        let length = packet.len() as u16;
        packet[2..4].copy_from_slice(&length.to_be_bytes());
        let headers = Headers::of(&packet).unwrap();
        assert_eq!((headers.ports, headers.sequence), ([5001, 49152], 0x0102_0304));
        assert_eq!((headers.is_syn, headers.payload), (true, 100));
    }

    #[test]
    fn a_datagram_of_utp_shows_its_sequence_number_and_a_shorter_one_does_not() {
        let mut packet = EXAMPLE.to_vec(); // its protocol is UDP
        packet.extend([0x13, 0x89, 0xc0, 0x00, 0, 0, 0, 0]);
        let mut header = [0; UTP_HEADER as usize];
        (header[0], header[16], header[17]) = (0x41, 0x12, 0x34);
        packet.extend(header);
        let utp = |packet: &[u8]| Headers::of(packet).unwrap().utp(packet);
        assert_eq!(utp(&packet), Some(UtpHeader { is_syn: true, sequence: 0x1234 }));
        packet[28] = 0x01;
        assert_eq!(utp(&packet), Some(UtpHeader { is_syn: false, sequence: 0x1234 }));
        assert_eq!(utp(&packet[..47]), None);
    }

    #[test]
    fn fragments_and_cut_packets_have_no_ports_and_do_no_harm() {
        let mut fragment = EXAMPLE.to_vec();
        fragment[7] = 1;
        fragment.extend([7; 20]);
        assert_eq!(Headers::of(&fragment).unwrap().ports, [0, 0]);
        let mut packet = EXAMPLE.to_vec();
        packet[9] = TCP;
        packet.extend([0xff; 24]);
        for length in 0..packet.len() {
            let mut cut = packet[..length].to_vec();
            assert_eq!(Headers::of(&cut).is_some(), length >= 20);
            set_tos(&mut cut, 3);
        }
        assert_eq!(Headers::of(&[0x50; 60]), None);
    }
}
