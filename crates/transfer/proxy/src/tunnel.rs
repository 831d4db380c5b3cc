//! Copies bytes both ways until both ends have closed.
//!
//! A direction has a buffer only while it has bytes in it: a thousand idle tunnels need no memory for their content. Buffers are kept for
//! the next one, a few of each thread. An end may stop sending and still receive: its end of data is passed on, and the tunnel stays.

use crate::stream::Stream;
use std::cell::RefCell;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::task::{ready, Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// Bytes copied at once: fewer cost more, and more gain nothing.
pub(crate) const AT_ONCE: usize = 64 << 10;
/// Buffers that a thread keeps for later.
const KEPT: usize = 8;

thread_local! {
    static SPARE: RefCell<Vec<Box<[u8]>>> = const { RefCell::new(Vec::new()) };
}

/// Returns a buffer of [`AT_ONCE`] bytes.
fn take() -> Box<[u8]> {
    SPARE.with_borrow_mut(Vec::pop).unwrap_or_else(|| vec![0; AT_ONCE].into_boxed_slice())
}

fn keep(buffer: Box<[u8]>) {
    SPARE.with_borrow_mut(|spare| {
        if spare.len() < KEPT {
            spare.push(buffer);
        }
    });
}

/// Copies in both directions.
///
/// # Errors
/// Those of reading and writing. The streams are of no use then.
pub(crate) async fn join(one: &mut impl Stream, other: &mut impl Stream) -> io::Result<()> {
    let (mut to, mut from) = (Direction::default(), Direction::default());
    poll_fn(|cx| {
        let there = to.poll(cx, one, other)?;
        let back = from.poll(cx, other, one)?;
        match (there, back) {
            (Poll::Ready(()), Poll::Ready(())) => Poll::Ready(Ok(())),
            _ => Poll::Pending,
        }
    })
    .await
}

/// The state of a direction.
#[derive(Default)]
enum Direction {
    #[default]
    Empty,
    /// A buffer, and the part of it that is to be written.
    Full(Box<[u8]>, usize, usize),
    /// All is written; the writer is to be shut down.
    Ending,
    Ended,
}

impl Direction {
    fn poll(
        &mut self,
        cx: &mut Context<'_>,
        mut reader: &mut (impl AsyncRead + Unpin),
        mut writer: &mut (impl AsyncWrite + Unpin),
    ) -> io::Result<Poll<()>> {
        loop {
            match self.step(cx, &mut reader, &mut writer) {
                Poll::Pending => return Ok(Poll::Pending),
                Poll::Ready(Err(error)) => return Err(error),
                Poll::Ready(Ok(())) if matches!(self, Direction::Ended) => return Ok(Poll::Ready(())),
                Poll::Ready(Ok(())) => {}
            }
        }
    }

    fn step(
        &mut self,
        cx: &mut Context<'_>,
        reader: &mut (impl AsyncRead + Unpin),
        writer: &mut (impl AsyncWrite + Unpin),
    ) -> Poll<io::Result<()>> {
        match self {
            Direction::Empty => {
                let mut buffer = take();
                let mut filled = ReadBuf::new(&mut buffer);
                let read = Pin::new(reader).poll_read(cx, &mut filled);
                let end = filled.filled().len();
                match read {
                    Poll::Ready(Ok(())) if end > 0 => *self = Direction::Full(buffer, 0, end),
                    read => {
                        keep(buffer);
                        // What was written may wait for a full packet.
                        if read.is_pending() {
                            _ = Pin::new(writer).poll_flush(cx)?;
                        }
                        ready!(read)?;
                        *self = Direction::Ending;
                    }
                }
            }
            Direction::Full(buffer, start, end) => {
                match ready!(Pin::new(writer).poll_write(cx, &buffer[*start..*end]))? {
                    0 => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                    bytes => *start += bytes,
                }
                if start == end {
                    keep(std::mem::take(buffer));
                    *self = Direction::Empty;
                }
            }
            Direction::Ending => {
                ready!(Pin::new(writer).poll_shutdown(cx))?;
                *self = Direction::Ended;
            }
            Direction::Ended => {}
        }
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{duplex, AsyncReadExt, AsyncWriteExt};

    #[tokio::test]
    async fn an_end_that_has_nothing_more_to_send_still_receives() {
        let (mut client, mut near) = duplex(1000);
        let (mut far, mut server) = duplex(1000);
        let tunnel = tokio::spawn(async move { join(&mut near, &mut far).await });
        client.write_all(b"question").await.unwrap();
        client.shutdown().await.unwrap();
        let mut got = String::new();
        server.read_to_string(&mut got).await.unwrap();
        assert_eq!(got, "question");
        let answer = vec![7; 300_000];
        let sent = answer.clone();
        let sending = tokio::spawn(async move {
            server.write_all(&sent).await.unwrap();
            server.shutdown().await.unwrap();
        });
        let mut got = Vec::new();
        client.read_to_end(&mut got).await.unwrap();
        assert!(got == answer);
        sending.await.unwrap();
        tunnel.await.unwrap().unwrap();
    }

    #[tokio::test]
    async fn an_end_that_breaks_ends_both() {
        let (client, mut near) = duplex(1000);
        let (mut far, server) = duplex(1000);
        drop(server);
        let mut client = client;
        client.write_all(b"lost").await.unwrap();
        assert!(join(&mut near, &mut far).await.is_err());
    }
}
