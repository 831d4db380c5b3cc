//! Senders and connections as qlog files, for qvis and other readers of qlog.
//!
//! A [`Sender`] observes a controller: the packets it sends, the acknowledgements it receives, its losses, and its state. A
//! [`Connection`] shows the packets themselves, too, with handshake and close. A TCP segment and a uTP packet are logged as
//! a packet of QUIC with a frame of stream 0. Transmissions are numbered as QUIC does. Times are in ms.
//!
//! Format: qlog 0.3 (draft-ietf-quic-qlog-main-schema-02, draft-ietf-quic-qlog-quic-events-01) as JSON text sequences
//! (RFC 7464). qvis and the crate `qlog` 0.15 read this version. They do not read the later drafts, which rename the
//! events. Events in the namespace `afteryou` are ours.
//!
//! Not written: pacing rates of windows, which transports choose.
//!
//! | file | has |
//! |---|---|
//! | `records` | the words of the format |
//! | `metrics` | quantities of which only changes are written |
//! | `sender` | the observer of one sender |
//! | `read` | a file read back, for tests |
//! | `wire` | packets between their event and their record |
//! | `connection` | the log of a connection |
//! | `file` | a file that grows and gets its name at its end |
//! | `folder` | the files of a run or of a program's connections |

mod connection;
mod file;
mod folder;
mod metrics;
#[cfg(feature = "read")]
pub mod read;
mod records;
mod sender;
mod wire;

pub use connection::{Connection, ConnectionEnds};
pub use folder::{LoggedFlow, Qlogs};
pub use records::{About, Closed, Utp, Vantage};
pub use sender::Sender;
pub use wire::Shown;

use std::fmt::Debug;

/// The place of a log.
pub trait Output: Debug + Send {
    /// Appends a record.
    fn write(&mut self, record: &[u8]);

    /// Notes that the peer has completed the handshake, so the log is of a connection. Until then an output may keep records
    /// back.
    fn connected(&mut self) {}
}
