//! One connection: what both roles share, from the greeting to the reason of its end.

mod encoder;
mod intake;
mod room;
mod send_window;
pub(crate) mod sink;
pub(crate) mod source;

use crate::codec::{CodecError, Incoming, Outgoing};
use crate::error::Error;
use crate::inside::Token;
use crate::printable::printable;
use crate::wire::{Answer, ControllerState, Greeting, Why};
use quinn::{ConnectionError, VarInt};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

/// The source or the sink is done and goes.
pub(crate) const DONE: u32 = 1;
/// The peer broke the rules.
pub(crate) const VIOLATION: u32 = 2;
/// The disk of the sink is full.
pub(crate) const DISK_FULL: u32 = 3;
/// This side is being shut down; it may come back.
pub(crate) const SHUTDOWN: u32 = 4;
/// A newer connection of the same job took this one's place.
pub(crate) const REPLACED: u32 = 5;
/// This side cannot continue.
pub(crate) const BROKEN: u32 = 6;
/// A data stream is given up; the control stream has the reason.
pub(crate) const STREAM_GIVEN_UP: u32 = 7;
/// The sink can open no more files.
pub(crate) const TOO_MANY_FILES: u32 = 8;

/// The sink's directory was removed.
pub(crate) const GONE: u32 = 9;
/// The same as an error.
const RECEIVING_GONE: Error = Error::Gone { role: "receiving" };

/// How long a peer may take to greet, or to answer a greeting.
pub(crate) const GREETING_TIMEOUT: Duration = Duration::from_secs(10);
/// How long the sink waits for the source to close.
const GOODBYE_TIMEOUT: Duration = Duration::from_secs(5);

/// A path on which nothing arrives for so long is dead: five missed keep-alives. A peer that was killed holds
/// what it was receiving or sending for so long, and the job that continues in its place waits.
pub(crate) const IDLE_TIMEOUT: Duration = Duration::from_secs(10);
/// Each side sends at least this often, so a longer silence is evidence of a dead path.
const KEEP_ALIVE: Duration = Duration::from_secs(2);
/// 1 Gbit/s over 60 ms.
const STREAM_WINDOW: u32 = 8 * 1024 * 1024;
/// Bytes that quinn may hold of a connection in each direction: received and not read, or sent and not acknowledged.
/// Larger than one stream's window, so that a blocked file does not block the others.
pub(crate) const LARGE_WINDOW: u32 = 16 * 1024 * 1024;
/// The same before it is clear who is the sink, and for sessions beside many others.
pub(crate) const SMALL_WINDOW: u32 = 1024 * 1024;

/// The limit of the sink's answers in quinn; a source sets its own.
const SEND_WINDOW: u64 = 512 * 1024;

/// Returns the settings of a connection that carries a session, for either side. The congestion controller is left to the
/// caller.
pub fn transport() -> quinn::TransportConfig {
    let mut config = quinn::TransportConfig::default();
    config
        .max_idle_timeout(Some(VarInt::from_u32(IDLE_TIMEOUT.as_millis() as u32).into()))
        .keep_alive_interval(Some(KEEP_ALIVE))
        .max_concurrent_bidi_streams(VarInt::from_u32(1))
        // Nobody may send data before it is clear who is the sink.
        .max_concurrent_uni_streams(VarInt::from_u32(0))
        .stream_receive_window(VarInt::from_u32(STREAM_WINDOW))
        .receive_window(VarInt::from_u32(SMALL_WINDOW))
        .send_window(SEND_WINDOW)
        // First come, first served: few files are partly under way when a connection breaks.
        .send_fairness(false)
        .datagram_receive_buffer_size(None);
    config
}

/// Sends something that the peer must acknowledge. quinn has no ping, but announces a window that grows beyond the present one.
pub(crate) fn ping(connection: &quinn::Connection, window: u32) {
    connection.set_receive_window(VarInt::from_u32(window + 1));
    connection.set_receive_window(VarInt::from_u32(window));
}

/// Returns the peer's address as people write it: an IPv4 address that reached a socket for both kinds is one.
pub(crate) fn peer(connection: &quinn::Connection) -> String {
    let address = connection.remote_address();
    SocketAddr::new(address.ip().to_canonical(), address.port()).to_string()
}

/// Asks for the state of a connection's congestion controller; None where it has none to show.
pub type StateOf = Arc<dyn Fn(&quinn::Connection) -> Option<ControllerState> + Send + Sync>;

/// Why a session broke off.
#[derive(Debug)]
pub(crate) enum End {
    /// The connection broke. A new one can continue.
    Lost(Breakage),
    /// Trying again will not help.
    Failed(Error),
}

/// Why a connection broke.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Breakage {
    /// The peer closed it, and may come back.
    #[error("the peer was shut down")]
    PeerShutDown,
    /// The peer closed it for a newer one of the same job.
    #[error("a newer connection took its place")]
    Replaced,
    /// The peer closed it.
    #[error("the peer went away")]
    PeerLeft,
    /// Nothing came for [`IDLE_TIMEOUT`].
    #[error("nothing came from the peer")]
    Silence,
    /// The peer let the time for an answer to the greeting pass.
    #[error("the peer did not answer the greeting")]
    NoAnswer,
    /// This side closed it because it ends.
    #[error("the program is shutting down")]
    ShuttingDown,
    /// This side closed it: its peer was silent, and another connection came.
    #[error("it was silent, and a newer connection came")]
    Outlived,
    /// Another end, as QUIC reports it.
    #[error(transparent)]
    Connection(ConnectionError),
}

impl End {
    /// Returns the end of a session whose peer did what it must not.
    pub(crate) fn violation(what: impl Into<String>) -> End {
        End::Failed(Error::Protocol(what.into()))
    }
}

impl From<ConnectionError> for End {
    fn from(error: ConnectionError) -> End {
        match error {
            ConnectionError::ApplicationClosed(close) => {
                let reason = printable(&String::from_utf8_lossy(&close.reason), 200);
                match u32::try_from(close.error_code.into_inner()) {
                    Ok(VIOLATION) => End::Failed(Error::Protocol(reason)),
                    Ok(DISK_FULL) => End::Failed(Error::DiskFull),
                    Ok(TOO_MANY_FILES) => End::Failed(Error::TooManyFiles),
                    Ok(GONE) => End::Failed(RECEIVING_GONE),
                    Ok(BROKEN) => End::Failed(Error::FarEnd(reason)),
                    Ok(SHUTDOWN) => End::Lost(Breakage::PeerShutDown),
                    Ok(REPLACED) => End::Lost(Breakage::Replaced),
                    _ => End::Lost(Breakage::PeerLeft),
                }
            }
            ConnectionError::ConnectionClosed(close) if is_crypto(close.error_code) => {
                End::Failed(Error::Refused(printable(&String::from_utf8_lossy(&close.reason), 200)))
            }
            ConnectionError::TransportError(error) if is_crypto(error.code) => {
                End::Failed(Error::Refused(error.reason))
            }
            ConnectionError::TransportError(error) => End::Failed(Error::Protocol(error.to_string())),
            ConnectionError::VersionMismatch => End::violation("it has another version of QUIC"),
            ConnectionError::TimedOut => End::Lost(Breakage::Silence),
            error => End::Lost(Breakage::Connection(error)),
        }
    }
}

/// Returns whether the code is a TLS alert: the handshake or a certificate was refused.
fn is_crypto(code: quinn::TransportErrorCode) -> bool {
    (0x100..0x200).contains(&u64::from(code))
}

impl From<quinn::WriteError> for End {
    fn from(error: quinn::WriteError) -> End {
        match error {
            quinn::WriteError::ConnectionLost(error) => error.into(),
            error => End::violation(format!("the control stream was closed: {error}")),
        }
    }
}

impl From<CodecError> for End {
    fn from(error: CodecError) -> End {
        let CodecError::Stream(stream) = &error else {
            return End::violation(error.to_string());
        };
        match stream.get_ref().and_then(|inner| inner.downcast_ref::<quinn::ReadError>()) {
            Some(quinn::ReadError::ConnectionLost(lost)) => lost.clone().into(),
            _ => End::violation(error.to_string()),
        }
    }
}

/// The control stream of a session. The connection is [closed](close) before this is dropped: a stream that ends first reads as
/// a broken protocol.
pub(crate) struct Control {
    pub(crate) send: quinn::SendStream,
    pub(crate) incoming: Incoming<quinn::RecvStream>,
    pub(crate) outgoing: Outgoing,
}

impl Control {
    fn new((send, receive): (quinn::SendStream, quinn::RecvStream)) -> Control {
        // These messages must not wait behind files.
        _ = send.set_priority(1);
        Control { send, incoming: Incoming::new(receive), outgoing: Outgoing::default() }
    }

    /// Waits for the next message; the stream must not end.
    pub(crate) async fn next<M: serde::de::DeserializeOwned>(&mut self) -> Result<M, End> {
        let message = self.incoming.next().await?;
        message.ok_or_else(|| End::violation("the control stream ended too early"))
    }
}

/// Opens the control stream and greets.
pub(crate) async fn greet(
    connection: &quinn::Connection,
    greeting: &Greeting,
) -> Result<(Control, Answer), End> {
    let talk = async {
        let mut control = Control::new(connection.open_bi().await?);
        control.outgoing.push(greeting)?;
        control.outgoing.flush(&mut control.send).await?;
        let answer = control.next().await?;
        Ok((control, answer))
    };
    match tokio::time::timeout(GREETING_TIMEOUT, talk).await {
        Ok(result) => result,
        Err(_) => Err(End::Lost(Breakage::NoAnswer)),
    }
}

/// Greets with a request for a session, and returns when it was granted.
/// Gives the names of a sink's directory, too.
pub(crate) async fn admitted(
    connection: &quinn::Connection,
    greeting: &Greeting,
) -> Result<(Control, Vec<Token>), End> {
    match greet(connection, greeting).await? {
        (control, Answer::Welcome { sink }) => Ok((control, sink)),
        (_, Answer::Refused { reason }) => Err(End::Failed(Error::Refused(printable(&reason, 500)))),
        (_, Answer::Probed { .. }) => Err(End::violation("an answer to another question")),
    }
}

/// Waits for the control stream and the greeting.
pub(crate) async fn greeted(connection: &quinn::Connection) -> Result<(Control, Greeting), End> {
    let listen = async {
        let mut control = Control::new(connection.accept_bi().await?);
        let greeting = control.next().await?;
        Ok((control, greeting))
    };
    match tokio::time::timeout(GREETING_TIMEOUT, listen).await {
        Ok(result) => result,
        Err(_) => Err(End::violation("no greeting came")),
    }
}

/// Answers a greeting.
pub(crate) async fn answer(control: &mut Control, answer: &Answer) -> Result<(), End> {
    control.outgoing.push(answer)?;
    Ok(control.outgoing.flush(&mut control.send).await?)
}

/// Closes the connection in the way its session ended.
pub(crate) fn close(connection: &quinn::Connection, result: &Result<(), End>) {
    let (code, reason) = match result {
        Ok(()) => (DONE, String::new()),
        Err(End::Lost(breakage)) => (SHUTDOWN, breakage.to_string()),
        Err(End::Failed(Error::Protocol(what))) => (VIOLATION, what.clone()),
        Err(End::Failed(Error::DiskFull)) => (DISK_FULL, "no space left on the disk".into()),
        Err(End::Failed(Error::TooManyFiles)) => (TOO_MANY_FILES, "too many open files".into()),
        Err(End::Failed(error @ Error::Gone { .. })) => (GONE, error.to_string()),
        Err(End::Failed(error)) => (BROKEN, error.to_string()),
    };
    connection.close(VarInt::from_u32(code), reason.as_bytes());
}

/// Returns a sink's reason, as a sentence.
pub(crate) fn say(why: &Why) -> String {
    match why {
        Why::DiskFull => "no space left on the disk of the receiving side".into(),
        Why::Refused(reason) | Why::Io(reason) | Why::Occupied(reason) => printable(reason, 500),
        Why::Mismatch => "what arrived does not hash to what was offered; send it again".into(),
        Why::Withdrawn => "it was withdrawn".into(),
        Why::Gone => RECEIVING_GONE.to_string(),
        Why::TooManyFiles => "the receiving side has too many files open; raise its limit (ulimit -n)".into(),
    }
}
