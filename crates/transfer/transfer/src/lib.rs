//! Files and directories from one machine to another in the background: encrypted, verified, resumable.
//!
//! ```
//! use afteryou_transfer::source::{Item, Source, SourceOptions};
//!
//! # let folder = tempfile::tempdir()?;
//! # let folder = folder.path();
//! std::fs::write(folder.join("photo"), b"all of it")?;
//! let source = Source::of(&[folder.to_owned()], SourceOptions::default())?;
//! assert_eq!(source.scan().bytes, 9);
//! for item in source.entries() {
//!     if let Item::Entry(entry) = item {
//!         println!("{:?}", entry.entry());
//!     }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Roles
//! The **source** has files, the **sink** stores them. Either may be the one that listens: `receive` is a sink that
//! listens, `serve` a source that listens, `send` and `get` are the sides that connect. After the greeting the protocol
//! is the same in both directions.
//!
//! # Protocol
//! One QUIC connection is one session (ALPN [`wire::ALPN`]). The side that connects opens a two-way stream for [control
//! messages](wire) and greets; its messages are small and never wait behind data. The source offers entries (path, kind,
//! size, BLAKE3 root); the sink answers each with the ranges that it requests. Every requested file travels on a one-way
//! stream of its own, as a bao encoding of exactly the requested ranges: nothing is written that was not verified against
//! the root. Many offers and files are under way at a time, so small files cost no round trip each.
//!
//! # Access and trust
//! A [ticket] names the listening side's addresses, its certificate and a secret, and [tls] pins both sides with it.
//! [dial] finds the address that answers, [guard] bounds the cost of strangers, and [identity] keeps tickets valid over
//! restarts.
//!
//! # Resume
//! Nothing is remembered in a journal. On resume the sink hashes its partial file against the tree beside it. So a kill
//! or a power cut at any moment costs at most what was being written: one chunk group of each file under way, and 96 KiB
//! of all together if data arrive faster than they are written. A file gets its final name when it is whole, verified and on
//! the disk, and not before.
//!
//! # Storage
//! [`store`] is the sink's disk. Its files are one idea each:
//!
//! | file of `store/` | has |
//! |---|---|
//! | `state`, `partial`, `valid` | partial files with their trees, and which parts of them are right |
//! | `unnamed`, `small`, `sync` | small files without a name, many of them with one flush of the disk |
//! | `delta`, `renamed` | what an older version has in common, or a file under another name |
//! | `root`, `shared`, `clear` | modes that forbid their owner to look, inodes to part, entries that give way |
//! | `descent`, `mirror`, `orphans` | trees of any depth, removal of what was not sent, partial files of abandoned jobs |
//!
//! Where the border of a file system shows only when a rename fails, the whole file is copied across first. One flush of the directory serves
//! many files. An entry that does not fit, or has a directory at its place, is answered "later". When all else is settled the source lists
//! what is left. The sink then has the whole list, removes what it may, and each entry is offered once more. A dry run takes the same steps.
//!
//! The source names the directories in which it found nothing at all, and the sink removes nothing there (`wire::Spared`). A disk that is not
//! mounted looks like that. The sink drives a delta: it never sends hashes of what it has.
//!
//! [`source`] walks, hashes, and encodes only what verifies. `source/turns` decides which job may read whole files. [`filter`] has patterns with
//! git's meaning. The matcher is our own: the crates `ignore` and `gix-glob` deviate from git, recurse, or compile what a peer chose.
//! `tests/all/git.rs` compares it with git. `wire::Wishes` are requests beyond storing; `store::Allow` is what the sink's user allows.
//!
//! # Connections
//! Each role of a session is one loop that owns its state, with disks and hashing on threads of their own. [`codec`] uses `tokio_util`'s
//! `LengthDelimitedCodec`. That codec takes a length without its body for a clean end, so ours reports an end inside a message.
//!
//! [`job`] keeps connections up. quinn's probe timeout doubles without bound. So after 4 s of silence a fresh connection is tried each second
//! beside the old one, and the first to respond continues. When a job comes, the listening side pings the sessions of other jobs and
//! closes those that are silent: the successor of a killed sender gets its files. quinn's send window follows twice the congestion window, so
//! that a pause or a new rate acts at once. After a loss it is up to eight times that (`session/send_window.rs`).
//!
//! # Why one crate
//! Admission, storage and protocol are modules with one-way uses. Nothing uses a part alone, and the reasons for a refusal travel from the store
//! over the wire to the peer's report. Three crates would make eighteen crate-private functions of store and source public. Among them are
//! those that keep the rule "nothing unverified is written".

mod accounts;
pub mod addresses;
mod beneath;
mod chunks;
pub mod codec;
pub mod dial;
pub mod entry;
pub mod error;
pub mod event;
pub mod extras;
pub mod filter;
pub mod guard;
pub mod identity;
mod inside;
pub mod interfaces;
pub mod job;
mod named;
pub mod pace;
mod printable;
pub mod probe;
mod session;
pub mod source;
pub mod ssh;
pub mod store;
mod tally;
mod threads;
pub mod ticket;
pub mod tls;
pub mod wire;
mod work;
mod xattrs;

pub use error::Error;
pub use session::transport;
