//! Jobs that leave out, look only, keep backups, or remove what was not sent.

use super::support::{options, Events, Far};
use crate::disk::common::{names, Pair};
use afteryou_transfer::entry::EntryPath;
use afteryou_transfer::event::{Event, Outcome};
use afteryou_transfer::extras::{Keep, Naming};
use afteryou_transfer::filter::Filter;
use afteryou_transfer::job::{get, send, JobOptions, Service, Summary};
use afteryou_transfer::source::{Source, SourceOptions, Symlinks};
use afteryou_transfer::store::{Allow, Store, StoreOptions};
use afteryou_transfer::wire::{Change, Wishes};
use afteryou_transfer::Error;
use std::collections::BTreeSet;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::{Duration, SystemTime};

pub fn filter(patterns: &[&str]) -> Filter {
    Filter::new(patterns.iter().collect(), 0).unwrap()
}

pub fn excluding(patterns: &[&str]) -> SourceOptions {
    let mut options = SourceOptions::default();
    options.exclude = filter(patterns);
    options
}

pub fn allowing(pair: &Pair, allow: Allow) -> Store {
    let mut options = StoreOptions::default();
    options.allow = allow;
    Store::open(&pair.to(), options).unwrap()
}

fn path(text: &str) -> EntryPath {
    EntryPath(text.as_bytes().to_vec())
}

/// Sends the directory `from/photos`.
pub async fn push(pair: &Pair, wishes: Wishes, source: SourceOptions) -> (Events, Result<Summary, Error>) {
    let far = Far::start(Service::Receive(allowing(pair, Allow::all())));
    let source = Source::of(&[pair.from().join("photos")], source).unwrap();
    let (events, job) = options();
    let result = send(far.dialer(), source, JobOptions { wishes, ..job }).await;
    far.stop().await;
    (events, result)
}

fn outcomes(events: &Events, of: impl Fn(&Outcome) -> bool) -> BTreeSet<String> {
    let file = |event: Event| match event {
        Event::File { path, outcome } if of(&outcome) => Some(path),
        _ => None,
    };
    events.all().into_iter().filter_map(file).collect()
}

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

fn put(at: &Path, content: &str) {
    std::fs::create_dir_all(at.parent().unwrap()).unwrap();
    std::fs::write(at, content).unwrap();
}

/// Makes a source with three files, and a receiver with old ones, some of which are excluded.
fn mirrored() -> Pair {
    let pair = Pair::new();
    for name in ["photos/a.jpg", "photos/2026/b.jpg", "photos/skip.tmp"] {
        pair.write(name, name.as_bytes());
    }
    for name in
        ["photos/old.jpg", "photos/gone/x/y", "photos/gone/z", "photos/kept/k.tmp", "photos/kept/j", "other"]
    {
        put(&pair.to().join(name), "old");
    }
    symlink("../other", pair.to().join("photos/link")).unwrap();
    pair
}

pub const DELETE: Wishes = Wishes {
    dry_run: false,
    update: false,
    delete: true,
    links_as_is: false,
    backup: None,
    keep: Keep { owner: None, xattrs: false, acls: false },
    delete_all: false,
    max_delete: None,
};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_not_sent_is_removed_below_what_is_sent_and_excluded_files_stay() {
    let pair = mirrored();
    let (events, result) = push(&pair, DELETE, excluding(&["*.tmp"])).await;
    let summary = result.unwrap();
    let gone = set(&[
        "photos/old.jpg",
        "photos/gone",
        "photos/gone/x",
        "photos/gone/x/y",
        "photos/gone/z",
        "photos/kept/j",
        "photos/link",
    ]);
    assert_eq!(outcomes(&events, |outcome| *outcome == Outcome::Removed), gone);
    assert_eq!((summary.removed, summary.stored, summary.stored_files, summary.failed), (7, 3, 2, 0));
    assert_eq!(names(&pair.to().join("photos")), ["2026", "a.jpg", "kept"]);
    assert_eq!(names(&pair.to().join("photos/kept")), ["k.tmp"]);
    assert_eq!(std::fs::read(pair.to().join("other")).unwrap(), b"old", "beside what was sent");
    pair.assert_canary();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dry_run_changes_nothing_and_names_what_the_same_command_does_then() {
    let pair = mirrored();
    put(&pair.to().join("photos/a.jpg"), "before");
    let before = walk(&pair.to());
    let wishes = Wishes { dry_run: true, ..DELETE };
    let (events, result) = push(&pair, wishes, excluding(&["*.tmp"])).await;
    let summary = result.unwrap();
    assert_eq!(walk(&pair.to()), before);
    let would = |change| outcomes(&events, |outcome| *outcome == Outcome::Would(change));
    assert_eq!(would(Change::Create), set(&["photos/2026", "photos/2026/b.jpg"]));
    assert_eq!(would(Change::Replace), set(&["photos/a.jpg"]));
    assert_eq!((summary.stored, summary.bytes_moved, summary.would_bytes), (0, 0, 17 + 12));
    assert_eq!((summary.would_change, summary.would_remove), (3, would(Change::Remove).len() as u64));
    assert_eq!(summary.would_adjust, would(Change::Adjust).len() as u64);

    let (then, _) = push(&pair, DELETE, excluding(&["*.tmp"])).await;
    assert_eq!(would(Change::Remove), outcomes(&then, |outcome| *outcome == Outcome::Removed));
    assert!(outcomes(&then, |outcome| *outcome == Outcome::Stored).is_superset(&set(&["photos/a.jpg"])));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_removal_leaves_the_directory_its_time() {
    let pair = mirrored();
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_234_567_890);
    std::fs::File::open(pair.from().join("photos")).unwrap().set_modified(time).unwrap();
    let (_, result) = push(&pair, DELETE, SourceOptions::default()).await;
    assert!(result.unwrap().removed > 0);
    assert_eq!(pair.to().join("photos").metadata().unwrap().modified().unwrap(), time);
}

/// Returns every path and the time of its last change.
fn walk(top: &Path) -> BTreeSet<(String, SystemTime)> {
    let mut found = BTreeSet::new();
    for entry in std::fs::read_dir(top).unwrap() {
        let entry = entry.unwrap();
        let metadata = entry.metadata().unwrap();
        found.insert((entry.path().display().to_string(), metadata.modified().unwrap()));
        if metadata.is_dir() {
            found.extend(walk(&entry.path()));
        }
    }
    found
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_removed_when_something_was_left_out_or_failed() {
    let pair = mirrored();
    // Leads to something that is not sent: left out.
    symlink("../elsewhere", pair.from().join("photos/outside")).unwrap();
    let (_, result) = push(&pair, DELETE, SourceOptions::default()).await;
    let summary = result.unwrap();
    assert_eq!((summary.removed, summary.skipped), (0, 1));
    std::fs::remove_file(pair.from().join("photos/outside")).unwrap();

    // The receiver cannot store it: a file that stays is in the directory at its place.
    put(&pair.to().join("photos/blocked/stays.tmp"), "excluded");
    pair.write("photos/blocked", b"a file");
    put(&pair.to().join("photos/blocked/goes"), "not excluded");
    let (_, result) = push(&pair, DELETE, excluding(&["*.tmp"])).await;
    let summary = result.unwrap();
    assert_eq!((summary.removed, summary.failed), (0, 1));
    for stays in ["old.jpg", "blocked/stays.tmp", "blocked/goes"] {
        assert!(pair.to().join("photos").join(stays).exists(), "{stays}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_receiver_that_was_restarted_in_the_middle_removes_nothing() {
    let pair = mirrored();
    pair.write("photos/zz", &crate::disk::common::content(4_000_000, 1));
    // Settled long before the restart: no data has to wait for the limit.
    put(&pair.to().join("photos/a.jpg"), "photos/a.jpg");
    let far = Far::start(Service::Receive(allowing(&pair, Allow::all())));
    let source = Source::of(&[pair.from().join("photos")], SourceOptions::default()).unwrap();
    let (events, job) = options();
    let pace = job.pace.clone();
    let limit = |max_rate| afteryou_transfer::pace::Limit { max_rate, paused: false };
    pace.set(afteryou_transfer::pace::Owner::User, limit(Some(1_000_000)));
    let job = send(far.dialer(), source, JobOptions { wishes: DELETE, ..job });
    let restart = async {
        events.until_moved(1_000_000).await;
        let far = far.restart(Service::Receive(allowing(&pair, Allow::all()))).await;
        pace.set(afteryou_transfer::pace::Owner::User, limit(None));
        far
    };
    let (result, far) = tokio::join!(job, restart);
    far.stop().await;
    let error = result.unwrap_err().to_string();
    assert!(error.contains("nothing was removed: the receiving side was restarted"), "{error}");
    assert!(pair.to().join("photos/old.jpg").exists() && pair.to().join("photos/zz").exists());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_receiver_that_does_not_allow_it_refuses_before_anything_is_sent() {
    let backup = Wishes { backup: Some(path("old")), ..Wishes::default() };
    let links = Wishes { links_as_is: true, ..Wishes::default() };
    let keeping = |keep| Wishes { keep, ..Wishes::default() };
    let nothing = Keep::default();
    for (wishes, option) in [
        (DELETE, "--allow-delete"),
        (backup, "--allow-backup"),
        (links, "--allow-links"),
        (keeping(Keep { owner: Some(Naming::Names), ..nothing }), "--allow-owner"),
        (keeping(Keep { owner: Some(Naming::Numbers), ..nothing }), "--allow-owner"),
        (keeping(Keep { xattrs: true, ..nothing }), "--allow-xattrs"),
        (keeping(Keep { acls: true, ..nothing }), "--allow-acls"),
    ] {
        for dry_run in [false, true] {
            let pair = mirrored();
            let far = Far::receive(&pair);
            let mut source = SourceOptions::default();
            source.keep = wishes.keep;
            let source = Source::of(&[pair.from().join("photos")], source).unwrap();
            let wishes = Wishes { dry_run, ..wishes.clone() };
            let error = send(far.dialer(), source, JobOptions { wishes, ..options().1 }).await.unwrap_err();
            assert!(error.to_string().contains(option), "{error}");
            far.stop().await;
            assert!(pair.to().join("photos/old.jpg").exists() && !pair.to().join("photos/a.jpg").exists());
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn backups_keep_what_is_replaced_and_removed_and_stay_themselves() {
    let pair = mirrored();
    put(&pair.to().join("photos/a.jpg"), "before");
    let wishes = Wishes { backup: Some(path("photos/.old")), ..DELETE };
    let (_, result) = push(&pair, wishes.clone(), SourceOptions::default()).await;
    assert_eq!(result.unwrap().failed, 0);
    let kept = |name: &str| std::fs::read_to_string(pair.to().join("photos/.old/photos").join(name)).unwrap();
    assert_eq!(
        (kept("a.jpg"), kept("gone/x/y"), kept("old.jpg")),
        ("before".into(), "old".into(), "old".into())
    );
    let (_, again) = push(&pair, wishes, SourceOptions::default()).await;
    assert_eq!(again.unwrap().removed, 0);
    assert_eq!(kept("a.jpg"), "before");
    for outside in ["../beside", "/tmp", "a/../../b", ".afteryou/x", ""] {
        let wishes = Wishes { backup: Some(path(outside)), ..Wishes::default() };
        let (_, refused) = push(&pair, wishes, SourceOptions::default()).await;
        assert!(matches!(refused, Err(Error::Refused(_))), "{outside}: {refused:?}");
    }
    pair.assert_canary();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_update_leaves_newer_files_alone() {
    let pair = mirrored();
    put(&pair.to().join("photos/a.jpg"), "newer");
    put(&pair.to().join("photos/2026/b.jpg"), "older");
    let age = |name: &str, ago| {
        let file = std::fs::File::options().write(true).open(pair.to().join(name)).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(ago)).unwrap();
    };
    age("photos/2026/b.jpg", 1000);
    let from = std::fs::File::options().write(true).open(pair.from().join("photos/a.jpg")).unwrap();
    from.set_modified(SystemTime::now() - Duration::from_secs(500)).unwrap();
    let (events, _) =
        push(&pair, Wishes { update: true, ..Wishes::default() }, SourceOptions::default()).await;
    assert_eq!(outcomes(&events, |outcome| *outcome == Outcome::Newer), set(&["photos/a.jpg"]));
    assert_eq!(std::fs::read(pair.to().join("photos/a.jpg")).unwrap(), b"newer");
    assert_eq!(std::fs::read(pair.to().join("photos/2026/b.jpg")).unwrap(), b"photos/2026/b.jpg");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_get_removes_and_leaves_out_what_both_sides_say() {
    let pair = mirrored();
    pair.write("photos/secret/s", b"s");
    let far = Far::start(Service::Serve { dir: pair.served(), options: excluding(&["/photos/secret"]) });
    let (events, job) = options();
    let wishes = JobOptions { wishes: DELETE, exclude: filter(&["*.tmp", "!secret"]), ..job };
    let store = allowing(&pair, Allow::all());
    let summary = get(far.dialer(), b"photos".to_vec(), store.clone(), wishes.clone()).await.unwrap();
    assert_eq!((summary.failed, summary.removed), (0, 7), "{:?}", events.all());
    assert_eq!(names(&pair.to().join("photos")), ["2026", "a.jpg", "kept"]);
    let error = get(far.dialer(), b"photos/secret/s".to_vec(), store, wishes).await.unwrap_err();
    assert!(error.to_string().contains("it is excluded there"), "{error}");
    far.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn links_travel_as_they_are_and_nothing_is_stored_through_them() {
    let pair = Pair::new();
    pair.write("photos/a", b"a");
    let targets = ["/etc/passwd", "../../beside", "no/../where", "a"];
    for (index, target) in targets.iter().enumerate() {
        symlink(target, pair.from().join(format!("photos/{index}"))).unwrap();
    }
    let mut source = SourceOptions::default();
    source.symlinks = Symlinks::AsIs;
    let wishes = Wishes { links_as_is: true, ..Wishes::default() };
    let (_, result) = push(&pair, wishes.clone(), source.clone()).await;
    let summary = result.unwrap();
    assert_eq!((summary.failed, summary.skipped), (0, 0));
    for (index, target) in targets.iter().enumerate() {
        let there = std::fs::read_link(pair.to().join(format!("photos/{index}"))).unwrap();
        assert_eq!(there, Path::new(target));
    }
    // What is a directory at the source now is a link here, out of the receiver's directory.
    std::fs::remove_file(pair.from().join("photos/1")).unwrap();
    pair.write("photos/1/canary", b"changed");
    let (_, result) = push(&pair, wishes, source).await;
    assert!(result.unwrap().failed > 0);
    pair.assert_canary();
}
