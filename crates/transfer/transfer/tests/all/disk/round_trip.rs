//! What arrives is what was sent.

use super::common::{content, entry, file, move_all, single, Outcome, Pair};
use afteryou_transfer::entry::{Kind, Mtime, GROUP_BYTES};
use afteryou_transfer::store::{Kept, Store, StoreOptions, Verdict};
use std::time::{Duration, SystemTime};

const GROUP: usize = GROUP_BYTES as usize;

fn all_well(outcomes: &[(String, Outcome)]) {
    for (path, outcome) in outcomes {
        assert!(matches!(outcome, Outcome::Stored | Outcome::Made | Outcome::Had), "{path}: {outcome:?}");
    }
}

#[test]
fn files_of_every_length_arrive_whole() {
    let pair = Pair::new();
    for size in [0, 1, 1023, 1024, 1025, GROUP - 1, GROUP, GROUP + 1, 2 * GROUP, 5 * GROUP + 77, 64 * GROUP] {
        pair.write(&format!("of-{size}"), &content(size, size as u64));
    }
    all_well(&move_all(&pair.source(), &pair.store()));
    pair.assert_same();
    assert_eq!(pair.leftovers(), Vec::<String>::new());
    assert!(!pair.to().join(".afteryou").exists());
}

#[test]
fn a_hundred_megabytes_and_a_file_with_holes_arrive_whole() {
    let pair = Pair::new();
    pair.write("large", &content(100_000_000, 1));
    let sparse = std::fs::File::create(pair.from().join("sparse")).expect("a file");
    sparse.set_len(3_000_001).expect("a length");
    all_well(&move_all(&pair.source(), &pair.store()));
    pair.assert_same();
}

#[test]
fn directories_arrive_with_what_lies_in_them() {
    let pair = Pair::new();
    pair.write("a/b/c/deep", b"deep");
    pair.write("a/b/file", b"file");
    pair.write("a.txt", b"beside");
    std::fs::create_dir(pair.from().join("empty")).expect("a directory");
    all_well(&move_all(&pair.source(), &pair.store()));
    pair.assert_same();
}

#[test]
fn what_is_there_is_not_sent_again_and_what_differs_is_replaced() {
    let pair = Pair::new();
    pair.write("same", &content(50_000, 1));
    pair.write("other", &content(50_000, 2));
    move_all(&pair.source(), &pair.store());
    std::fs::write(pair.to().join("other"), content(50_000, 3)).expect("a file");
    let outcomes = move_all(&pair.source(), &pair.store());
    assert_eq!(outcomes, [("other".into(), Outcome::Stored), ("same".into(), Outcome::Had)]);
    pair.assert_same();
}

#[cfg(unix)]
#[test]
fn mode_and_time_arrive_to_the_nanosecond() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let pair = Pair::new();
    pair.write("dir/file", &content(40_000, 1));
    pair.write("dir/unreadable-to-others", b"secret");
    let set = |name: &str, mode: u32, nanos: u32| {
        let path = pair.from().join(name);
        let time = SystemTime::UNIX_EPOCH + Duration::new(1_234_567_890, nanos);
        let file = std::fs::File::open(&path).expect("opens");
        file.set_times(std::fs::FileTimes::new().set_modified(time)).expect("a time");
        file.set_permissions(std::fs::Permissions::from_mode(mode)).expect("a mode");
    };
    set("dir/file", 0o754, 123_456_789);
    set("dir/unreadable-to-others", 0o400, 1);
    set("dir", 0o510, 999_999_999);
    all_well(&move_all(&pair.source(), &pair.store()));
    let check = || {
        for (name, mode, nanos) in [
            ("dir/file", 0o754, 123_456_789),
            ("dir/unreadable-to-others", 0o400, 1),
            ("dir", 0o510, 999_999_999),
        ] {
            let metadata = std::fs::metadata(pair.to().join(name)).expect("metadata");
            assert_eq!(metadata.mode() & 0o7777, mode, "{name}");
            assert_eq!((metadata.mtime(), metadata.mtime_nsec()), (1_234_567_890, nanos.into()), "{name}");
        }
    };
    check();
    // The next run puts right what was changed, without moving content.
    std::fs::set_permissions(pair.to().join("dir/file"), std::fs::Permissions::from_mode(0o600))
        .expect("a mode");
    let outcomes = move_all(&pair.source(), &pair.store());
    assert!(outcomes.iter().all(|(_, outcome)| *outcome == Outcome::Had), "{outcomes:?}");
    check();
    for name in ["from/dir", "to/dir"] {
        let open = std::fs::Permissions::from_mode(0o700);
        std::fs::set_permissions(pair.base.path().join(name), open).expect("a mode");
    }
}

#[cfg(unix)]
#[test]
fn set_id_and_sticky_bits_never_arrive() {
    use std::os::unix::fs::MetadataExt;
    let pair = Pair::new();
    let (mut offered, encoded) = file(b"tool", b"#!/bin/sh\n");
    offered.mode = Some(0o7755);
    let Ok(Verdict::Want(reception)) = pair.store().consider(&offered) else { panic!("wanted") };
    reception.receive(&encoded[..], &mut |_, _| {}).expect("stored");
    let mut directory = entry(b"dir", Kind::Directory);
    directory.mode = Some(0o7777);
    assert!(matches!(pair.store().consider(&directory), Ok(Verdict::Made(Kept::All))));
    for (name, mode) in [("tool", 0o755), ("dir", 0o777)] {
        let metadata = std::fs::metadata(pair.to().join(name)).expect("metadata");
        assert_eq!(metadata.mode() & 0o7777, mode, "{name}");
    }
}

#[cfg(unix)]
#[test]
fn a_partial_file_is_private_until_it_is_whole() {
    use std::os::unix::fs::MetadataExt;
    let pair = Pair::new();
    let (offered, encoded) = file(b"file", &content(5 * GROUP, 1));
    let Ok(Verdict::Want(reception)) = pair.store().consider(&offered) else { panic!("wanted") };
    reception.receive(&encoded[..3 * GROUP], &mut |_, _| {}).expect_err("cut short");
    for name in pair.leftovers() {
        let metadata = std::fs::metadata(pair.to().join(".afteryou").join(name)).expect("metadata");
        assert_eq!(metadata.mode() & 0o777, 0o600);
    }
    assert_eq!(pair.leftovers().len(), 2);
}

#[cfg(unix)]
#[test]
fn names_that_are_no_text_arrive_as_they_are() {
    use std::os::unix::ffi::OsStrExt;
    let pair = Pair::new();
    let name = std::ffi::OsStr::from_bytes(b"caf\xe9 \x80\x01");
    std::fs::write(pair.from().join(name), b"bytes").expect("a file");
    all_well(&move_all(&pair.source(), &pair.store()));
    assert_eq!(std::fs::read(pair.to().join(name)).expect("it is there"), b"bytes");
}

#[test]
fn a_directory_gets_its_time_when_the_last_file_below_it_is_there() {
    let pair = Pair::new();
    let store = pair.store();
    let (offered, encoded) = file(b"a/b/file", &content(40_000, 1));
    let Ok(Verdict::Want(reception)) = store.consider(&offered) else { panic!("wanted") };
    let mut paths = Vec::new();
    for path in [&b"a/b"[..], b"a"] {
        let mut directory = entry(path, Kind::Directory);
        directory.mtime = Mtime { seconds: 1_000_000_000, nanos: 5 };
        directory.mode = Some(0o555);
        assert!(matches!(store.consider(&directory), Ok(Verdict::Made(Kept::All))));
        paths.push(pair.to().join(String::from_utf8_lossy(path).into_owned()));
    }
    reception.receive(&encoded[..], &mut |_, _| {}).expect("stored");
    for path in paths {
        let modified = std::fs::metadata(&path).expect("metadata").modified().expect("a time");
        assert_eq!(modified, SystemTime::UNIX_EPOCH + Duration::new(1_000_000_000, 5), "{path:?}");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = std::fs::metadata(&path).expect("metadata").permissions().mode();
            assert_eq!(mode & 0o777, 0o555);
        }
    }
    #[cfg(unix)]
    for name in ["a", "a/b"] {
        use std::os::unix::fs::PermissionsExt;
        let open = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(pair.to().join(name), open).expect("a mode");
    }
}

#[cfg(unix)]
#[test]
fn a_read_only_directory_of_an_earlier_run_takes_what_is_missing_in_it() {
    use std::os::unix::fs::PermissionsExt;
    let pair = Pair::new();
    let store = pair.store();
    let mut directory = entry(b"dir", Kind::Directory);
    directory.mode = Some(0o555);
    assert!(matches!(store.consider(&directory), Ok(Verdict::Made(Kept::All))));
    for path in [&b"dir/file"[..], b"dir/below/file"] {
        let (offered, encoded) = file(path, b"content");
        let Ok(Verdict::Want(reception)) = store.consider(&offered) else { panic!("wanted") };
        reception.receive(&encoded[..], &mut |_, _| {}).expect("stored");
    }
    let dir = pair.to().join("dir");
    assert_eq!(std::fs::metadata(&dir).expect("metadata").permissions().mode() & 0o777, 0o555);
    std::fs::set_permissions(&dir, std::fs::Permissions::from_mode(0o755)).expect("a mode");
}

#[cfg(unix)]
#[test]
fn a_store_in_a_directory_that_cannot_be_written_to_does_not_open() {
    use std::os::unix::fs::PermissionsExt;
    let pair = Pair::new();
    let mode = |mode| {
        let permissions = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(pair.to(), permissions).expect("a mode");
    };
    mode(0o555);
    // Nothing is forbidden to root but what the kernel makes up.
    let is_root = std::fs::create_dir(pair.to().join("probe")).is_ok();
    let dir = if is_root { "/sys".into() } else { pair.to() };
    if dir.is_dir() {
        let error = Store::open(&dir, StoreOptions::default()).expect_err("nothing could be stored");
        assert!(error.to_string().starts_with(&format!("cannot write to {}: ", dir.display())), "{error}");
    }
    mode(0o755);
    Store::open(&pair.to(), StoreOptions::default()).expect("a store");
    assert!(!pair.to().join(".afteryou").exists(), "looking leaves nothing behind");
}

#[test]
fn a_file_that_lies_there_is_not_touched_by_an_encoding_that_fails() {
    let pair = Pair::new();
    std::fs::write(pair.to().join("file"), b"the old one").expect("a file");
    let (offered, encoded) = file(b"file", &content(3 * GROUP, 1));
    let Ok(Verdict::Want(reception)) = pair.store().consider(&offered) else { panic!("wanted") };
    reception.receive(&encoded[..2 * GROUP], &mut |_, _| {}).expect_err("cut short");
    assert_eq!(std::fs::read(pair.to().join("file")).expect("it is there"), b"the old one");
}

#[test]
fn a_single_file_is_asked_for_as_one_range() {
    let pair = Pair::new();
    pair.write("file", &content(10 * GROUP + 5, 1));
    let prepared = single(&pair.source());
    let Ok(Verdict::Want(reception)) = pair.store().consider(prepared.entry()) else { panic!("wanted") };
    assert_eq!(reception.wanted().0, [(0, 10 * GROUP_BYTES + 5)]);
    assert_eq!(reception.wanted().bytes(), 10 * GROUP_BYTES + 5);
}
