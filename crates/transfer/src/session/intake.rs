//! From a data stream to the sink's disk.
//!
//! # Model
//! A small file is collected whole and then verified, written and given its name on a blocking thread: nothing waits for
//! the network there. A large one has a thread of its own, to which what arrives is handed in order, as the network's own
//! buffers. Few large files are decoded at a time; a source that keeps the order of the wants sends few.
//!
//! # Bounds
//! Files have places in the process's [room](super::room), so those that are collected are few, with 64 kB and some parents
//! each. Large ones hold at most [`DECODERS`] x [`BATCHES`] x [`BATCH`]
//! pieces of packets. What is beyond waits in quinn's receive window, and then at the source.

use crate::entry::{Wanted, GROUP_BYTES};
use crate::job::on_thread;
use crate::store::Reception;
use crate::wire::Why;
use bytes::{Buf, Bytes};
use quinn::{ReadError, RecvStream, VarInt};
use std::io::{self, Cursor, Read};
use std::sync::Arc;
use tokio::sync::{mpsc, Semaphore};

/// Files up to so many wanted bytes are small.
const SMALL: u64 = 64 * 1024;
/// Large files that are decoded at a time.
const DECODERS: usize = 8;
/// Small files that are stored at a time. Most of their time they wait for the disk.
const STORERS: usize = 16;
/// Batches between the network and a decoder.
const BATCHES: usize = 4;
/// Pieces of packets in a batch.
const BATCH: usize = 32;

/// What the files of a session share.
#[derive(Clone)]
pub(super) struct Intake {
    decoders: Arc<Semaphore>,
    storers: Arc<Semaphore>,
}

/// What became of a data stream.
pub(super) enum Received {
    /// The file has its name.
    Stored,
    /// It was not stored.
    Failed(Why),
    /// The source gave the stream up; the control stream says why.
    Reset,
    /// The connection is gone.
    Lost,
    /// The source broke the rules.
    Violation(&'static str),
}

/// Called with offset and length of each group that was verified.
pub(super) type OnGroup = Box<dyn FnMut(u64, u64) + Send>;

impl Intake {
    pub(super) fn new() -> Intake {
        Intake { decoders: Arc::new(Semaphore::new(DECODERS)), storers: Arc::new(Semaphore::new(STORERS)) }
    }

    /// Takes in one file.
    pub(super) async fn receive(
        self,
        stream: RecvStream,
        reception: Reception,
        on_group: OnGroup,
    ) -> Received {
        match reception.wanted().bytes() <= SMALL {
            true => self.small(stream, reception, on_group).await,
            false => self.large(stream, reception, on_group).await,
        }
    }

    async fn small(self, mut stream: RecvStream, reception: Reception, mut on_group: OnGroup) -> Received {
        let longest = longest_encoding(reception.wanted());
        let mut encoded = Vec::new();
        let broke = loop {
            match stream.read_chunk(usize::MAX, true).await {
                Ok(Some(chunk)) if encoded.len() + chunk.bytes.len() > longest => {
                    return Received::Violation("a data stream has more than was wanted");
                }
                Ok(Some(chunk)) => encoded.extend_from_slice(&chunk.bytes),
                Ok(None) => break None,
                Err(error) => break Some(error),
            }
        };
        // The semaphores are never closed.
        let _storer = self.storers.acquire().await;
        let mut encoded = Cursor::new(encoded);
        let store = move || {
            let result = reception.receive(&mut encoded, &mut on_group);
            (result, encoded.position() == encoded.get_ref().len() as u64)
        };
        // Also what came before the stream broke: its groups need not come again.
        match (tokio::task::spawn_blocking(store).await, broke) {
            (Ok((Ok(()), true)), _) => Received::Stored,
            (_, Some(error)) => broken(error),
            (Ok((Ok(()), false)), None) => Received::Violation("a data stream has more than was wanted"),
            (Ok((Err(why), _)), None) => Received::Failed(why),
            (Err(_), None) => {
                Received::Failed(Why::Io("storing it failed; see the log of the receiving side".into()))
            }
        }
    }

    async fn large(self, mut stream: RecvStream, reception: Reception, mut on_group: OnGroup) -> Received {
        let _decoder = self.decoders.acquire().await;
        let (sender, batches) = mpsc::channel(BATCHES);
        let thread = on_thread("decode", move || {
            let mut encoded =
                Encoded { batches, current: Vec::new().into_iter(), chunk: Bytes::new(), ended: false };
            reception.receive(&mut encoded, &mut on_group)
        });
        let passed = pass_on(&mut stream, sender).await;
        let stored = thread.await;
        match (passed, stored) {
            // All of it came, whatever happened to the stream's end.
            (Passed::All | Passed::Broken(_), Some(Ok(()))) => Received::Stored,
            (Passed::Broken(error), _) => broken(error),
            (Passed::Refused, Some(Ok(()))) => Received::Violation("a data stream has more than was wanted"),
            (_, Some(Err(why))) => {
                _ = stream.stop(VarInt::from_u32(super::STREAM_GIVEN_UP));
                Received::Failed(why)
            }
            (_, None) => {
                Received::Failed(Why::Io("storing it failed; see the log of the receiving side".into()))
            }
        }
    }
}

fn broken(error: ReadError) -> Received {
    match error {
        ReadError::Reset(_) => Received::Reset,
        _ => Received::Lost,
    }
}

/// More than any encoding of these ranges has: a group has fewer than two parents of 64 bytes of its own, and the way
/// from the root to a range's ends is at most 64 parents each.
fn longest_encoding(wanted: &Wanted) -> usize {
    let of_range = |(from, to): &(u64, u64)| {
        let bytes = to.saturating_sub(*from);
        bytes + (bytes / GROUP_BYTES + 1) * 128 + 128 * 64
    };
    wanted.0.iter().map(of_range).fold(0, u64::saturating_add).min(usize::MAX as u64) as usize
}

/// How the way from a stream to its decoder ended.
enum Passed {
    /// To the stream's end.
    All,
    /// The decoder takes no more: it failed, or it has everything.
    Refused,
    Broken(ReadError),
}

/// Hands what arrives to the decoder. An empty batch is the end; a channel that ends without one is a broken stream.
async fn pass_on(stream: &mut RecvStream, decoder: mpsc::Sender<Vec<Bytes>>) -> Passed {
    loop {
        let mut batch = vec![Bytes::new(); BATCH];
        let read = match stream.read_chunks(&mut batch).await {
            Ok(read) => read.unwrap_or(0),
            Err(error) => return Passed::Broken(error),
        };
        batch.truncate(read);
        match decoder.send(batch).await {
            // A decoder that has everything need not have read the end.
            Err(_) if read > 0 => return Passed::Refused,
            _ if read == 0 => return Passed::All,
            _ => {}
        }
    }
}

/// What arrives, for the decoder to read.
struct Encoded {
    batches: mpsc::Receiver<Vec<Bytes>>,
    current: std::vec::IntoIter<Bytes>,
    chunk: Bytes,
    ended: bool,
}

impl Read for Encoded {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.chunk.is_empty() {
            if let Some(chunk) = self.current.next() {
                self.chunk = chunk;
                continue;
            }
            if self.ended {
                return Ok(0);
            }
            match self.batches.blocking_recv() {
                Some(batch) => {
                    self.ended = batch.is_empty();
                    self.current = batch.into_iter();
                }
                None => return Err(io::ErrorKind::ConnectionReset.into()),
            }
        }
        let len = out.len().min(self.chunk.len());
        self.chunk.copy_to_slice(&mut out[..len]);
        Ok(len)
    }
}
