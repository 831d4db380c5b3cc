//! Random pairs of trees: a dry run and the job report the same about each entry, the job makes the trees the same, and a second
//! one has nothing to do.

use super::support::{options, Far};
use crate::disk::common::{content, Pair};
use afteryou_transfer::entry::EntryPath;
use afteryou_transfer::event::{Event, Outcome};
use afteryou_transfer::job::{send, JobOptions, Service};
use afteryou_transfer::source::{Source, SourceOptions};
use afteryou_transfer::store::{Allow, Store, StoreOptions};
use afteryou_transfer::wire::{Change, Wishes};
use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{symlink, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Pairs of trees; the variable `AFTERYOU_PAIRS` has another number.
const PAIRS: u64 = 40;
const NAMES: [&[u8]; 4] = [b"a", b"b\xff", b"c d", b"e"];

struct Dice(Pcg64Mcg);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0.next_u32() as usize % most
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }
}

fn set(path: &Path, mode: u32, time: u64) {
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(time);
    std::fs::File::open(path).unwrap().set_modified(time).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
}

/// Makes files, directories, links and hard links below a directory.
fn grow(dice: &mut Dice, dir: &Path, depth: usize, files: &mut Vec<PathBuf>) {
    std::fs::create_dir_all(dir).unwrap();
    for name in NAMES {
        let path = dir.join(OsStr::from_bytes(name));
        match dice.below(12) {
            0..=3 => {
                let bytes = match dice.below(8) {
                    0 => Vec::new(),
                    1..=3 => b"one".to_vec(),
                    4 => b"two".to_vec(),
                    5 | 6 => content(70_000, dice.below(2) as u64),
                    _ => content(1_100_000, dice.below(2) as u64),
                };
                std::fs::write(&path, bytes).unwrap();
                set(&path, dice.one(&[0o644, 0o600, 0o755]), dice.one(&[1_000_000_000, 1_100_000_000]));
                files.push(path);
            }
            4 | 5 if depth < 2 => grow(dice, &path, depth + 1, files),
            6 => {
                symlink(dice.one(&["a", "c d", "e/a"]), &path).unwrap();
                let time = std::process::Command::new("touch")
                    .args(["-h", "-d", dice.one(&["@1000000000", "@1100000000"])])
                    .arg(&path)
                    .status();
                assert!(time.unwrap().success());
            }
            7 if !files.is_empty() => std::fs::hard_link(&files[dice.below(files.len())], &path).unwrap(),
            _ => {}
        }
    }
    set(dir, dice.one(&[0o755, 0o700]), dice.one(&[1_000_000_000, 1_100_000_000]));
}

/// Returns kind, mode, time and content of all that is below a directory.
fn seen(top: &Path, without: &Path) -> BTreeMap<PathBuf, (u32, i64, Vec<u8>)> {
    let (mut found, mut todo) = (BTreeMap::new(), vec![top.to_path_buf()]);
    while let Some(dir) = todo.pop() {
        for entry in std::fs::read_dir(&dir).unwrap() {
            let path = entry.unwrap().path();
            if path == without {
                continue;
            }
            let metadata = path.symlink_metadata().unwrap();
            let bytes = if metadata.is_dir() {
                todo.push(path.clone());
                Vec::new()
            } else if metadata.is_symlink() {
                std::fs::read_link(&path).unwrap().into_os_string().into_encoded_bytes()
            } else {
                std::fs::read(&path).unwrap()
            };
            let name = path.strip_prefix(top).unwrap().to_path_buf();
            found.insert(name, (metadata.mode(), metadata.mtime(), bytes));
        }
    }
    found
}

/// What a job reports about each entry, in the words of one that is done.
type Sentences = Result<Vec<(String, String)>, String>;

async fn run(far: &Far, pair: &Pair, wishes: Wishes) -> (Sentences, bool) {
    let source = Source::of(&[pair.from().join("top")], SourceOptions::default()).unwrap();
    let (events, job) = options();
    let result = send(far.dialer(), source, JobOptions { wishes, ..job }).await;
    if let Err(error) = result {
        return (Err(error.to_string()), false);
    }
    let mut is_quiet = true;
    let mut sentences: Vec<_> = events
        .all()
        .into_iter()
        .filter_map(|event| match event {
            Event::File { path, outcome } => {
                is_quiet &= outcome == Outcome::Had;
                Some((path, words(outcome)))
            }
            _ => None,
        })
        .collect();
    sentences.sort();
    (Ok(sentences), is_quiet)
}

fn words(outcome: Outcome) -> String {
    match outcome {
        Outcome::Stored | Outcome::Would(Change::Create | Change::Replace) => "store".into(),
        Outcome::Had | Outcome::Would(Change::Adjust) => "there already".into(),
        Outcome::Removed | Outcome::Would(Change::Remove) => "remove".into(),
        other => format!("{other:?}"),
    }
}

async fn try_pair(seed: u64) {
    let mut dice = Dice(Pcg64Mcg::seed_from_u64(seed));
    let pair = Pair::new();
    let (from, to) = (pair.from().join("top"), pair.to().join("top"));
    grow(&mut dice, &from, 0, &mut Vec::new());
    match dice.below(8) {
        // Entries that were sent, and changed at the source since.
        0 => {
            let copied = std::process::Command::new("cp").arg("-a").arg(&from).arg(&to).status();
            assert!(copied.unwrap().success());
            std::fs::remove_dir_all(&from).unwrap();
            grow(&mut dice, &from, 0, &mut Vec::new());
        }
        1 => std::fs::write(&to, b"a file").unwrap(),
        _ => grow(&mut dice, &to, 0, &mut Vec::new()),
    }
    let backup = dice.one(&[None, None, Some("old"), Some("top/old/monday")]);
    match dice.below(8) {
        0 => std::fs::write(pair.to().join("old"), b"a file").unwrap(),
        1 if to.is_dir() => std::fs::write(to.join("old"), b"a file").unwrap(),
        2 => {
            // Backups of an earlier job.
            grow(&mut dice, &pair.to().join("old/top"), 1, &mut Vec::new());
        }
        _ => {}
    }
    let backup = backup.map(|path| EntryPath(path.as_bytes().to_vec()));
    // An empty source empties no copy by itself.
    let wishes = Wishes { delete: dice.below(3) > 0, delete_all: true, backup, ..Wishes::default() };
    let mut store = StoreOptions::default();
    store.allow = Allow::all();
    let far = Far::start(Service::Receive(Store::open(&pair.to(), store).unwrap()));
    let dry = |dry_run| Wishes { dry_run, ..wishes.clone() };
    let (would, _) = run(&far, &pair, dry(true)).await;
    let (did, _) = run(&far, &pair, dry(false)).await;
    assert_eq!(would, did, "seed {seed}: {wishes:?}");
    let is_whole = did.is_ok_and(|did| !did.iter().any(|(_, words)| words.starts_with("Failed")));
    if is_whole {
        let (would, is_quiet) = run(&far, &pair, dry(true)).await;
        assert!(is_quiet, "seed {seed}: {wishes:?}: it would {would:?}");
        let (did, is_quiet) = run(&far, &pair, dry(false)).await;
        assert!(is_quiet, "seed {seed}: {wishes:?}: it did {did:?}");
    }
    far.stop().await;
    if is_whole && wishes.delete {
        let (from, to) = (seen(&from, Path::new("")), seen(&to, &to.join("old")));
        let differing: Vec<_> =
            from.keys().chain(to.keys()).filter(|name| from.get(*name) != to.get(*name)).collect();
        assert!(differing.is_empty(), "seed {seed}: {wishes:?}: {differing:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dry_run_and_the_job_report_the_same_and_a_second_job_has_nothing_to_do() {
    let pairs = std::env::var("AFTERYOU_PAIRS").map_or(PAIRS, |pairs| pairs.parse().unwrap());
    for seed in 0..pairs {
        try_pair(seed).await;
    }
}
