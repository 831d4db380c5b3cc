//! Senders as qlog files, for qvis and other readers of qlog.
//!
//! Each sender has a file: the packets it sends, the acknowledgements it receives, its losses, and the state of its
//! congestion controller. A TCP segment and a uTP packet are logged as a packet of QUIC with a frame of stream 0.
//! Transmissions are numbered as QUIC does. Sizes are payload, which windows count. Times are the scenario's, in ms.
//!
//! Format: qlog 0.3 (draft-ietf-quic-qlog-main-schema-02, draft-ietf-quic-qlog-quic-events-01) as JSON text sequences
//! (RFC 7464). qvis and the crate `qlog` 0.15 read this version. They do not read the later drafts, which rename the
//! events. Events in the namespace `afteryou` are ours.
//!
//! The connections of a program are logged the same way ([`Qlogs::of_connections`]): QUIC with its own sizes and without frames, since
//! its controller receives sizes alone.
//!
//! Not written: handshakes and closes, which controllers do not see; pacing rates of windows, which transports choose;
//! the receivers. Nor traffic at a constant rate, which has no controller.
//!
//! | file | has |
//! |---|---|
//! | `records` | the words of the format |
//! | `metrics` | quantities of which only changes are written |
//! | `file` | a file that grows |
//! | `sender` | the observer of one sender |
//! | `folder` | the files of a run |

mod file;
mod folder;
mod metrics;
mod records;
mod sender;

pub use folder::Qlogs;
pub use records::Vantage;
