//! Jobs that were to remove what was not sent, and must not.

use super::support::{options, Events, Far};
use crate::disk::common::{names, Pair};
use afteryou_transfer::entry::EntryPath;
use afteryou_transfer::event::{Event, Outcome};
use afteryou_transfer::filter::Filter;
use afteryou_transfer::job::{get, send, JobOptions, Service, Summary};
use afteryou_transfer::source::{Source, SourceOptions};
use afteryou_transfer::store::{Allow, Store, StoreOptions};
use afteryou_transfer::wire::{Because, Change, MaxDelete, Spared, Wishes};
use std::fs;
use std::path::PathBuf;

fn path(text: &str) -> EntryPath {
    EntryPath(text.as_bytes().to_vec())
}

fn delete() -> Wishes {
    Wishes { delete: true, ..Wishes::default() }
}

fn at_most(limit: MaxDelete) -> Wishes {
    Wishes { max_delete: Some(limit), ..delete() }
}

/// Makes a source and a copy with these entries; a name that ends with a slash is a directory.
fn pair(source: &[&str], copy: &[&str]) -> Pair {
    let pair = Pair::new();
    for (top, entries) in [(pair.from(), source), (pair.to(), copy)] {
        for entry in entries {
            let at = top.join(entry);
            match entry.ends_with('/') {
                true => fs::create_dir_all(at).unwrap(),
                false => {
                    fs::create_dir_all(at.parent().unwrap()).unwrap();
                    fs::write(at, entry).unwrap();
                }
            }
        }
    }
    pair
}

fn store(pair: &Pair) -> Store {
    let mut options = StoreOptions::default();
    options.allow = Allow::all();
    Store::open(&pair.to(), options).unwrap()
}

fn excluding(patterns: &[&str]) -> SourceOptions {
    let mut options = SourceOptions::default();
    options.exclude = Filter::new(patterns.iter().collect(), 0).unwrap();
    options
}

/// Sends each of `tops`.
async fn push(pair: &Pair, tops: &[&str], wishes: Wishes, source: SourceOptions) -> (Events, Summary) {
    let far = Far::start(Service::Receive(store(pair)));
    let paths: Vec<PathBuf> = tops.iter().map(|top| pair.from().join(top)).collect();
    let (events, job) = options();
    let result = send(far.dialer(), Source::of(&paths, source).unwrap(), JobOptions { wishes, ..job }).await;
    far.stop().await;
    (events, result.unwrap())
}

/// Gets `what`, all of it by default.
async fn pull(pair: &Pair, what: &str, wishes: Wishes, source: SourceOptions) -> (Events, Summary) {
    let far = Far::start(Service::Serve { dir: pair.served(), options: source });
    let (events, job) = options();
    let result = get(far.dialer(), what.into(), store(pair), JobOptions { wishes, ..job }).await;
    far.stop().await;
    (events, result.unwrap())
}

fn removals(events: &Events) -> usize {
    let is_one = |event: &Event| {
        matches!(event, Event::File { outcome: Outcome::Removed | Outcome::Would(Change::Remove), .. })
    };
    events.all().iter().filter(|event| is_one(event)).count()
}

fn empty(top: &str, entries: u64) -> Option<Spared> {
    Some(Spared { entries, because: Because::SourceIsEmpty(path(top)) })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_empty_source_never_empties_its_copy() {
    let copy = &["a", "d/b"];
    for source in [
        &[][..],
        &[".afteryou/"],
        &[".afteryou/0123456789abcdef0123456789abcdef-0123456789abcdef0123456789abcdef.part"],
    ] {
        for dry_run in [false, true] {
            let pair = pair(source, copy);
            let wishes = Wishes { dry_run, ..delete() };
            let (events, summary) = pull(&pair, "", wishes, SourceOptions::default()).await;
            assert_eq!(summary.spared, empty("", 3), "{source:?}");
            assert_eq!((removals(&events), names(&pair.to())), (0, vec!["a".into(), "d".into()]));
            let told = |event: &Event| {
                matches!(event, Event::Finished(Summary { spared: Some(Spared { entries: 3, .. }), .. }))
            };
            assert!(events.all().iter().any(told), "{:?}", events.all());
        }
    }
    let pair = pair(&[], copy);
    let wishes = Wishes { delete_all: true, ..delete() };
    let (events, summary) = pull(&pair, "", wishes, SourceOptions::default()).await;
    assert_eq!((summary.spared, summary.removed, removals(&events)), (None, 3, 3));
    assert_eq!(names(&pair.to()), [""; 0]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_source_whose_entries_are_all_excluded_is_not_empty() {
    let pair = pair(&["x.tmp"], &["a", "x.tmp"]);
    let (_, summary) = pull(&pair, "", delete(), excluding(&["*.tmp"])).await;
    assert_eq!((summary.spared, summary.removed, names(&pair.to())), (None, 1, vec!["x.tmp".into()]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_directory_that_a_job_names_is_a_source_of_its_own() {
    for dry_run in [false, true] {
        let pair = pair(&["one/new", "two/", "file"], &["one/old", "two/old", "two/d/old"]);
        let wishes = Wishes { dry_run, ..delete() };
        let (events, summary) = push(&pair, &["one", "two", "file"], wishes, SourceOptions::default()).await;
        assert_eq!((summary.spared, removals(&events)), (empty("two", 4), 0));
        let one = if dry_run { vec!["old"] } else { vec!["new", "old"] };
        assert_eq!(
            (names(&pair.to().join("one")), names(&pair.to().join("two"))),
            (one.iter().map(|&name| name.into()).collect(), vec!["d".into(), "old".into()])
        );
        // Also where it is a part of what is served.
        let wishes = Wishes { dry_run, ..delete() };
        let (events, summary) = pull(&pair, "two", wishes, SourceOptions::default()).await;
        assert_eq!((summary.spared, removals(&events)), (empty("two", 3), 0));
    }
    // A copy that is empty, too, keeps nothing else from going.
    let pair = pair(&["one/new", "two/", "three/"], &["one/old", "two/"]);
    let (_, summary) = push(&pair, &["one", "two", "three"], delete(), SourceOptions::default()).await;
    assert_eq!(
        (summary.spared, summary.removed, names(&pair.to().join("one"))),
        (None, 1, vec!["new".into()])
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn more_empty_directories_than_a_message_holds_spare_everything() {
    let tops: Vec<String> = (0..40).map(|index| format!("{index:0200}")).collect();
    let entries: Vec<String> = tops.iter().map(|top| format!("{top}/")).collect();
    let mut entries: Vec<&str> = entries.iter().map(String::as_str).collect();
    let copy = format!("{}/old", tops[39]);
    entries.push("full/new");
    let pair = pair(&entries, &[&copy, "full/old"]);
    let tops: Vec<&str> = tops.iter().map(String::as_str).chain(["full"]).collect();
    let (_, summary) = push(&pair, &tops, delete(), SourceOptions::default()).await;
    assert_eq!((summary.removed, summary.spared.map(|spared| spared.entries)), (0, Some(2)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn over_the_limit_nothing_at_all_is_removed_and_everything_is_stored() {
    use MaxDelete::{Entries, Percent};
    // Before the job the copy has ten entries: p, nine files in it. Four files go, one is new.
    let copy: Vec<String> = (0..9).map(|index| format!("p/{index}")).collect();
    let copy: Vec<&str> = copy.iter().map(String::as_str).collect();
    let source = [&copy[..5], &["p/n"]].concat();
    for (limit, allowed) in [
        (Entries(4), true),
        (Entries(3), false),
        (Entries(0), false),
        (Percent(40), true),
        (Percent(39), false),
    ] {
        for dry_run in [false, true] {
            let (wishes, pair) = (Wishes { dry_run, ..at_most(limit) }, pair(&source, &copy));
            let (events, summary) = push(&pair, &["p"], wishes.clone(), SourceOptions::default()).await;
            let spared = (!allowed).then_some(Spared { entries: 4, because: Because::Limit(limit) });
            let gone = if allowed { 4 } else { 0 };
            assert_eq!((summary.spared, removals(&events)), (spared, gone), "{limit} {dry_run}");
            let stay = 9 - if dry_run { 0 } else { gone } + usize::from(!dry_run);
            assert_eq!(names(&pair.to().join("p")).len(), stay, "{limit} {dry_run}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_percentage_is_of_what_was_there_before_the_job_however_much_is_new() {
    let source: Vec<String> = (0..30).map(|index| format!("d{}/{index}", index % 3)).collect();
    let source: Vec<&str> = source.iter().map(String::as_str).collect();
    for (limit, allowed) in [(99, false), (100, true)] {
        for quick in [false, true] {
            let pair = pair(&source, &["x/1", "x/2"]);
            let mut options = SourceOptions::default();
            options.quick = quick;
            let wishes = at_most(MaxDelete::Percent(limit));
            let far = Far::start(Service::Serve { dir: pair.served(), options });
            let job = JobOptions { wishes, quick, connections: 3, ..self::options().1 };
            let summary = get(far.dialer(), Vec::new(), store(&pair), job).await.unwrap();
            far.stop().await;
            assert_eq!((summary.spared.is_none(), summary.removed), (allowed, if allowed { 3 } else { 0 }));
            assert_eq!(summary.stored_files, 30);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_limit_binds_beside_backups_and_where_everything_may_go() {
    let pair = pair(&["p/a"], &["p/a", "p/old", "p/.kept/p/older"]);
    let backup = Some(path("p/.kept"));
    let wishes = Wishes { backup: backup.clone(), ..at_most(MaxDelete::Entries(0)) };
    let (_, summary) = push(&pair, &["p"], wishes, SourceOptions::default()).await;
    assert_eq!(summary.spared.map(|spared| spared.entries), Some(1), "backups are not counted");
    let wishes = Wishes { backup, ..at_most(MaxDelete::Entries(1)) };
    let (_, summary) = push(&pair, &["p"], wishes, SourceOptions::default()).await;
    assert_eq!(
        (summary.spared, names(&pair.to().join("p/.kept/p"))),
        (None, vec!["old".into(), "older".into()])
    );

    fs::remove_file(pair.from().join("p/a")).unwrap();
    let wishes = Wishes { delete_all: true, ..at_most(MaxDelete::Entries(1)) };
    let (_, summary) = push(&pair, &["p"], wishes, SourceOptions::default()).await;
    assert!(
        matches!(summary.spared, Some(Spared { entries: 3.., because: Because::Limit(_) })),
        "{summary:?}"
    );
}
