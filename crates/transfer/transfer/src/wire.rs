//! The control messages of a session, and their framing on the stream.
//!
//! Each message is its length (u32, big endian, at most [`MAX_MESSAGE`]) and a postcard encoding. The side that connects
//! sends [`Greeting`] first, the other answers with [`Answer`]; then the source sends [`FromSource`] and the sink
//! [`FromSink`]. A data stream is the entry's id (u64, big endian) and the bao encoding of the requested ranges (parents and
//! leaves in order, without a size). Or it is the description that the sink requested. Or it is a bundle of small files:
//! [`BUNDLE`] in place of the id, then for each file its id, the length of its encoding (u32, big endian) and the encoding.

mod spared;

use crate::entry::{Entry, EntryPath, Mtime, Wanted};
use crate::extras::{Extras, Keep};
use crate::filter::Patterns;
use serde::{Deserialize, Serialize};
pub use spared::{Because, MaxDelete, NotALimit, Spared};

/// Application protocol of the TLS handshake. Changes with every change that an older side would not understand.
pub const ALPN: &[u8] = b"afteryou/5";

/// Longest control message, bytes. A sink that requests more ranges than fit merges them.
pub const MAX_MESSAGE: usize = 64 * 1024;

/// Offers that may be waiting for [`FromSink::Want`], `Have` or `Failed`, and files that may be requested and not yet
/// settled. A source that exceeds it is at fault.
pub const MAX_UNSETTLED: usize = 1024;

/// Data streams that a sink lets a source have open. With files of 1 kB and a round trip of 100 ms that is 40 Mbit/s.
pub const MAX_DATA_STREAMS: u32 = 512;

/// Bytes of a small file. It may travel in a bundle, and is stored together with others.
pub const SMALL: u64 = 64 * 1024;

/// In place of an id: a bundle follows.
pub const BUNDLE: u64 = u64::MAX;

/// Bytes of a bundle at most, with one more small file than fits.
pub const MAX_BUNDLE: usize = 256 * 1024;

/// Longest path, and longest target of a link, that a sink takes, bytes: what Linux takes.
pub const MAX_PATH: usize = 4096;

/// Most ranges that a sink may request of one file. They fit a message, and [`MAX_UNSETTLED`] of them fit the memory.
pub const MAX_RANGES: usize = 2048;

/// Bytes of the paths and reasons of a [`LeftOut`]: two of them fit a message.
pub const MAX_LEFT_OUT: usize = 24 * 1024;

/// Entries that a source lists as unsettled at most: a sink keeps 16 bytes or more of each.
pub const MAX_LISTED: usize = 200_000;

/// Entries that a [`LeftOut`] names: nobody reads more.
const MAX_NAMED: usize = 256;

/// The purpose of the side that connects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Greeting {
    /// It is the source and asks to send.
    Push {
        /// The same for all connections and attempts of one job.
        job: [u8; 16],
        /// Which of the job's connections this is. A new session ends an older one of the same job and lane.
        lane: u16,
        /// Requests to the sink, which refuses the session if it does not allow them.
        wishes: Wishes,
    },
    /// It is the sink and asks for the entries at this path below the served directory (empty: everything).
    Pull {
        /// The same for all connections and attempts of one job.
        job: [u8; 16],
        /// As for [`Greeting::Push`].
        lane: u16,
        /// How many connections share the job.
        lanes: u16,
        /// Below the served directory.
        path: Vec<u8>,
        /// Patterns of what to leave out, relative to the served directory.
        patterns: Patterns,
        /// The sink needs an [`Extent`] at the end.
        extent: bool,
        /// Extras that the sink requests.
        keep: Keep,
        /// Files of the same size and time count as the same.
        quick: bool,
        /// As in [`Answer::Welcome`].
        sink: Vec<[u8; 16]>,
        /// The source reads every file.
        verify: bool,
    },
    /// `doctor`: it asks how its packets arrive.
    Probe,
}

impl Greeting {
    /// Returns "push", "pull" or "probe".
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Greeting::Push { .. } => "push",
            Greeting::Pull { .. } => "pull",
            Greeting::Probe => "probe",
        }
    }
}

/// Requests of a job beyond storing what is offered.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wishes {
    /// Change nothing, and answer each offer with what would change.
    pub dry_run: bool,
    /// Leave a file alone that is newer at the sink.
    pub update: bool,
    /// Remove what is in a sent directory and was not sent.
    pub delete: bool,
    /// Make links that lead out of the sink's directory, too.
    pub links_as_is: bool,
    /// Keep what is replaced or removed below this directory of the sink.
    pub backup: Option<EntryPath>,
    /// Set owners and other extras.
    pub keep: Keep,
    /// Remove also where a directory of the source is empty.
    pub delete_all: bool,
    /// Remove nothing if there is more to remove.
    pub max_delete: Option<MaxDelete>,
}

/// A change of the sink's disk that a dry run announces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Change {
    /// There is nothing under this name.
    Create,
    /// Something else is there.
    Replace,
    /// Only mode, time or extras differ.
    Adjust,
    /// It was not sent.
    Remove,
}

/// All that a source offered in a job, for a sink that removes everything else. Sent only if nothing failed or was left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extent {
    /// Entries that the sink has by its own answers. A sink that has another number was not there from the beginning.
    pub entries: u64,
    /// The sink's whole directory was sent, and not only directories in it.
    pub whole: bool,
    /// Where the patterns begin: the requested path's parents in the served directory.
    pub below: EntryPath,
    /// The source's patterns of what was excluded, and stays at the sink. The sink has its own.
    pub patterns: Patterns,
    /// Of the directories that the job names, those in which the source has nothing at all, excluded entries neither. A path without
    /// components stands for each of them.
    pub empty: Vec<EntryPath>,
}

/// The listening side's answer to a greeting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Answer {
    /// Begin.
    Welcome {
        /// If the listening side is the sink: its directory and those above it, as names that only a process on the same
        /// machine can compare.
        sink: Vec<[u8; 16]>,
    },
    /// It serves where it should receive, the path is not there, …
    Refused {
        /// One clear sentence.
        reason: String,
    },
    /// How the packets of the side that connects arrive.
    Probed {
        /// TOS or traffic-class byte of the newest packets; None where it cannot be seen.
        tos: Option<u8>,
        /// Address that the packets come from.
        address: String,
        /// Packets marked Congestion Experienced, of how many.
        ce: u64,
        /// Packets in all.
        packets: u64,
    },
}

/// Why an entry was not stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Why {
    /// No space left. Nothing else will fit either: the session ends.
    DiskFull,
    /// The path or link is not acceptable.
    Refused(String),
    /// The file system refused.
    Io(String),
    /// The received content does not hash to the root. The source's copy changed, or the source lies.
    Mismatch,
    /// The source withdrew it. Also a withdrawn offer is settled by exactly one answer.
    Withdrawn,
    /// The sink's system opens no more files for it.
    TooManyFiles,
    /// The sink's directory was removed. Nothing else will be stored either: the session ends.
    Gone,
    /// A directory is at its place.
    Occupied(String),
}

/// A source's messages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FromSource {
    /// This entry exists. Ids are given in ascending order and never used twice in a session.
    Offer {
        /// Number of the offer.
        id: u64,
        /// The entry.
        entry: Entry,
    },
    /// The source's knowledge of the whole job so far. `complete` when it has looked at everything.
    Plan {
        /// Files, directories and links.
        entries: u64,
        /// The files among them.
        files: u64,
        /// Bytes of their content.
        bytes: u64,
        /// Nothing will be added.
        complete: bool,
    },
    /// The file can no longer be sent as offered (changed, gone, unreadable); its data stream, if any, is reset.
    Withdrawn {
        /// Number of the offer.
        id: u64,
        /// One sentence.
        reason: String,
    },
    /// The congestion controller's state, for the peer's live view.
    State(ControllerState),
    /// Everything was offered; when all of it is settled the job is done.
    EndOfOffers {
        /// Entries that could not be offered, or not be sent, for a reason of the source's own, in the whole job.
        failed: LeftOut,
        /// Entries that the source left out.
        skipped: LeftOut,
        /// Everything that was offered, if all of it was stored.
        extent: Option<Extent>,
        /// Positions of the [`Greeting::Pull::patterns`] that matched nothing here.
        unmatched: Vec<u32>,
    },
    /// These files exist, and their content was not read. They have the ids from this one on.
    Glance {
        /// Number of the first.
        id: u64,
        /// The files.
        files: Vec<Glance>,
    },
    /// All else is settled: these entries wait, for a [`FromSink::Later`] or for an entry that got one. So the sink has the
    /// whole list. It may remove what is not in it, and answers [`FromSink::Continue`]. Then they are offered again.
    Listed {
        /// Some of them.
        unsettled: Vec<Unsettled>,
        /// These are the last.
        is_last: bool,
        /// With the last: what was settled, unless something failed or was left out.
        extent: Option<Extent>,
    },
}

/// An entry that is not settled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unsettled {
    /// The path at the receiver.
    pub path: EntryPath,
    /// True for a directory.
    pub is_directory: bool,
}

/// A file by its size and attributes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Glance {
    /// The path at the receiver.
    pub path: EntryPath,
    /// Bytes.
    pub size: u64,
    /// As in an [`Entry`].
    pub mode: Option<u32>,
    /// As in an [`Entry`].
    pub mtime: Mtime,
    /// As in an [`Entry`].
    pub extras: Option<Box<Extras>>,
}

/// Entries of which a sink learns only that it does not get them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// The number of entries.
    pub count: u64,
    /// The first of them and why, as many as fit [`MAX_LEFT_OUT`].
    pub first: Vec<(EntryPath, String)>,
}

impl LeftOut {
    /// Counts another, and names it if there is room. The reason must be short.
    pub(crate) fn add(&mut self, path: &EntryPath, reason: &str) {
        self.count += 1;
        let len = |(path, reason): &(EntryPath, String)| path.0.len() + reason.len();
        let named: usize = self.first.iter().map(len).sum();
        let one = (path.clone(), reason.to_owned());
        if self.first.len() < MAX_NAMED && named + len(&one) <= MAX_LEFT_OUT {
            self.first.push(one);
        }
    }
}

/// A sink's messages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FromSink {
    /// Send these ranges.
    Want {
        /// Number of the offer.
        id: u64,
        /// The bytes to send.
        ranges: Wanted,
    },
    /// It is there already, verified; or it was not a file and is done.
    Have {
        /// Number of the offer.
        id: u64,
    },
    /// It has its final name.
    Stored {
        /// Number of the offer.
        id: u64,
    },
    /// It was not stored.
    Failed {
        /// Number of the offer.
        id: u64,
        /// Why.
        why: Why,
    },
    /// The sink's user limits the rate to a number of bytes a second (None: no limit), or pauses.
    Pace {
        /// Bytes a second.
        max_rate: Option<u64>,
        /// Send no data until further notice.
        paused: bool,
    },
    /// All offers are settled; the source may close.
    Finished,
    /// It is there, verified, and differs from the source in something else: a mode that could not be set, a link that
    /// is a copy.
    Incomplete {
        /// Number of the offer.
        id: u64,
        /// One sentence.
        reason: String,
    },
    /// Send hashes of these ranges, for an older version of the file is there. Each way may be asked for once.
    Describe {
        /// Number of the offer.
        id: u64,
        /// The hashes to send.
        how: How,
        /// The bytes to send.
        ranges: Wanted,
    },
    /// The existing file is newer and is kept.
    Newer {
        /// Number of the offer.
        id: u64,
    },
    /// Nothing was done in a dry run.
    Would {
        /// Number of the offer.
        id: u64,
        /// The change that was not made.
        change: Change,
    },
    /// Something that was not sent was removed, or would be.
    Removed {
        /// The path that it had.
        path: EntryPath,
        /// The entry's outcome.
        removal: Removal,
    },
    /// Of the files of a [`FromSource::Glance`], these differ and are to be offered; the others are there.
    Glanced {
        /// Number of the first file.
        id: u64,
        /// Positions in the list, ascending.
        differing: Vec<u32>,
    },
    /// Nothing was removed, though something is there that was not sent.
    Spared(Spared),
    /// Everything that was not sent is gone, or would be.
    Swept {
        /// Positions of the [`Extent::patterns`] that matched nothing here.
        unmatched: Vec<u32>,
    },
    /// It needs room, or the place of a directory: offer it again when all else is settled. Only in a job that removes.
    Later {
        /// Number of the offer.
        id: u64,
    },
    /// The answer to [`FromSource::Listed`].
    Continue,
}

/// How a file is described. Hashes are BLAKE3's first 16 bytes, in the order of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum How {
    /// The tree's hash of each chunk group.
    Groups,
    /// Hash and length (u32, big endian) of pieces that are cut at marks of the content.
    Chunks,
}

/// The outcome for an entry that was not sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Removal {
    /// It is gone.
    Done,
    /// A dry run left it.
    Left,
    /// It cannot be removed, and why.
    Failed(String),
}

/// [`ControllerState::phase`] of a source that its own side has paused.
pub const PAUSED: &str = "paused";

/// A congestion controller's state in few numbers, in microseconds and bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ControllerState {
    /// Base delay.
    pub base_us: Option<u64>,
    /// Delay that queues add now.
    pub queue_us: Option<u64>,
    /// Delay that the controller steers to.
    pub target_us: Option<u64>,
    /// Window, bytes.
    pub cwnd: u64,
    /// Where in its state diagram the controller is, or [`PAUSED`].
    pub phase: String,
}
