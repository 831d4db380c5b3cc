//! Single uTP datagrams, written and read by hand.
//!
//! Deliberately apart from any uTP implementation, so that both can be held
//! against it. The layout is that of BEP 29, version 1.

/// The uTP version, in the low half of the first byte.
const VERSION: u8 = 1;
/// Bytes of the fixed header.
const HEADER: usize = 20;
/// The extension number of the selective ack.
pub const SACK: u8 = 1;

/// The type of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // the names are those of the wire format
pub enum Kind {
    Data = 0,
    Fin = 1,
    State = 2,
    Reset = 3,
    Syn = 4,
}

/// One datagram.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// The type.
    pub kind: Kind,
    /// The connection id.
    pub conn_id: u16,
    /// The sender's clock in microseconds.
    pub timestamp: u32,
    /// The delay last measured by the sender, in microseconds.
    pub timestamp_diff: u32,
    /// The receive window in bytes.
    pub window: u32,
    /// The sequence number.
    pub seq_nr: u16,
    /// The last sequence number received in order.
    pub ack_nr: u16,
    /// Extensions: number and content (at most 255 bytes each).
    pub extensions: Vec<(u8, Vec<u8>)>,
    /// The payload.
    pub payload: Vec<u8>,
}

impl Packet {
    /// Creates a packet without extensions and payload, with plausible times and 1 MiB of window.
    pub fn new(kind: Kind, conn_id: u16, seq_nr: u16, ack_nr: u16) -> Self {
        Packet {
            kind,
            conn_id,
            timestamp: 1_000_000,
            timestamp_diff: if kind == Kind::Syn { 0 } else { 1000 },
            window: 1 << 20,
            seq_nr,
            ack_nr,
            extensions: Vec::new(),
            payload: Vec::new(),
        }
    }

    /// Adds a selective ack. Bit `i` of the mask (lowest bit of the first byte
    /// first) stands for the packet `ack_nr + 2 + i`.
    pub fn with_sack(mut self, mask: &[u8]) -> Self {
        self.extensions.push((SACK, mask.to_vec()));
        self
    }

    /// Sets the payload.
    pub fn with_payload(mut self, payload: &[u8]) -> Self {
        self.payload = payload.to_vec();
        self
    }

    /// Returns the mask of the selective ack, if there is one.
    pub fn sack(&self) -> Option<&[u8]> {
        let found = self.extensions.iter().find(|(number, _)| *number == SACK);
        found.map(|(_, mask)| mask.as_slice())
    }

    /// Returns the datagram. Extensions are cut after 255 bytes.
    pub fn encode(&self) -> Vec<u8> {
        let next = |i: usize| self.extensions.get(i).map_or(0, |(number, _)| *number);
        let mut out = vec![(self.kind as u8) << 4 | VERSION, next(0)];
        out.extend(self.conn_id.to_be_bytes());
        out.extend(self.timestamp.to_be_bytes());
        out.extend(self.timestamp_diff.to_be_bytes());
        out.extend(self.window.to_be_bytes());
        out.extend(self.seq_nr.to_be_bytes());
        out.extend(self.ack_nr.to_be_bytes());
        for (i, (_, content)) in self.extensions.iter().enumerate() {
            let len = u8::try_from(content.len()).unwrap_or(u8::MAX);
            out.extend([next(i + 1), len]);
            out.extend(content.iter().take(usize::from(len)));
        }
        out.extend(&self.payload);
        out
    }

    /// Reads a datagram; `None` if it is not a well-formed uTP version 1
    /// packet.
    pub fn decode(datagram: &[u8]) -> Option<Self> {
        let (header, mut rest) = datagram.split_at_checked(HEADER)?;
        let kind = match header[0] {
            0x01 => Kind::Data,
            0x11 => Kind::Fin,
            0x21 => Kind::State,
            0x31 => Kind::Reset,
            0x41 => Kind::Syn,
            _ => return None,
        };
        let short = |at: usize| u16::from_be_bytes([header[at], header[at + 1]]);
        let long = |at: usize| u32::from(short(at)) << 16 | u32::from(short(at + 2));
        let mut extensions = Vec::new();
        let mut number = header[1];
        while number != 0 {
            let (&[following, len], after) = rest.split_first_chunk()?;
            let (content, after) = after.split_at_checked(usize::from(len))?;
            extensions.push((number, content.to_vec()));
            number = following;
            rest = after;
        }
        Some(Packet {
            kind,
            conn_id: short(2),
            timestamp: long(4),
            timestamp_diff: long(8),
            window: long(12),
            seq_nr: short(16),
            ack_nr: short(18),
            extensions,
            payload: rest.to_vec(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Kind, Packet};

    #[test]
    fn a_packet_reads_back_as_written() {
        let mut packet =
            Packet::new(Kind::Data, 0x1234, 0xfffe, 7).with_sack(&[1, 0, 0, 0x80]).with_payload(b"hello");
        packet.extensions.push((2, vec![0; 8]));
        let bytes = packet.encode();
        assert_eq!(bytes[..4], [0x01, 1, 0x12, 0x34]);
        assert_eq!(bytes.len(), 20 + 2 + 4 + 2 + 8 + 5);
        assert_eq!(Packet::decode(&bytes), Some(packet));
    }

    #[test]
    fn a_cut_packet_is_not_read() {
        let bytes = Packet::new(Kind::Syn, 1, 1, 0).with_sack(&[0; 8]).encode();
        for len in 0..bytes.len() {
            assert_eq!(Packet::decode(&bytes[..len]), None, "{len} bytes");
        }
    }
}
