//! Files that have another name at the source by now.
//!
//! # Model
//! When the first large file comes for which nothing lies at its place, the store's files are listed by size, once in a job. One of the
//! same size is hashed, and copied if it is the file that is offered. Small files are not looked for: to list them costs more than
//! to send them.
//!
//! What has the name of the directory of partial files is left out.
//!
//! # Bounds
//! The list takes at most [`MOST`] bytes, and of one size [`TRIES`] files are hashed for an offer.

use super::descent::Descent;
use super::partial;
use super::place::There;
use super::reception::Reception;
use super::root::Root;
use super::{place, Store, STATE};
use crate::entry::{bytes, EntryPath, Wanted};
use crate::wire::{Why, MAX_PATH};
use std::collections::HashMap;
use std::fs::File;
use std::io;

/// Smallest file that is looked for, bytes.
const LEAST: u64 = 1024 * 1024;
/// Bytes of the list: 100 000 files with paths of 100 bytes.
const MOST: usize = 16 * 1024 * 1024;
/// Bytes of an entry beside its path.
const ENTRY: usize = 64;
/// Files of the same size that are hashed.
const TRIES: usize = 4;

/// Files by their sizes.
pub(super) type BySize = HashMap<u64, Vec<EntryPath>>;

impl Store {
    /// Fills the partial file from a file with the same content, if the store has one.
    pub(super) fn copy_renamed(&self, reception: &mut Reception) -> Result<bool, Why> {
        let content = reception.content();
        if content.size < LEAST {
            return Ok(false);
        }
        let by_size = self.by_size.get_or_init(|| list(&self.inner.root));
        for path in by_size.get(&content.size).into_iter().flatten().take(TRIES) {
            let Some(file) = self.open_file(path) else { continue };
            if !partial::hash(&file, content.size).is_ok_and(|root| root == Some(content.root)) {
                continue;
            }
            tracing::debug!(%path, "the same content lies here under another name");
            let copied = reception.file().and_then(|to| place::copy(&file, to, content.size));
            copied.map_err(|error| place::why("copy a file", error))?;
            reception.copied(Wanted::default(), true);
            return Ok(true);
        }
        Ok(false)
    }

    fn open_file(&self, path: &EntryPath) -> Option<File> {
        let mut steps = super::components(path).ok()?;
        let name = steps.pop()?;
        let parent = place::find(&self.inner.root, &steps).ok()??;
        self.inner.root.read(&parent, &name).ok()
    }
}

/// Large files below a directory; what cannot be read is not there.
fn list(root: &Root) -> BySize {
    let mut found = BySize::new();
    _ = add_all(root, &mut found);
    found
}

/// With one open directory at a time, however many there are. An error if the way through them is lost.
fn add_all(root: &Root, found: &mut BySize) -> io::Result<()> {
    let mut way = Descent::below(root)?;
    let (mut levels, mut room) = (vec![(way.names()?, EntryPath::default())], MOST);
    while let Some((names, path)) = levels.last_mut() {
        let Some(name) = names.next() else {
            levels.pop();
            if !levels.is_empty() {
                way.leave()?;
            }
            continue;
        };
        let is_state = bytes(&name).eq_ignore_ascii_case(STATE.as_bytes());
        let path = path.join(&bytes(&name));
        let Ok(there) = There::named(way.dir(), &name) else { continue };
        if there.is_directory && path.0.len() <= MAX_PATH && !is_state {
            if way.enter(&name, &there).is_ok() {
                levels.push((way.names().unwrap_or_default(), path));
            }
        } else if there.is_file && there.bytes >= LEAST {
            let Some(left) = room.checked_sub(path.0.len() + ENTRY) else { break };
            room = left;
            found.entry(there.bytes).or_default().push(path);
        }
    }
    Ok(())
}
