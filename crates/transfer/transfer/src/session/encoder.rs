//! From the source's disk to the data streams: a thread that reads, checks and encodes, and a task that writes.
//!
//! # Model
//! Requested files are encoded in the order of the requests, one after the other, into pieces of 256 KiB. A few pieces
//! wait between the thread and the task: enough that the disk never makes the network wait, few enough that a pause is
//! felt. The task opens a stream for each file, writes its pieces at the job's pace, and finishes it. Small files that are
//! requested together share a stream: a bundle.
//!
//! A pause holds what the pace has granted already, too. Only what quinn has taken still leaves, which the
//! [send window](super::send_window) bounds.
//!
//! # Known bad cases
//! One thread encodes for one connection, about 1 GB/s on one core. A disk that is slow to open files makes small files
//! wait for each other.

use super::send_window::SendWindow;
use super::{End, STREAM_GIVEN_UP};
use crate::entry::Wanted;
use crate::pace::{Limit, Pace};
use crate::source::{EncodeError, Prepared};
use crate::threads::on_thread;
use crate::wire::{How, BUNDLE, MAX_BUNDLE, SMALL};
use bytes::{Buf, BufMut, Bytes, BytesMut};
use std::future::{poll_fn, Future};
use std::io::{self, Write};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;
use std::task::Poll;
use tokio::sync::{mpsc, watch};

/// Bytes of a piece.
const PIECE: usize = 256 * 1024;
/// A bundle of this size in bytes takes no more files. The last one may be as large as a small file is.
const FULL_BUNDLE: usize = MAX_BUNDLE / 2;
/// Pieces between the thread and the task.
const PIECES: usize = 3;
/// No file is given up.
const NONE: u64 = u64::MAX;

/// A file to send.
pub(super) struct Order {
    pub(super) id: u64,
    pub(super) prepared: Arc<Prepared>,
    /// The bytes to send.
    pub(super) wanted: Wanted,
    /// Their description, instead of themselves.
    pub(super) describe: Option<How>,
}

impl Order {
    /// Returns whether it may share a stream with others.
    fn is_small(&self) -> bool {
        self.describe.is_none() && self.wanted.bytes() <= SMALL
    }
}

/// Files of a bundle, and the bytes of each in it.
pub(super) type Bundled = Vec<(u64, u64)>;

/// Reports of the writing task to the session.
pub(super) enum Note {
    /// All of these files were handed to the network.
    Bundle(Bundled),
    /// A number of encoded bytes was handed to the network.
    Moved(u64, u64),
    /// All of the file was handed to the network.
    Sent(u64),
    /// The file cannot be sent as offered; its stream is reset.
    Unsendable(u64, EncodeError),
}

/// Messages of the thread to the task.
enum Piece {
    Bundle(Bundled, Bytes),
    Data(u64, Bytes),
    End(u64, Result<(), EncodeError>),
}

/// Sends what is ordered until the connection or the channel of orders ends.
pub(super) async fn run(
    connection: &quinn::Connection,
    orders: mpsc::UnboundedReceiver<Vec<Order>>,
    notes: mpsc::UnboundedSender<Note>,
    paces: Vec<Pace>,
    window: u32,
) -> Result<(), End> {
    let (sender, mut pieces) = mpsc::channel(PIECES);
    let given_up = Arc::new(AtomicU64::new(NONE));
    let thread = {
        let given_up = given_up.clone();
        on_thread("encode", move || encode_all(orders, &sender, &given_up))
    };
    let limits = paces.iter().map(Pace::changed).collect();
    let window = SendWindow::new(window);
    let mut writer =
        Writer { connection, stream: None, stopped: false, paces, limits, window, given_up, notes };
    while let Some(piece) = pieces.recv().await {
        match piece {
            Piece::Bundle(files, bytes) => writer.bundle(files, bytes).await?,
            Piece::Data(id, bytes) => writer.write(Some(id), bytes).await?,
            Piece::End(id, result) => writer.end(id, result).await?,
        }
    }
    // Without a thread nobody would take the orders.
    thread.await.map_err(End::Failed)
}

/// Runs the thread: ends when nobody orders or nobody takes the pieces any more.
fn encode_all(
    mut orders: mpsc::UnboundedReceiver<Vec<Order>>,
    out: &mpsc::Sender<Piece>,
    given_up: &AtomicU64,
) {
    let mut bundle = Bundle::default();
    while let Some(batch) = orders.blocking_recv() {
        for order in batch {
            let handed_over = match order.is_small() {
                true => bundle.add(order, out),
                false => bundle.hand_over(out).and_then(|()| encode(order, out, given_up)),
            };
            if handed_over.is_none() {
                return;
            }
        }
        if bundle.hand_over(out).is_none() {
            return;
        }
    }
}

/// Encodes one file. None: nobody takes the pieces any more.
fn encode(order: Order, out: &mpsc::Sender<Piece>, given_up: &AtomicU64) -> Option<()> {
    let Order { id, prepared, wanted, describe } = order;
    let mut pieces = Pieces { id, buffer: BytesMut::with_capacity(PIECE), out, given_up };
    pieces.buffer.put_u64(id);
    let result = match describe {
        None => prepared.encode(&wanted, &mut pieces),
        Some(how) => prepared.describe(how, &wanted, &mut pieces),
    };
    let result = result.and_then(|()| pieces.hand_over().map_err(EncodeError::Out));
    // Before the end is reported: a task that prepares it again must be the only one to hold it.
    drop(prepared);
    out.blocking_send(Piece::End(id, result)).ok()
}

/// Small files that share a stream.
#[derive(Default)]
struct Bundle {
    files: Bundled,
    bytes: Vec<u8>,
}

impl Bundle {
    fn add(&mut self, order: Order, out: &mpsc::Sender<Piece>) -> Option<()> {
        let Order { id, prepared, wanted, .. } = order;
        if self.bytes.is_empty() {
            self.bytes.reserve(FULL_BUNDLE);
            self.bytes.put_u64(BUNDLE);
        }
        let start = self.bytes.len();
        self.bytes.put_u64(id);
        self.bytes.put_u32(0);
        let from = self.bytes.len();
        let result = prepared.encode(&wanted, &mut self.bytes);
        // As above.
        drop(prepared);
        if let Err(error) = result {
            self.bytes.truncate(start);
            return out.blocking_send(Piece::End(id, Err(error))).ok();
        }
        let length = self.bytes.len() - from;
        self.bytes[from - 4..from].copy_from_slice(&(length as u32).to_be_bytes());
        self.files.push((id, length as u64));
        match self.bytes.len() >= FULL_BUNDLE {
            true => self.hand_over(out),
            false => Some(()),
        }
    }

    fn hand_over(&mut self, out: &mpsc::Sender<Piece>) -> Option<()> {
        let Bundle { files, bytes } = std::mem::take(self);
        if files.is_empty() {
            return Some(());
        }
        out.blocking_send(Piece::Bundle(files, bytes.into())).ok()
    }
}

/// Collects what is written and hands it over in pieces.
struct Pieces<'a> {
    id: u64,
    buffer: BytesMut,
    out: &'a mpsc::Sender<Piece>,
    given_up: &'a AtomicU64,
}

impl Pieces<'_> {
    fn hand_over(&mut self) -> io::Result<()> {
        if self.given_up.load(Ordering::Relaxed) == self.id {
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        if self.buffer.is_empty() {
            return Ok(());
        }
        let piece = Piece::Data(self.id, self.buffer.split().freeze());
        self.out.blocking_send(piece).map_err(|_| io::ErrorKind::ConnectionReset.into())
    }
}

impl Write for Pieces<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.buffer.len() + bytes.len() > PIECE {
            self.hand_over()?;
            self.buffer.reserve(PIECE.max(bytes.len()));
        }
        self.buffer.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The task's side.
struct Writer<'a> {
    connection: &'a quinn::Connection,
    stream: Option<quinn::SendStream>,
    /// The sink requests no more of the file under way.
    stopped: bool,
    paces: Vec<Pace>,
    /// The limits of both paces, for pauses.
    limits: Vec<watch::Receiver<Limit>>,
    window: SendWindow,
    given_up: Arc<AtomicU64>,
    notes: mpsc::UnboundedSender<Note>,
}

impl Writer<'_> {
    async fn bundle(&mut self, files: Bundled, bytes: Bytes) -> Result<(), End> {
        self.write(None, bytes).await?;
        if let Some(mut stream) = self.stream.take() {
            _ = stream.finish();
        }
        if !std::mem::take(&mut self.stopped) {
            _ = self.notes.send(Note::Bundle(files));
        }
        Ok(())
    }

    /// Writes to the stream under way. Moved bytes of a file are reported; a bundle is reported as a whole.
    async fn write(&mut self, id: Option<u64>, mut bytes: Bytes) -> Result<(), End> {
        if self.stopped {
            return Ok(());
        }
        if self.stream.is_none() {
            self.stream = Some(self.connection.open_uni().await?);
        }
        while !bytes.is_empty() && !self.stopped {
            let piece = bytes.split_to(self.granted(bytes.len()).await);
            self.write_granted(id, piece).await?;
        }
        Ok(())
    }

    async fn write_granted(&mut self, id: Option<u64>, mut piece: Bytes) -> Result<(), End> {
        while !piece.is_empty() {
            self.window.adapt(self.connection);
            let Some(stream) = &mut self.stream else { return Ok(()) };
            let mut segments = self.window.segments(&piece);
            let written = tokio::select! {
                biased;
                () = paused(&mut self.limits) => {
                    resumed(&mut self.limits).await;
                    continue;
                }
                written = stream.write_chunks(&mut segments) => written,
                () = self.window.look_again() => continue,
            };
            match written {
                Ok(written) => {
                    piece.advance(written.bytes);
                    if let Some(id) = id {
                        _ = self.notes.send(Note::Moved(id, written.bytes as u64));
                    }
                }
                Err(quinn::WriteError::Stopped(_)) => {
                    self.stopped = true;
                    self.given_up.store(id.unwrap_or(NONE), Ordering::Relaxed);
                    return Ok(());
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Returns how much of `len` may be written now, by all limits.
    async fn granted(&self, len: usize) -> usize {
        let mut granted = len as u64;
        for (index, pace) in self.paces.iter().enumerate() {
            let less = pace.take_some(granted).await.min(granted);
            self.paces[..index].iter().for_each(|earlier| earlier.give_back(granted - less));
            granted = less;
        }
        granted as usize
    }

    async fn end(&mut self, id: u64, result: Result<(), EncodeError>) -> Result<(), End> {
        let stream = self.stream.take();
        if std::mem::take(&mut self.stopped) {
            return Ok(());
        }
        let note = match result {
            Ok(()) => {
                if let Some(mut stream) = stream {
                    // Fails only if it was stopped, and then the control stream has the reason.
                    _ = stream.finish();
                }
                Note::Sent(id)
            }
            Err(error) => {
                if let Some(mut stream) = stream {
                    _ = stream.reset(quinn::VarInt::from_u32(STREAM_GIVEN_UP));
                }
                Note::Unsendable(id, error)
            }
        };
        _ = self.notes.send(note);
        Ok(())
    }
}

/// Returns when one of them is a pause.
async fn paused(limits: &mut [watch::Receiver<Limit>]) {
    let mut waits: Vec<_> =
        limits.iter_mut().map(|limit| Box::pin(limit.wait_for(|limit| limit.is_pause()))).collect();
    poll_fn(|context| {
        let any = waits.iter_mut().any(|wait| wait.as_mut().poll(context).is_ready());
        if any {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await
}

/// Returns when each has been no pause.
async fn resumed(limits: &mut [watch::Receiver<Limit>]) {
    for limit in limits {
        // The sending task lives as long as the paces.
        _ = limit.wait_for(|limit| !limit.is_pause()).await;
    }
}
