//! Entries whose mode and time cannot be set, because somebody else owns what is there.

use super::common::{content, encode, entry, link, single, Pair};
use crate::alone;
use afteryou_transfer::entry::{Entry, Kind};
use afteryou_transfer::store::{Kept, Store, StoreOptions, Verdict};
use std::fs::{set_permissions, Permissions};
use std::os::unix::fs::{symlink, MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// Nobody in particular.
const OTHER: u32 = 65_534;

fn may_all(path: &Path, mode: u32) {
    set_permissions(path, Permissions::from_mode(mode)).expect("a mode");
}

/// Only root can make files that belong to another user.
#[test]
fn what_belongs_to_somebody_else_is_stored_without_its_mode_and_time() {
    if let Some(base) = alone::part() {
        return store_what_belongs_to_somebody_else(Path::new(&base));
    }
    let pair = Pair::new();
    if pair.to().metadata().expect("metadata").uid() != 0 {
        return println!("SKIPPED: needs root");
    }
    pair.write("file", &content(100_000, 1));
    // A partial file that root has begun, and that others may write to.
    let prepared = single(&pair.source());
    let Ok(Verdict::Want(reception)) = pair.store().consider(prepared.entry()) else { panic!("wanted") };
    let encoded = encode(&prepared, reception.wanted());
    reception.receive(&encoded[..50_000], &mut |_, _| {}).expect_err("cut short");
    let state = pair.to().join(".afteryou");
    for name in pair.leftovers() {
        may_all(&state.join(name), 0o666);
    }
    std::fs::write(pair.to().join("had"), content(100_000, 1)).expect("a file");
    std::fs::create_dir(pair.to().join("dir")).expect("a directory");
    symlink("file", pair.to().join("link")).expect("a link");
    for path in [pair.base.path(), &pair.from(), &pair.to(), &state, &pair.to().join("dir")] {
        may_all(path, 0o777);
    }
    // A place that others may look into, for the program itself.
    let program = pair.base.path().join("program");
    std::fs::copy(std::env::current_exe().expect("a program"), &program).expect("a copy");
    let test = "disk::attributes::what_belongs_to_somebody_else_is_stored_without_its_mode_and_time";
    let mut command = alone::through(Command::new(program), test, pair.base.path());
    command.current_dir(pair.base.path()).uid(OTHER).gid(OTHER);
    alone::assert_passes(command);
    assert_eq!(std::fs::read(pair.to().join("file")).expect("a file"), content(100_000, 1));
}

fn store_what_belongs_to_somebody_else(base: &Path) {
    let store = Store::open(&base.join("to"), StoreOptions::default()).expect("a store");
    let source = afteryou_transfer::source::Source::below(&base.join("from"), b"", Default::default());
    let prepared = single(&source.expect("a source"));
    let Ok(Verdict::Want(reception)) = store.consider(prepared.entry()) else { panic!("wanted") };
    let encoded = encode(&prepared, reception.wanted());
    assert!(encoded.len() < 80_000, "it resumes");
    let stored = reception.receive(&encoded[..], &mut |_, _| {}).expect("stored");
    assert_incomplete(stored);
    let had =
        Entry { path: afteryou_transfer::entry::EntryPath(b"had".to_vec()), ..prepared.entry().clone() };
    for offered in [had, entry(b"dir", Kind::Directory), link(b"link", b"file")] {
        let Ok(Verdict::Have(kept)) = store.consider(&offered) else { panic!("it is there: {offered:?}") };
        assert_incomplete(kept);
    }
}

fn assert_incomplete(kept: Kept) {
    let Kept::ContentOnly(reason) = kept else { panic!("all of it, though another owns it") };
    assert!(reason.contains("mode and time") && reason.contains("not permitted"), "{reason}");
}
