//! The wire format, version 1 (BEP 29): a header of 20 bytes, a chain of extensions, the payload. All numbers are
//! big-endian.
//!
//! ```text
//!  0       4       8               16              24              32
//!  +-------+-------+---------------+---------------+---------------+
//!  | type  | ver   | extension     | connection_id                 |
//!  +-------+-------+---------------+---------------+---------------+
//!  | timestamp                                                  |
//!  +---------------------------------------------------------------+
//!  | timestamp_difference                                       |
//!  +---------------------------------------------------------------+
//!  | wnd_size (bytes)                                              |
//!  +-------------------------------+-------------------------------+
//!  | seq_nr                        | ack_nr                        |
//!  +-------------------------------+-------------------------------+
//! ```
//!
//! `extension` names the type of what follows: 0 is the payload, anything else is `{next type, length, bytes}`.
//! Unknown extensions are skipped by their length; one that overruns the packet condemns it.

use crate::numbers::{ConnectionId, Micros, SeqNr};
use crate::sack::Sack;
use thiserror::Error;

/// Bytes of the fixed header.
pub const HEADER_LEN: usize = 20;
/// The only protocol version.
pub const VERSION: u8 = 1;
const EXTENSION_NONE: u8 = 0;
const EXTENSION_SACK: u8 = 1;
/// libutp's, which reads nothing of it and requires the length.
const EXTENSION_BITS: u8 = 2;
const BITS_LEN: usize = 8;
/// No client uses this number; all skip unknown extensions.
const EXTENSION_PADDING: u8 = 0x50;
/// The first four bytes of [`EXTENSION_BITS`] that make the other four a count of marks. A number of its own would keep Wireshark from
/// decoding the packet.
const MARKS: [u8; 4] = *b"ECN\0";
/// libutp takes a packet whose *first* extension has a larger number for something else altogether.
const EXTENSION_LAST_KNOWN: u8 = 2;

/// Packet types.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Carries payload.
    Data,
    /// The last packet of a direction.
    Fin,
    /// An acknowledgement; takes no sequence number.
    State,
    /// The connection is gone.
    Reset,
    /// Opens a connection.
    Syn,
}

/// The fixed header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Packet type.
    pub kind: Kind,
    /// The connection's id: the opener's receive id in a SYN, the receiver's receive id in all others.
    pub connection_id: ConnectionId,
    /// Sender's clock when it sent this.
    pub timestamp: Micros,
    /// `now - timestamp` of the newest packet that the sender had received when it arrived; 0 means none yet.
    pub timestamp_difference: Micros,
    /// Free receive buffer of the sender, bytes.
    pub wnd_size: u32,
    /// Newest packet number received in order.
    // Before `seq_nr`: it is read right after it was written, at an odd multiple of two bytes and so not together with a neighbour.
    pub ack_nr: SeqNr,
    /// Packet number.
    pub seq_nr: SeqNr,
}

/// A parsed packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<'a> {
    /// The fixed header.
    pub header: Header,
    /// Selective acknowledgement, if there is one.
    pub sack: Option<Sack<'a>>,
    /// Packets that the sender of this one has received with a mark of Congestion Experienced, if it counts them.
    pub marks: Option<u32>,
    /// Payload.
    pub payload: &'a [u8],
}

/// Why bytes are not a packet.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum PacketError {
    /// Shorter than the header.
    #[error("{0} bytes are too few for a uTP header of 20")]
    Short(usize),
    /// Not version 1.
    #[error("uTP version {0} is not spoken here, only 1")]
    Version(u8),
    /// No such packet type.
    #[error("there is no uTP packet type {0}")]
    Kind(u8),
    /// An extension is longer than the rest of the packet.
    #[error("an extension overruns its packet")]
    Overrun,
}

impl Kind {
    fn from_bits(bits: u8) -> Option<Kind> {
        Some(match bits {
            0 => Kind::Data,
            1 => Kind::Fin,
            2 => Kind::State,
            3 => Kind::Reset,
            4 => Kind::Syn,
            _ => return None,
        })
    }

    fn bits(self) -> u8 {
        match self {
            Kind::Data => 0,
            Kind::Fin => 1,
            Kind::State => 2,
            Kind::Reset => 3,
            Kind::Syn => 4,
        }
    }
}

impl<'a> Packet<'a> {
    /// Reads a datagram.
    ///
    /// # Errors
    /// Fewer bytes than a header has, another version, an unknown type, and an extension that overruns the packet.
    pub fn decode(datagram: &'a [u8]) -> Result<Packet<'a>, PacketError> {
        let Some((fixed, rest)) = datagram.split_first_chunk::<HEADER_LEN>() else {
            return Err(PacketError::Short(datagram.len()));
        };
        if fixed[0] & 0x0F != VERSION {
            return Err(PacketError::Version(fixed[0] & 0x0F));
        }
        let u16_at = |at: usize| u16::from_be_bytes([fixed[at], fixed[at + 1]]);
        let u32_at = |at: usize| u32::from_be_bytes([fixed[at], fixed[at + 1], fixed[at + 2], fixed[at + 3]]);
        let header = Header {
            kind: Kind::from_bits(fixed[0] >> 4).ok_or(PacketError::Kind(fixed[0] >> 4))?,
            connection_id: ConnectionId(u16_at(2)),
            timestamp: Micros(u32_at(4)),
            timestamp_difference: Micros(u32_at(8)),
            wnd_size: u32_at(12),
            seq_nr: SeqNr(u16_at(16)),
            ack_nr: SeqNr(u16_at(18)),
        };
        let Extensions { sack, marks, payload } = decode_extensions(fixed[1], rest)?;
        Ok(Packet { header, sack, marks, payload })
    }

    /// Appends the packet's bytes to `out`.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let Header { kind, connection_id, timestamp, timestamp_difference, wnd_size, seq_nr, ack_nr } =
            self.header;
        let extension = match (self.sack, self.marks) {
            (Some(_), _) => EXTENSION_SACK,
            (None, Some(_)) => EXTENSION_BITS,
            (None, None) => EXTENSION_NONE,
        };
        let mut fixed = [0; HEADER_LEN];
        fixed[..2].copy_from_slice(&[kind.bits() << 4 | VERSION, extension]);
        fixed[2..4].copy_from_slice(&connection_id.0.to_be_bytes());
        fixed[4..8].copy_from_slice(&timestamp.0.to_be_bytes());
        fixed[8..12].copy_from_slice(&timestamp_difference.0.to_be_bytes());
        fixed[12..16].copy_from_slice(&wnd_size.to_be_bytes());
        fixed[16..18].copy_from_slice(&seq_nr.0.to_be_bytes());
        fixed[18..].copy_from_slice(&ack_nr.0.to_be_bytes());
        out.extend_from_slice(&fixed);
        if let Some(sack) = self.sack {
            let next = if self.marks.is_some() { EXTENSION_BITS } else { EXTENSION_NONE };
            let mask = sack.mask();
            out.extend_from_slice(&[next, mask.len() as u8]);
            out.extend_from_slice(mask);
        }
        if let Some(marks) = self.marks {
            out.extend_from_slice(&[EXTENSION_NONE, BITS_LEN as u8]);
            out.extend_from_slice(&MARKS);
            out.extend_from_slice(&marks.to_be_bytes());
        }
        out.extend_from_slice(self.payload);
    }
}

/// Makes the packet without extensions that begins at `start` and ends `out`, payload not yet included, longer by `bytes` of extensions that
/// mean nothing: 12 at least, or none.
pub(crate) fn pad(out: &mut Vec<u8>, start: usize, bytes: usize) {
    let Some(mut left) = bytes.checked_sub(2 + BITS_LEN) else { return };
    out[start + 1] = EXTENSION_BITS;
    out.extend_from_slice(&[EXTENSION_NONE, BITS_LEN as u8]);
    let mut next_at = out.len() - 2;
    out.resize(out.len() + BITS_LEN, 0);
    while left > 0 {
        // An extension has a head of two bytes, so a single byte must not be left over.
        let longest = 2 + usize::from(u8::MAX);
        let part = if left == longest + 1 { longest - 1 } else { left.min(longest) };
        let Some(body) = part.checked_sub(2) else { return };
        out[next_at] = EXTENSION_PADDING;
        next_at = out.len();
        out.extend_from_slice(&[EXTENSION_NONE, body as u8]);
        out.resize(out.len() + body, 0);
        left -= part;
    }
}

/// The extensions of a packet that are read here, and its payload.
struct Extensions<'a> {
    sack: Option<Sack<'a>>,
    marks: Option<u32>,
    payload: &'a [u8],
}

/// Walks the chain of extensions that begins with type `kind`.
fn decode_extensions(mut kind: u8, mut rest: &[u8]) -> Result<Extensions<'_>, PacketError> {
    let (mut sack, mut marks) = (None, None);
    while kind != EXTENSION_NONE {
        let [next, len, body @ ..] = rest else {
            return Err(PacketError::Overrun);
        };
        let (extension, after) = body.split_at_checked(usize::from(*len)).ok_or(PacketError::Overrun)?;
        if kind == EXTENSION_SACK && sack.is_none() {
            sack = Some(Sack::new(extension));
        } else if kind == EXTENSION_BITS {
            marks = extension
                .strip_prefix(&MARKS)
                .and_then(|count| count.try_into().ok())
                .map(u32::from_be_bytes);
        }
        (kind, rest) = (*next, after);
    }
    Ok(Extensions { sack, marks, payload: rest })
}

/// Returns whether this is a packet with a number of its own, and so one that is acknowledged: data, or the end of it.
#[cfg(feature = "net")]
pub(crate) fn has_number(datagram: &[u8]) -> bool {
    let kind = datagram.first().and_then(|first| Kind::from_bits(first >> 4));
    matches!(kind, Some(Kind::Data | Kind::Fin))
}

/// Returns whether these bytes could be a uTP packet. For sockets that are shared with another protocol.
pub fn looks_like_utp(datagram: &[u8]) -> bool {
    datagram.len() >= HEADER_LEN
        && datagram[0] & 0x0F == VERSION
        && Kind::from_bits(datagram[0] >> 4).is_some()
        && datagram[1] <= EXTENSION_LAST_KNOWN
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn header(kind: Kind) -> Header {
        Header {
            kind,
            connection_id: ConnectionId(0x1234),
            timestamp: Micros(0x0102_0304),
            timestamp_difference: Micros(0x0506_0708),
            wnd_size: 0x0010_0000,
            seq_nr: SeqNr(0xABCD),
            ack_nr: SeqNr(0xEF01),
        }
    }

    fn encode(packet: &Packet<'_>) -> Vec<u8> {
        let mut out = Vec::new();
        packet.encode(&mut out);
        out
    }

    #[test]
    fn type_and_version_share_the_first_byte() {
        let first =
            |kind| encode(&Packet { header: header(kind), sack: None, marks: None, payload: &[][..] })[0];
        let kinds = [Kind::Data, Kind::Fin, Kind::State, Kind::Reset, Kind::Syn];
        assert_eq!(kinds.map(first), [0x01, 0x11, 0x21, 0x31, 0x41]);
    }

    #[test]
    fn every_field_lies_where_the_format_says() {
        let bytes = encode(&Packet { header: header(Kind::Data), sack: None, marks: None, payload: b"hi" });
        let expected =
            [0x01, 0, 0x12, 0x34, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0x10, 0, 0, 0xAB, 0xCD, 0xEF, 0x01, b'h', b'i'];
        assert_eq!(bytes, expected);
    }

    #[test]
    fn unknown_extensions_are_skipped_and_overruns_refused() {
        let mut bytes =
            encode(&Packet { header: header(Kind::State), sack: None, marks: None, payload: &[] });
        bytes[1] = 2; // extension bits, then an unknown type 9, then a SACK
        bytes.extend_from_slice(&[9, 8, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0xFF, 0, 4, 7, 0, 0, 0, b'x']);
        let packet = Packet::decode(&bytes).unwrap();
        assert_eq!(packet.sack.unwrap().mask(), [7, 0, 0, 0]);
        assert_eq!(packet.payload, b"x");
        for cut in 21..bytes.len() - 1 {
            assert_eq!(Packet::decode(&bytes[..cut]), Err(PacketError::Overrun), "cut at {cut}");
        }
        assert_eq!(Packet::decode(&bytes[..19]), Err(PacketError::Short(19)));
    }

    #[test]
    fn padding_has_the_length_asked_for_and_changes_nothing_else() {
        let plain = Packet { header: header(Kind::Data), sack: None, marks: None, payload: b"content" };
        for bytes in (12..1000).chain([0]) {
            let mut out = b"before".to_vec();
            Packet { payload: &[], ..plain }.encode(&mut out);
            pad(&mut out, 6, bytes);
            out.extend_from_slice(plain.payload);
            assert_eq!(out.len(), 6 + HEADER_LEN + bytes + plain.payload.len());
            assert_eq!(Packet::decode(&out[6..]).unwrap(), plain);
            assert!(looks_like_utp(&out[6..]));
        }
    }

    #[test]
    fn other_versions_and_types_are_refused() {
        let mut bytes =
            encode(&Packet { header: header(Kind::State), sack: None, marks: None, payload: &[] });
        bytes[0] = 0x22;
        assert_eq!(Packet::decode(&bytes), Err(PacketError::Version(2)));
        bytes[0] = 0x51;
        assert_eq!(Packet::decode(&bytes), Err(PacketError::Kind(5)));
        assert!(!looks_like_utp(&bytes));
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            let _ = Packet::decode(&bytes);
        }

        #[test]
        fn what_is_encoded_decodes_to_itself(id: u16, seq: u16, ack: u16, wnd: u32, marks: Option<u32>, mask in prop::collection::vec(any::<u8>(), 4..=252), payload in prop::collection::vec(any::<u8>(), 0..100)) {
            let header = Header { connection_id: ConnectionId(id), seq_nr: SeqNr(seq), ack_nr: SeqNr(ack), wnd_size: wnd, ..header(Kind::Data) };
            let packet = Packet { header, sack: Some(Sack::new(&mask)), marks, payload: &payload };
            let bytes = encode(&packet);
            prop_assert_eq!(Packet::decode(&bytes).unwrap(), packet);
        }
    }
}
