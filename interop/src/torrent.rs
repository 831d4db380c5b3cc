//! The handshake and the messages of the peer protocol: BEP 3, "peer messages".
//!
//! A message is its length (4 bytes, big-endian), its kind (1 byte), and fields of 4 bytes each, then a bitfield or a block. Keep-alives have
//! length 0. Not implemented: extensions, and `cancel`, which a peer may ignore.

/// Bytes of a handshake: the protocol's name after its length, eight reserved bytes, the torrent, the peer.
pub const HANDSHAKE: usize = 68;
/// The name, after its length.
const PROTOCOL: &[u8; 20] = b"\x13BitTorrent protocol";
/// The name of this client.
const PEER_ID: &[u8; 20] = b"-AY0100-afteryou-utp";

/// SHA-1 of a torrent's dictionary `info`.
pub type InfoHash = [u8; 20];

/// Returns our handshake. It offers no extension.
pub fn handshake(info_hash: &InfoHash) -> Vec<u8> {
    [&PROTOCOL[..], &[0; 8], info_hash, PEER_ID].concat()
}

/// Returns the torrent that a peer's handshake names; none if it is of another protocol.
pub fn greeted(bytes: &[u8; HANDSHAKE]) -> Option<InfoHash> {
    bytes.starts_with(PROTOCOL).then(|| std::array::from_fn(|at| bytes[28 + at]))
}

/// A block of a piece: which piece, where in it, and how many bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// The piece, counted from 0.
    pub index: u32,
    /// Bytes of the piece before the block.
    pub begin: u32,
    /// Bytes of the block.
    pub length: u32,
}

/// A message that one of the two ends has a use for.
#[derive(Debug, PartialEq, Eq)]
pub enum Message<'a> {
    /// Requests so far are forgotten, and no others are answered.
    Choke,
    /// Requests are answered.
    Unchoke,
    /// The sender has a use for the receiver's pieces.
    Interested,
    /// The sender has this piece now.
    Have(u32),
    /// The pieces that the sender has, the first one in the highest bit.
    Bitfield(&'a [u8]),
    /// The sender asks for a block.
    Request(Request),
    /// A block, its piece, and the bytes of the piece before it.
    Piece {
        /// The piece, counted from 0.
        index: u32,
        /// Bytes of the piece before the block.
        begin: u32,
        /// The block.
        block: &'a [u8],
    },
    /// A keep-alive, or a message that needs no answer.
    Other,
}

impl<'a> Message<'a> {
    /// Appends the message with its length to `bytes`; [`Message::Other`] becomes a keep-alive.
    pub fn write(&self, bytes: &mut Vec<u8>) {
        let (kind, fields, rest): (u8, &[u32], &[u8]) = match self {
            Message::Other => return bytes.extend([0; 4]),
            Message::Choke => (0, &[], &[]),
            Message::Unchoke => (1, &[], &[]),
            Message::Interested => (2, &[], &[]),
            Message::Have(piece) => (4, &[*piece], &[]),
            Message::Bitfield(bits) => (5, &[], bits),
            Message::Request(Request { index, begin, length }) => (6, &[*index, *begin, *length], &[]),
            Message::Piece { index, begin, block } => (7, &[*index, *begin], block),
        };
        let len = 1 + 4 * fields.len() + rest.len();
        bytes.extend((len as u32).to_be_bytes());
        bytes.push(kind);
        bytes.extend(fields.iter().flat_map(|field| field.to_be_bytes()));
        bytes.extend(rest);
    }

    /// Reads a message without its length; none if it ends before its fields do.
    pub fn read(bytes: &'a [u8]) -> Option<Message<'a>> {
        let Some((kind, rest)) = bytes.split_first() else { return Some(Message::Other) };
        let field = |at: usize| {
            let bytes = rest.get(4 * at..4 * at + 4)?;
            Some(bytes.iter().fold(0, |sum, byte| sum << 8 | u32::from(*byte)))
        };
        Some(match kind {
            0 => Message::Choke,
            1 => Message::Unchoke,
            2 => Message::Interested,
            4 => Message::Have(field(0)?),
            5 => Message::Bitfield(rest),
            6 => Message::Request(Request { index: field(0)?, begin: field(1)?, length: field(2)? }),
            7 => Message::Piece { index: field(0)?, begin: field(1)?, block: rest.get(8..)? },
            _ => Message::Other,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_reads_back_and_none_that_was_cut_does() {
        let request = Request { index: 1, begin: 2, length: 0x0102_0304 };
        let piece = Message::Piece { index: 7, begin: 16384, block: b"block" };
        for message in [
            Message::Have(70_000),
            Message::Bitfield(&[0xF0]),
            Message::Request(request),
            piece,
            Message::Unchoke,
        ] {
            let mut bytes = Vec::new();
            message.write(&mut bytes);
            let (len, rest) = bytes.split_at(4);
            assert_eq!(len, (rest.len() as u32).to_be_bytes());
            assert_eq!(Message::read(rest).unwrap(), message);
            for end in 0..rest.len() {
                assert_ne!(Message::read(&rest[..end]).as_ref(), Some(&message), "{end}");
            }
        }
    }

    #[test]
    fn a_request_has_the_bytes_of_bep_3() {
        let mut bytes = Vec::new();
        Message::Request(Request { index: 1, begin: 0x4000, length: 0x4000 }).write(&mut bytes);
        assert_eq!(bytes, [0, 0, 0, 13, 6, 0, 0, 0, 1, 0, 0, 0x40, 0, 0, 0, 0x40, 0]);
    }

    #[test]
    fn a_handshake_names_its_torrent() {
        let hash: InfoHash = *b"12345678901234567890";
        let bytes: [u8; HANDSHAKE] = handshake(&hash).try_into().unwrap();
        assert_eq!(greeted(&bytes).unwrap(), hash);
        assert!(greeted(&[0; HANDSHAKE]).is_none());
    }
}
