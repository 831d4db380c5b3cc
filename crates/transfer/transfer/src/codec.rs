//! Control messages as bytes: each is its length (u32, big endian) and its postcard encoding.
//!
//! # Model
//! Outgoing messages are collected in an [`Outgoing`] buffer, incoming ones in an [`Incoming`] one. Neither loses anything
//! when a caller stops waiting half-way, so both can be in a `select!`. All input is from a stranger. A length is checked
//! before anything is kept, a message must be encoded to its last byte, and no input makes it panic.
//!
//! # Source
//! The encoding is postcard 1 (<https://postcard.jamesmunns.com/wire-format>): variable-length integers, no field names.
//!
//! # Known bad cases
//! A number may be written with leading zero groups; such a message is read, and would be written shorter.

use crate::wire::MAX_MESSAGE;
use bytes::{Buf, BufMut, BytesMut};
use futures_core::Stream;
use serde::de::DeserializeOwned;
use serde::Serialize;
use std::future::poll_fn;
use std::pin::Pin;
use tokio::io::AsyncRead;
use tokio_util::codec::{Decoder, FramedRead, LengthDelimitedCodec};

/// Bytes of the length before each message.
const PREFIX: usize = 4;
/// Bytes of the buffer before the first read.
const READ_AHEAD: usize = 16 * 1024;

/// Errors of a control message.
#[derive(Debug, thiserror::Error)]
pub enum CodecError {
    /// Longer than allowed.
    #[error("a control message of {0} bytes is longer than {MAX_MESSAGE} bytes")]
    TooLong(usize),
    /// Not an encoding of the message that belongs here.
    #[error("a control message cannot be read: {0}")]
    Malformed(postcard::Error),
    /// More bytes than the message has.
    #[error("a control message has {0} bytes too many")]
    Trailing(usize),
    /// The stream ended inside a message.
    #[error("the control stream ends inside a message")]
    Truncated,
    /// The stream itself failed.
    #[error("the control stream broke: {0}")]
    Stream(#[from] std::io::Error),
}

/// Appends the encoding of `message`, with its length before it.
///
/// # Errors
/// A message longer than [`MAX_MESSAGE`]; then `out` is as before.
pub fn encode(message: &impl Serialize, out: &mut BytesMut) -> Result<(), CodecError> {
    let start = out.len();
    out.put_u32(0);
    let body = Body(out.split_off(start + PREFIX));
    let body = postcard::serialize_with_flavor(message, body).map_err(CodecError::Malformed);
    let body = body.and_then(|body: BytesMut| match body.len() {
        len if len > MAX_MESSAGE => Err(CodecError::TooLong(len)),
        _ => Ok(body),
    });
    let body = body.inspect_err(|_| out.truncate(start))?;
    out[start..].copy_from_slice(&(body.len() as u32).to_be_bytes());
    out.unsplit(body);
    Ok(())
}

/// Reads one message that `body` must be the whole encoding of.
///
/// # Errors
/// Bytes that are no such message, or more of them than it has.
pub fn decode<M: DeserializeOwned>(body: &[u8]) -> Result<M, CodecError> {
    let (message, rest) = postcard::take_from_bytes(body).map_err(CodecError::Malformed)?;
    match rest.len() {
        0 => Ok(message),
        more => Err(CodecError::Trailing(more)),
    }
}

/// A buffer that postcard writes to, many bytes at a time.
struct Body(BytesMut);

impl postcard::ser_flavors::Flavor for Body {
    type Output = BytesMut;

    fn try_push(&mut self, byte: u8) -> postcard::Result<()> {
        self.0.put_u8(byte);
        Ok(())
    }

    fn try_extend(&mut self, bytes: &[u8]) -> postcard::Result<()> {
        self.0.extend_from_slice(bytes);
        Ok(())
    }

    fn finalize(self) -> postcard::Result<BytesMut> {
        Ok(self.0)
    }
}

/// Messages that wait to be sent.
#[derive(Default)]
pub struct Outgoing(BytesMut);

impl Outgoing {
    /// Adds a message.
    ///
    /// # Errors
    /// A message longer than [`MAX_MESSAGE`], which is not added.
    pub fn push(&mut self, message: &impl Serialize) -> Result<(), CodecError> {
        encode(message, &mut self.0)
    }

    /// Returns the number of bytes that wait.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Sends some of what waits. When cancelled, nothing was sent.
    ///
    /// # Errors
    /// The connection is lost, or the peer stopped the stream.
    pub async fn flush_some(&mut self, stream: &mut quinn::SendStream) -> Result<(), quinn::WriteError> {
        let sent = stream.write(&self.0).await?;
        self.0.advance(sent);
        Ok(())
    }

    /// Sends everything that waits.
    ///
    /// # Errors
    /// As [`flush_some`](Self::flush_some).
    pub async fn flush(&mut self, stream: &mut quinn::SendStream) -> Result<(), quinn::WriteError> {
        while !self.is_empty() {
            self.flush_some(stream).await?;
        }
        Ok(())
    }
}

/// Cuts messages off the buffer of a stream.
///
/// The inner codec takes a length without its body for a clean end. Here a length stays in the buffer until all of its
/// body is there. So any remainder at the end of the stream is a truncated message.
struct Bodies(LengthDelimitedCodec);

impl Bodies {
    fn new() -> Bodies {
        let mut lengths = LengthDelimitedCodec::builder();
        lengths.max_frame_length(MAX_MESSAGE).num_skip(0).length_adjustment(PREFIX as isize);
        Bodies(lengths.new_codec())
    }
}

impl Decoder for Bodies {
    type Item = BytesMut;
    type Error = CodecError;

    fn decode(&mut self, buffer: &mut BytesMut) -> Result<Option<BytesMut>, CodecError> {
        // Its only error is a length beyond the limit, which stays in the buffer.
        let message = self.0.decode(buffer).map_err(|_| buffer.try_get_u32().unwrap_or_default());
        let message = message.map_err(|length| CodecError::TooLong(length as usize))?;
        Ok(message.map(|mut message| message.split_off(PREFIX)))
    }

    fn decode_eof(&mut self, buffer: &mut BytesMut) -> Result<Option<BytesMut>, CodecError> {
        match self.decode(buffer)? {
            None if !buffer.is_empty() => Err(CodecError::Truncated),
            body => Ok(body),
        }
    }
}

/// Messages that arrive on a stream.
pub struct Incoming<R>(FramedRead<R, Bodies>);

impl<R: AsyncRead + Unpin> Incoming<R> {
    /// Reads messages of `stream`.
    pub fn new(stream: R) -> Incoming<R> {
        Incoming(FramedRead::with_capacity(stream, Bodies::new(), READ_AHEAD))
    }

    /// Returns the next message; `None` when the stream ends between two. When cancelled, nothing is lost.
    ///
    /// # Errors
    /// A message that is too long or no such message, a stream that breaks or ends inside one.
    pub async fn next<M: DeserializeOwned>(&mut self) -> Result<Option<M>, CodecError> {
        let body = poll_fn(|context| Pin::new(&mut self.0).poll_next(context)).await;
        body.map(|body| decode(&body?)).transpose()
    }

    /// Returns the next message, if all of it is in the buffer.
    ///
    /// # Errors
    /// A message that is too long or no such message.
    pub fn ready<M: DeserializeOwned>(&mut self) -> Result<Option<M>, CodecError> {
        let mut buffer = std::mem::take(self.0.read_buffer_mut());
        let body = self.0.decoder_mut().decode(&mut buffer);
        *self.0.read_buffer_mut() = buffer;
        body?.map(|body| decode(&body)).transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::{Entry, EntryPath, Kind, Mtime, Wanted};
    use crate::filter::{EACH, MAX_PATTERNS};
    use crate::wire::{ControllerState, FromSink, FromSource, Greeting, LeftOut, MAX_RANGES};
    use proptest::prelude::*;

    fn end_of_offers() -> FromSource {
        FromSource::EndOfOffers {
            failed: LeftOut::default(),
            skipped: LeftOut::default(),
            extent: None,
            unmatched: Vec::new(),
        }
    }

    fn offer(name: &[u8]) -> FromSource {
        let kind = Kind::File { size: u64::MAX, root: [7; 32] };
        let mtime = Mtime { seconds: -1, nanos: 999_999_999 };
        FromSource::Offer {
            id: 3,
            entry: Entry {
                path: EntryPath(name.to_vec()),
                kind,
                mode: Some(0o644),
                mtime,
                link: None,
                extras: None,
            },
        }
    }

    /// As postcard writes a sequence of bytes, which it was before it was written in one piece.
    #[test]
    fn a_path_is_encoded_as_its_length_and_its_bytes() {
        let path = EntryPath([&[0xff; 200][..], b"/a"].concat());
        let mut bytes = BytesMut::new();
        encode(&path, &mut bytes).unwrap();
        assert_eq!(bytes[PREFIX..], postcard::to_allocvec(&path.0).unwrap());
        assert_eq!(decode::<EntryPath>(&bytes[PREFIX..]).unwrap(), path);
    }

    fn encoded(messages: &[FromSource]) -> BytesMut {
        let mut bytes = BytesMut::new();
        messages.iter().for_each(|message| encode(message, &mut bytes).unwrap());
        bytes
    }

    async fn read_all<M: DeserializeOwned>(bytes: &[u8]) -> Result<Vec<M>, CodecError> {
        let mut incoming = Incoming::new(bytes);
        let mut all = Vec::new();
        while let Some(message) = incoming.next().await? {
            all.push(message);
        }
        Ok(all)
    }

    #[tokio::test]
    async fn what_is_written_is_read() {
        let state = FromSource::State(ControllerState {
            queue_us: Some(48_000),
            phase: "slow start".into(),
            ..ControllerState::default()
        });
        let messages = [offer(b"a/\xFF"), state, end_of_offers()];
        assert_eq!(read_all::<FromSource>(&encoded(&messages)).await.unwrap(), messages);
    }

    #[tokio::test]
    async fn messages_that_came_together_are_ready_after_the_first() {
        let messages = [offer(b"a"), offer(b"b"), end_of_offers()];
        let bytes = encoded(&messages);
        let mut incoming = Incoming::new(&bytes[..]);
        assert_eq!(incoming.ready::<FromSource>().unwrap(), None, "nothing was read yet");
        assert_eq!(incoming.next().await.unwrap(), Some(messages[0].clone()));
        assert_eq!(incoming.ready().unwrap(), Some(messages[1].clone()));
        assert_eq!(incoming.next().await.unwrap(), Some(messages[2].clone()));
        assert_eq!(incoming.ready::<FromSource>().unwrap(), None);
        assert_eq!(incoming.next::<FromSource>().await.unwrap(), None);
    }

    #[tokio::test]
    async fn an_end_inside_a_message_is_an_error_at_every_byte() {
        let bytes = encoded(&[offer(b"name")]);
        for cut in 1..bytes.len() {
            assert!(
                matches!(read_all::<FromSource>(&bytes[..cut]).await, Err(CodecError::Truncated)),
                "{cut}"
            );
        }
    }

    #[tokio::test]
    async fn a_length_beyond_the_limit_is_refused_before_its_bytes_come() {
        let length = (MAX_MESSAGE as u32 + 1).to_be_bytes();
        let error = read_all::<Greeting>(&length).await.unwrap_err();
        assert_eq!(error.to_string(), "a control message of 65537 bytes is longer than 65536 bytes");
    }

    #[tokio::test]
    async fn bytes_after_the_message_are_refused() {
        let mut bytes = encoded(&[end_of_offers()]);
        bytes[3] += 1;
        bytes.put_u8(0);
        assert!(matches!(read_all::<FromSource>(&bytes).await, Err(CodecError::Trailing(1))));
    }

    #[test]
    fn a_message_that_is_too_long_is_not_half_written() {
        let mut outgoing = Outgoing::default();
        outgoing.push(&end_of_offers()).unwrap();
        let before = outgoing.len();
        assert!(matches!(outgoing.push(&offer(&[b'a'; MAX_MESSAGE])), Err(CodecError::TooLong(_))));
        assert_eq!(outgoing.len(), before);
    }

    #[test]
    fn the_most_that_is_left_out_fits_a_message() {
        for (path, reason) in [(4096, 2000), (1, 0), (0, 24 * 1024), (100, 30)] {
            let mut left_out = LeftOut { count: u64::MAX - 10_000, first: Vec::new() };
            for _ in 0..10_000 {
                left_out.add(&EntryPath(vec![b'a'; path]), &"r".repeat(reason));
            }
            let unmatched = (0..(MAX_PATTERNS / (1 + EACH)) as u32).collect();
            let message = FromSource::EndOfOffers {
                failed: left_out.clone(),
                skipped: left_out,
                extent: None,
                unmatched,
            };
            encode(&message, &mut BytesMut::new()).unwrap();
        }
    }

    #[test]
    fn the_most_ranges_fit_a_message() {
        let far = u64::MAX - 1;
        let want = FromSink::Want { id: far, ranges: Wanted(vec![(far, far); MAX_RANGES]) };
        encode(&want, &mut BytesMut::new()).unwrap();
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = decode::<Greeting>(&bytes);
            let _ = decode::<FromSource>(&bytes);
            if let Ok(message) = decode::<FromSink>(&bytes) {
                let mut again = BytesMut::new();
                encode(&message, &mut again).unwrap();
                prop_assert_eq!(decode::<FromSink>(&again[PREFIX..]).unwrap(), message);
            }
        }
    }
}
