//! Packets at links as a capture file: pcapng, for Wireshark and everything else that reads captures.
//!
//! Each link is an interface of its own. A packet appears once for each link that it crosses, at the time when the link
//! begins to send it. Dropped packets appear, too, with a comment. Headers are captured and payload is not. The clock
//! is the scenario's, in nanoseconds.
//!
//! Format: draft-ietf-opsawg-pcapng. Not written: statistics of interfaces, payload.
//!
//! A thread of its own makes the headers, puts packets into the order of time and writes the file, so that an engine spends less on
//! a trace than on the run. The engine waits for that thread if it is some thousand packets behind.

mod batch;
mod encoder;
mod headers;
mod order;
mod segments;
mod template;

use crate::error::Error;
use afteryou_scenario::passage::Passage;
use afteryou_scenario::Checked;
use batch::Batch;
use encoder::Encoder;
use std::io::Write;
use std::panic::resume_unwind;
use std::sync::mpsc::{channel, sync_channel, Receiver, Sender, SyncSender};
use std::thread::{self, JoinHandle};

pub use headers::UTP_PORT;

/// Passages that are handed to the thread at once.
const BATCH: usize = 1024;
/// Batches that wait for the thread.
const BATCHES: usize = 4;

/// A capture that is being written.
pub struct Capture {
    batch: Batch,
    // None once the thread is to end.
    full: Option<SyncSender<Batch>>,
    /// Batches that have been written, to be filled again.
    written: Receiver<Batch>,
    // None once the thread has ended.
    thread: Option<JoinHandle<Result<(), Error>>>,
}

impl Capture {
    /// Begins the capture of a run of `scenario`, whose passages [`packet`](Self::packet) takes. The writer needs no buffer.
    ///
    /// # Errors
    /// A writer that fails, or no thread.
    pub fn begin(scenario: &Checked, writer: impl Write + Send + 'static) -> Result<Capture, Error> {
        let encoder = Encoder::begin(scenario, Box::new(writer))?;
        let (full, batches) = sync_channel(BATCHES);
        let (give_back, written) = channel();
        let thread = thread::Builder::new().name("trace".to_owned());
        let thread = thread.spawn(move || write(encoder, &batches, &give_back));
        let thread = thread.map_err(|error| Error::Capture(error.to_string()))?;
        Ok(Capture { batch: Batch::default(), full: Some(full), written, thread: Some(thread) })
    }

    /// Takes a packet, which will be written.
    ///
    /// # Errors
    /// A writer that has failed, once.
    pub fn packet(&mut self, passage: &Passage<'_>) -> Result<(), Error> {
        self.batch.push(passage);
        match self.batch.len() {
            BATCH => self.hand_over(),
            _ => Ok(()),
        }
    }

    /// Ends the capture: all is written.
    ///
    /// # Errors
    /// A writer that has failed.
    pub fn finish(mut self) -> Result<(), Error> {
        self.hand_over()?;
        self.end().unwrap_or_else(|| Err(Error::Capture("it has failed already".to_owned())))
    }

    fn hand_over(&mut self) -> Result<(), Error> {
        let mut next = self.written.try_recv().unwrap_or_default();
        next.clear();
        let batch = std::mem::replace(&mut self.batch, next);
        match self.full.as_ref().map(|full| full.send(batch)) {
            Some(Ok(())) => Ok(()),
            // The thread has ended before its time.
            _ => self.end().unwrap_or(Ok(())),
        }
    }

    /// Waits for the thread; returns its outcome, once.
    fn end(&mut self) -> Option<Result<(), Error>> {
        self.full = None;
        Some(self.thread.take()?.join().unwrap_or_else(|panic| resume_unwind(panic)))
    }
}

/// A capture that nobody finishes: when this is over, nobody writes to its file any more.
impl Drop for Capture {
    fn drop(&mut self) {
        self.full = None;
        _ = self.thread.take().map(JoinHandle::join);
    }
}

/// Runs the thread: writes batches until there will be no more.
fn write(mut encoder: Encoder, batches: &Receiver<Batch>, give_back: &Sender<Batch>) -> Result<(), Error> {
    for batch in batches {
        batch.passages().try_for_each(|passage| encoder.packet(&passage))?;
        // Nobody needs it any more if the capture is over.
        _ = give_back.send(batch);
    }
    encoder.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use afteryou_scenario::passage::{CodePoint, Content, Ecn, Fate, Time};
    use afteryou_scenario::{Duration as Span, Flow, Link, Role, Scenario};
    use etherparse::TcpOptionElement;
    use pcap_file::pcapng::{Block, PcapNgReader};
    use std::io::Seek;

    /// Returns one flow over one link for a second.
    fn scenario() -> Checked {
        let link = Link::new("1 Mbit/s".parse().unwrap(), "10 packets".parse().unwrap());
        let flow = Flow::new("a", Role::Foreground, "cubic", Span::from_millis(10));
        let scenario = Scenario { flow: vec![flow], ..Scenario::new("", Span::from_millis(1000), link) };
        scenario.checked().unwrap()
    }

    fn passage(known_ms: u64, at_ms: u64, packet: &[u8]) -> Passage<'_> {
        Passage {
            known: Time::from_millis(known_ms),
            at: Time::from_millis(at_ms),
            link: 0,
            flow: 0,
            connection: 0,
            is_reply: false,
            size: 104,
            dscp: CodePoint::DEFAULT,
            ecn: Ecn::NotEct,
            fate: Fate::Sent,
            content: Content::Whole { packet },
        }
    }

    /// Returns time, ms, length and captured bytes of each packet that `write` puts into a capture.
    fn captured(write: impl Fn(&mut Capture)) -> Vec<(u128, u32, Vec<u8>)> {
        let mut file = tempfile::tempfile().unwrap();
        let mut capture = Capture::begin(&scenario(), file.try_clone().unwrap()).unwrap();
        write(&mut capture);
        capture.finish().unwrap();
        file.rewind().unwrap();
        let mut reader = PcapNgReader::new(file).unwrap();
        let mut packets = Vec::new();
        while let Some(block) = reader.next_block() {
            if let Block::EnhancedPacket(block) = block.unwrap() {
                packets.push((block.timestamp.as_millis(), block.original_len, block.data.into_owned()));
            }
        }
        packets
    }

    #[test]
    fn a_real_packet_is_captured_as_it_is() {
        let packet: Vec<u8> = (0..90).collect();
        let packets = captured(|capture| capture.packet(&passage(7, 7, &packet)).unwrap());
        assert_eq!(packets, [(7, 104, packet)]);
    }

    #[test]
    fn what_came_twice_has_a_sack_block_below_the_acknowledgement_ahead_of_the_others() {
        let segment = |number| {
            let (payload, tsval, tsecr, transmission, cwr) = (1448, 0, 0, 1, false);
            Content::Segment { number, payload, tsval, tsecr, transmission, cwr }
        };
        let blocks = [(1, 2), (4, 5)];
        let ack = Content::Ack { cumulative: 3, tsval: 0, tsecr: 0, blocks: &blocks, ece: false };
        let packets = captured(|capture| {
            for content in [segment(0), segment(1), segment(2), segment(4), ack] {
                let is_reply = matches!(content, Content::Ack { .. });
                capture.packet(&Passage { is_reply, content, ..passage(1, 1, &[]) }).unwrap();
            }
        });
        let ack = etherparse::TcpHeaderSlice::from_slice(&packets[4].2[20..]).unwrap();
        let place = |segment: u32| 1 + 1448 * segment;
        let block = |segment| (place(segment), place(segment + 1));
        let sack = TcpOptionElement::SelectiveAcknowledgement(block(1), [Some(block(4)), None, None]);
        assert_eq!(ack.acknowledgment_number(), place(3));
        assert!(ack.options_iterator().any(|option| option == Ok(sack.clone())));
    }

    #[test]
    fn packets_that_are_reported_early_are_written_at_their_times_and_not_after_the_end() {
        // More than one batch.
        let packets = captured(|capture| {
            for known in 0..1000 {
                capture.packet(&passage(known, known + 50, b"early")).unwrap();
                capture.packet(&passage(known, known, b"now")).unwrap();
            }
        });
        assert!(packets.is_sorted_by_key(|(at, _, _)| *at));
        let number = |what: &[u8]| packets.iter().filter(|(_, _, data)| data == what).count();
        assert_eq!((number(b"now"), number(b"early")), (1000, 951));
        assert_eq!(packets.last().unwrap().0, 1000);
    }

    /// A disk with room for a number of bytes, and a channel that closes when the disk is dropped.
    struct Small(usize, Sender<()>);

    impl Write for Small {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0 = self.0.checked_sub(bytes.len()).ok_or(std::io::ErrorKind::StorageFull)?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    impl Drop for Small {
        fn drop(&mut self) {
            _ = self.1.send(());
        }
    }

    #[test]
    fn a_disk_that_fills_is_reported_before_the_end_of_a_long_run() {
        let mut capture = Capture::begin(&scenario(), Small(10_000, channel().0)).unwrap();
        let failed = (0..100_000).find_map(|_| capture.packet(&passage(1, 1, b"packet")).err());
        assert!(failed.unwrap().to_string().starts_with("cannot write the packet trace"));
        assert!(capture.finish().is_err());
    }

    #[test]
    fn a_disk_that_fills_is_reported_at_the_end_of_a_short_run() {
        let mut capture = Capture::begin(&scenario(), Small(10_000, channel().0)).unwrap();
        (0..500).for_each(|_| capture.packet(&passage(1, 1, b"packet")).unwrap());
        assert!(capture.finish().is_err());
    }

    #[test]
    fn nobody_writes_any_more_once_a_capture_is_given_up() {
        let (gone, is_gone) = channel();
        let mut capture = Capture::begin(&scenario(), Small(usize::MAX, gone)).unwrap();
        (0..5000).for_each(|_| capture.packet(&passage(1, 1, b"packet")).unwrap());
        drop(capture);
        assert_eq!(is_gone.try_recv(), Ok(()));
    }
}
