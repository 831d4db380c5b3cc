//! Messages of the peer protocol over one uTP stream.

use afteryou_interop::torrent::{self, InfoHash, Message, HANDSHAKE};
use afteryou_utp::Stream;
use anyhow::{ensure, Context};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

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
    pub async fn greet(&mut self, info_hash: &InfoHash) -> anyhow::Result<()> {
        self.stream.write_all(&torrent::handshake(info_hash)).await?;
        Ok(self.stream.flush().await?)
    }

    /// Reads the peer's handshake.
    pub async fn be_greeted(&mut self, info_hash: &InfoHash) -> anyhow::Result<()> {
        let mut bytes = [0; HANDSHAKE];
        self.stream.read_exact(&mut bytes).await.context("the peer sends no handshake")?;
        ensure!(torrent::greeted(&bytes) == Some(*info_hash), "the peer has another torrent");
        Ok(())
    }

    /// Sends a message; it leaves with the next [`flush`](Wire::flush) or in a full packet.
    pub async fn send(&mut self, message: &Message<'_>) -> anyhow::Result<()> {
        let mut bytes = Vec::new();
        message.write(&mut bytes);
        Ok(self.stream.write_all(&bytes).await?)
    }

    pub async fn flush(&mut self) -> anyhow::Result<()> {
        Ok(self.stream.flush().await?)
    }

    /// Reads the next message; none at the end of the stream.
    pub async fn next(&mut self) -> anyhow::Result<Option<Message<'_>>> {
        let Ok(len) = self.stream.read_u32().await else { return Ok(None) };
        ensure!(len as usize <= LONGEST, "a message of {len} bytes");
        self.message.resize(len as usize, 0);
        self.stream.read_exact(&mut self.message).await?;
        let message = Message::read(&self.message).context("a message ends before its fields do")?;
        Ok(Some(message))
    }

    /// Ends our direction and waits until the peer has all.
    pub async fn end(mut self) {
        _ = self.stream.shutdown().await;
    }

    /// Returns the connection's counters.
    pub fn statistics(&self) -> afteryou_utp::Statistics {
        self.stream.statistics()
    }
}
