//! Packets that are being received at the edges of windows.
//!
//! A packet arrives at once and was sent over a time. To a share of what a link could have sent it contributes the part that was sent
//! within the window, as to the link's utilisation. At an edge that part is what arrives next beyond what the path could have sent since:
//! ```text
//!   part(edge) = max over arrivals a after it: received(edge, a] − could have been sent(edge, a]
//! ```
//! For a plain link this is the rest of the packet whose time on the link the edge divides. Packets that a link holds back and releases
//! together count as sent before, too, if they arrive within a packet's time.

use afteryou_base::Time;
use std::collections::BTreeMap;

/// Payload that had been sent and had not arrived, by edge and flow.
#[derive(Debug, Default)]
pub struct Parts {
    open: Vec<Open>,
    bytes: BTreeMap<(Time, usize), f64>,
}

/// A flow after an edge, for as long as a packet takes.
#[derive(Debug)]
struct Open {
    flow: usize,
    at: Time,
    /// Bytes that it had received.
    received: u64,
}

impl Parts {
    /// Notes an edge, and the bytes that flows have received.
    pub fn begin(&mut self, at: Time, received: impl Iterator<Item = u64>) {
        self.open.extend(received.enumerate().map(|(flow, received)| Open { flow, at, received }));
    }

    /// Returns whether the next arrival may have been sent in part before an edge.
    #[inline]
    pub fn any_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// Notes the bytes that the flow has received by now. `could(flow, since)` returns the payload that a flow's path could have brought since then,
    /// `packet(flow)` that of a packet, both in bytes.
    pub fn arrived(
        &mut self,
        flow: usize,
        received: u64,
        could: impl Fn(usize, Time) -> f64,
        packet: impl Fn(usize) -> f64,
    ) {
        let Parts { open, bytes } = self;
        open.retain(|open| {
            let could = could(open.flow, open.at);
            if open.flow == flow {
                let before = (received - open.received) as f64 - could;
                if before > 0.0 {
                    let part = bytes.entry((open.at, flow)).or_insert(0.0);
                    *part = part.max(before);
                }
            }
            could < packet(open.flow)
        });
    }

    /// Returns the bytes of a flow that had been sent at an edge and had not arrived.
    pub fn at(&self, edge: Time, flow: usize) -> f64 {
        self.bytes.get(&(edge, flow)).copied().unwrap_or(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edge_divides_the_packet_that_is_being_sent_and_no_other() {
        // Packets of 1000 B take 10 ms and arrive at 14, 24 and 34 ms.
        let at = Time::from_millis;
        let mut parts = Parts::default();
        let arrived = |parts: &mut Parts, ms, received| {
            let could = |_, since: Time| at(ms).since(since).as_millis_f64() * 100.0;
            parts.arrived(0, received, could, |_| 1000.0);
        };
        for ms in [3, 11, 12] {
            parts.begin(at(ms), std::iter::once(0));
        }
        arrived(&mut parts, 14, 1000);
        parts.begin(at(14), std::iter::once(1000));
        arrived(&mut parts, 24, 2000);
        arrived(&mut parts, 34, 3000);
        let parts_at = [3, 11, 12, 14].map(|ms| parts.at(at(ms), 0));
        assert_eq!(parts_at, [0.0, 700.0, 800.0, 0.0]);
        assert!(!parts.any_open());
    }
}
