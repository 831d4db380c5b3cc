//! How large packets are on the links: a scenario has the bytes of headers that the rate counts, Ethernet's or none.

use crate::quic_packet::HEADERS;
use afteryou_scenario::transport::Protocol;
use afteryou_scenario::{Flow, Scenario, Traffic, TransportKind};

/// Bytes of headers that a packet has by itself beside those of IP: TCP with timestamps, UDP, and UDP with uTP or QUIC.
const TCP: u64 = 20 + 12;
const UDP: u64 = 8;
const UTP: u64 = 8 + 20;
/// UDP and QUIC.
const QUIC: u64 = 8 + HEADERS;
/// Bytes of IPv4's and IPv6's header.
const V4: u64 = 20;
const V6: u64 = 40;

/// The sizes of all flows' packets.
#[derive(Clone, Debug)]
pub struct Sizes {
    flows: Vec<OfFlow>,
}

#[derive(Clone, Copy, Debug)]
struct OfFlow {
    /// Bytes of headers in the scenario beyond those that a packet over IPv4 has.
    framing: i64,
    /// Payload of a full packet.
    full: u32,
    /// Headers in the scenario.
    overhead: u64,
    is_utp: bool,
}

impl Sizes {
    /// Reads the sizes of a scenario.
    pub fn of_scenario(scenario: &Scenario) -> Sizes {
        Sizes { flows: scenario.flow.iter().map(OfFlow::new).collect() }
    }

    /// Returns the number of flows.
    pub fn flows(&self) -> usize {
        self.flows.len()
    }

    /// Returns the payload of a full packet of a flow, bytes.
    pub fn full(&self, flow: usize) -> u32 {
        self.flows[flow].full
    }

    /// Returns the bytes of headers in the scenario beyond those that a packet over IPv4 has: the most of all flows.
    pub fn framing(&self) -> u32 {
        let most = self.flows.iter().map(|flow| flow.framing).max().unwrap_or_default();
        u32::try_from(most).unwrap_or_default()
    }

    /// Returns whether a flow's datagrams are those of uTP.
    pub fn is_utp(&self, flow: usize) -> bool {
        self.flows[flow].is_utp
    }

    /// Returns the payload of a packet that takes `bytes` on links: headers are taken to have the scenario's length.
    pub fn payload(&self, flow: usize, bytes: u32) -> u64 {
        u64::from(bytes).saturating_sub(self.flows[flow].overhead)
    }

    /// Returns how many bytes a packet of a flow takes on links. Both families take the same: an experiment over IPv6 is
    /// the scenario's.
    pub fn on_link(&self, flow: usize, packet: &[u8]) -> u32 {
        let longer = if packet.first().is_some_and(|byte| byte >> 4 == 6) { V6 - V4 } else { 0 };
        let size = packet.len() as i64 + self.flows[flow].framing - longer as i64;
        u32::try_from(size.max(1)).unwrap_or(u32::MAX)
    }
}

impl OfFlow {
    fn new(flow: &Flow) -> OfFlow {
        let format = flow.packet_format();
        let is_datagram = matches!(flow.traffic, Traffic::Cbr { .. });
        let is_utp = flow.transport.kind == TransportKind::Utp && !is_datagram && !flow.traffic.is_command();
        let own = match (is_datagram, flow.transport.protocol()) {
            (true, _) => V4 + UDP,
            (_, Ok(Protocol::Tcp(_))) => V4 + TCP,
            (_, Ok(Protocol::Utp(_))) => V4 + UTP,
            (_, Ok(Protocol::Quic(_))) => V4 + QUIC,
            // Nothing is known of a program's datagrams: they count as they are.
            (_, Ok(Protocol::Udp) | Err(_)) => format.overhead.bytes(),
        };
        let framing = format.overhead.bytes() as i64 - own as i64;
        OfFlow { framing, full: format.payload.bytes() as u32, overhead: format.overhead.bytes(), is_utp }
    }
}
