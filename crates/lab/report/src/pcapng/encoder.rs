//! Packets in the file: headers, and a comment where one was dropped or marked.

use super::headers::{self, Headers};
use super::order::{Early, Ready};
use crate::error::Error;
use afteryou_plot::escape::plain;
use afteryou_scenario::passage::{Content, DropReason, Ecn, Fate, Passage, Time};
use afteryou_scenario::{Checked, Scenario};
use afteryou_trace::pcapng::{self, Packet};
use std::collections::HashSet;
use std::io::{self, BufWriter, Write};
use std::time::Duration;

/// Bytes that are written at once.
const BUFFER: usize = 128 << 10;

/// Writes passages as packets of a capture.
pub struct Encoder {
    capture: pcapng::Capture<BufWriter<Box<dyn Write + Send>>>,
    flows: Vec<Headers>,
    /// Name of each link's queue discipline.
    queues: Vec<String>,
    /// Marked segments: flow, connection, number, transmission. A later link did not mark them.
    marked: HashSet<(usize, u32, u32, u8)>,
    early: Early,
    /// When the run ends.
    end: Time,
}

impl Encoder {
    /// Begins the capture of a run of `scenario`, whose passages [`packet`](Self::packet) takes.
    ///
    /// # Errors
    /// A writer that fails.
    pub fn begin(scenario: &Checked, writer: Box<dyn Write + Send>) -> Result<Encoder, Error> {
        let network = scenario.network();
        let comment = format!("{}, seed {}", scenario.name, scenario.seed);
        let mut capture = pcapng::Capture::begin(BufWriter::with_capacity(BUFFER, writer), Some(comment))
            .map_err(failed)?;
        for link in &network.links {
            let speed = link.link.rate.bits_per_second();
            capture.interface(&plain(&link.name), Some(speed)).map_err(failed)?;
        }
        capture.names(names(scenario)).map_err(failed)?;
        let flows = scenario.flow.iter().enumerate().map(|(i, flow)| Headers::of(flow, i)).collect();
        let queues = network.links.iter().map(|link| link.link.queue.kind.clone()).collect();
        Ok(Encoder {
            capture,
            flows,
            queues,
            marked: HashSet::new(),
            early: Early::default(),
            end: Time(scenario.duration.0 .0),
        })
    }

    /// Writes a packet.
    ///
    /// # Errors
    /// A writer that fails.
    pub fn packet(&mut self, passage: &Passage<'_>) -> Result<(), Error> {
        self.write_until(passage.known)?;
        let Some(headers) = self.flows.get_mut(passage.flow) else { return Ok(()) };
        let mut data = self.early.buffer();
        let length = headers.write(passage, &mut data).max(passage.size);
        let packet = Ready { at: passage.at, length, data, comment: self.comment(passage) };
        if passage.at > passage.known {
            self.early.keep(passage.link, packet);
            return Ok(());
        }
        self.write(passage.link, packet)
    }

    /// Ends the capture. Packets that would be sent after the end of the run are not written.
    ///
    /// # Errors
    /// A writer that fails.
    pub fn finish(mut self) -> Result<(), Error> {
        self.write_until(self.end)?;
        self.capture.finish().map(drop).map_err(failed)
    }

    /// Writes packets that were reported before their time, up to `now`.
    fn write_until(&mut self, now: Time) -> Result<(), Error> {
        while let Some((link, packet)) = self.early.next(now) {
            self.write(link, packet)?;
        }
        Ok(())
    }

    fn write(&mut self, link: usize, packet: Ready) -> Result<(), Error> {
        let Ready { at, length, data, comment } = packet;
        let (interface, at) = (link as u32, Duration::from_nanos(at.0));
        let packet = Packet { interface, at, data: &data, length, comment: comment.as_deref() };
        self.capture.packet(&packet).map_err(failed)?;
        self.early.give_back(data);
        Ok(())
    }

    /// Returns the outcome for a packet at the queue or the link, in words.
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

/// Returns the flows' names for their addresses.
fn names(scenario: &Scenario) -> impl Iterator<Item = ([u8; 4], String)> + '_ {
    scenario.flow.iter().enumerate().flat_map(|(i, flow)| {
        let ends = headers::addresses(i).into_iter().zip(["sender", "receiver"]);
        ends.map(|(address, end)| (address, format!("{} {end}", plain(&flow.name))))
    })
}

fn failed(reason: io::Error) -> Error {
    Error::Capture(reason.to_string())
}
