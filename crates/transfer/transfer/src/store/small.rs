//! Small files: one look at what is there, and one way to the disk for many.
//!
//! # Model
//! A small file that is there is read whole and hashed. One that is not here yet has no partial file: it is written
//! when all of it has come and verified. Many are written one after the other, go to the disk together, get their names, and
//! then their directories go to the disk. So each file has been on the disk before it got its name, as if it had come alone.
//! A kill in the middle leaves nothing of those that had no name yet; the next run receives them again. Where the system
//! makes no [files without a name](super::unnamed) it leaves partial files, complete or not, which the next run takes up.
//!
//! # Bounds
//! See [`crate::wire::SMALL`] and [`super::sync`].

use super::claim::{Claim, Expected};
use super::partial::Content;
use super::place::{why, There};
use super::reception::Reception;
use super::{ranges, sync, Kept, Near, Store, Target, Verdict};
use crate::wire::{Glance, Why};
use bytes::Bytes;
use std::cell::RefCell;
use std::fs::File;
use std::io::{self, Read};

/// A small file that has arrived.
pub(crate) struct Arrived {
    pub(crate) reception: Reception,
    pub(crate) encoded: Bytes,
    /// Called with offset and length of each group that verified.
    pub(crate) on_group: Box<dyn FnMut(u64, u64) + Send>,
}

impl Store {
    /// Decides on a small file.
    pub(super) fn small_file(
        &self,
        target: Target,
        content: Content,
        near: &mut Near,
    ) -> Result<Verdict, Why> {
        let Some(parent) = self.find_near(&target, near)? else { return self.expect(target, content, near) };
        let file = match self.inner.root.read(&parent, &target.name) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return self.expect(target, content, near);
            }
            Err(_) => return self.file(target, content),
        };
        let seen = file.metadata().map_err(|error| why("look at what is there", error))?;
        if !seen.is_file() {
            return self.file(target, content);
        }
        if seen.len() == content.size && has(&file, content).unwrap_or(false) {
            if has_other_names(&seen) {
                return self.had(&parent, &file, target, content);
            }
            let kept = target.attributes.apply_to(&file, &seen)?;
            return Ok(Verdict::Have(kept.noting(&target.note)));
        }
        drop(file);
        self.expect(target, content, near)
    }

    /// Expects a file that is not here yet, as far as this process has seen.
    fn expect(&self, target: Target, content: Content, near: &mut Near) -> Result<Verdict, Why> {
        let state = self.state_near(&target, near)?;
        match Claim::expect(self.inner.clone(), &target.path, &content.root) {
            Expected::New(claim) => {
                let wanted = ranges::missing(&[], content.size);
                Ok(Verdict::Want(Reception::new(None, content, wanted, (target, state, claim), self.clone())))
            }
            Expected::UnderWay => Ok(Verdict::Busy),
            Expected::Unclear => self.file(target, content),
        }
    }

    /// Returns whether a file of this size and these attributes is there. Its content is not read.
    pub(crate) fn has(&self, glance: &Glance, near: &mut Near) -> bool {
        self.differs(glance, near).is_some_and(|differs| !differs)
    }

    fn differs(&self, glance: &Glance, near: &mut Near) -> Option<bool> {
        let target = self.target(&glance.path, (glance.mode, glance.mtime, glance.extras.as_deref())).ok()?;
        // An offer reports what the source could not keep.
        if target.note.is_some() {
            return None;
        }
        let parent = self.find_near(&target, near).ok()??;
        let there = There::named(&parent, &target.name).ok()?;
        if !there.is_file || there.bytes != glance.size || !there.has(&target.attributes) {
            return None;
        }
        if self.taken.by_another(&target, &there) {
            return None;
        }
        match &target.attributes.extras {
            Some(extras) if extras.has_xattrs() => {
                Some(extras.differs(&self.inner.root.read(&parent, &target.name).ok()?))
            }
            _ => Some(false),
        }
    }
}

#[cfg(unix)]
fn has_other_names(seen: &std::fs::Metadata) -> bool {
    std::os::unix::fs::MetadataExt::nlink(seen) > 1
}

#[cfg(not(unix))]
fn has_other_names(_: &std::fs::Metadata) -> bool {
    false
}

/// Reads a small file.
fn has(file: &File, content: Content) -> io::Result<bool> {
    with_whole(file, content.size, |bytes| *blake3::hash(bytes).as_bytes() == content.root)
        .map(|is_same| is_same.unwrap_or(false))
}

/// Reads a small file into memory that the thread keeps for this, and looks at it; None if it has another size.
pub(crate) fn with_whole<T>(file: &File, size: u64, look: impl FnOnce(&[u8]) -> T) -> io::Result<Option<T>> {
    thread_local! {
        static BUFFER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
    }
    BUFFER.with_borrow_mut(|buffer| {
        // One byte more, to see that it ends there.
        let needed = size as usize + 1;
        if buffer.len() < needed {
            buffer.resize(needed, 0);
        }
        Ok(read_whole(file, &mut buffer[..needed])?.map(look))
    })
}

/// Reads a file that should have one byte less than there is room for; None if it has another size. Mostly that is one call: a
/// file that has fewer bytes than were asked for ends there.
fn read_whole<'a>(mut file: &File, bytes: &'a mut [u8]) -> io::Result<Option<&'a [u8]>> {
    let size = bytes.len() - 1;
    let mut filled = 0;
    while filled != size || filled == 0 {
        match file.read(&mut bytes[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        if filled > size {
            return Ok(None);
        }
    }
    Ok((filled == size).then_some(&bytes[..size]))
}

/// Stores small files of one store that have arrived, in this order: all are written, all go to the disk, all get their names,
/// and their directories go to the disk.
pub(crate) fn keep_all(arrived: Vec<Arrived>) -> Vec<Result<Kept, Why>> {
    let mut results: Vec<Option<Result<Kept, Why>>> = Vec::new();
    let mut written = Vec::new();
    for (index, Arrived { mut reception, encoded, mut on_group }) in arrived.into_iter().enumerate() {
        let mut left = &encoded[..];
        match reception.write(&mut left, &mut on_group) {
            Ok(_) if !left.is_empty() => {
                results.push(Some(Err(Why::Io("more came than was requested".into()))));
            }
            Ok(kept) => {
                written.push((index, reception, kept));
                results.push(None);
            }
            Err(why) => results.push(Some(Err(why))),
        }
    }
    let files: Vec<&File> = written.iter().filter_map(|(_, reception, _)| reception.part()).collect();
    let synced = sync::contents(&files);
    let (mut near, mut changed) = (Near::default(), Vec::new());
    let mut named = Vec::new();
    for ((index, reception, kept), synced) in written.into_iter().zip(synced) {
        let one = reception.synced(synced).and_then(|reception| reception.name(&mut near, &mut changed));
        match one {
            Ok(one) => named.push((index, one, kept)),
            Err(why) => results[index] = Some(Err(why)),
        }
    }
    if let Some((_, first, _)) = named.first() {
        let synced = first.sync(changed);
        for (index, one, kept) in named {
            let failed = |error: &io::Error| why("write the directory to the disk", again(error));
            results[index] = Some(match &synced {
                Ok(()) => Ok(one.finished(kept)),
                Err(error) => Err(failed(error)),
            });
        }
    }
    let lost = || Err(Why::Io("it was not stored".into()));
    results.into_iter().map(|result| result.unwrap_or_else(lost)).collect()
}

fn again(error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::{Entry, EntryPath, Kind, Mtime};
    use crate::store::StoreOptions;
    use std::path::Path;

    fn entry(path: &str, content: &[u8]) -> Entry {
        Entry {
            path: EntryPath(path.as_bytes().to_vec()),
            kind: Kind::File { size: content.len() as u64, root: *blake3::hash(content).as_bytes() },
            mode: Some(0o640),
            mtime: Mtime { seconds: 1_000_000, nanos: 5 },
            link: None,
            extras: None,
        }
    }

    fn open(dir: &Path) -> Store {
        Store::open(dir, StoreOptions::default()).expect("opens")
    }

    /// Runs the test with a store, and with one where the system makes no files without a name.
    fn each_kind(test: impl Fn(&dyn Fn(&Path) -> Store)) {
        test(&open);
        test(&|dir| {
            let store = open(dir);
            store.inner.states.only_named();
            store
        });
    }

    fn requested(store: &Store, path: &str, content: &[u8]) -> Reception {
        match store.consider(&entry(path, content)) {
            Ok(Verdict::Want(reception)) => reception,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_batch_is_stored_and_what_does_not_verify_fails_alone() {
        each_kind(store_a_batch_of_which_one_does_not_verify);
    }

    fn store_a_batch_of_which_one_does_not_verify(open: &dyn Fn(&Path) -> Store) {
        let dir = tempfile::tempdir().expect("a directory");
        let store = open(dir.path());
        let names: Vec<String> = (0..40).map(|n| format!("{}/deep/{n}", n % 3)).collect();
        let arrived = names.iter().enumerate().map(|(n, name)| Arrived {
            reception: requested(&store, name, name.as_bytes()),
            encoded: if n == 7 {
                Bytes::from("something else".as_bytes())
            } else {
                Bytes::from(name.clone())
            },
            on_group: Box::new(|_, _| {}),
        });
        let results = keep_all(arrived.collect());
        for (n, (name, result)) in names.iter().zip(results).enumerate() {
            let stored = std::fs::read(dir.path().join(name)).ok();
            match n {
                7 => assert!(result.is_err() && stored.is_none(), "{result:?}"),
                _ => assert_eq!((result, stored), (Ok(Kept::All), Some(name.clone().into_bytes()))),
            }
            let again = store.consider(&entry(name, name.as_bytes()));
            assert_eq!(matches!(again, Ok(Verdict::Have(Kept::All))), n != 7, "{again:?}");
        }
    }

    #[test]
    fn what_was_written_and_got_no_name_is_absent_and_the_next_run_takes_it_up_or_finds_nothing_of_it() {
        each_kind(|open| {
            let dir = tempfile::tempdir().expect("a directory");
            let store = open(dir.path());
            let mut reception = requested(&store, "a/file", b"content");
            reception.write(&b"content"[..], &mut |_, _| {}).expect("written");
            let had_a_name = reception.partial_is_named();
            drop(reception);
            assert!(!dir.path().join("a/file").exists());
            assert_eq!(dir.path().join(".afteryou").exists(), had_a_name);
            drop(store);

            let store = open(dir.path());
            match store.consider(&entry("a/file", b"content")) {
                Ok(Verdict::Made(Kept::All)) if had_a_name => {
                    assert_eq!(std::fs::read(dir.path().join("a/file")).expect("it is there"), b"content");
                }
                Ok(Verdict::Want(reception)) if !had_a_name => drop(reception),
                other => panic!("{other:?}"),
            }
            assert!(!dir.path().join(".afteryou").exists(), "nothing is left");
        });
    }

    #[test]
    fn what_appeared_meanwhile_under_the_name_of_a_small_file_is_replaced_unless_it_is_a_directory() {
        each_kind(|open| {
            let dir = tempfile::tempdir().expect("a directory");
            let store = open(dir.path());
            let arrived = |path: &str| Arrived {
                reception: requested(&store, path, path.as_bytes()),
                encoded: Bytes::from(path.to_owned()),
                on_group: Box::new(|_, _| {}),
            };
            let both = vec![arrived("file"), arrived("taken"), arrived("last")];
            std::fs::write(dir.path().join("file"), "of somebody else").expect("written");
            std::fs::create_dir(dir.path().join("taken")).expect("made");
            let results = keep_all(both);
            assert!(matches!(&results[..], [Ok(Kept::All), Err(_), Ok(Kept::All)]), "{results:?}");
            for path in ["file", "last"] {
                assert_eq!(std::fs::read_to_string(dir.path().join(path)).expect("it is there"), path);
            }
            assert!(dir.path().join("taken").is_dir());
        });
    }

    #[test]
    fn two_sessions_of_a_process_do_not_receive_the_same_small_file() {
        let dir = tempfile::tempdir().expect("a directory");
        let store = open(dir.path());
        let first = requested(&store, "file", b"content");
        assert!(matches!(store.consider(&entry("file", b"content")), Ok(Verdict::Busy)));
        let other = requested(&store, "file", b"another version");
        drop(other);
        drop(first);
        drop(requested(&store, "file", b"content"));
    }
}
