//! Whether a probe has repaired a loss: RFC 8985 §7.4.
//!
//! A probe repeats a packet that may only be late. If both copies arrive, the peer acknowledges the second one without
//! any news. uTP has no D-SACK, so that acknowledgement is the only sign that the probe was needless. If a packet sent
//! after the probe is acknowledged first, the probe has repaired a loss, and the loss is reported.
//!
//! Known bad cases, as in the RFC: the second acknowledgement is lost, travels on a packet of data, or a libutp has joined it
//! with the first. The loss is reported then although there was none.

use super::{LostPacket, Scoreboard};
use afteryou_sender::board::Taken;
use std::ops::Range;

/// A probe of a packet that was not known to be lost.
#[derive(Debug)]
pub(super) struct Probe {
    /// Number of its transmission.
    pub packet_number: u64,
    /// The transmission that it repeats, lost if the probe was needed.
    pub repeats: LostPacket,
    /// The packet has arrived.
    pub arrived: bool,
    /// It had arrived before the latest acknowledgement: the one for its other copy would have come by now.
    pub waited: bool,
}

impl Scoreboard {
    /// Notes that packet `index` is about to be sent again as a probe.
    pub(super) fn note_probe(&mut self, index: u64) {
        if self.board.is_lost(index) {
            return; // its loss has been reported
        }
        let Some(flight) = self.board.flight(index) else { return };
        let mut repeats = LostPacket { flight, is_signal: true };
        if let Some(earlier) = self.take_probe(flight.number) {
            repeats = earlier.repeats; // probed for the second time, and the first transmission is not judged yet
        }
        let packet_number = self.board.next_number();
        self.probes.push(Probe { packet_number, repeats, arrived: false, waited: false });
    }

    /// Notes that these packets are about to be taken off the board as arrived, if they have not been before.
    pub(super) fn watch_probes(&mut self, packets: Range<u64>, taken: &Taken) {
        if self.probes.is_empty() {
            return;
        }
        for index in packets {
            if let Some(flight) = self.board.flight(index) {
                let earlier = self.board.transmissions(index) > 1 && taken.is_too_soon(&flight);
                self.note_arrival(flight.number, earlier);
            }
        }
    }

    /// Notes the arrival of the packet whose newest transmission is `packet_number`; `earlier` if by an earlier
    /// transmission.
    fn note_arrival(&mut self, packet_number: u64, earlier: bool) {
        if let Some(probe) = self.take_probe(packet_number).filter(|_| !earlier) {
            self.probes.push(Probe { arrived: true, ..probe });
        }
    }

    /// Notes that the peer acknowledges a packet without any news: both copies of what was probed have arrived.
    pub fn acknowledged_again(&mut self) {
        if let Some(at) = self.probes.iter().position(|probe| probe.arrived) {
            self.probes.remove(at);
        }
    }

    /// Forgets a probe, if transmission `packet_number` was one.
    pub(super) fn take_probe(&mut self, packet_number: u64) -> Option<Probe> {
        let at = self.probes.iter().position(|probe| probe.packet_number == packet_number)?;
        Some(self.probes.remove(at))
    }

    /// Takes the losses that probes have repaired, now that transmission `largest` has arrived.
    pub(super) fn take_repaired(&mut self, largest: u64) -> Vec<LostPacket> {
        let is_judged = |probe: &mut Probe| probe.waited && probe.packet_number < largest;
        let repaired = self.probes.extract_if(.., is_judged).map(|probe| probe.repeats).collect();
        self.probes.iter_mut().for_each(|probe| probe.waited = probe.arrived);
        repaired
    }
}
