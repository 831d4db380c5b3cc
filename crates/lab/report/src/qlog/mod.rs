//! Senders as qlog files, for qvis and other readers of qlog. Each sender has a file, whose times are the scenario's. The records are those of
//! [`afteryou_dump::qlog`]; sizes are payload, which windows count.
//!
//! The connections of a program are logged the same way ([`Qlogs::of_connections`]): QUIC with its own sizes and without frames, since
//! its controller receives sizes alone.
//!
//! Not written: handshakes and closes, which controllers do not see; the receivers; traffic at a constant rate, which has no controller.
//!
//! | file | has |
//! |---|---|
//! | `file` | a file that grows |
//! | `folder` | the files of a run |

mod file;
mod folder;

pub use afteryou_dump::qlog::Vantage;
pub use folder::Qlogs;
