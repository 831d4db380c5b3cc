//! Passages that outlive the packets which an engine showed.
//!
//! Headers, packets and SACK blocks are kept apart. The rest is kept short, because it goes from one core's cache into another's.

use afteryou_scenario::passage::{CodePoint, Content, Ecn, Fate, Passage, Time};

/// SACK blocks for which an ack has room (RFC 2018 §3).
const MOST_BLOCKS: usize = 4;

/// Passages in their order, with what they pointed to.
#[derive(Debug, Default)]
pub struct Batch {
    kept: Vec<Kept>,
    bytes: Vec<u8>,
    blocks: Vec<(u32, u32)>,
}

/// A passage without what it points to.
#[derive(Clone, Copy, Debug)]
struct Kept {
    known: Time,
    at: Time,
    link: u32,
    flow: u32,
    connection: u32,
    size: u32,
    content: Short,
    fate: Fate,
    ecn: Ecn,
    dscp: CodePoint,
    is_reply: bool,
}

/// A content, with numbers of bytes and SACK blocks for what it points to.
#[derive(Clone, Copy, Debug)]
enum Short {
    Syn { tsval: u32 },
    SynAck { tsval: u32, tsecr: u32 },
    Segment { number: u32, tsval: u32, tsecr: u32, payload: u16, transmission: u8, cwr: bool },
    Ack { cumulative: u32, tsval: u32, tsecr: u32, blocks: u8, ece: bool },
    Utp { head: u32, payload: u32 },
    Datagram { sent: Time },
    Whole { packet: u32 },
}

impl Batch {
    /// Appends a passage.
    pub fn push(&mut self, passage: &Passage<'_>) {
        let Passage { known, at, link, flow, connection, is_reply, size, dscp, ecn, fate, content } =
            *passage;
        let content = self.shorten(content);
        let (link, flow) = (link as u32, flow as u32);
        self.kept.push(Kept { known, at, link, flow, connection, is_reply, size, dscp, ecn, fate, content });
    }

    /// Keeps apart what a content points to.
    fn shorten(&mut self, content: Content<'_>) -> Short {
        match content {
            Content::Syn { tsval } => Short::Syn { tsval },
            Content::SynAck { tsval, tsecr } => Short::SynAck { tsval, tsecr },
            Content::Segment { number, payload, tsval, tsecr, transmission, cwr } => {
                Short::Segment { number, payload, tsval, tsecr, transmission, cwr }
            }
            Content::Ack { cumulative, tsval, tsecr, blocks, ece } => {
                let blocks = &blocks[..blocks.len().min(MOST_BLOCKS)];
                self.blocks.extend_from_slice(blocks);
                Short::Ack { cumulative, tsval, tsecr, blocks: blocks.len() as u8, ece }
            }
            Content::Utp { head, payload } => {
                self.bytes.extend_from_slice(head);
                Short::Utp { head: head.len() as u32, payload }
            }
            Content::Datagram { sent } => Short::Datagram { sent },
            Content::Whole { packet } => {
                self.bytes.extend_from_slice(packet);
                Short::Whole { packet: packet.len() as u32 }
            }
        }
    }

    /// Returns the passages.
    pub fn passages(&self) -> impl Iterator<Item = Passage<'_>> {
        let (mut bytes, mut blocks) = (&self.bytes[..], &self.blocks[..]);
        self.kept.iter().map(move |kept| {
            let Kept { known, at, link, flow, connection, is_reply, size, dscp, ecn, fate, content } = *kept;
            let content = match content {
                Short::Syn { tsval } => Content::Syn { tsval },
                Short::SynAck { tsval, tsecr } => Content::SynAck { tsval, tsecr },
                Short::Segment { number, payload, tsval, tsecr, transmission, cwr } => {
                    Content::Segment { number, payload, tsval, tsecr, transmission, cwr }
                }
                Short::Ack { cumulative, tsval, tsecr, blocks: number, ece } => {
                    let blocks = blocks.split_off(..number.into()).unwrap_or_default();
                    Content::Ack { cumulative, tsval, tsecr, blocks, ece }
                }
                Short::Utp { head, payload } => {
                    let head = bytes.split_off(..head as usize).unwrap_or_default();
                    Content::Utp { head, payload }
                }
                Short::Datagram { sent } => Content::Datagram { sent },
                Short::Whole { packet } => {
                    Content::Whole { packet: bytes.split_off(..packet as usize).unwrap_or_default() }
                }
            };
            let (link, flow) = (link as usize, flow as usize);
            Passage { known, at, link, flow, connection, is_reply, size, dscp, ecn, fate, content }
        })
    }

    /// Returns the number of passages.
    pub fn len(&self) -> usize {
        self.kept.len()
    }

    /// Forgets the passages and keeps the memory.
    pub fn clear(&mut self) {
        self.kept.clear();
        self.bytes.clear();
        self.blocks.clear();
    }
}
