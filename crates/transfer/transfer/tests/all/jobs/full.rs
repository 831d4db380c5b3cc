//! A disk that is full. The test continues in a process with a small disk of its own.

use super::support::{options, Events, Far};
use crate::alone;
use crate::disk::common::{content, Pair};
use afteryou_transfer::entry::EntryPath;
use afteryou_transfer::event::Event;
use afteryou_transfer::job::{get, send, JobOptions, ListenOptions, Service, Summary};
use afteryou_transfer::source::{Source, SourceOptions};
use afteryou_transfer::store::{Allow, Store, StoreOptions};
use afteryou_transfer::wire::Wishes;
use afteryou_transfer::Error;
use std::path::PathBuf;

async fn send_to_a_small_disk(small: PathBuf) {
    let pair = Pair::new();
    for i in 0..10 {
        pair.write(&format!("{i}"), &content(500_000, i));
    }
    let store = || Store::open(&small.join("disk"), StoreOptions::default()).unwrap();
    let options_there = || ListenOptions { groups_in_events: true, ..ListenOptions::default() };
    let far = Far::start_with(Service::Receive(store()), options_there());
    let result = send(far.dialer(), pair.source(), options().1).await;
    assert!(matches!(result, Err(Error::DiskFull)), "{result:?}");
    let before = far.events.group_bytes();
    far.stop().await;
    // The user makes room.
    std::fs::remove_file(small.join("disk/ballast")).unwrap();
    let far = Far::start_with(Service::Receive(store()), options_there());
    let summary = send(far.dialer(), pair.source(), options().1).await.unwrap();
    assert_eq!((summary.failed, summary.stored + summary.had), (0, 10));
    let events: &Events = &far.events;
    let again = before + events.group_bytes() - 5_000_000;
    // A group of each file that was open, and what was on its way past the full disk.
    assert!(again <= 16 * 16 * 1024, "{again} bytes came twice");
    // No last message of either side reads as something else.
    for i in 10..20 {
        pair.write(&format!("{i}"), &content(500_000, i));
    }
    let mut others = Vec::new();
    for connections in [1, 4].repeat(100) {
        let options = JobOptions { connections, ..options().1 };
        match send(far.dialer(), pair.source(), options).await {
            Err(Error::DiskFull) => {}
            other => others.push(format!("{other:?}")),
        }
    }
    assert!(others.is_empty(), "{} of 200: {}", others.len(), others[0]);
    let there: Vec<_> = events
        .all()
        .into_iter()
        .filter(|event| matches!(event, Event::Disconnected { reason, .. } if reason.contains("protocol")))
        .collect();
    assert!(there.is_empty(), "{} on the receiving side: {:?}", there.len(), there[0]);
    std::fs::write(small.join("done"), b"").unwrap();
}

/// The part in a process of its own has a small disk, mounted for it alone.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk_ends_the_job_and_what_arrived_is_kept() {
    if let Some(small) = alone::part() {
        return send_to_a_small_disk(small.into()).await;
    }
    let base = tempfile::tempdir().unwrap();
    std::fs::create_dir(base.path().join("disk")).unwrap();
    let script = "mount -t tmpfs -o size=7m none \"$BASE/disk\" && head -c 4000000 /dev/zero >\"$BASE/disk/ballast\" || exit 99\n\
                  exec \"$0\" \"$@\"";
    let test = "jobs::full::a_full_disk_ends_the_job_and_what_arrived_is_kept";
    alone::on_a_mount_of_its_own(script, test, base.path());
}

/// A receiver of 12 MB that has a file `top/a` of 7 MB, which the source has not any more.
struct Small {
    pair: Pair,
    disk: PathBuf,
}

impl Small {
    fn new(disk: &std::path::Path) -> Self {
        let small = Self { pair: Pair::new(), disk: disk.join("disk") };
        _ = std::fs::remove_dir_all(small.disk.join("top"));
        small.put("top/a", &content(7_000_000, 1));
        small.pair.write("top/same", b"same");
        small.put("top/same", b"same");
        small
    }

    fn put(&self, name: &str, bytes: &[u8]) {
        let path = self.disk.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    fn copy_time(&self, of: &str, to: &str) {
        let time = self.disk.join(of).metadata().unwrap().modified().unwrap();
        std::fs::File::open(self.pair.from().join(to)).unwrap().set_modified(time).unwrap();
    }

    async fn send(&self, wishes: Wishes, quick: bool, connections: usize) -> Result<Summary, Error> {
        let mut store = StoreOptions::default();
        store.allow = Allow::all();
        let far = Far::start(Service::Receive(Store::open(&self.disk, store).unwrap()));
        let mut source = SourceOptions::default();
        source.quick = quick;
        let source = Source::of(&[self.pair.from().join("top")], source).unwrap();
        let job = JobOptions { wishes, connections, ..options().1 };
        let result = send(far.dialer(), source, job).await;
        far.stop().await;
        result
    }

    async fn get(&self) -> Result<Summary, Error> {
        let far = Far::start(Service::Serve { dir: self.pair.served(), options: SourceOptions::default() });
        let mut store = StoreOptions::default();
        store.allow = Allow::all();
        let store = Store::open(&self.disk, store).unwrap();
        let job = JobOptions { wishes: delete(), ..options().1 };
        let result = get(far.dialer(), b"top".to_vec(), store, job).await;
        far.stop().await;
        result
    }

    fn has(&self, name: &str) -> bool {
        self.disk.join("top").join(name).exists()
    }
}

fn delete() -> Wishes {
    Wishes { delete: true, ..Wishes::default() }
}

async fn mirror_to_a_small_disk(small: PathBuf) {
    for connections in [1, 4] {
        // It has another name.
        let disk = Small::new(&small);
        disk.pair.write("top/b", &content(7_000_000, 1));
        disk.copy_time("top/a", "top/b");
        let summary = disk.send(delete(), false, connections).await.unwrap();
        assert_eq!((summary.failed, summary.bytes_moved, summary.removed), (0, 0, 1));
        assert!(disk.has("b") && !disk.has("a"));
        // The file is another one, and so are the rest.
        let disk = Small::new(&small);
        for name in ["top/c", "top/d/x"] {
            disk.pair.write(name, &content(5_000_000, 2));
        }
        disk.pair.write("top/d/y", b"small");
        let summary = disk.send(delete(), false, connections).await.unwrap();
        assert_eq!((summary.failed, summary.removed, summary.stored_files), (0, 1, 3));
        assert!(disk.has("c") && disk.has("d/x") && disk.has("d/y") && !disk.has("a"));
    }
    let disk = Small::new(&small);
    disk.pair.write("top/c", &content(7_000_000, 2));
    assert_eq!(disk.get().await.unwrap().removed, 1);
    assert!(disk.has("c") && !disk.has("a"));

    // Nothing goes early if something was left out,
    let disk = Small::new(&small);
    disk.pair.write("top/c", &content(7_000_000, 2));
    std::os::unix::fs::symlink("../elsewhere", disk.pair.from().join("top/link")).unwrap();
    let refused = disk.send(delete(), false, 1).await;
    assert!(matches!(refused, Err(Error::DiskFull)) && disk.has("a"), "{refused:?}");
    std::fs::remove_file(disk.pair.from().join("top/link")).unwrap();
    // if what stays was not read,
    disk.copy_time("top/same", "top/same");
    let refused = disk.send(delete(), true, 1).await;
    assert!(matches!(refused, Err(Error::DiskFull)) && disk.has("a"), "{refused:?}");
    // if backups are kept,
    let backup = Some(EntryPath(b"old".to_vec()));
    let refused = disk.send(Wishes { backup, ..delete() }, false, 1).await;
    assert!(matches!(refused, Err(Error::DiskFull)) && disk.has("a"), "{refused:?}");
    // or if the job removes nothing.
    let refused = disk.send(Wishes::default(), false, 1).await;
    assert!(matches!(refused, Err(Error::DiskFull)) && disk.has("a"), "{refused:?}");
    // More than the disk holds does not fit, and all that goes is what the source has not.
    disk.pair.write("top/e", &content(7_000_000, 3));
    let refused = disk.send(delete(), false, 1).await;
    assert!(matches!(refused, Err(Error::DiskFull)) && disk.has("same"), "{refused:?}");
    std::fs::write(small.join("done"), b"").unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_mirror_on_a_nearly_full_disk_renames_and_removes_early_only_what_it_may() {
    if let Some(small) = alone::part() {
        return mirror_to_a_small_disk(small.into()).await;
    }
    let base = tempfile::tempdir().unwrap();
    std::fs::create_dir(base.path().join("disk")).unwrap();
    let script = "mount -t tmpfs -o size=12m none \"$BASE/disk\" || exit 99\nexec \"$0\" \"$@\"";
    let test = "jobs::full::a_mirror_on_a_nearly_full_disk_renames_and_removes_early_only_what_it_may";
    alone::on_a_mount_of_its_own(script, test, base.path());
}
