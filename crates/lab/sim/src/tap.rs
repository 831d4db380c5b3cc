//! A look at every packet at every link, for captures. The network pays a glance at an `Option` for it.

use crate::packet::{Body, Heads, Packet, Sack, CWR, ECE, NO_SACK};
use afteryou_base::Time;
use afteryou_scenario::passage::{Content, Fate, Passage};
use slab::Slab;

/// Sees packets at links.
pub type Tap<'a> = &'a mut dyn FnMut(&Passage<'_>);

/// Where a packet is seen.
pub struct Place {
    /// When this is shown.
    pub known: Time,
    /// The instant.
    pub at: Time,
    /// Index of the link.
    pub link: usize,
    /// Index of the packet's flow.
    pub owner: usize,
    /// It goes from the receiver of its flow to the sender.
    pub is_reply: bool,
}

/// Shows a packet to `tap`, with what it points to.
// Apart from the check for a tap, which is in the simulator's inner loop.
#[cold]
#[inline(never)]
pub fn show(
    tap: &mut dyn FnMut(&Passage<'_>),
    place: &Place,
    packet: &Packet,
    fate: Fate,
    sacks: &Slab<Sack>,
    heads: &Heads,
) {
    let Place { known, at, link, owner, is_reply } = *place;
    let (epoch, content) = content(&packet.body, sacks, heads);
    tap(&Passage {
        known,
        at,
        link,
        flow: owner,
        // A place is used again by later connections, which the epoch distinguishes.
        connection: packet.flow << 16 | epoch,
        is_reply,
        size: packet.size,
        dscp: packet.dscp,
        ecn: packet.ecn,
        fate,
        content,
    });
}

/// Returns which connection at its place a packet is of, and what it carries.
fn content<'a>(body: &Body, sacks: &'a Slab<Sack>, heads: &'a Heads) -> (u32, Content<'a>) {
    match *body {
        Body::Syn { tsval, epoch } => (epoch.into(), Content::Syn { tsval }),
        Body::SynAck { tsval, tsecr, epoch, .. } => (epoch.into(), Content::SynAck { tsval, tsecr }),
        Body::Data { seq, tsval, tsecr, len, epoch, transmission } => {
            let (transmission, cwr) = (transmission & !CWR, transmission & CWR != 0);
            (epoch.into(), Content::Segment { number: seq, payload: len, tsval, tsecr, transmission, cwr })
        }
        Body::Ack { cumulative, tsecr, one_way_delay, sack, epoch, flags } => {
            let blocks = match sack {
                NO_SACK => &[][..],
                slot => sacks[slot as usize].blocks(),
            };
            let (tsval, ece) = (tsecr.wrapping_add(one_way_delay), flags & ECE != 0);
            (epoch.into(), Content::Ack { cumulative, tsval, tsecr, blocks, ece })
        }
        Body::Utp { head, payload, epoch } => (epoch.into(), Content::Utp { head: heads.get(head), payload }),
        Body::Cbr { sent_low, sent_high } => {
            (0, Content::Datagram { sent: Time(u64::from(sent_high) << 32 | u64::from(sent_low)) })
        }
        Body::Whole { bytes, .. } => (0, Content::Whole { packet: heads.get(bytes) }),
    }
}
