//! Packets for a look from the run's own thread: the wire's must not wait for a disk.

use crate::wire;
use afteryou_scenario::passage::Content;
use afteryou_scenario::Passage;
use std::sync::mpsc;

/// Sees every packet at every link.
pub type Tap<'a> = &'a mut dyn FnMut(&Passage<'_>);

/// A packet at a link, whose content is beside it.
type Copied = (Passage<'static>, Vec<u8>);

/// Packets on the way from the wire to a tap.
pub(super) struct Shown<'a> {
    tap: Tap<'a>,
    packets: mpsc::Receiver<Copied>,
}

impl<'a> Shown<'a> {
    /// Returns the end that shows packets to `tap`, and the one for the wire.
    pub(super) fn to(tap: Tap<'a>) -> (Shown<'a>, wire::Tap) {
        let (copies, packets) = mpsc::channel();
        let copy = move |passage: &Passage<'_>| {
            let Content::Whole { packet } = passage.content else { return };
            let content = Content::Whole { packet: &[] };
            let Passage { known, at, link, flow, connection, is_reply, size, dscp, ecn, fate, .. } = *passage;
            let copied =
                Passage { known, at, link, flow, connection, is_reply, size, dscp, ecn, fate, content };
            // The run is over if nobody takes it.
            let _ = copies.send((copied, packet.to_vec()));
        };
        (Shown { tap, packets }, Box::new(copy))
    }

    /// Shows the packets so far.
    pub(super) fn catch_up(&mut self) {
        for (passage, packet) in self.packets.try_iter() {
            (self.tap)(&Passage { content: Content::Whole { packet: &packet }, ..passage });
        }
    }
}
