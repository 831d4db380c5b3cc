//! Any bytes as a peer's messages on the control stream of a transfer.

use afteryou_transfer::codec::{decode, encode, CodecError, Incoming};
use afteryou_transfer::wire::{Answer, FromSink, FromSource, Greeting, MAX_MESSAGE};
use bytes::BytesMut;
use serde::de::DeserializeOwned;
use serde::Serialize;
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

/// Reads messages: the first byte chooses which, and whether the rest is one message or a stream of them.
pub fn run(data: &[u8]) {
    let Some((which, rest)) = data.split_first() else { return };
    match which % 4 {
        0 => run_as::<Greeting>(*which, rest),
        1 => run_as::<Answer>(*which, rest),
        2 => run_as::<FromSource>(*which, rest),
        _ => run_as::<FromSink>(*which, rest),
    }
}

fn run_as<M: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(which: u8, data: &[u8]) {
    match which & 4 {
        0 => one::<M>(data),
        _ => stream::<M>(data),
    }
}

/// Checks that a message is refused with a reason, or written so that it reads back.
fn one<M: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(data: &[u8]) {
    match decode::<M>(data) {
        Ok(message) => reads_back(&message, data.len()),
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}

fn reads_back<M: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(message: &M, len: usize) {
    let mut written = BytesMut::new();
    match encode(message, &mut written) {
        Ok(()) => {
            assert!(written.len() - 4 <= len, "nothing is added to what was read");
            assert_eq!(&decode::<M>(&written[4..]).expect("our own"), message);
        }
        Err(CodecError::TooLong(_)) => assert!(len > MAX_MESSAGE && written.is_empty()),
        Err(error) => panic!("{error}"),
    }
}

/// Checks that a stream ends between two messages or in an error; each message fits the bytes that were there for it.
fn stream<M: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(data: &[u8]) {
    let mut incoming = Incoming::new(data);
    let mut left = data.len();
    loop {
        match ready(incoming.next::<M>()) {
            Ok(Some(message)) => {
                let mut written = BytesMut::new();
                encode(&message, &mut written).expect("what fits one message once fits it again");
                left = left.checked_sub(written.len()).expect("no message out of nothing");
            }
            Ok(None) => return,
            Err(error) => return assert!(!error.to_string().is_empty()),
        }
    }
}

/// Returns the result of a future over bytes in memory, which never make anybody wait.
fn ready<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("waits for bytes that are there"),
    }
}
