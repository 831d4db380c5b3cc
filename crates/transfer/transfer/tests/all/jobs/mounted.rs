//! Other file systems below the receiving directory. The tests continue in a process that may mount some.

use super::support::{options, Events, Far};
use crate::alone;
use crate::disk::common::{content, tree};
use afteryou_transfer::entry::EntryPath;
use afteryou_transfer::event::{Event, Outcome};
use afteryou_transfer::job::{get, send, JobOptions, Service, Summary};
use afteryou_transfer::pace::{Limit, Owner};
use afteryou_transfer::source::{Served, Source, SourceOptions};
use afteryou_transfer::store::{Allow, Kept, Store, StoreOptions, Verdict};
use afteryou_transfer::wire::Wishes;
use std::os::unix::fs::{symlink, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

const MB: usize = 1_000_000;

/// `from` is sent to `to`, below which these directories lie on other file systems.
struct Yard {
    base: PathBuf,
    others: Vec<String>,
}

impl Yard {
    fn of(base: PathBuf) -> Yard {
        let to = base.join("to");
        let is_other = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().starts_with("other");
        let others = tree(&to).into_keys().filter(is_other);
        let others: Vec<_> = others.map(|path| path.to_string_lossy().into_owned()).collect();
        assert!(!others.is_empty(), "nothing is mounted");
        Yard { base, others }
    }

    fn from(&self) -> PathBuf {
        self.base.join("from")
    }

    fn to(&self) -> PathBuf {
        self.base.join("to")
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        let path = self.from().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
    }

    fn store(&self) -> Store {
        let mut all = StoreOptions::default();
        all.allow = Allow::all();
        Store::open(&self.to(), all).unwrap()
    }

    fn source(&self) -> Source {
        Source::below(&self.from(), b"", SourceOptions::default()).unwrap()
    }

    async fn push(&self, wishes: Wishes) -> (Vec<(String, Outcome)>, Summary) {
        let far = Far::start(Service::Receive(self.store()));
        let (events, job) = options();
        let summary = send(far.dialer(), self.source(), JobOptions { wishes, ..job }).await.unwrap();
        far.stop().await;
        assert_eq!(summary.failed, 0, "{:?}", events.all());
        (incomplete(&events), summary)
    }

    fn assert_same(&self) {
        let (from, to) = (tree(&self.from()), tree(&self.to()));
        assert_eq!(from.keys().collect::<Vec<_>>(), to.keys().collect::<Vec<_>>());
        from.iter().for_each(|(name, there)| assert!(there == &to[name], "{name:?} differs"));
    }

    /// Returns the directories that hold partial files.
    fn partials(&self) -> Vec<String> {
        let all = tree(&self.to());
        let states = all.keys().filter(|path| path.ends_with(".afteryou"));
        states.map(|path| path.to_string_lossy().into_owned()).collect()
    }
}

fn incomplete(events: &Events) -> Vec<(String, Outcome)> {
    let of = |event: Event| match event {
        Event::File { path, outcome: outcome @ (Outcome::Incomplete(_) | Outcome::Failed(_)) } => {
            Some((path, outcome))
        }
        _ => None,
    };
    events.all().into_iter().filter_map(of).collect()
}

fn backup(to: &str) -> Wishes {
    Wishes { backup: Some(EntryPath(to.as_bytes().to_vec())), delete: true, ..Wishes::default() }
}

/// Checks all ways by which something gets its name, to each of the file systems.
async fn everything_is_stored(yard: &Yard) {
    std::fs::write(yard.to().join("old name"), content(2 * MB, 7)).unwrap();
    yard.write("old name", &content(2 * MB, 7));
    for other in &yard.others {
        for name in ["f", "deep/er/f"] {
            yard.write(&format!("{other}/{name}"), name.as_bytes());
        }
        for n in 0..9 {
            yard.write(&format!("{other}/many/{n}"), other.as_bytes());
            yard.write(&format!("many/{n}"), b"beside");
        }
        yard.write(&format!("{other}/big"), &content(300_000, 1));
        yard.write(&format!("{other}/renamed"), &content(2 * MB, 7));
        symlink("f", yard.from().join(other).join("link")).unwrap();
        std::fs::hard_link(yard.from().join(other).join("big"), yard.from().join(other).join("same"))
            .unwrap();
        std::fs::hard_link(yard.from().join("many/0"), yard.from().join(other).join("far")).unwrap();
    }
    let (incomplete, summary) = yard.push(Wishes::default()).await;
    yard.assert_same();
    for (path, outcome) in &incomplete {
        let is_copy = matches!(outcome, Outcome::Incomplete(reason) if reason.contains("no hard link"));
        assert!(is_copy && (path.ends_with("far") || path == "many/0"), "{path}: {outcome:?}");
    }
    assert!(!incomplete.is_empty(), "a name on another file system is a copy, which is reported");
    // The renamed ones and the links did not travel.
    assert!(summary.bytes_moved < yard.others.len() as u64 * 310_000, "{summary:?}");
    for other in &yard.others {
        let inode = |name: &str| std::fs::metadata(yard.to().join(other).join(name)).unwrap().ino();
        assert_eq!(inode("big"), inode("same"), "a link on the same file system is one");
    }
    let (_, summary) = yard.push(Wishes::default()).await;
    assert_eq!((summary.stored, summary.bytes_moved), (0, 0), "{summary:?}");
}

/// Checks that what is replaced or removed is kept, wherever it lay and wherever the backups go.
async fn backups_are_kept(yard: &Yard) {
    let places: Vec<String> = ["here"].into_iter().map(str::to_owned).chain(yard.others.clone()).collect();
    for (at, shelf) in places.iter().enumerate() {
        let (old, new) = (content(70_000, at as u64), content(80_000, at as u64 + 100));
        let shelf = &format!("{shelf}/kept");
        for (round, bytes) in [&old, &new].into_iter().enumerate() {
            for place in &places {
                yard.write(&format!("{place}/replaced"), bytes);
                let mode = std::fs::Permissions::from_mode([0o640, 0o600][round]);
                std::fs::set_permissions(yard.from().join(place).join("replaced"), mode).unwrap();
                _ = std::fs::remove_file(yard.from().join(place).join("link replaced"));
                symlink(["old", "new"][round], yard.from().join(place).join("link replaced")).unwrap();
                match round {
                    0 => yard.write(&format!("{place}/removed"), &old),
                    _ => std::fs::remove_file(yard.from().join(place).join("removed")).unwrap(),
                }
            }
            yard.push(if round == 0 { Wishes::default() } else { backup(shelf) }).await;
        }
        for place in &places {
            let kept = yard.to().join(shelf).join(place);
            for name in ["replaced", "removed"] {
                assert_eq!(std::fs::read(kept.join(name)).unwrap(), old, "{place} kept in {shelf}");
            }
            assert_eq!(std::fs::metadata(kept.join("replaced")).unwrap().mode() & 0o777, 0o640);
            assert_eq!(std::fs::read_link(kept.join("link replaced")).unwrap(), Path::new("old"));
            assert_eq!(std::fs::read(yard.to().join(place).join("replaced")).unwrap(), new);
        }
        assert_eq!(yard.partials(), Vec::<String>::new());
        std::fs::remove_dir_all(yard.to().join(shelf)).unwrap();
    }
    yard.assert_same();
}

/// Checks that a job that was cut short continues, and its partial file is nobody's business.
async fn a_cut_is_taken_up(yard: &Yard) {
    for (at, other) in yard.others.iter().enumerate() {
        let name = format!("{other}/deep/large");
        yard.write(&name, &content(4 * MB, at as u64 + 50));
        let far = Far::start(Service::Receive(yard.store()));
        let (events, job) = options();
        job.pace.set(Owner::User, Limit { max_rate: Some(4 * MB as u64), paused: false });
        let sender = tokio::spawn(send(far.dialer(), yard.source(), job));
        events.until_moved(2 * MB as u64).await;
        sender.abort();
        far.abort().await;
        assert_eq!(yard.partials(), [format!("{other}/.afteryou")], "where the name will be");

        // Neither sent on nor removed.
        let copy = tempfile::tempdir().unwrap();
        let serving =
            Service::Serve { dir: Served::open(&yard.to()).unwrap(), options: SourceOptions::default() };
        let far = Far::start(serving);
        let store = Store::open(copy.path(), StoreOptions::default()).unwrap();
        let summary = get(far.dialer(), Vec::new(), store, options().1).await.unwrap();
        far.stop().await;
        assert_eq!((summary.failed, summary.skipped), (0, 0), "{summary:?}");
        assert!(!copy.path().join(other).join(".afteryou").exists());
        std::fs::rename(yard.from().join(&name), yard.base.join("away")).unwrap();
        yard.push(Wishes { delete: true, ..Wishes::default() }).await;
        assert_eq!(yard.partials(), [format!("{other}/.afteryou")]);
        std::fs::rename(yard.base.join("away"), yard.from().join(&name)).unwrap();

        let (_, summary) = yard.push(Wishes::default()).await;
        assert!(summary.bytes_moved < 3 * MB as u64, "{summary:?}");
        yard.assert_same();
    }
}

/// Checks that nothing of a peer's gets among the partial files of another file system.
async fn a_peer_does_not_get_among_them(yard: &Yard) {
    let Some(other) = yard.others.first() else { return };
    for path in [format!("{other}/.afteryou"), format!("{other}/.AfterYou/x")] {
        let (entry, _) = crate::disk::common::file(path.as_bytes(), b"mine");
        let refused = yard.store().consider(&entry);
        assert!(refused.is_err(), "{path}: {refused:?}");
    }
}

async fn everything(base: PathBuf) {
    let yard = Yard::of(base);
    everything_is_stored(&yard).await;
    backups_are_kept(&yard).await;
    a_cut_is_taken_up(&yard).await;
    a_peer_does_not_get_among_them(&yard).await;
    std::fs::write(yard.base.join("done"), b"").unwrap();
}

fn run(script: &str, test: &str) {
    let base = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(base.path().join("from")).unwrap();
    std::fs::create_dir_all(base.path().join("to")).unwrap();
    let script = format!("set -e; cd \"$BASE\"; {script}; exec \"$0\" \"$@\"");
    alone::on_a_mount_of_its_own(&script, &format!("jobs::mounted::{test}"), base.path());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_mounted_disk_and_a_bind_mount_are_received_into() {
    if let Some(base) = alone::part() {
        return everything(base.into()).await;
    }
    let script = "mkdir to/other-disk to/other-bound elsewhere; mount -t tmpfs tmpfs to/other-disk; \
                  mount --bind elsewhere to/other-bound";
    run(script, "a_mounted_disk_and_a_bind_mount_are_received_into");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_btrfs_subvolume_is_received_into() {
    if let Some(base) = alone::part() {
        return everything(base.into()).await;
    }
    // The loop device goes with the mount.
    let script = "truncate -s 256M image; mkfs.btrfs -q image; mount -o loop image to; \
                  btrfs -q subvolume create to/other-a; btrfs -q subvolume create to/other-a/other-b; \
                  btrfs -q subvolume create to/other-c";
    run(script, "a_btrfs_subvolume_is_received_into");
}

/// The border shows when the file gets its name: then it is copied to the other side first.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_disk_that_is_mounted_during_the_job_gets_the_file() {
    if let Some(base) = alone::part() {
        let base = PathBuf::from(base);
        let disk = base.join("to/disk");
        for (bytes, count) in [(1000, 1), (300_000, 2)] {
            let store = Store::open(&base.join("to"), StoreOptions::default()).unwrap();
            let (entry, encoded) = crate::disk::common::file(b"disk/f", &content(bytes, 1));
            let Ok(Verdict::Want(reception)) = store.consider(&entry) else { panic!("it is not there") };
            let mounted =
                std::process::Command::new("mount").args(["-t", "tmpfs", "tmpfs"]).arg(&disk).status();
            assert!(mounted.unwrap().success());
            assert_eq!(reception.receive(&encoded[..], &mut |_, _| {}), Ok(Kept::All));
            assert_eq!(std::fs::read(disk.join("f")).unwrap(), content(bytes, 1));
            assert_eq!(std::fs::metadata(disk.join("f")).unwrap().mode() & 0o777, 0o644);
            let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap();
            assert_eq!(mounts.matches(&*disk.to_string_lossy()).count(), count);
            assert!(!disk.join(".afteryou").exists() && !base.join("to/.afteryou").exists());
        }
        std::fs::write(base.join("done"), b"").unwrap();
        return;
    }
    run("mkdir to/disk", "a_disk_that_is_mounted_during_the_job_gets_the_file");
}

/// A service holds no disk while no job runs.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_disk_can_be_unmounted_between_two_jobs() {
    if let Some(base) = alone::part() {
        let yard = Yard::of(base.into());
        yard.write("other-disk/f", b"content");
        yard.write("other-disk/big", &content(300_000, 1));
        let far = Far::start(Service::Receive(yard.store()));
        for _ in 0..2 {
            let summary = send(far.dialer(), yard.source(), options().1).await.unwrap();
            assert_eq!((summary.failed, summary.stored_files), (0, 2));
            let unmounted = std::process::Command::new("umount").arg(yard.to().join("other-disk")).status();
            assert!(unmounted.unwrap().success(), "it is in use");
        }
        far.stop().await;
        std::fs::write(yard.base.join("done"), b"").unwrap();
        return;
    }
    let script =
        "mkdir to/other-disk; mount -t tmpfs tmpfs to/other-disk; mount -t tmpfs tmpfs to/other-disk";
    run(script, "a_disk_can_be_unmounted_between_two_jobs");
}
