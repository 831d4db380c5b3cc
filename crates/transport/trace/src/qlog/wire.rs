//! Packets between the event that a controller gets for them and the record of them.

use super::records::{Frame, PacketHeader, Raw, Utp};

/// A packet on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shown {
    /// The packet's header.
    pub header: Utp,
    /// Bytes of the datagram.
    pub length: u64,
    /// Bytes of payload.
    pub payload: u64,
}

/// A packet that is being handled.
#[derive(Clone, Copy)]
pub(super) struct Arriving {
    pub header: PacketHeader,
    pub raw: Raw,
}

/// A packet that leaves.
pub(super) struct Leaving {
    pub header: PacketHeader,
    pub raw: Raw,
    pub frame: Option<Frame<'static>>,
}

/// The packets between their event and their record.
#[derive(Default)]
pub(super) struct Wire {
    arriving: Option<Arriving>,
    /// The number and the frame of the transmission that is about to leave.
    leaving: Option<(u64, Option<Frame<'static>>)>,
}

impl std::fmt::Debug for Wire {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Wire").finish_non_exhaustive()
    }
}

impl Wire {
    /// Notes that the controller has been informed of a transmission, which leaves next.
    pub(super) fn announce(&mut self, number: u64, frame: Option<Frame<'static>>) {
        self.leaving = Some((number, frame));
    }

    /// Notes that a packet has come and will be handled.
    pub(super) fn arrive(&mut self, shown: &Shown, number: u64) {
        self.arriving = Some(Arriving { header: header(shown, Some(number)), raw: raw(shown) });
    }

    /// Returns the header of a packet that leaves, and the frame of the transmission that was announced.
    pub(super) fn leave(&mut self, shown: &Shown) -> Leaving {
        let (number, frame) =
            self.leaving.take().map_or((None, None), |(number, frame)| (Some(number), frame));
        Leaving { header: header(shown, number), raw: raw(shown), frame }
    }

    /// Returns the packet that is being handled, unless it has been written.
    pub(super) fn take_arriving(&mut self) -> Option<Arriving> {
        self.arriving.take()
    }
}

fn header(shown: &Shown, packet_number: Option<u64>) -> PacketHeader {
    let packet_type = if shown.header.kind == "ST_SYN" { "initial" } else { "1RTT" };
    PacketHeader { packet_type, packet_number, utp: Some(shown.header) }
}

fn raw(shown: &Shown) -> Raw {
    Raw { length: shown.length, payload_length: Some(shown.payload) }
}
