//! Times that the receiver's file system cannot hold.

use super::support::{options, Events, Far};
use crate::disk::common::Pair;
use afteryou_transfer::event::{Event, Outcome};
use afteryou_transfer::job::{send, JobOptions, Service, Summary};
use afteryou_transfer::source::{Source, SourceOptions};
use afteryou_transfer::store::{Store, StoreOptions};
use afteryou_transfer::wire::Wishes;
use std::collections::BTreeSet;
use std::fs::File;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime};

/// ext4 as it was: inodes of 128 bytes, which hold whole seconds until 2038. Unmounted when this is dropped.
struct OldDisk(tempfile::TempDir);

impl OldDisk {
    fn new() -> Option<OldDisk> {
        let folder = tempfile::tempdir().unwrap();
        let (image, disk) = (folder.path().join("image"), folder.path().join("disk"));
        File::create(&image).unwrap().set_len(8_000_000).unwrap();
        std::fs::create_dir(&disk).unwrap();
        let ran = |command: &mut Command| command.output().is_ok_and(|run| run.status.success());
        let is_there = ran(Command::new("mkfs.ext4").args(["-q", "-I", "128"]).arg(&image))
            && ran(Command::new("mount").args(["-o", "loop"]).args([&image, &disk]));
        is_there.then_some(OldDisk(folder))
    }

    fn path(&self) -> std::path::PathBuf {
        self.0.path().join("disk/to")
    }
}

impl Drop for OldDisk {
    fn drop(&mut self) {
        _ = Command::new("umount").arg("--lazy").arg(self.0.path().join("disk")).status();
    }
}

async fn push(from: &Path, to: &Path, dry_run: bool) -> (Events, Summary) {
    let far = Far::start(Service::Receive(Store::open(to, StoreOptions::default()).unwrap()));
    let source = Source::of(&[from.join("top")], SourceOptions::default()).unwrap();
    let wishes = Wishes { dry_run, ..Wishes::default() };
    let (events, job) = options();
    let summary = send(far.dialer(), source, JobOptions { wishes, ..job }).await.unwrap();
    far.stop().await;
    (events, summary)
}

fn incomplete(events: &Events) -> BTreeSet<String> {
    let one = |event: Event| match event {
        Event::File { path, outcome: Outcome::Incomplete(reason) } => {
            assert!(reason.contains("cannot hold that time of modification"), "{reason}");
            Some(path)
        }
        _ => None,
    };
    events.all().into_iter().filter_map(one).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_time_that_the_file_system_cannot_hold_is_named_by_each_job_and_set_again_by_none() {
    let Some(disk) = OldDisk::new() else {
        println!("SKIPPED: an old ext4 needs root, mkfs.ext4 and a loop device");
        return;
    };
    let pair = Pair::new();
    let at = |seconds, nanos| SystemTime::UNIX_EPOCH + Duration::new(seconds, nanos);
    for (name, bytes, time) in [
        ("top/small", 5, at(4_102_444_800, 7)),
        ("top/large", 300_000, at(4_102_444_800, 0)),
        ("top/plain", 5, at(1_000_000_000, 123_456_789)),
        ("top/d/x", 5, at(1_000_000_000, 1)),
    ] {
        pair.write(name, &crate::disk::common::content(bytes, 1));
        File::options().write(true).open(pair.from().join(name)).unwrap().set_modified(time).unwrap();
    }
    File::open(pair.from().join("top/d")).unwrap().set_modified(at(4_102_444_800, 0)).unwrap();
    File::open(pair.from().join("top")).unwrap().set_modified(at(1_000_000_001, 5)).unwrap();
    let late = ["top/d", "top/large", "top/small"].map(str::to_owned);
    let (_, first) = push(&pair.from(), &disk.path(), false).await;
    assert_eq!((first.failed, first.incomplete > 1), (0, true), "{first:?}");
    for dry_run in [true, false, true] {
        let (events, summary) = push(&pair.from(), &disk.path(), dry_run).await;
        assert_eq!(incomplete(&events), BTreeSet::from(late.clone()), "dry run: {dry_run}");
        assert_eq!((summary.would_adjust, summary.would_change, summary.stored, summary.had), (0, 0, 0, 3));
    }
}
