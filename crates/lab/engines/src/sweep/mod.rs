//! Sweeps that survive: every run of an experiment on all cores, each on the disk as soon as it has ended.
//!
//! A [`Lineup`](crate::Lineup) makes each run when its turn comes, so memory does not grow with their number. A [`Folder`]
//! holds what has ended: `sweep.json` identifies the sweep, `journal` has a line for each finished run. A kill at any moment
//! loses the runs under way and nothing else. The same sweep continues in the same folder, and a run that the journal has is
//! not repeated. Another sweep, or the same one by another build of the program, is refused.
//!
//! The key of a run is made of the build, the scenario and the seed. Between releases a version stays the same while
//! controllers change; the build's hash does not.
//!
//! | file | holds |
//! |---|---|
//! | `folder` | the folder: the sweep it belongs to, its lock, what is finished |
//! | `journal` | lines of finished runs: append, check, read in order |
//! | `manifest` | the description of a folder's sweep, and what may not differ |
//! | `merge` | parts of one sweep, made elsewhere, as one |
//!
//! Not done: the journal is not flushed to the disk after each run, so a failure of power may lose the last seconds.

mod folder;
mod journal;
mod manifest;
mod merge;

pub use folder::{FinishedRun, Folder};
pub use manifest::{Manifest, Shard};
pub use merge::{merge, Part};

use afteryou_scenario::content::{ContentHash, Hasher};
use std::io::{self, Read};

/// Returns the hash of a program: of its executable, which changes whenever its code does.
///
/// # Errors
/// As `executable`'s.
pub fn build(mut executable: impl Read) -> io::Result<ContentHash> {
    let (mut hasher, mut block) = (Hasher::default(), vec![0; 1 << 20]);
    loop {
        match executable.read(&mut block)? {
            0 => return Ok(hasher.finish()),
            read => hasher.update(&block[..read]),
        }
    }
}

/// Returns the name of a run among those of all programs. It is made of the program's [`build`], of the run's
/// [hash](crate::Point::hash) of engine and scenario, and of its seed.
pub fn key(build: &ContentHash, run: &ContentHash, seed: u64) -> ContentHash {
    ContentHash::of_text(&format!("{build}\n{run}\n{seed}"))
}
