//! Files with several names.

use super::support::{options, Events, Far};
use crate::alone;
use crate::disk::common::{content, names, Pair};
use afteryou_transfer::entry::EntryPath;
use afteryou_transfer::event::{Event, Outcome};
use afteryou_transfer::job::{get, send, JobOptions, Service, Summary};
use afteryou_transfer::pace::{Limit, Owner};
use afteryou_transfer::source::{Source, SourceOptions};
use afteryou_transfer::store::{Allow, Store, StoreOptions};
use afteryou_transfer::wire::{Change, Wishes};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

const SIZE: usize = 300_000;

fn link(pair: &Pair, first: &str, second: &str) {
    let second = pair.from().join(second);
    std::fs::create_dir_all(second.parent().unwrap()).unwrap();
    std::fs::hard_link(pair.from().join(first), second).unwrap();
}

fn inode(path: PathBuf) -> u64 {
    std::fs::metadata(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display())).ino()
}

fn assert_one_file(dir: &Path, names: &[&str]) {
    let inodes: Vec<_> = names.iter().map(|name| inode(dir.join(name))).collect();
    assert!(inodes.iter().all(|one| *one == inodes[0]), "{names:?} are {inodes:?}");
}

/// Makes `photos/a`, `photos/b` and `photos/sub/c` one file, and `photos/other` another.
fn linked() -> Pair {
    let pair = Pair::new();
    pair.write("photos/a", &content(SIZE, 1));
    pair.write("photos/other", &content(SIZE, 2));
    link(&pair, "photos/a", "photos/b");
    link(&pair, "photos/a", "photos/sub/c");
    pair
}

const NAMES: [&str; 3] = ["photos/a", "photos/b", "photos/sub/c"];

async fn push(pair: &Pair, wishes: Wishes) -> (Events, Summary) {
    let mut all = StoreOptions::default();
    all.allow = Allow::all();
    let far = Far::start(Service::Receive(Store::open(&pair.to(), all).unwrap()));
    let source = Source::of(&[pair.from().join("photos")], SourceOptions::default()).unwrap();
    let (events, job) = options();
    let summary = send(far.dialer(), source, JobOptions { wishes, ..job }).await.unwrap();
    far.stop().await;
    assert_eq!(summary.failed, 0, "{:?}", events.all());
    (events, summary)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn second_names_arrive_as_links_and_their_content_travels_once() {
    let pair = linked();
    let (events, summary) = push(&pair, Wishes::default()).await;
    pair.assert_same();
    assert_one_file(&pair.to(), &NAMES);
    assert_eq!((summary.stored_files, summary.stored), (4, 6), "two directories, too");
    assert_eq!(summary.bytes_moved, 2 * SIZE as u64);
    let planned = events.all().into_iter().find_map(|event| match event {
        Event::Plan { bytes, .. } => Some(bytes),
        _ => None,
    });
    assert_eq!(planned, Some(2 * SIZE as u64));
    assert_eq!(pair.leftovers(), Vec::<String>::new());

    let (_, again) = push(&pair, Wishes::default()).await;
    assert_eq!((again.stored, again.bytes_moved, again.incomplete), (0, 0, 0));
    assert_one_file(&pair.to(), &NAMES);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_get_over_several_connections_keeps_links_too() {
    let pair = linked();
    for number in 0..200 {
        link(&pair, "photos/a", &format!("photos/many/{number}"));
        link(&pair, "photos/other", &format!("photos/others/{number}"));
    }
    let far = Far::serve(&pair);
    let job = JobOptions { connections: 4, ..options().1 };
    let summary = get(far.dialer(), b"photos".to_vec(), pair.store(), job).await.unwrap();
    far.stop().await;
    assert_eq!((summary.failed, summary.incomplete, summary.bytes_moved), (0, 0, 2 * SIZE as u64));
    pair.assert_same();
    assert_one_file(&pair.to(), &NAMES);
    assert_one_file(&pair.to(), &["photos/other", "photos/others/0", "photos/others/199"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_of_the_file_costs_its_difference_once_and_reaches_every_name() {
    let pair = linked();
    push(&pair, Wishes::default()).await;
    let changed = [content(SIZE, 1), content(20_000, 3)].concat();
    std::fs::write(pair.from().join("photos/b"), &changed).unwrap();
    let (_, summary) = push(&pair, Wishes::default()).await;
    assert!(summary.bytes_moved < 60_000, "{}", summary.bytes_moved);
    pair.assert_same();
    assert_one_file(&pair.to(), &NAMES);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn names_that_were_copies_become_one_file_and_a_split_name_with_other_content_its_own() {
    let pair = linked();
    for name in NAMES {
        let path = pair.to().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content(SIZE, 1)).unwrap();
    }
    let wishes = Wishes { dry_run: true, ..Wishes::default() };
    let (events, _) = push(&pair, wishes).await;
    let would = |change: Change, name: &str| {
        let one = Event::File { path: name.into(), outcome: Outcome::Would(change) };
        assert!(events.all().contains(&one), "{one:?} in {:?}", events.all());
    };
    would(Change::Replace, "photos/b");
    would(Change::Create, "photos/other");
    push(&pair, Wishes::default()).await;
    assert_one_file(&pair.to(), &NAMES);

    std::fs::remove_file(pair.from().join("photos/b")).unwrap();
    pair.write("photos/b", &content(SIZE, 9));
    push(&pair, Wishes::default()).await;
    pair.assert_same();
    assert_one_file(&pair.to(), &["photos/a", "photos/sub/c"]);
    assert_ne!(inode(pair.to().join("photos/a")), inode(pair.to().join("photos/b")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_mirror_removes_one_name_and_backups_keep_what_a_link_replaces() {
    let pair = linked();
    push(&pair, Wishes::default()).await;
    std::fs::remove_file(pair.from().join("photos/a")).unwrap();
    std::fs::remove_file(pair.to().join("photos/b")).unwrap();
    std::fs::write(pair.to().join("photos/b"), "before").unwrap();
    let backup = Some(EntryPath(b"old".to_vec()));
    let (_, summary) = push(&pair, Wishes { delete: true, backup, ..Wishes::default() }).await;
    assert_eq!((summary.removed, summary.incomplete), (1, 0));
    assert_eq!(names(&pair.to().join("photos")), ["b", "other", "sub"]);
    assert_one_file(&pair.to(), &["photos/b", "photos/sub/c"]);
    assert_eq!(names(&pair.to().join("old/photos")), ["a", "b", "sub"]);
    assert_eq!(std::fs::read(pair.to().join("old/photos/b")).unwrap(), b"before");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_receiver_that_is_restarted_in_the_middle_links_to_what_it_had() {
    let pair = linked();
    pair.write("photos/middle", &content(3_000_000, 5));
    link(&pair, "photos/a", "photos/zz");
    let far = Far::receive(&pair);
    let source = Source::of(&[pair.from().join("photos")], SourceOptions::default()).unwrap();
    let (events, job) = options();
    let pace = job.pace.clone();
    pace.set(Owner::User, Limit { max_rate: Some(1_500_000), paused: false });
    let job = send(far.dialer(), source, job);
    let restart = async {
        events.until_moved(1_000_000).await;
        let far = far.restart(Service::Receive(pair.store())).await;
        pace.set(Owner::User, Limit { max_rate: None, paused: false });
        far
    };
    let (summary, far) = tokio::join!(job, restart);
    far.stop().await;
    let summary = summary.unwrap();
    assert_eq!((summary.failed, summary.incomplete), (0, 0), "{:?}", events.all());
    pair.assert_same();
    assert_one_file(&pair.to(), &["photos/a", "photos/b", "photos/sub/c", "photos/zz"]);
    assert_eq!(pair.leftovers(), Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_first_name_that_the_receiver_has_in_a_newer_version_leaves_a_file_of_its_own_and_a_note() {
    let pair = linked();
    std::fs::create_dir(pair.to().join("photos")).unwrap();
    std::fs::write(pair.to().join("photos/a"), "newer").unwrap();
    let source = std::fs::File::options().write(true).open(pair.from().join("photos/a")).unwrap();
    source.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
    let (events, summary) = push(&pair, Wishes { update: true, ..Wishes::default() }).await;
    assert_eq!(std::fs::read(pair.to().join("photos/a")).unwrap(), b"newer");
    assert_eq!(std::fs::read(pair.to().join("photos/b")).unwrap(), content(SIZE, 1));
    assert_eq!(summary.incomplete, 2);
    assert!(notes(&events).iter().all(|note| note.contains("\"photos/a\" has another content")));
}

fn notes(events: &Events) -> Vec<String> {
    let note = |event: Event| match event {
        Event::File { outcome: Outcome::Incomplete(reason), .. } => Some(reason),
        _ => None,
    };
    events.all().into_iter().filter_map(note).collect()
}

async fn link_to_a_file_of_another_mount(base: PathBuf) {
    let pair = linked();
    let store = Store::open(&base.join("to"), StoreOptions::default()).unwrap();
    let far = Far::start(Service::Receive(store));
    let (events, job) = options();
    let source = Source::of(&[pair.from().join("photos")], SourceOptions::default()).unwrap();
    let summary = send(far.dialer(), source, job).await.unwrap();
    far.stop().await;
    assert_eq!((summary.failed, summary.incomplete), (0, 2), "{:?}", events.all());
    assert_eq!(summary.bytes_moved, SIZE as u64, "the copies are made at the receiver");
    for (name, note) in ["photos/b", "photos/sub/c"].iter().zip(notes(&events)) {
        assert!(note.contains("is a copy here and no hard link to \"photos/a\""), "{note}");
        let copy = base.join("to").join(name);
        assert_eq!(std::fs::read(&copy).unwrap(), content(SIZE, 1));
        assert_ne!(inode(copy), inode(base.join("to/photos/a")));
    }
    assert_eq!(names(&base.join("to/.afteryou")), Vec::<String>::new());
    std::fs::write(base.join("done"), b"").unwrap();
}

/// A file that another one is mounted on cannot be linked.
#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_no_link_can_be_made_there_is_a_copy_and_a_note() {
    if let Some(base) = alone::part() {
        return link_to_a_file_of_another_mount(base.into()).await;
    }
    let base = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(base.path().join("to/photos")).unwrap();
    std::fs::write(base.path().join("first"), content(SIZE, 1)).unwrap();
    std::fs::write(base.path().join("to/photos/a"), b"").unwrap();
    let test = "jobs::hard_links::where_no_link_can_be_made_there_is_a_copy_and_a_note";
    let script = "mount --bind \"$BASE/first\" \"$BASE/to/photos/a\" && exec \"$0\" \"$@\"";
    alone::on_a_mount_of_its_own(script, test, base.path());
}
