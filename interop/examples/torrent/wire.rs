//! Messages of the peer protocol over one uTP stream.

use afteryou_utp::Stream;
use anyhow::{ensure, Context};
use librqbit_core::hash_id::Id20;
use librqbit_peer_protocol::{Handshake, Message, MessageDeserializeError, MAX_MSG_LEN};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// Bytes of a handshake.
const HANDSHAKE: usize = 68;
/// Longest message that is read: a bitfield of eight million pieces.
const LONGEST: usize = 1 << 20;

/// A stream and the message that was read last.
pub struct Wire {
    stream: Stream,
    message: Vec<u8>,
}

impl Wire {
    pub fn new(stream: Stream) -> Wire {
        Wire { stream, message: Vec::new() }
    }

    /// Introduces us. No extension is offered.
    pub async fn greet(&mut self, info_hash: Id20) -> anyhow::Result<()> {
        let peer_id = Id20::new(*b"-AY0100-afteryou-utp");
        let mut bytes = [0; HANDSHAKE];
        let len = Handshake { reserved: 0, info_hash, peer_id }.serialize_unchecked_len(&mut bytes);
        self.stream.write_all(&bytes[..len]).await?;
        Ok(self.stream.flush().await?)
    }

    /// Reads the peer's handshake.
    pub async fn be_greeted(&mut self, info_hash: Id20) -> anyhow::Result<()> {
        let mut bytes = [0; HANDSHAKE];
        self.stream.read_exact(&mut bytes).await.context("the peer sends no handshake")?;
        let (handshake, _) = Handshake::deserialize(&bytes)?;
        ensure!(handshake.info_hash == info_hash, "the peer has another torrent");
        Ok(())
    }

    /// Sends a message; it leaves with the next [`flush`](Wire::flush) or in a full packet.
    pub async fn send(&mut self, message: &Message<'_>) -> anyhow::Result<()> {
        let room = match message {
            Message::Bitfield(bits) => MAX_MSG_LEN + bits.as_ref().len(),
            Message::Piece(piece) => MAX_MSG_LEN + piece.len(),
            _ => MAX_MSG_LEN,
        };
        let mut bytes = vec![0; room];
        let len = message.serialize(&mut bytes, &Default::default)?;
        Ok(self.stream.write_all(&bytes[..len]).await?)
    }

    pub async fn flush(&mut self) -> anyhow::Result<()> {
        Ok(self.stream.flush().await?)
    }

    /// Reads the next message that BEP 3 knows; none at the end of the stream.
    pub async fn next(&mut self) -> anyhow::Result<Option<Message<'_>>> {
        loop {
            let Ok(len) = self.stream.read_u32().await else { return Ok(None) };
            ensure!(len as usize <= LONGEST, "a message of {len} bytes");
            self.message.clear();
            self.message.extend_from_slice(&len.to_be_bytes());
            self.message.resize(4 + len as usize, 0);
            self.stream.read_exact(&mut self.message[4..]).await?;
            match Message::deserialize(&self.message, &[]) {
                // Of an extension that nobody asked for.
                Err(MessageDeserializeError::UnsupportedMessageId(_)) => {}
                Ok(_) => break,
                Err(error) => return Err(error.into()),
            }
        }
        let (message, _) = Message::deserialize(&self.message, &[])?;
        Ok(Some(message))
    }

    /// Ends our direction and waits until the peer has all.
    pub async fn end(mut self) {
        _ = self.stream.shutdown().await;
    }

    /// What the connection has done.
    pub fn statistics(&self) -> afteryou_utp::Statistics {
        self.stream.statistics()
    }
}
