//! The observer of one sender: events become records.

use super::metrics::{Metrics, Own};
use super::records::{
    encode, About, Event as Record, Frame, Header, LossTimer, Packet, PacketHeader, Phase, Raw, Silence,
    Spurious,
};
use super::wire::Wire;
use super::Output;
use afteryou_cc::script::Event;
use afteryou_cc::{Ack, Controller, Loss, Observer, Sent, Snapshot, Span, Time};
use serde::Serialize;
use std::collections::BTreeMap;

/// The log of one sender, which it observes.
#[derive(Debug)]
pub struct Sender {
    pub(super) out: Box<dyn Output>,
    record: Vec<u8>,
    /// The log's time zero on the clock of the events.
    zero: Time,
    /// Time of the latest record.
    latest: Time,
    offsets: Offsets,
    /// Numbers of the packets that the ack being read delivers.
    delivered: Vec<u64>,
    /// Acknowledgements so far, or packets received.
    received: u64,
    /// Marks so far.
    marks: u64,
    metrics: Metrics,
    /// As they were written last.
    written: Metrics,
    snapshot: Snapshot,
    /// The packets themselves, if they are shown, too.
    pub(super) wire: Option<Wire>,
}

impl Sender {
    /// Begins a log. Its times count from `zero`, which was `reference_ms` after 1970 or after the beginning of an experiment.
    pub fn new(out: Box<dyn Output>, about: &About<'_>, zero: Time, reference_ms: f64) -> Sender {
        let mut sender = Sender {
            out,
            record: Vec::new(),
            zero,
            latest: zero,
            offsets: Offsets::default(),
            delivered: Vec::new(),
            received: 0,
            marks: 0,
            metrics: Metrics::default(),
            written: Metrics::default(),
            snapshot: Snapshot::default(),
            wire: None,
        };
        sender.put(&Header::new(about, reference_ms));
        sender
    }

    pub(super) fn write(&mut self, at: Time, name: &'static str, data: impl Serialize) {
        // A datagram may have arrived before others were sent that were handled first.
        self.latest = self.latest.max(at);
        let time = self.latest.since(self.zero).as_millis_f64();
        self.put(&Record { time, name, data });
    }

    fn put(&mut self, record: &impl Serialize) {
        self.record.clear();
        encode(record, &mut self.record);
        self.out.write(&self.record);
    }

    /// Counts a packet that has been received: returns its number.
    pub(super) fn count_received(&mut self) -> u64 {
        self.received += 1;
        self.received
    }

    fn sent(&mut self, sent: &Sent) {
        let frame = sent.sequence.map(|sequence| Frame::Stream {
            stream_id: 0,
            offset: self.offsets.of(sequence, sent.bytes),
            length: sent.bytes,
        });
        self.metrics.bytes_in_flight = Some(sent.in_flight);
        if let Some(wire) = &mut self.wire {
            return wire.announce(sent.packet_number, frame);
        }
        let packet = Packet {
            header: PacketHeader::new(sent.packet_number),
            raw: Some(Raw { length: sent.bytes, payload_length: None }),
            frames: frame.as_slice(),
        };
        self.write(sent.now, "transport:packet_sent", packet);
    }

    fn acknowledged(&mut self, ack: &Ack) {
        self.marks += u64::from(ack.marks.packets());
        let ranges = ranges(&mut self.delivered);
        let frame = Frame::Ack { acked_ranges: &ranges, ce: ack.marks.any().then_some(self.marks) };
        let (header, raw) = match self.wire.as_mut().and_then(Wire::take_arriving) {
            Some(packet) => (packet.header, Some(packet.raw)),
            None => (PacketHeader::new(self.count_received()), None),
        };
        self.write(ack.now, "transport:packet_received", Packet { header, raw, frames: &[frame] });
        let rtt = ack.rtt.map(|rtt| rtt.as_millis_f64());
        self.metrics.bytes_in_flight = Some(ack.in_flight.saturating_sub(ack.delivered()));
        self.metrics.latest_rtt = rtt.or(self.metrics.latest_rtt);
        // Both of the transport's estimator, which has samples that no ack shows: of the handshake, and by time stamps.
        let measured = |rtt: Option<Span>| rtt.map(Span::as_millis_f64);
        self.metrics.min_rtt = measured(ack.min_rtt).or(self.metrics.min_rtt);
        self.metrics.smoothed_rtt = measured(ack.smoothed_rtt).or(self.metrics.smoothed_rtt);
        self.metrics.pto_count = self.metrics.pto_count.map(|_| 0);
    }

    fn lost(&mut self, loss: &Loss) {
        let header = PacketHeader::new(loss.sent.packet_number);
        self.write(loss.now, "recovery:packet_lost", Packet { header, raw: None, frames: &[] });
        let in_flight = self.metrics.bytes_in_flight.unwrap_or_default();
        self.metrics.bytes_in_flight = Some(in_flight.saturating_sub(loss.sent.bytes));
    }

    /// Logs the state after an event, as far as it has changed.
    pub(super) fn state(&mut self, at: Time, controller: &dyn Controller) {
        let snapshot = controller.snapshot();
        let before = std::mem::replace(&mut self.snapshot, snapshot);
        if snapshot.phase != before.phase {
            let old = Some(before.phase).filter(|phase| !phase.is_empty());
            self.write(at, "recovery:congestion_state_updated", Phase { old, new: snapshot.phase });
        }
        self.metrics.take(controller, &snapshot);
        let changes = self.metrics.changes(&self.written);
        if changes != Metrics::default() {
            self.write(at, "recovery:metrics_updated", changes);
            self.written = self.metrics;
        }
        let own = Own::changes(&snapshot, &before);
        if own != Own::default() {
            self.write(at, "afteryou:controller_updated", own);
        }
    }
}

impl Observer for Sender {
    fn needs_packets(&self) -> bool {
        true
    }

    fn see(&mut self, event: &Event, controller: &dyn Controller) {
        let at = event.at();
        match event {
            Event::Sent(sent) => {
                self.sent(sent);
                if self.wire.is_some() {
                    return; // its datagram follows
                }
            }
            Event::Delivered(delivered) => {
                self.delivered.push(delivered.sent.packet_number);
                self.offsets.forget(delivered.sent.sequence);
                return; // its ack follows
            }
            Event::Ack(ack) => self.acknowledged(ack),
            Event::Loss(loss) => self.lost(loss),
            Event::SpuriousLoss(spurious) => {
                let data = Spurious { packet_number: spurious.sent.packet_number, undo: spurious.undo };
                self.write(at, "afteryou:spurious_loss", data);
            }
            Event::Timeout(timeout) => {
                self.write(at, "recovery:loss_timer_updated", LossTimer::EXPIRED);
                self.metrics.pto_count = Some(timeout.consecutive);
            }
            Event::HandshakeTimeout(_) => {
                self.write(at, "recovery:loss_timer_updated", LossTimer::EXPIRED_IN_HANDSHAKE);
                self.metrics.pto_count = Some(self.metrics.pto_count.unwrap_or_default() + 1);
            }
            Event::Idle(idle) => {
                self.write(at, "afteryou:idle", Silence { idle_for: idle.idle_for.as_millis_f64() });
            }
            Event::Mtu { .. } | Event::Until(_) => {}
        }
        self.state(at, controller);
    }
}

/// Where in the connection's data its packets begin.
#[derive(Debug, Default)]
struct Offsets {
    /// Of outstanding packets.
    known: BTreeMap<u64, u64>,
    /// End of the data that was sent.
    end: u64,
}

impl Offsets {
    /// Returns the offset of a packet of `bytes` bytes that is sent now, for the first time or again.
    fn of(&mut self, sequence: u64, bytes: u64) -> u64 {
        let Offsets { known, end } = self;
        *known.entry(sequence).or_insert_with(|| {
            let begin = *end;
            *end += bytes;
            begin
        })
    }

    /// Forgets the packet, which has arrived.
    fn forget(&mut self, sequence: Option<u64>) {
        if let Some(sequence) = sequence {
            self.known.remove(&sequence);
        }
    }
}

/// Takes out `numbers` as ranges of consecutive ones: the first and the last.
fn ranges(numbers: &mut Vec<u64>) -> Vec<(u64, u64)> {
    numbers.sort_unstable();
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for number in numbers.drain(..) {
        match ranges.last_mut() {
            Some((_, last)) if number <= *last + 1 => *last = number,
            _ => ranges.push((number, number)),
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn consecutive_numbers_are_one_range() {
        let mut numbers = vec![7, 3, 4, 5, 9, 10, 10];
        assert_eq!(ranges(&mut numbers), [(3, 5), (7, 7), (9, 10)]);
        assert!(numbers.is_empty() && ranges(&mut numbers).is_empty());
    }

    #[test]
    fn a_retransmission_has_the_offset_of_the_packet_that_it_repeats() {
        let mut offsets = Offsets::default();
        let begins = [(0, 1000), (1, 500), (0, 1000), (2, 1000), (1, 500)];
        let begins = begins.map(|(sequence, bytes)| offsets.of(sequence, bytes));
        assert_eq!(begins, [0, 1000, 0, 1500, 1000]);
        offsets.forget(Some(0));
        assert_eq!(offsets.known.len(), 2);
    }
}
