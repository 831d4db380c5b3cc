//! The features that the namespaces have to be prepared for.

use super::address::MOST_FLOWS;
use crate::error::Error;
use afteryou_aqm::Limit;
use afteryou_scenario::transport::Protocol;
use afteryou_scenario::{Checked, Flow};

/// The network to build.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Largest IP packet, bytes.
    pub mtu: u32,
    /// Largest socket buffer, bytes.
    pub socket_buffer: u64,
    /// The flows.
    pub flows: Vec<FlowPlan>,
}

/// A flow's part of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowPlan {
    /// TCP payload of a full packet with the options of its header; the device's own limit if not given.
    pub segment: Option<u32>,
    /// TCP's initial window, packets; the kernel's own if not given.
    pub initial_window: Option<u32>,
    /// Lower bound of TCP's retransmission timeout, ms; the kernel's own if not given.
    pub least_timeout_ms: Option<u32>,
    /// TCP acknowledges every packet.
    pub acks_every_packet: bool,
    /// TCP negotiates ECN.
    pub ecn: bool,
}

/// Smallest MTU of the devices: Ethernet's.
const LEAST_MTU: u32 = 1500;
/// Header of IPv6 and of TCP, bytes.
const HEADERS: u32 = 40 + 20;
/// Bytes of TCP's timestamps with their padding (RFC 7323), which a segment's limit includes and its payload does not.
const TIMESTAMPS: u32 = 12;
/// Bounds of a socket buffer, bytes.
const BUFFERS: (u64, u64) = (4 << 20, 256 << 20);

impl Plan {
    /// Makes the plan of a scenario.
    ///
    /// # Errors
    /// More flows than there are addresses.
    pub fn of_scenario(scenario: &Checked) -> Result<Plan, Error> {
        if scenario.flow.len() > MOST_FLOWS {
            return Err(Error::TooManyFlows { most: MOST_FLOWS });
        }
        let network = scenario.network();
        let flows: Vec<FlowPlan> = scenario.flow.iter().map(FlowPlan::of_flow).collect();
        let segment = flows.iter().filter_map(|flow| flow.segment).max().unwrap_or_default();
        // Four times what the longest path and the largest buffer hold.
        let holds = scenario.flow.iter().enumerate().map(|(i, flow)| {
            let rate = network.rate_of_flow(i);
            let buffers = network.routes[i].forward.iter().map(|link| {
                let link = &network.links[*link].link;
                match link.buffer.limit(link.rate) {
                    Limit::Packets(packets) => packets * u64::from(segment.max(LEAST_MTU)),
                    in_bytes => in_bytes.in_bytes().unwrap_or_default(),
                }
            });
            let in_flight = u128::from(rate) * u128::from(flow.rtt.0.as_nanos()) / 8_000_000_000;
            u64::try_from(in_flight).unwrap_or(u64::MAX).saturating_add(buffers.sum())
        });
        let most = holds.max().unwrap_or_default().saturating_mul(4);
        Ok(Plan {
            mtu: LEAST_MTU.max(segment + HEADERS),
            socket_buffer: most.clamp(BUFFERS.0, BUFFERS.1),
            flows,
        })
    }
}

impl FlowPlan {
    fn of_flow(flow: &Flow) -> FlowPlan {
        match flow.transport.protocol() {
            Ok(Protocol::Tcp(tcp)) => FlowPlan {
                segment: Some(flow.packet_format().payload.bytes() as u32 + TIMESTAMPS),
                initial_window: Some(tcp.iw),
                least_timeout_ms: Some(tcp.min_rto.as_millis_f64() as u32),
                acks_every_packet: tcp.ack.every == 1,
                ecn: tcp.ecn,
            },
            _ => FlowPlan::default(),
        }
    }
}
