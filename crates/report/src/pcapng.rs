//! Packets at links as a capture file: pcapng, for Wireshark and everything else that reads captures.
//!
//! Each link is an interface of its own. A packet appears once for each link that it crosses, at the time when the link
//! begins to send it. Dropped packets appear, too, with a comment. Headers are captured and payload is not. The clock
//! is the scenario's, in nanoseconds.
//!
//! Format: draft-ietf-opsawg-pcapng. Not written: statistics of interfaces, payload.

mod headers;
mod segments;
mod template;

use crate::error::Error;
use crate::escape::plain;
use afteryou_dump::pcapng::{self, Packet};
use afteryou_scenario::passage::{Content, DropReason, Ecn, Fate, Passage};
use afteryou_scenario::Scenario;
use headers::Headers;
use std::collections::HashSet;
use std::io::{self, Write};
use std::time::Duration;

pub use headers::UTP_PORT;

/// A capture that is being written.
pub struct Capture<W: Write> {
    capture: pcapng::Capture<W>,
    flows: Vec<Headers>,
    /// Name of each link's queue discipline.
    queues: Vec<String>,
    /// Marked segments: flow, connection, number, transmission. A later link did not mark them.
    marked: HashSet<(usize, u32, u32, u8)>,
    bytes: Vec<u8>,
}

impl<W: Write> Capture<W> {
    /// Begins the capture of a run of `scenario`, whose passages [`packet`](Self::packet) takes.
    ///
    /// # Errors
    /// A scenario without a network, or a writer that fails.
    pub fn begin(scenario: &Scenario, writer: W) -> Result<Capture<W>, Error> {
        let network = scenario.network().map_err(|error| Error::Figure(error.to_string()))?;
        let comment = format!("{}, seed {}", scenario.name, scenario.seed);
        let mut capture = pcapng::Capture::begin(writer, Some(comment)).map_err(failed)?;
        for link in &network.links {
            let speed = link.link.rate.bits_per_second();
            capture.interface(&plain(&link.name), Some(speed)).map_err(failed)?;
        }
        capture.names(names(scenario)).map_err(failed)?;
        let flows = scenario.flow.iter().enumerate().map(|(i, flow)| Headers::of(flow, i)).collect();
        let queues = network.links.iter().map(|link| link.link.queue.kind.clone()).collect();
        Ok(Capture { capture, flows, queues, marked: HashSet::new(), bytes: Vec::new() })
    }

    /// Writes a packet.
    ///
    /// # Errors
    /// A writer that fails.
    pub fn packet(&mut self, passage: &Passage<'_>) -> Result<(), Error> {
        let Some(headers) = self.flows.get_mut(passage.flow) else { return Ok(()) };
        self.bytes.clear();
        let length = headers.write(passage, &mut self.bytes);
        let comment = self.comment(passage);
        let packet = Packet {
            interface: passage.link as u32,
            at: Duration::from_nanos(passage.at.0),
            data: &self.bytes,
            length: length.max(passage.size),
            comment: comment.as_deref(),
        };
        self.capture.packet(&packet).map_err(failed)
    }

    /// Ends the capture and returns what it was written to.
    ///
    /// # Errors
    /// A writer that fails.
    pub fn finish(self) -> Result<W, Error> {
        self.capture.finish().map_err(failed)
    }

    /// The outcome for a packet at the queue or the link, in words.
    fn comment(&mut self, passage: &Passage<'_>) -> Option<String> {
        let queue = self.queues.get(passage.link).map_or("queue", String::as_str);
        match passage.fate {
            Fate::Dropped(DropReason::Full) => Some(format!("dropped by {queue}: the buffer is full")),
            Fate::Dropped(DropReason::Early) => Some(format!("dropped by {queue} on arrival")),
            Fate::Dropped(DropReason::Head) => Some(format!("dropped by {queue} at the head of the queue")),
            Fate::Lost => Some("lost at random, or dropped by the scenario".to_owned()),
            Fate::Sent if passage.ecn == Ecn::Ce => {
                let Content::Segment { number, transmission, .. } = passage.content else { return None };
                let is_new = self.marked.insert((passage.flow, passage.connection, number, transmission));
                is_new.then(|| format!("marked CE by {queue}"))
            }
            Fate::Sent => None,
        }
    }
}

/// The flows' names for their addresses.
fn names(scenario: &Scenario) -> impl Iterator<Item = ([u8; 4], String)> + '_ {
    scenario.flow.iter().enumerate().flat_map(|(i, flow)| {
        let ends = headers::addresses(i).into_iter().zip(["sender", "receiver"]);
        ends.map(|(address, end)| (address, format!("{} {end}", plain(&flow.name))))
    })
}

fn failed(reason: io::Error) -> Error {
    Error::Capture(reason.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use afteryou_scenario::{Duration as Span, Flow, Link, Role};
    use pcap_file::pcapng::{Block, PcapNgReader};

    #[test]
    fn a_real_packet_is_captured_as_it_is() {
        let link = Link::new("1 Mbit/s".parse().unwrap(), "10 packets".parse().unwrap());
        let flow = Flow::new("a", Role::Foreground, "cubic", Span::from_millis(10));
        let scenario = Scenario { flow: vec![flow], ..Scenario::new("", Span::from_millis(1000), link) };
        let packet: Vec<u8> = (0..90).collect();
        let passage = Passage {
            at: afteryou_scenario::passage::Time::from_millis(7),
            link: 0,
            flow: 0,
            connection: 0,
            is_reply: false,
            size: 104,
            dscp: 0,
            ecn: Ecn::NotEct,
            fate: Fate::Sent,
            content: Content::Whole { packet: &packet },
        };
        let mut capture = Capture::begin(&scenario, Vec::new()).unwrap();
        capture.packet(&passage).unwrap();
        let written = capture.finish().unwrap();
        let mut reader = PcapNgReader::new(&written[..]).unwrap();
        let mut packets = Vec::new();
        while let Some(block) = reader.next_block() {
            if let Block::EnhancedPacket(block) = block.unwrap() {
                packets.push((block.original_len, block.data.into_owned()));
            }
        }
        assert_eq!(packets, [(104, packet)]);
    }
}
