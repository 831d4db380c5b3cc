//! Writes content in a thread of its own.
//!
//! # Model
//! The reader of a connection hands over each piece and reads on, so that no data wait in the socket while the disk works. A slow disk
//! stops the reader only when [`AHEAD`] bytes wait in memory.

use bytes::Bytes;
use std::fs::File;
use std::io::{self, Write};
use std::sync::Arc;
use tokio::sync::{mpsc, oneshot, Semaphore};

/// Bytes that may wait in memory: what arrives at 1 Gbit/s in a quarter of a second.
pub(crate) const AHEAD: u32 = 32 << 20;

/// The reader's end.
pub(crate) struct Sink {
    pieces: mpsc::UnboundedSender<Bytes>,
    room: Arc<Semaphore>,
    end: oneshot::Receiver<io::Result<()>>,
}

impl Sink {
    /// Starts a writer of `file`.
    ///
    /// # Errors
    /// No thread.
    pub fn start(mut file: File) -> io::Result<Sink> {
        let (pieces, mut received) = mpsc::unbounded_channel::<Bytes>();
        let (ending, end) = oneshot::channel();
        let room = Arc::new(Semaphore::new(AHEAD as usize));
        let freed = room.clone();
        let write = move || {
            let mut outcome = Ok(());
            while let Some(piece) = received.blocking_recv() {
                outcome = file.write_all(&piece);
                if outcome.is_err() {
                    break;
                }
                freed.add_permits(piece.len().min(AHEAD as usize));
            }
            // A reader that waits for room learns of the failure.
            freed.close();
            _ = ending.send(outcome);
        };
        std::thread::Builder::new().name("download".to_owned()).spawn(write)?;
        Ok(Sink { pieces, room, end })
    }

    /// Hands over a piece; waits only if too much is waiting already. Returns false if the writer has failed.
    pub async fn write(&self, piece: Bytes) -> bool {
        let room = u32::try_from(piece.len()).unwrap_or(AHEAD).min(AHEAD);
        match self.room.acquire_many(room).await {
            Ok(permit) => permit.forget(),
            Err(_) => return false,
        }
        self.pieces.send(piece).is_ok()
    }

    /// Waits until all pieces are written.
    ///
    /// # Errors
    /// The failure of the writer.
    pub async fn finish(self) -> io::Result<()> {
        drop(self.pieces);
        self.end.await.unwrap_or_else(|_| Err(io::Error::other("the writer has ended")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn pieces_are_written_in_order_also_more_than_fit_into_memory() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let sink = Sink::start(file.reopen().unwrap()).unwrap();
        let piece = Bytes::from(vec![7; AHEAD as usize + 1]);
        assert!(sink.write(piece.clone()).await && sink.write(Bytes::from_static(b"end")).await);
        sink.finish().await.unwrap();
        let content = std::fs::read(file.path()).unwrap();
        assert!(content.len() == piece.len() + 3 && content.ends_with(b"\x07end"));
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn a_full_disk_is_reported_with_what_to_do() {
        let full = std::path::Path::new("/dev/full");
        let sink = Sink::start(std::fs::OpenOptions::new().write(true).open(full).unwrap()).unwrap();
        _ = sink.write(Bytes::from_static(b"content")).await;
        let error = crate::error::Error::of_file(full, sink.finish().await.unwrap_err());
        assert!(error.to_string().contains("free some and run the same command again"), "{error}");
    }

    #[tokio::test]
    async fn a_file_that_takes_nothing_fails_and_nobody_waits() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let sink = Sink::start(File::open(file.path()).unwrap()).unwrap();
        for _ in 0..10 {
            _ = sink.write(Bytes::from(vec![0; AHEAD as usize / 2])).await;
        }
        assert!(sink.finish().await.is_err());
    }
}
