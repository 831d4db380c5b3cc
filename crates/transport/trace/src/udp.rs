//! Headers of UDP datagrams, made of what a socket shows of them.

use etherparse::{IpDscp, IpEcn, IpNumber, Ipv4Header, Ipv6FlowLabel, Ipv6Header, UdpHeader};
use std::net::{IpAddr, Ipv6Addr, SocketAddr};

/// Hops that a packet may take, as Linux sets it.
const TTL: u8 = 64;

/// The ends and the marks of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Datagram {
    /// The datagram's sender.
    pub from: SocketAddr,
    /// The datagram's receiver.
    pub to: SocketAddr,
    /// DSCP in the upper six bits, ECN in the lower two.
    pub tos: u8,
}

impl Datagram {
    /// Appends the headers of the datagram with this payload; the checksum is right.
    pub fn write_head(&self, payload: &[u8], into: &mut Vec<u8>) {
        let (ports, length) = ([self.from.port(), self.to.port()], payload.len() as u64);
        match (self.from.ip().to_canonical(), self.to.ip().to_canonical()) {
            (IpAddr::V4(from), IpAddr::V4(to)) => {
                let ip = ipv4(from.octets(), to.octets(), self.tos, IpNumber::UDP, udp_length(length));
                // A datagram is shorter than 64 KiB.
                let sum = UdpHeader::with_ipv4_checksum(ports[0], ports[1], &ip, payload);
                into.extend_from_slice(&ip.to_bytes());
                into.extend_from_slice(&sum.unwrap_or_else(|_| udp(ports, length)).to_bytes());
            }
            (from, to) => {
                let ip = ipv6(mapped(from), mapped(to), self.tos, udp_length(length));
                let sum = UdpHeader::with_ipv6_checksum(ports[0], ports[1], &ip, payload);
                into.extend_from_slice(&ip.to_bytes());
                into.extend_from_slice(&sum.unwrap_or_else(|_| udp(ports, length)).to_bytes());
            }
        }
    }
}

/// Returns an IPv4 header of a packet with `payload` bytes behind it.
pub fn ipv4(source: [u8; 4], destination: [u8; 4], tos: u8, protocol: IpNumber, payload: u16) -> Ipv4Header {
    let mut header = Ipv4Header {
        total_len: Ipv4Header::MIN_LEN_U16.saturating_add(payload),
        time_to_live: TTL,
        dont_fragment: true,
        protocol,
        source,
        destination,
        dscp: IpDscp::try_new(tos >> 2).unwrap_or_default(),
        ecn: IpEcn::try_new(tos & 3).unwrap_or_default(),
        ..Ipv4Header::default()
    };
    header.header_checksum = header.calc_header_checksum();
    header
}

/// Returns a UDP header without a checksum (RFC 768), for `payload` bytes that are not there to be summed up.
pub fn udp(ports: [u16; 2], payload: u64) -> UdpHeader {
    let [source_port, destination_port] = ports;
    UdpHeader { source_port, destination_port, length: udp_length(payload), checksum: 0 }
}

fn udp_length(payload: u64) -> u16 {
    u16::try_from(UdpHeader::LEN as u64 + payload).unwrap_or(u16::MAX)
}

fn ipv6(source: Ipv6Addr, destination: Ipv6Addr, tos: u8, payload: u16) -> Ipv6Header {
    Ipv6Header {
        traffic_class: tos,
        flow_label: Ipv6FlowLabel::ZERO,
        payload_length: payload,
        next_header: IpNumber::UDP,
        hop_limit: TTL,
        source: source.octets(),
        destination: destination.octets(),
    }
}

fn mapped(address: IpAddr) -> Ipv6Addr {
    match address {
        IpAddr::V4(address) => address.to_ipv6_mapped(),
        IpAddr::V6(address) => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use etherparse::SlicedPacket;

    #[test]
    fn headers_name_both_ends_and_the_class_in_both_families() {
        for (from, to, ip) in
            [("192.0.2.1:5000", "192.0.2.2:6881", 20), ("[2001:db8::1]:5000", "[2001:db8::2]:6881", 40)]
        {
            let datagram =
                Datagram { from: from.parse().unwrap(), to: to.parse().unwrap(), tos: 0b0000_0110 };
            let mut packet = Vec::new();
            datagram.write_head(b"payload", &mut packet);
            assert_eq!(packet.len(), ip + 8);
            packet.extend_from_slice(b"payload");
            let read = SlicedPacket::from_ip(&packet).unwrap();
            let Some(etherparse::TransportSlice::Udp(udp)) = read.transport else { panic!("{read:?}") };
            assert_eq!((udp.source_port(), udp.destination_port()), (5000, 6881));
            assert_eq!(udp.payload(), b"payload");
            assert_ne!(udp.checksum(), 0);
            let tos = if ip == 20 { packet[1] } else { packet[0] << 4 | packet[1] >> 4 };
            assert_eq!(tos, 0b0000_0110);
        }
    }

    #[test]
    fn an_ipv4_peer_of_an_ipv6_socket_keeps_its_address() {
        let [from, to] = ["[2001:db8::1]:1", "192.0.2.2:2"].map(|address| address.parse().unwrap());
        let mut packet = Vec::new();
        Datagram { from, to, tos: 0 }.write_head(&[], &mut packet);
        assert_eq!(packet[24..40], "::ffff:192.0.2.2".parse::<Ipv6Addr>().unwrap().octets());
    }
}
