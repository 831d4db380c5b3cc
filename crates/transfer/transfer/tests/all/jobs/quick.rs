//! Jobs that take files of the same size and time for the same.

use super::support::{options, Events, Far};
use crate::disk::common::{content, Pair};
use afteryou_transfer::event::{Event, Outcome};
use afteryou_transfer::extras::Keep;
use afteryou_transfer::job::{get, send, JobOptions, Service, Summary};
use afteryou_transfer::source::{Source, SourceOptions};
use afteryou_transfer::store::{Allow, Store, StoreOptions};
use afteryou_transfer::wire::Wishes;
use std::fs::{File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

fn quick() -> SourceOptions {
    let mut options = SourceOptions::default();
    options.quick = true;
    options
}

fn set_time(path: &Path, seconds: u64) {
    let file = File::options().write(true).open(path).unwrap();
    file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
}

async fn push(pair: &Pair, wishes: Wishes, source: SourceOptions) -> (Events, Summary) {
    let mut store = StoreOptions::default();
    store.allow = Allow::all();
    let far = Far::start(Service::Receive(Store::open(&pair.to(), store).unwrap()));
    let source = Source::of(&[pair.from().join("tree")], source).unwrap();
    let (events, job) = options();
    let summary = send(far.dialer(), source, JobOptions { wishes, ..job }).await.unwrap();
    far.stop().await;
    (events, summary)
}

/// Sends a tree of 300 files. At the receiver `damaged` has other content of the same size and time, `shorter` another size,
/// `older` another time, and `closed` another mode.
async fn sent() -> Pair {
    let pair = Pair::new();
    for n in 0..300 {
        pair.write(&format!("tree/{}/{n}", n % 7), &content(1000 + n, n as u64));
    }
    for name in ["damaged", "shorter", "older", "closed", "gone"] {
        let path = pair.from().join("tree").join(name);
        pair.write(&format!("tree/{name}"), name.as_bytes());
        set_time(&path, 1_000_000);
    }
    push(&pair, Wishes::default(), SourceOptions::default()).await;
    pair.assert_same();
    let there = |name: &str| pair.to().join("tree").join(name);
    std::fs::write(there("damaged"), "DAMAGED").unwrap();
    set_time(&there("damaged"), 1_000_000);
    std::fs::write(there("shorter"), "short").unwrap();
    set_time(&there("shorter"), 1_000_000);
    std::fs::write(there("older"), "OLDER").unwrap();
    std::fs::set_permissions(there("closed"), Permissions::from_mode(0o600)).unwrap();
    std::fs::remove_file(there("gone")).unwrap();
    pair
}

fn stored(events: &Events) -> Vec<String> {
    let stored = |event| match event {
        Event::File { path, outcome: Outcome::Stored } => Some(path),
        _ => None,
    };
    let mut stored: Vec<_> = events.all().into_iter().filter_map(stored).collect();
    stored.sort();
    stored
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_quick_job_sends_what_differs_in_size_or_time_and_misses_the_rest() {
    let pair = sent().await;
    let (events, summary) = push(&pair, Wishes::default(), quick()).await;
    assert_eq!(stored(&events), ["tree/gone", "tree/older", "tree/shorter"]);
    assert_eq!((summary.stored_files, summary.failed), (3, 0));
    assert_eq!(std::fs::read(pair.to().join("tree/damaged")).unwrap(), b"DAMAGED", "nobody read it");
    let mode = std::fs::metadata(pair.to().join("tree/closed")).unwrap().permissions().mode();
    let offered = std::fs::metadata(pair.from().join("tree/closed")).unwrap().permissions().mode();
    assert_eq!(mode, offered);

    // The default compares contents.
    let (events, _) = push(&pair, Wishes::default(), SourceOptions::default()).await;
    assert_eq!(stored(&events), ["tree/damaged"]);
    pair.assert_same();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_quick_mirror_keeps_what_it_did_not_read_and_removes_the_rest() {
    let pair = sent().await;
    std::fs::write(pair.to().join("tree/0/more"), "more").unwrap();
    let wishes = Wishes { delete: true, ..Wishes::default() };
    let (_, summary) = push(&pair, wishes, quick()).await;
    assert_eq!((summary.removed, summary.stored_files, summary.failed), (1, 3, 0));
    assert_eq!(std::fs::read_dir(pair.to().join("tree/0")).unwrap().count(), 43);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_quick_job_sees_extended_attributes() {
    let pair = sent().await;
    let mut source = quick();
    source.keep = Keep { xattrs: true, ..Keep::default() };
    let path = pair.from().join("tree/1/1");
    if rustix::fs::setxattr(&path, "user.kind", b"x", rustix::fs::XattrFlags::empty()).is_err() {
        eprintln!("SKIPPED: a file system without extended attributes");
        return;
    }
    push(&pair, Wishes::default(), source).await;
    let mut value = [0; 8];
    let there = pair.to().join("tree/1/1");
    assert_eq!(rustix::fs::getxattr(&there, "user.kind", &mut value[..]).unwrap(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_quick_get_asks_the_server_to_compare_size_and_time() {
    let pair = sent().await;
    let far = Far::serve(&pair);
    let (_, job) = options();
    let summary = get(far.dialer(), b"tree".to_vec(), pair.store(), JobOptions { quick: true, ..job });
    let summary = summary.await.unwrap();
    far.stop().await;
    assert_eq!((summary.stored_files, summary.failed), (3, 0));
    assert_eq!(std::fs::read(pair.to().join("tree/damaged")).unwrap(), b"DAMAGED");
}
