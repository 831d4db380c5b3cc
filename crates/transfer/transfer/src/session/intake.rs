//! From a data stream to the sink's disk.
//!
//! # Model
//! A file of one chunk group is collected and then verified, written and given its name on a blocking thread: nothing
//! waits for the network there. A larger one has a thread of its own, which takes from the stream what it needs next
//! and no more. Before it waits, it writes whatever has left the stream, but for the group that is being received: groups that
//! came together are written together. Few large files are decoded at a time; a source that keeps the order of the requests
//! sends few.
//!
//! # Bounds
//! Files have places in the process's [room](super::room), so those that are collected are few. Each file, small or
//! large, holds a chunk group and some parents, and all files together hold 96 KiB more that came together: that is what a kill
//! costs. Further data wait in quinn's receive window, and then at the source.

use crate::entry::{Wanted, GROUP_BYTES};
use crate::store::{Arriving, Delta, Kept, Next, Reception};
use crate::threads::on_thread;
use crate::wire::Why;
use quinn::{ReadError, RecvStream, VarInt};
use std::future::Future;
use std::io::{self, Cursor, Read};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use tokio::runtime::Handle;
use tokio::sync::{oneshot, Semaphore};

/// Large files that are decoded at a time. Much of their time they wait for the disk.
const DECODERS: usize = 16;
/// Small files that are stored at a time. Most of their time they wait for the disk.
const STORERS: usize = 16;

/// The state that a session's files share.
#[derive(Clone)]
pub(super) struct Intake {
    decoders: Arc<Semaphore>,
    storers: Arc<Semaphore>,
}

/// The outcome of a data stream.
pub(super) enum Received {
    /// The file has its name.
    Stored(Kept),
    /// It was not stored.
    Failed(Why),
    /// The source gave the stream up; the control stream has the reason.
    Reset,
    /// The connection is gone.
    Lost,
    /// The source broke the rules.
    Violation(&'static str),
}

/// The outcome of a description.
pub(super) enum Compared {
    /// It was taken, and this comes next.
    Next(Next),
    /// It did not end, or was none.
    Broken(Received),
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
        match reception.wanted().bytes() <= GROUP_BYTES {
            true => self.small(stream, reception, on_group).await,
            false => self.large(stream, reception, on_group).await,
        }
    }

    /// Takes in a description, and copies what is there already.
    pub(super) async fn compare(self, stream: RecvStream, delta: Delta) -> Compared {
        let _decoder = self.decoders.acquire().await;
        // Dropped with this future, however it ends.
        let (_wanted, given_up) = oneshot::channel();
        let mut encoded = Encoded { stream, runtime: Handle::current(), given_up, broke: None };
        let compared = on_thread("compare", move || {
            let result = delta.described(io::BufReader::new(&mut encoded));
            (result, encoded.broke)
        });
        match compared.await {
            Ok((Ok(next), _)) => Compared::Next(next),
            Ok((Err(_), Some(error))) => Compared::Broken(broken(error)),
            Ok((Err(why), None)) => Compared::Broken(Received::Failed(why)),
            Err(error) => Compared::Broken(Received::Failed(Why::Io(error.to_string()))),
        }
    }

    async fn small(self, mut stream: RecvStream, reception: Reception, mut on_group: OnGroup) -> Received {
        let longest = longest_encoding(reception.wanted());
        let mut encoded = Vec::new();
        let broke = loop {
            match stream.read_chunk(usize::MAX, true).await {
                Ok(Some(chunk)) if encoded.len() + chunk.bytes.len() > longest => {
                    return Received::Violation("a data stream has more than was requested");
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
            (Ok((Ok(kept), true)), _) => Received::Stored(kept),
            (_, Some(error)) => broken(error),
            (Ok((Ok(_), false)), None) => Received::Violation("a data stream has more than was requested"),
            (Ok((Err(why), _)), None) => Received::Failed(why),
            (Err(error), None) => {
                tracing::error!(%error, "storing a file failed");
                Received::Failed(Why::Io("storing it failed; see the log of the receiving side".into()))
            }
        }
    }

    async fn large(self, stream: RecvStream, reception: Reception, mut on_group: OnGroup) -> Received {
        let _decoder = self.decoders.acquire().await;
        // Dropped with this future, however it ends.
        let (_wanted, given_up) = oneshot::channel();
        let mut encoded = Encoded { stream, runtime: Handle::current(), given_up, broke: None };
        let decoded = on_thread("decode", move || {
            let result = reception.receive_from(&mut encoded, &mut on_group);
            (result, encoded.stream, encoded.broke)
        });
        match decoded.await {
            Ok((Ok(kept), mut stream, _)) => match stream.read(&mut [0]).await {
                Ok(Some(_)) => Received::Violation("a data stream has more than was requested"),
                // All of it came, whatever happened to the stream's end.
                Ok(None) | Err(_) => Received::Stored(kept),
            },
            Ok((Err(_), _, Some(error))) => broken(error),
            Ok((Err(why), mut stream, None)) => {
                _ = stream.stop(VarInt::from_u32(super::STREAM_GIVEN_UP));
                Received::Failed(why)
            }
            Err(error) => Received::Failed(Why::Io(error.to_string())),
        }
    }
}

fn broken(error: ReadError) -> Received {
    match error {
        ReadError::Reset(_) => Received::Reset,
        _ => Received::Lost,
    }
}

/// Returns more than any encoding of these ranges has. A group has fewer than two parents of 64 bytes of its own. The way
/// from the root to a range's ends is at most 64 parents each.
fn longest_encoding(wanted: &Wanted) -> usize {
    let of_range = |(from, to): &(u64, u64)| {
        let bytes = to.saturating_sub(*from);
        bytes + (bytes / GROUP_BYTES + 1) * 128 + 128 * 64
    };
    wanted.0.iter().map(of_range).fold(0, u64::saturating_add).min(usize::MAX as u64) as usize
}

/// Arriving data, for a thread to read.
struct Encoded {
    stream: RecvStream,
    runtime: Handle,
    /// Ends when nobody waits for the file any more.
    given_up: oneshot::Receiver<()>,
    /// Why nothing comes any more.
    broke: Option<ReadError>,
}

impl Encoded {
    fn taken(&mut self, read: Result<Option<usize>, ReadError>) -> io::Result<usize> {
        match read {
            Ok(read) => Ok(read.unwrap_or(0)),
            Err(error) => {
                self.broke = Some(error);
                Err(io::ErrorKind::ConnectionReset.into())
            }
        }
    }
}

impl Read for Encoded {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.broke.is_some() {
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        let Encoded { stream, runtime, given_up, .. } = self;
        let read = runtime.block_on(async {
            tokio::select! {
                read = stream.read(out) => read,
                _ = given_up => Err(ReadError::ClosedStream),
            }
        });
        self.taken(read)
    }
}

impl Arriving for Encoded {
    fn read_at_hand(&mut self, out: &mut [u8]) -> io::Result<Option<usize>> {
        if self.broke.is_some() {
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        let mut context = Context::from_waker(Waker::noop());
        // Looked at here, too: a fast source might never make the thread wait.
        if pin!(&mut self.given_up).poll(&mut context).is_ready() {
            return self.taken(Err(ReadError::ClosedStream)).map(Some);
        }
        let read = pin!(self.stream.read(out)).poll(&mut context);
        match read {
            Poll::Ready(read) => self.taken(read).map(Some),
            Poll::Pending => Ok(None),
        }
    }
}
