//! The headers of most TCP packets, made once and then filled in: a trace should cost no more than the run.
//!
//! Between two packets of a connection in one direction, lengths, ECN, sequence numbers, two flags and timestamps change. The
//! checksums are sums of 16-bit words (RFC 1071), so what changes is added to the sums of all that does not.

use etherparse::{Ipv4Header, TcpHeader};

const IP: usize = Ipv4Header::MIN_LEN;
/// Places within the TCP header.
const SEQUENCE: usize = 4;
const ACKNOWLEDGMENT: usize = 8;
const FLAGS: usize = 13;
const CHECKSUM: usize = 16;
/// Clocks within the timestamps option, which is the first.
const CLOCKS: [usize; 2] = [22, 26];
const ECE: u8 = 0x40;
const CWR: u8 = 0x80;

/// Headers without what changes.
#[derive(Clone, Debug)]
pub struct Template {
    bytes: Vec<u8>,
    /// Sums over the IP header, and over the TCP header with the addresses.
    sums: [u32; 2],
    has_clocks: bool,
}

/// The fields that change.
#[derive(Clone, Copy, Debug, Default)]
pub struct Changes {
    /// DSCP and ECN.
    pub tos: u8,
    /// Bytes of payload.
    pub payload: u16,
    pub sequence: u32,
    pub acknowledgment: u32,
    pub ece: bool,
    pub cwr: bool,
    /// The sender's own clock, and the echoed one.
    pub clocks: [u32; 2],
}

impl Template {
    /// Returns the template of headers whose changing fields are all zero.
    pub fn of(ip: &Ipv4Header, tcp: &TcpHeader) -> Template {
        let ip = Ipv4Header { total_len: 0, header_checksum: 0, ..ip.clone() };
        let tcp = TcpHeader { checksum: 0, ..tcp.clone() };
        let sum = |checksum: u16| u32::from(!checksum);
        let sums =
            [sum(ip.calc_header_checksum()), sum(tcp.calc_checksum_ipv4(&ip, &[]).unwrap_or_default())];
        let bytes = [&ip.to_bytes()[..], &tcp.to_bytes()].concat();
        Template { bytes, sums, has_clocks: !tcp.options.is_empty() }
    }

    /// Writes the headers behind what `into` holds; returns the length of the IP packet.
    pub fn write(&self, changes: &Changes, into: &mut Vec<u8>) -> u32 {
        let start = into.len();
        into.extend_from_slice(&self.bytes);
        let (ip, tcp) = into[start..].split_at_mut(IP);
        let length = self.bytes.len() as u16 + changes.payload;
        ip[1] = changes.tos;
        ip[2..4].copy_from_slice(&length.to_be_bytes());
        let sum = self.sums[0] + u32::from(changes.tos) + u32::from(length);
        ip[10..12].copy_from_slice(&folded(sum).to_be_bytes());

        let mut sum = self.sums[1] + u32::from(changes.payload);
        let mut number = |tcp: &mut [u8], place: usize, value: u32| {
            tcp[place..place + 4].copy_from_slice(&value.to_be_bytes());
            sum += (value >> 16) + (value & 0xffff);
        };
        number(tcp, SEQUENCE, changes.sequence);
        number(tcp, ACKNOWLEDGMENT, changes.acknowledgment);
        if self.has_clocks {
            number(tcp, CLOCKS[0], changes.clocks[0]);
            number(tcp, CLOCKS[1], changes.clocks[1]);
        }
        let flags = if changes.ece { ECE } else { 0 } | if changes.cwr { CWR } else { 0 };
        tcp[FLAGS] |= flags;
        sum += u32::from(flags);
        tcp[CHECKSUM..CHECKSUM + 2].copy_from_slice(&folded(sum).to_be_bytes());
        length.into()
    }
}

/// Returns the checksum that belongs to a sum of words.
fn folded(sum: u32) -> u16 {
    let sum = (sum & 0xffff) + (sum >> 16);
    !((sum & 0xffff) + (sum >> 16)) as u16
}
