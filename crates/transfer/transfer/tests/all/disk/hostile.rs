//! Peers that lie.

use super::common::{content, entry, file, link, tree, Pair};
use afteryou_transfer::entry::{Entry, EntryPath, Kind, Mtime, GROUP_BYTES};
use afteryou_transfer::extras::{Account, Extras, Keep, Owner, Xattr};
use afteryou_transfer::store::{Allow, Kept, Store, StoreOptions, Verdict};
use afteryou_transfer::wire::{Why, Wishes};
use proptest::prelude::*;

const GROUP: usize = GROUP_BYTES as usize;

fn refused(store: &Store, entry: &Entry) -> String {
    match store.consider(entry) {
        Err(Why::Refused(reason)) => reason,
        other => panic!("\"{}\" should be refused: {other:?}", entry.path),
    }
}

fn stored(store: &Store, path: &[u8], bytes: &[u8]) -> Result<Kept, Why> {
    let (offered, encoded) = file(path, bytes);
    match store.consider(&offered)? {
        Verdict::Have(kept) | Verdict::Made(kept) => Ok(kept),
        Verdict::Want(reception) => reception.receive(&encoded[..], &mut |_, _| {}),
        other => panic!("{other:?}"),
    }
}

#[test]
fn paths_that_lead_elsewhere_are_refused_for_every_kind() {
    let pair = Pair::new();
    let store = pair.store();
    for path in [
        &b""[..],
        b"/",
        b"/tmp/x",
        b"..",
        b"../beside/x",
        b"a/../../beside/x",
        b"a/..",
        b".",
        b"./a",
        b"a//b",
        b"a/",
        b"a\0b",
        b".afteryou",
        b".afteryou/x",
        b".AFTERYOU/x",
        &[b'x'; 256],
    ] {
        let kinds = [
            Kind::Directory,
            Kind::Symlink { target: b"a".to_vec() },
            Kind::File { size: 1, root: *blake3::hash(b"x").as_bytes() },
        ];
        for kind in kinds {
            assert!(refused(&store, &entry(path, kind)).contains("is refused"));
        }
    }
    assert_eq!(tree(&pair.to()).len(), 0);
    pair.assert_canary();
}

#[cfg(unix)]
#[test]
fn links_that_lead_outside_are_refused_by_whatever_way() {
    let pair = Pair::new();
    let store = pair.store();
    for (path, target) in [
        (&b"l"[..], &b"/etc"[..]),
        (b"l", b".."),
        (b"l", b"../beside"),
        (b"a/l", b"../../beside"),
        (b"a/b/l", b"../x/../../../beside"),
        (b"l", b"a/../../beside"),
        (b"l", b""),
        (b"l", b"a\0"),
    ] {
        refused(&store, &link(path, target));
    }
    // Each is harmless alone; together they would lead outside.
    assert!(matches!(store.consider(&link(b"x/y/up", b"../..")), Ok(Verdict::Made(Kept::All))));
    refused(&store, &link(b"x/y/out", b"up/../beside"));
    refused(&store, &link(b"x/y/out", b"up/../../beside"));
    // By way of a link that the sink's user made.
    std::os::unix::fs::symlink(pair.base.path().join("beside"), pair.to().join("mine")).expect("a link");
    refused(&store, &link(b"out", b"mine/canary"));
    refused(&store, &link(b"out", b"mine"));
    assert!(matches!(store.consider(&link(b"x/fine", b"../not/there/yet")), Ok(Verdict::Made(Kept::All))));
    pair.assert_canary();
}

#[cfg(unix)]
#[test]
fn nothing_is_stored_through_a_link() {
    let pair = Pair::new();
    let store = pair.store();
    assert!(stored(&store, b"dir/inside", b"inside").is_ok());
    assert!(matches!(store.consider(&link(b"l", b"dir")), Ok(Verdict::Made(Kept::All))));
    assert!(matches!(stored(&store, b"l/inside", b"changed"), Err(Why::Refused(_))));
    // Nor is what is behind it taken for the file itself, though it is the same.
    refused(&store, &file(b"l/inside", b"inside").0);
    refused(&store, &entry(b"l", Kind::Directory));
    refused(&store, &entry(b"l/below", Kind::Directory));
    refused(&store, &link(b"l/below", b"x"));
    // The user's own link, which leads outside.
    std::os::unix::fs::symlink(pair.base.path().join("beside"), pair.to().join("mine")).expect("a link");
    for path in [&b"mine/canary"[..], b"mine/new"] {
        assert!(matches!(stored(&store, path, b"changed"), Err(Why::Refused(_))));
    }
    refused(&store, &entry(b"mine/new", Kind::Directory));
    // A link is replaced by a file of its name, and not written through.
    std::os::unix::fs::symlink(pair.base.path().join("beside/canary"), pair.to().join("file"))
        .expect("a link");
    assert!(stored(&store, b"file", b"mine now").is_ok());
    assert!(!pair.to().join("file").is_symlink());
    assert_eq!(std::fs::read(pair.to().join("dir/inside")).expect("it is there"), b"inside");
    pair.assert_canary();
}

#[cfg(unix)]
#[test]
fn a_directory_swapped_for_a_link_while_a_file_is_received_leads_nowhere() {
    let pair = Pair::new();
    let store = pair.store();
    std::fs::create_dir(pair.to().join("dir")).expect("a directory");
    let (offered, encoded) = file(b"dir/canary", &content(3 * GROUP, 1));
    let Ok(Verdict::Want(reception)) = store.consider(&offered) else { panic!("wanted") };
    std::fs::remove_dir(pair.to().join("dir")).expect("removes");
    std::os::unix::fs::symlink(pair.base.path().join("beside"), pair.to().join("dir")).expect("a link");
    assert!(matches!(reception.receive(&encoded[..], &mut |_, _| {}), Err(Why::Refused(_))));
    pair.assert_canary();
}

#[cfg(unix)]
#[test]
fn a_directory_that_flips_to_a_link_all_the_time_never_lets_anything_out() {
    use std::sync::atomic::{AtomicBool, Ordering};
    let pair = Pair::new();
    let store = pair.store();
    let (dir, away) = (pair.to().join("dir"), pair.to().join("away"));
    std::fs::create_dir(&dir).expect("a directory");
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                _ = std::fs::rename(&dir, &away);
                _ = std::os::unix::fs::symlink(pair.base.path().join("beside"), &dir);
                _ = std::fs::remove_file(&dir);
                _ = std::fs::rename(&away, &dir);
            }
        });
        for n in 0..300 {
            _ = stored(&store, format!("dir/{n}").as_bytes(), b"x");
            _ = store.consider(&link(format!("dir/l{n}").as_bytes(), b"x"));
            _ = store.consider(&entry(format!("dir/d{n}").as_bytes(), Kind::Directory));
        }
        done.store(true, Ordering::Relaxed);
    });
    pair.assert_canary();
}

#[test]
fn a_directory_takes_the_place_of_a_file_and_gives_way_to_nothing() {
    let pair = Pair::new();
    let store = pair.store();
    assert!(stored(&store, b"a", b"file").is_ok());
    assert!(stored(&store, b"a/b", b"below").is_ok());
    assert_eq!(std::fs::read(pair.to().join("a/b")).expect("it is there"), b"below");
    assert!(stored(&store, b"c", b"file").is_ok());
    assert!(matches!(store.consider(&entry(b"c", Kind::Directory)), Ok(Verdict::Made(_))));
    assert!(stored(&store, b"d/x", b"file").is_ok());
    assert!(matches!(stored(&store, b"d", b"file"), Err(Why::Occupied(_))));
    #[cfg(unix)]
    assert!(matches!(store.consider(&link(b"d", b"a")), Err(Why::Occupied(_))));
    assert_eq!(std::fs::read(pair.to().join("d/x")).expect("it is there"), b"file");
}

#[test]
fn files_that_arrive_together_make_a_directory_of_the_same_file_and_one_keeps_it_in_the_backups() {
    const TOGETHER: usize = 4;
    let pair = Pair::new();
    let mut options = StoreOptions::default();
    options.allow = Allow::all();
    let store = Store::open(&pair.to(), options).expect("a store");
    let backup = Some(EntryPath(b"old".to_vec()));
    let store = store.for_job(Wishes { backup, ..Wishes::default() }).expect("a job");
    let begin = std::sync::Barrier::new(TOGETHER);
    for round in 0..200 {
        let name = format!("d{round}");
        std::fs::write(pair.to().join(&name), &name).expect("a file");
        std::thread::scope(|scope| {
            for one in 0..TOGETHER {
                let (name, store, begin) = (&name, &store, &begin);
                scope.spawn(move || {
                    begin.wait();
                    let kept = stored(store, format!("{name}/{one}").as_bytes(), b"below");
                    assert!(kept.is_ok(), "{name}/{one}: {kept:?}");
                });
            }
        });
        assert_eq!(std::fs::read_dir(pair.to().join(&name)).expect("a directory").count(), TOGETHER);
        assert_eq!(std::fs::read_to_string(pair.to().join("old").join(&name)).expect("a backup"), name);
    }
}

#[cfg(unix)]
#[test]
fn links_are_kept_replaced_and_left_alone_when_they_are_right() {
    let pair = Pair::new();
    let store = pair.store();
    let read = || std::fs::read_link(pair.to().join("l")).expect("a link");
    let mut first = link(b"l", b"one");
    first.mtime = Mtime { seconds: 1_000_000_000, nanos: 7 };
    assert!(matches!(store.consider(&first), Ok(Verdict::Made(Kept::All))));
    assert_eq!(read().as_os_str(), "one");
    let metadata = pair.to().join("l").symlink_metadata().expect("metadata");
    assert_eq!(
        metadata.modified().ok(),
        Some(std::time::UNIX_EPOCH + std::time::Duration::new(1_000_000_000, 7))
    );
    assert!(matches!(store.consider(&link(b"l", b"two")), Ok(Verdict::Made(Kept::All))));
    assert_eq!(read().as_os_str(), "two");
    let inode =
        || std::os::unix::fs::MetadataExt::ino(&pair.to().join("l").symlink_metadata().expect("metadata"));
    let before = inode();
    assert!(matches!(store.consider(&link(b"l", b"two")), Ok(Verdict::Have(Kept::All))));
    assert_eq!(inode(), before);
    assert!(stored(&store, b"f", b"file").is_ok());
    assert!(matches!(store.consider(&link(b"f", b"l")), Ok(Verdict::Made(Kept::All))));
    assert!(pair.to().join("f").is_symlink());
    assert!(!pair.to().join(".afteryou").exists());
}

#[test]
fn no_flipped_byte_ever_gets_a_name() {
    let pair = Pair::new();
    let store = pair.store();
    // Small: every byte.
    let (offered, encoded) = file(b"small", &content(1500, 1));
    for at in 0..encoded.len() {
        let Ok(Verdict::Want(reception)) = store.consider(&offered) else { panic!("wanted") };
        let mut bad = encoded.clone();
        bad[at] ^= 1 << (at % 8);
        assert_eq!(reception.receive(&bad[..], &mut |_, _| {}), Err(Why::Mismatch), "byte {at}");
        assert!(!pair.to().join("small").exists());
        assert_eq!(pair.leftovers(), Vec::<String>::new());
    }
    // Large: some.
    let (offered, encoded) = file(b"large", &content(40 * GROUP + 9, 2));
    for n in 0..200_usize {
        let Ok(Verdict::Want(reception)) = store.consider(&offered) else { panic!("wanted") };
        let mut bad = encoded.clone();
        let at = if n < 64 { n } else { n * 7919 % bad.len() };
        bad[at] ^= 1 << (n % 8);
        assert_eq!(reception.receive(&bad[..], &mut |_, _| {}), Err(Why::Mismatch), "byte {at}");
        assert!(!pair.to().join("large").exists());
        _ = std::fs::remove_dir_all(pair.to().join(".afteryou"));
    }
}

#[test]
fn a_size_that_is_not_the_roots_is_found_out() {
    let pair = Pair::new();
    let store = pair.store();
    let bytes = content(5 * GROUP, 1);
    let (offered, encoded) = file(b"file", &bytes);
    let Kind::File { root, .. } = offered.kind else { panic!("a file") };
    for size in [0, 1, 5 * GROUP_BYTES - 1, 5 * GROUP_BYTES + 1, 6 * GROUP_BYTES, 1 << 50, 1 << 56] {
        let lie = Entry { kind: Kind::File { size, root }, ..offered.clone() };
        let Ok(Verdict::Want(reception)) = store.consider(&lie) else { panic!("wanted") };
        assert!(reception.receive(&encoded[..], &mut |_, _| {}).is_err(), "{size}");
        assert!(!pair.to().join("file").exists());
    }
    for size in [(1 << 56) + 1, u64::MAX] {
        refused(&store, &Entry { kind: Kind::File { size, root }, ..offered.clone() });
    }
}

fn path() -> impl Strategy<Value = Vec<u8>> {
    let component = prop_oneof![
        4 => prop::sample::select(vec![&b"a"[..], b"b", b"l", b"..", b".", b"", b".afteryou", b"beside", b"canary"])
            .prop_map(<[u8]>::to_vec),
        1 => prop::collection::vec(any::<u8>(), 0..20),
    ];
    let path = prop::collection::vec(component, 0..5).prop_map(|components| components.join(&b'/'));
    (path, prop::bool::weighted(0.1)).prop_map(|(path, absolute)| match absolute {
        true => [&b"/"[..], &path].concat(),
        false => path,
    })
}

/// Returns a hard link to `first` under `path`, as a sender offers it that has the content.
#[cfg(unix)]
fn named_again(path: &[u8], first: &[u8], bytes: &[u8]) -> Entry {
    Entry { link: Some(EntryPath(first.to_vec())), ..file(path, bytes).0 }
}

#[cfg(unix)]
#[test]
fn a_hard_link_names_nothing_outside_and_nothing_through_a_symbolic_link() {
    use std::os::unix::fs::{symlink, MetadataExt};
    let pair = Pair::new();
    let store = pair.store();
    let canary = pair.base.path().join("beside/canary");
    for first in
        [&b"../beside/canary"[..], b"/etc/passwd", b"a/../../beside/canary", b".afteryou/x", b"", b"a\0"]
    {
        assert!(refused(&store, &named_again(b"new", first, b"untouched")).contains("is refused"));
    }
    // Links of the receiver's own user.
    symlink("../beside", pair.to().join("way")).expect("a link");
    symlink("../beside/canary", pair.to().join("name")).expect("a link");
    std::fs::write(pair.to().join("real"), b"untouched").expect("a file");
    symlink("real", pair.to().join("inside")).expect("a link");
    for first in [&b"way/canary"[..], b"name", b"inside", b"nothing", b"real/x"] {
        let verdict = store.consider(&named_again(b"new", first, b"untouched"));
        assert!(matches!(verdict, Ok(Verdict::Want(_))), "{verdict:?}: an offer like any other");
    }
    // The place of the link, too.
    let verdict = store.consider(&named_again(b"way/new", b"real", b"untouched"));
    assert!(matches!(verdict, Err(Why::Refused(_))), "{verdict:?}");
    // Another content under the first name.
    let verdict = store.consider(&named_again(b"new", b"real", b"UNTOUCHED"));
    assert!(matches!(verdict, Ok(Verdict::Want(_))), "{verdict:?}");
    drop(verdict);
    assert!(!pair.to().join("new").exists());
    let verdict = store.consider(&named_again(b"new", b"real", b"untouched"));
    assert!(matches!(verdict, Ok(Verdict::Made(Kept::All))), "{verdict:?}");
    let inode = |path: &std::path::Path| path.metadata().expect("metadata").ino();
    assert_eq!(inode(&pair.to().join("new")), inode(&pair.to().join("real")));
    assert_eq!(canary.metadata().expect("metadata").nlink(), 1);
    pair.assert_canary();
}

/// What takes the first name after it was looked at is not linked.
#[cfg(target_os = "linux")]
#[test]
fn a_first_name_that_is_exchanged_all_the_time_links_nothing_else() {
    use rustix::fs::{renameat_with, RenameFlags, CWD};
    use std::sync::atomic::{AtomicBool, Ordering};
    let pair = Pair::new();
    let (first, other) = (pair.to().join("first"), pair.to().join("other"));
    std::fs::write(&first, b"asked for").expect("a file");
    std::fs::write(&other, b"something").expect("a file");
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                renameat_with(CWD, &first, CWD, &other, RenameFlags::EXCHANGE).expect("exchanges");
            }
        });
        let (mut made, mut not) = (0, 0);
        let give_up = std::time::Instant::now() + std::time::Duration::from_secs(20);
        while (made < 50 || not < 50) && std::time::Instant::now() < give_up {
            let verdict = pair.store().consider(&named_again(b"new", b"first", b"asked for"));
            if matches!(verdict, Ok(Verdict::Made(_) | Verdict::Have(_))) {
                assert_eq!(std::fs::read(pair.to().join("new")).expect("a file"), b"asked for");
                made += 1;
            } else {
                not += 1;
            }
            drop(verdict);
            _ = std::fs::remove_file(pair.to().join("new"));
        }
        done.store(true, Ordering::Relaxed);
        assert!(made >= 50 && not >= 50, "nothing was tried: {made} made, {not} not");
    });
}

#[cfg(target_os = "linux")]
#[test]
fn owners_and_attributes_that_the_job_does_not_ask_for_are_refused() {
    let pair = Pair::new();
    let mut all = StoreOptions::default();
    all.allow = Allow::all();
    let store = Store::open(&pair.to(), all).expect("a store");
    let account = || Account { number: 0, name: None };
    let owner = || Some(Owner { user: account(), group: account() });
    let xattr = |name: &[u8]| vec![Xattr { name: name.to_vec(), value: b"x".to_vec() }];
    let offers = [
        Extras { owner: owner(), ..Extras::default() },
        Extras { xattrs: xattr(b"user.a"), ..Extras::default() },
        Extras { xattrs: xattr(b"system.posix_acl_access"), ..Extras::default() },
        Extras { xattrs: xattr(b"security.capability"), ..Extras::default() },
        Extras { xattrs: xattr(b"trusted.a"), ..Extras::default() },
    ];
    // Each job asks for something that the offer is not, the last two for all there is.
    let nothing = Keep::default();
    let everything = Keep { owner: None, xattrs: true, acls: true };
    let jobs = [
        everything,
        Keep { acls: true, ..nothing },
        Keep { xattrs: true, ..nothing },
        everything,
        everything,
    ];
    for (extras, keep) in offers.into_iter().zip(jobs) {
        let job = store.for_job(Wishes { keep, ..Wishes::default() }).expect("allowed");
        for kind in [Kind::Directory, Kind::Symlink { target: b"a".to_vec() }, file(b"f", b"f").0.kind] {
            let offered = Entry { extras: Some(Box::new(extras.clone())), ..entry(b"new", kind) };
            assert!(refused(&job, &offered).contains("was not asked for"));
            assert!(refused(&store, &offered).contains("was not asked for"));
        }
    }
    assert_eq!(tree(&pair.to()).len(), 0);
}

fn any_entry() -> impl Strategy<Value = Entry> {
    let size = prop_oneof![0..100_000_u64, any::<u64>()];
    let kind = prop_oneof![
        3 => (size, any::<bool>(), any::<[u8; 32]>()).prop_map(|(size, empty, root)| Kind::File {
            size: if empty { 0 } else { size },
            root: if empty { *blake3::hash(b"").as_bytes() } else { root },
        }),
        1 => Just(Kind::Directory),
        3 => path().prop_map(|target| Kind::Symlink { target }),
    ];
    let mode = prop::option::of(any::<u32>());
    let time = (any::<i64>(), any::<u32>());
    let link = prop::option::weighted(0.3, path().prop_map(EntryPath));
    (path(), kind, mode, time, link).prop_map(|(path, kind, mode, (seconds, nanos), link)| Entry {
        path: EntryPath(path),
        kind,
        // The test must be able to look and to clean up.
        mode: mode.map(|mode| mode | 0o700),
        mtime: Mtime { seconds, nanos },
        link,
        extras: None,
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_comes_nothing_panics_and_nothing_outside_changes(
        sequence in prop::collection::vec((any_entry(), prop::collection::vec(any::<u8>(), 0..2000)), 1..24),
    ) {
        let pair = Pair::new();
        let store = pair.store();
        for (entry, encoded) in &sequence {
            if let Ok(Verdict::Want(reception)) = store.consider(entry) {
                _ = reception.receive(&encoded[..], &mut |_, _| {});
            }
        }
        pair.assert_canary();
        // Whatever is a link now leads to something inside, or to nothing.
        let root = pair.to().canonicalize().expect("it is there");
        for name in tree(&pair.to()).keys() {
            let path = pair.to().join(name);
            if let (true, Ok(real)) = (path.is_symlink(), path.canonicalize()) {
                prop_assert!(real.starts_with(&root), "{:?} leads to {:?}", path, real);
            }
        }
    }
}

#[cfg(target_os = "linux")]
fn any_extras() -> impl Strategy<Value = Extras> {
    let name = prop_oneof![
        3 => "user\\.[a-z]{0,8}".prop_map(String::into_bytes),
        1 => prop::sample::select(vec![
            "security.capability", "security.a", "trusted.a", "system.posix_acl_access", "system.posix_acl_default", "system.a",
        ])
        .prop_map(|name| name.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..20),
    ];
    let value = prop::collection::vec(any::<u8>(), 0..60);
    let xattr = (name, value).prop_map(|(name, value)| Xattr { name, value });
    let xattrs = prop::collection::vec(xattr, 0..3);
    (xattrs, prop::option::weighted(0.1, any::<String>())).prop_map(|(xattrs, lacking)| Extras {
        owner: None,
        xattrs,
        lacking,
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[cfg(target_os = "linux")]
    #[test]
    fn whatever_attributes_come_no_other_than_those_of_the_job_are_set(
        sequence in prop::collection::vec((any_entry(), any_extras()), 1..12),
    ) {
        let pair = Pair::new();
        let mut all = StoreOptions::default();
        all.allow = Allow::all();
        let keep = Keep { owner: None, xattrs: true, acls: true };
        let store = Store::open(&pair.to(), all).expect("a store");
        let store = store.for_job(Wishes { keep, ..Wishes::default() }).expect("allowed");
        for (entry, extras) in sequence {
            _ = store.consider(&Entry { extras: Some(Box::new(extras)), ..entry });
        }
        pair.assert_canary();
        for name in tree(&pair.to()).keys() {
            let names = xattr::list(pair.to().join(name)).into_iter().flatten();
            for attribute in names.map(|name| name.to_string_lossy().into_owned()) {
                let is_asked_for = attribute.starts_with("user.") || attribute.starts_with("system.posix_acl_");
                prop_assert!(is_asked_for || attribute == "security.selinux", "{attribute} of {name:?}");
            }
        }
    }
}
