//! Owners, extended attributes and access lists.

use super::support::{options, Events, Far};
use crate::disk::common::Pair;
use afteryou_transfer::event::{Event, Outcome};
use afteryou_transfer::extras::{Keep, Naming, MAX_XATTRS};
use afteryou_transfer::job::{get, send, JobOptions, Service, Summary};
use afteryou_transfer::source::{Source, SourceOptions};
use afteryou_transfer::store::{Allow, Store, StoreOptions};
use afteryou_transfer::wire::{Change, Wishes};
use std::fs::Permissions;
use std::os::unix::fs::{chown, lchown, symlink, MetadataExt, PermissionsExt};
use std::path::Path;

const OWNER: Keep = Keep { owner: Some(Naming::Numbers), xattrs: false, acls: false };
const XATTRS: Keep = Keep { owner: None, xattrs: true, acls: false };
const ACLS: Keep = Keep { owner: None, xattrs: false, acls: true };
const ALL: Keep = Keep { owner: Some(Naming::Names), xattrs: true, acls: true };

fn is_root(pair: &Pair) -> bool {
    let is_root = pair.from().metadata().unwrap().uid() == 0;
    if !is_root {
        println!("SKIPPED: needs root");
    }
    is_root
}

fn allowing_all(pair: &Pair) -> Store {
    let mut all = StoreOptions::default();
    all.allow = Allow::all();
    Store::open(&pair.to(), all).unwrap()
}

async fn push(pair: &Pair, keep: Keep, dry_run: bool) -> (Events, Summary) {
    let far = Far::start(Service::Receive(allowing_all(pair)));
    let mut source = SourceOptions::default();
    source.keep = keep;
    let source = Source::of(&[pair.from().join("home")], source).unwrap();
    let (events, job) = options();
    let wishes = Wishes { dry_run, ..Wishes::default() };
    let summary = send(far.dialer(), source, JobOptions { wishes, ..job }).await.unwrap();
    far.stop().await;
    assert_eq!(summary.failed, 0, "{:?}", events.all());
    (events, summary)
}

async fn pull(pair: &Pair, keep: Keep) -> Summary {
    let far = Far::serve(pair);
    let wishes = Wishes { keep, ..Wishes::default() };
    let job = JobOptions { wishes, ..options().1 };
    let summary = get(far.dialer(), b"home".to_vec(), allowing_all(pair), job).await.unwrap();
    far.stop().await;
    summary
}

fn would_adjust(events: &Events) -> Vec<String> {
    let adjusted = |event| match event {
        Event::File { path, outcome: Outcome::Would(Change::Adjust) } => Some(path),
        _ => None,
    };
    // Offers are considered side by side, so their answers come in any order.
    let mut paths: Vec<_> = events.all().into_iter().filter_map(adjusted).collect();
    paths.sort();
    paths
}

/// Makes a directory with two names of a file, a link, and a file that nobody may write.
fn home() -> Pair {
    let pair = Pair::new();
    pair.write("home/sub/file", b"content");
    pair.write("home/read-only", b"more");
    std::fs::hard_link(pair.from().join("home/sub/file"), pair.from().join("home/second")).unwrap();
    symlink("sub/file", pair.from().join("home/link")).unwrap();
    std::fs::set_permissions(pair.from().join("home/read-only"), Permissions::from_mode(0o444)).unwrap();
    pair
}

const ENTRIES: [&str; 6] =
    ["home", "home/sub", "home/sub/file", "home/second", "home/link", "home/read-only"];

fn owner(path: &Path) -> (u32, u32) {
    let metadata = path.symlink_metadata().unwrap();
    (metadata.uid(), metadata.gid())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn owners_arrive_by_number_for_every_kind_of_entry() {
    let pair = home();
    if !is_root(&pair) {
        return;
    }
    let expected = |index: usize| (4000 + index as u32, 5000 + index as u32);
    let give = || {
        for (index, name) in ENTRIES.iter().enumerate() {
            let (user, group) = expected(index);
            lchown(pair.from().join(name), Some(user), Some(group)).unwrap();
        }
    };
    give();
    push(&pair, OWNER, false).await;
    let same = || {
        let differs = |name: &&&str| owner(&pair.from().join(name)) != owner(&pair.to().join(name));
        assert_eq!(ENTRIES.iter().filter(differs).collect::<Vec<_>>(), Vec::<&&str>::new());
    };
    same();
    let mode = pair.to().join("home/read-only").metadata().unwrap().mode();
    assert_eq!(mode & 0o777, 0o444);

    lchown(pair.from().join("home/link"), Some(1), Some(1)).unwrap();
    chown(pair.from().join("home/read-only"), Some(1), Some(1)).unwrap();
    let (events, _) = push(&pair, OWNER, true).await;
    assert_eq!(would_adjust(&events), ["home/link", "home/read-only"]);
    assert_eq!(pull(&pair, OWNER).await.failed, 0);
    same();
    let (events, _) = push(&pair, OWNER, true).await;
    assert_eq!(would_adjust(&events), Vec::<String>::new());

    // Without the option they stay as they are.
    chown(pair.from().join("home/sub/file"), Some(2), Some(2)).unwrap();
    let before = owner(&pair.to().join("home/sub/file"));
    push(&pair, Keep::default(), false).await;
    assert_eq!(owner(&pair.to().join("home/sub/file")), before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn extended_attributes_become_those_of_the_source_and_those_that_give_rights_never_travel() {
    let pair = home();
    let set =
        |name: &str, attribute: &str, value: &[u8]| xattr::set(pair.from().join(name), attribute, value);
    if set("home/sub/file", "user.a", b"\0\xFF").is_err() {
        return println!("SKIPPED: this file system has no extended attributes");
    }
    set("home/sub", "user.directory", b"").unwrap();
    std::fs::set_permissions(pair.from().join("home/read-only"), Permissions::from_mode(0o644)).unwrap();
    set("home/read-only", "user.b", &[7; 1000]).unwrap();
    std::fs::set_permissions(pair.from().join("home/read-only"), Permissions::from_mode(0o444)).unwrap();
    if is_root(&pair) {
        set("home/sub/file", "trusted.afteryou", b"rights").unwrap();
        set("home/sub/file", "security.afteryou", b"rights").unwrap();
    }
    let there = |name: &str| {
        let path = pair.to().join(name);
        let names = xattr::list(&path).unwrap().map(|name| name.into_string().unwrap());
        let mut names: Vec<_> = names.filter(|name| name != "security.selinux").collect();
        names.sort();
        names
    };
    push(&pair, ALL_BUT_OWNER, false).await;
    assert_eq!(there("home/sub/file"), ["user.a"]);
    assert_eq!(xattr::get(pair.to().join("home/second"), "user.a").unwrap(), Some(b"\0\xFF".to_vec()));
    assert_eq!(there("home/sub"), ["user.directory"]);
    assert_eq!(xattr::get(pair.to().join("home/read-only"), "user.b").unwrap(), Some(vec![7; 1000]));

    // Another one at the receiver is removed, and so is one that the source lost; a dry run announces it.
    xattr::set(pair.to().join("home/sub/file"), "user.old", b"x").unwrap();
    xattr::remove(pair.from().join("home/sub"), "user.directory").unwrap();
    let (events, _) = push(&pair, XATTRS, true).await;
    assert_eq!(would_adjust(&events), ["home/second", "home/sub", "home/sub/file"]);
    assert_eq!(pull(&pair, XATTRS).await.failed, 0);
    assert_eq!((there("home/sub/file"), there("home/sub")), (vec!["user.a".to_owned()], vec![]));
    let mode = pair.to().join("home/read-only").metadata().unwrap().mode();
    assert_eq!(mode & 0o777, 0o444);

    // Without the option they stay as they are.
    xattr::set(pair.to().join("home/sub/file"), "user.mine", b"x").unwrap();
    push(&pair, Keep::default(), false).await;
    assert_eq!(there("home/sub/file"), ["user.a", "user.mine"]);
}

const ALL_BUT_OWNER: Keep = Keep { owner: None, ..ALL };

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn more_attributes_than_a_message_takes_are_named_and_the_file_is_stored() {
    let pair = home();
    let set = |attribute: &str| xattr::set(pair.from().join("home/sub"), attribute, &[1; 3000]);
    let mut count = 0;
    while count * 3000 <= MAX_XATTRS && set(&format!("user.{count}")).is_ok() {
        count += 1;
    }
    if count * 3000 <= MAX_XATTRS {
        return println!("SKIPPED: this file system has no room for the extended attributes");
    }
    let (events, summary) = push(&pair, XATTRS, false).await;
    assert_eq!(summary.incomplete, 1);
    let named = events.all().into_iter().any(|event| match event {
        Event::File { path, outcome: Outcome::Incomplete(reason) } => {
            path == "home/sub" && reason.contains("more than 16384 bytes")
        }
        _ => false,
    });
    assert!(named, "{:?}", events.all());
}

/// Returns the kernel's form: version 2, then tag, rights and number of each entry.
fn access_list(entries: &[(u16, u16, u32)]) -> Vec<u8> {
    let mut bytes = 2_u32.to_le_bytes().to_vec();
    for (tag, rights, number) in entries {
        bytes.extend(tag.to_le_bytes());
        bytes.extend(rights.to_le_bytes());
        bytes.extend(number.to_le_bytes());
    }
    bytes
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn access_lists_arrive_and_go_with_those_of_the_source() {
    const NOBODY: u32 = u32::MAX;
    let pair = home();
    // Owner rw, user 4711 rwx, group r, mask rwx, others nothing.
    let list = access_list(&[(1, 6, NOBODY), (2, 7, 4711), (4, 4, NOBODY), (16, 7, NOBODY), (32, 0, NOBODY)]);
    let (access, default) = ("system.posix_acl_access", "system.posix_acl_default");
    if xattr::set(pair.from().join("home/sub/file"), access, &list).is_err() {
        return println!("SKIPPED: this file system has no access lists");
    }
    xattr::set(pair.from().join("home/sub"), default, &list).unwrap();
    push(&pair, ACLS, false).await;
    let there = |name: &str, attribute| xattr::get(pair.to().join(name), attribute).unwrap();
    assert_eq!(there("home/sub/file", access), Some(list.clone()));
    assert_eq!(there("home/second", access), Some(list.clone()));
    assert_eq!(there("home/sub", default), Some(list.clone()));
    let mode = |at: &Path| at.metadata().unwrap().mode() & 0o777;
    assert_eq!(mode(&pair.to().join("home/sub/file")), mode(&pair.from().join("home/sub/file")));
    assert_eq!(mode(&pair.to().join("home/sub/file")), 0o670);

    // A file that is new in this directory inherits a list at the receiver, and has none at the source.
    xattr::remove(pair.from().join("home/sub/file"), access).unwrap();
    xattr::remove(pair.from().join("home/sub"), default).unwrap();
    pair.write("home/sub/new", b"new");
    push(&pair, ACLS, false).await;
    assert_eq!(there("home/sub/file", access), None);
    assert_eq!(there("home/sub/new", access), None);
    assert_eq!(there("home/sub", default), None);
    assert_eq!(mode(&pair.to().join("home/sub/file")), mode(&pair.from().join("home/sub/file")));
}
