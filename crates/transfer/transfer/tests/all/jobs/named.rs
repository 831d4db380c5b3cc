//! The name of a directory leads elsewhere, or nowhere, while `serve` or `receive` waits.

use super::support::{options, Far};
use crate::disk::common::{names, tree, Pair};
use afteryou_transfer::job::{get, send, JobOptions, ListenOptions, Service, Summary};
use afteryou_transfer::pace::{Limit, Owner};
use afteryou_transfer::source::{Served, Source, SourceOptions};
use afteryou_transfer::store::{Allow, Store, StoreOptions};
use afteryou_transfer::wire::Wishes;
use afteryou_transfer::Error;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::time::Duration;

type Change = fn(&Yard);

/// A directory `yard` with `dir` and `other` in it, and `link`, which leads to `dir`.
struct Yard(tempfile::TempDir);

impl Yard {
    fn new() -> Yard {
        let yard = Yard(tempfile::tempdir().unwrap());
        for name in ["dir/old", "other/new"] {
            put(&yard.path(name));
        }
        symlink("dir", yard.path("link")).unwrap();
        yard
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Returns each way in which a name comes to lead elsewhere, and the name.
    fn changes() -> [(&'static str, &'static str, Change); 3] {
        [
            ("removed and made anew", "dir", |yard| {
                fs::remove_dir_all(yard.path("dir")).unwrap();
                fs::rename(yard.path("other"), yard.path("dir")).unwrap();
            }),
            ("moved, another in its place", "dir", |yard| {
                fs::rename(yard.path("dir"), yard.path("moved")).unwrap();
                fs::rename(yard.path("other"), yard.path("dir")).unwrap();
            }),
            ("a link switched", "link", |yard| {
                fs::remove_file(yard.path("link")).unwrap();
                symlink("other", yard.path("link")).unwrap();
            }),
        ]
    }
}

fn put(path: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, path.file_name().unwrap().as_encoded_bytes()).unwrap();
}

fn serve(dir: &Path) -> Far {
    Far::start(Service::Serve { dir: Served::open(dir).unwrap(), options: SourceOptions::default() })
}

fn receive(dir: &Path) -> Far {
    Far::start(Service::Receive(Store::open(dir, StoreOptions::default()).unwrap()))
}

async fn mirror(far: &Far, to: &Path) -> Result<Summary, Error> {
    let mut store = StoreOptions::default();
    store.allow = Allow::all();
    let wishes = Wishes { delete: true, ..Wishes::default() };
    let store = Store::open(to, store).unwrap();
    get(far.dialer(), Vec::new(), store, JobOptions { wishes, ..options().1 }).await
}

async fn push(far: &Far, path: PathBuf) -> Result<Summary, Error> {
    let source = Source::of(&[path], SourceOptions::default()).unwrap();
    send(far.dialer(), source, options().1).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn serve_offers_what_its_name_leads_to_at_each_job() {
    for (how, name, change) in Yard::changes() {
        let (yard, copy) = (Yard::new(), tempfile::tempdir().unwrap());
        let far = serve(&yard.path(name));
        mirror(&far, copy.path()).await.unwrap();
        assert_eq!(names(copy.path()), ["old"], "{how}");
        change(&yard);
        let summary = mirror(&far, copy.path()).await.unwrap();
        assert_eq!((names(copy.path()), summary.removed), (vec!["new".to_owned()], 1), "{how}");
        far.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn receive_stores_where_its_name_leads_at_each_job() {
    for (how, name, change) in Yard::changes() {
        let yard = Yard::new();
        put(&yard.path("sent"));
        let far = receive(&yard.path(name));
        push(&far, yard.path("sent")).await.unwrap();
        assert_eq!(names(&yard.path(name)), ["old", "sent"], "{how}");
        change(&yard);
        assert_eq!(push(&far, yard.path("sent")).await.unwrap().stored, 1, "{how}");
        assert_eq!(names(&yard.path(name)), ["new", "sent"], "{how}");
        far.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_name_that_is_gone_ends_each_job_with_that_reason_until_it_is_back() {
    let (yard, copy) = (Yard::new(), tempfile::tempdir().unwrap());
    put(&yard.path("sent"));
    put(&copy.path().join("kept"));
    let (serves, receives) = (serve(&yard.path("dir")), receive(&yard.path("dir")));
    let moved = yard.path("moved");
    fs::rename(yard.path("dir"), &moved).unwrap();
    for is_file in [false, true] {
        if is_file {
            put(&yard.path("dir"));
        }
        let error = mirror(&serves, copy.path()).await.unwrap_err().to_string();
        assert!(error.contains("the served directory is gone"), "{error}");
        assert_eq!(names(copy.path()), ["kept"]);
        let error = push(&receives, yard.path("sent")).await.unwrap_err().to_string();
        assert!(error.contains("the receiving directory is gone"), "{error}");
        assert_eq!(names(&moved), ["old"], "nothing goes where it is now");
    }
    fs::remove_file(yard.path("dir")).unwrap();
    fs::rename(&moved, yard.path("dir")).unwrap();
    push(&receives, yard.path("sent")).await.unwrap();
    mirror(&serves, copy.path()).await.unwrap();
    assert_eq!(names(copy.path()), ["old", "sent"]);
    serves.stop().await;
    receives.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_get_stores_where_its_name_leads_when_the_job_begins() {
    let yard = Yard::new();
    let far = serve(&yard.path("other"));
    let store = Store::open(&yard.path("link"), StoreOptions::default()).unwrap();
    fs::create_dir(yard.path("third")).unwrap();
    fs::remove_file(yard.path("link")).unwrap();
    symlink("third", yard.path("link")).unwrap();
    get(far.dialer(), Vec::new(), store.clone(), options().1).await.unwrap();
    assert_eq!(
        (names(&yard.path("third")), names(&yard.path("dir"))),
        (vec!["new".into()], vec!["old".into()])
    );
    fs::remove_file(yard.path("link")).unwrap();
    let error = get(far.dialer(), Vec::new(), store, options().1).await.unwrap_err().to_string();
    assert!(error.starts_with("the receiving directory is gone"), "{error}");
    far.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clients_that_come_while_the_name_moves_get_one_tree_or_the_other_and_no_mixture() {
    const FILES: usize = 60;
    let yard = tempfile::tempdir().unwrap();
    for tree in ["a", "b"] {
        for file in 0..FILES {
            let path = yard.path().join(tree).join(format!("d{}/{file}", file % 7));
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, tree).unwrap();
        }
    }
    let point = |tree: &str| {
        let next = yard.path().join("next");
        symlink(tree, &next).unwrap();
        fs::rename(next, yard.path().join("now")).unwrap();
    };
    point("a");
    let far = serve(&yard.path().join("now"));
    let copies: Vec<_> = (0..12).map(|_| tempfile::tempdir().unwrap()).collect();
    let jobs = async {
        let mut found = std::collections::BTreeSet::new();
        for some in copies.chunks(4) {
            let one = |copy: &tempfile::TempDir| {
                let (to, far) = (copy.path().to_owned(), &far);
                async move {
                    mirror(far, &to).await.unwrap();
                    let contents = tree(&to).into_values().flatten();
                    let contents: Vec<_> = contents.map(|bytes| String::from_utf8(bytes).unwrap()).collect();
                    assert_eq!(contents.len(), FILES);
                    assert!(contents.iter().all(|content| *content == contents[0]), "a mixture");
                    contents[0].clone()
                }
            };
            let [a, b, c, d] = some else { unreachable!("twelve are three times four") };
            let four = tokio::join!(one(a), one(b), one(c), one(d));
            found.extend([four.0, four.1, four.2, four.3]);
        }
        found
    };
    let moves = async {
        for tree in ["b", "a"].iter().cycle() {
            tokio::time::sleep(Duration::from_millis(3)).await;
            point(tree);
        }
    };
    let found = tokio::select! { found = jobs => found, () = moves => unreachable!("without end") };
    assert!(!found.is_empty());
    far.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_receiving_directory_that_is_removed_ends_the_job_in_its_middle_with_that_reason() {
    let pair = Pair::new();
    for index in 0..20 {
        pair.write(&format!("many/{index:02}"), &crate::disk::common::content(400_000, index));
    }
    let dir = pair.to().join("dir");
    let store = Store::open(&dir, StoreOptions::default()).unwrap();
    let far = Far::start_with(Service::Receive(store), ListenOptions::default());
    let (events, job) = options();
    let pace = job.pace.clone();
    pace.set(Owner::User, Limit { max_rate: Some(1_500_000), paused: false });
    let source = Source::of(&[pair.from().join("many")], SourceOptions::default()).unwrap();
    let remove = async {
        events.until_moved(1_000_000).await;
        // Something may still be made in it meanwhile.
        while dir.exists() {
            _ = fs::remove_dir_all(&dir);
        }
        pace.set(Owner::User, Limit::default());
    };
    let (result, ()) = tokio::join!(send(far.dialer(), source, job), remove);
    assert!(matches!(result, Err(Error::Gone { .. })), "{result:?}");
    assert!(!dir.exists(), "it is not made again");
    far.stop().await;
}

/// A file system mounted over a directory, until this is dropped.
#[cfg(target_os = "linux")]
struct Mounted(PathBuf);

#[cfg(target_os = "linux")]
impl Mounted {
    fn over(dir: &Path, what: &Path) -> Option<Mounted> {
        let run = std::process::Command::new("mount").arg("--bind").args([what, dir]).output();
        run.is_ok_and(|run| run.status.success()).then(|| Mounted(dir.to_owned()))
    }
}

#[cfg(target_os = "linux")]
impl Drop for Mounted {
    fn drop(&mut self) {
        _ = std::process::Command::new("umount").arg("--lazy").arg(&self.0).status();
    }
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_disk_that_is_mounted_over_the_directory_later_is_the_one_that_counts() {
    let (yard, copy) = (Yard::new(), tempfile::tempdir().unwrap());
    put(&yard.path("sent"));
    let (serves, receives) = (serve(&yard.path("dir")), receive(&yard.path("dir")));
    let Some(mounted) = Mounted::over(&yard.path("dir"), &yard.path("other")) else {
        println!("SKIPPED: mounting needs root");
        return;
    };
    push(&receives, yard.path("sent")).await.unwrap();
    assert_eq!(names(&yard.path("other")), ["new", "sent"]);
    mirror(&serves, copy.path()).await.unwrap();
    assert_eq!(names(copy.path()), ["new", "sent"]);
    drop(mounted);
    assert_eq!(names(&yard.path("dir")), ["old"], "nothing was written below the mount");
    mirror(&serves, copy.path()).await.unwrap();
    assert_eq!(names(copy.path()), ["old"]);
    serves.stop().await;
    receives.stop().await;
}
