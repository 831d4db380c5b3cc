//! Trees that are exchanged, moved or bottomless while they are removed.

use super::*;
use crate::store::{Allow, StoreOptions};
use rustix::fs::{renameat_with, RenameFlags, CWD};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// In each directory.
const FILES: usize = 12;
/// Removals that somebody has to come across.
const DISTURBED: usize = 30;
const PATIENCE: Duration = Duration::from_secs(60);

fn mirror(dir: &Path) -> Mirror {
    let options = StoreOptions { allow: Allow::all() };
    let store = Store::open(dir, options).expect("opens");
    let wishes = crate::wire::Wishes { delete: true, ..Default::default() };
    Mirror::new(store.for_job(wishes).expect("allowed"), Default::default())
}

/// Removes everything, and returns what was removed and what failed.
fn remove_all(mirror: &Mirror) -> (usize, Vec<String>) {
    let (mut removed, mut failed) = (0, Vec::new());
    let mut tell = |path: &EntryPath, outcome: Outcome| {
        match outcome {
            Outcome::Failed(reason) => failed.push(format!("{path}: {reason}")),
            _ => removed += 1,
        }
        ControlFlow::Continue(())
    };
    let extent = Extent { whole: true, ..Extent::default() };
    mirror.remove_others(&extent, &mut tell).expect("it may");
    (removed, failed)
}

fn fill(dir: &Path) {
    std::fs::create_dir_all(dir).expect("a directory");
    for file in 0..FILES {
        std::fs::write(dir.join(file.to_string()), b"content").expect("a file");
    }
}

/// `to` is the sink's; `outside` has directories and files of the same names.
struct Yard(tempfile::TempDir);

impl Yard {
    fn new() -> Self {
        let yard = Self(tempfile::tempdir().expect("a directory"));
        for dir in ["outside", "outside/m", "outside/m/n", "outside/m/n/o"] {
            fill(&yard.at(dir));
        }
        std::fs::create_dir(yard.at("to")).expect("a directory");
        std::os::unix::fs::symlink("../../../outside/m/n", yard.at("link")).expect("a link");
        yard
    }

    fn at(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    /// Makes the tree beside the sink's, and moves it there.
    fn fill_again(&self) {
        for dir in ["fresh", "fresh/m", "fresh/m/n", "fresh/m/n/o"] {
            fill(&self.at(dir));
        }
        // Not if something of the last is still there.
        if std::fs::rename(self.at("fresh"), self.at("to/gone")).is_err() {
            std::fs::remove_dir_all(self.at("fresh")).expect("removed");
        }
    }

    fn is_untouched(&self) -> bool {
        let file = |dir: &str, file: usize| self.at(dir).join(file.to_string()).is_file();
        ["outside", "outside/m", "outside/m/n", "outside/m/n/o"]
            .iter()
            .all(|dir| (0..FILES).all(|number| file(dir, number)))
    }

    /// Exchanges directories for a link, and moves them out and back in, as long as they are there.
    fn disturb(&self, done: &AtomicBool) {
        let [n, m, link, aside, apart] =
            ["to/gone/m/n", "to/gone/m", "link", "outside/m/aside", "outside/apart"]
                .map(|path| self.at(path));
        let exchange = |one: &Path, other: &Path| renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE);
        while !done.load(Ordering::Relaxed) {
            for dir in [&n, &m] {
                if exchange(dir, &link).is_ok() {
                    _ = exchange(dir, &link);
                }
            }
            for (dir, away) in [(&n, &aside), (&m, &apart)] {
                if std::fs::rename(dir, away).is_ok() {
                    std::thread::sleep(Duration::from_micros(20));
                    if std::fs::rename(away, dir).is_err() {
                        _ = std::fs::remove_dir_all(away);
                    }
                }
            }
        }
    }
}

#[test]
fn a_removal_touches_nothing_outside_though_directories_become_links_or_move_away_meanwhile() {
    let yard = Yard::new();
    let (done, began, mut disturbed) = (AtomicBool::new(false), Instant::now(), 0);
    std::thread::scope(|scope| {
        scope.spawn(|| yard.disturb(&done));
        while disturbed < DISTURBED && began.elapsed() < PATIENCE {
            yard.fill_again();
            let (_, failed) = remove_all(&mirror(&yard.at("to")));
            disturbed += usize::from(!failed.is_empty());
            if !yard.is_untouched() {
                break;
            }
        }
        done.store(true, Ordering::Relaxed);
    });
    assert!(yard.is_untouched(), "something outside is gone, after {disturbed} removals that were disturbed");
    assert_eq!(disturbed, DISTURBED, "nothing was tried");
}

/// Makes directories below each other, and a file in the last.
fn bottomless(top: &Path, levels: usize) {
    use rustix::fs::{mkdirat, openat, Mode, OFlags};
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut dir = openat(CWD, top, flags, Mode::empty()).expect("opens");
    for _ in 0..levels {
        mkdirat(&dir, "d", Mode::RWXU).expect("made");
        dir = openat(&dir, "d", flags, Mode::empty()).expect("opens");
    }
    openat(&dir, "f", OFlags::CREATE | OFlags::WRONLY, Mode::RWXU).expect("a file");
}

#[test]
fn ten_thousand_levels_are_removed_on_a_small_stack_and_those_that_have_a_path_are_named() {
    let dir = tempfile::tempdir().expect("a directory");
    bottomless(dir.path(), 10_000);
    let mirror = mirror(dir.path());
    let small = std::thread::Builder::new().stack_size(256 * 1024);
    let result = small.spawn(move || remove_all(&mirror)).expect("a thread").join().expect("no overflow");
    // "d/d/d": the longest path has 4096 bytes.
    assert_eq!(result, (2048, Vec::new()));
    assert_eq!(std::fs::read_dir(dir.path()).expect("reads").count(), 0);
}

#[test]
fn a_removal_that_nobody_listens_to_any_more_ends_and_the_next_goes_on() {
    let dir = tempfile::tempdir().expect("a directory");
    fill(dir.path());
    let mirror = mirror(dir.path());
    let mut left = 3;
    let mut tell = |_: &EntryPath, _| {
        left -= 1;
        match left {
            0 => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    };
    mirror.remove_others(&Extent { whole: true, ..Extent::default() }, &mut tell).expect("it may");
    assert_eq!(std::fs::read_dir(dir.path()).expect("reads").count(), FILES - 3);
    assert_eq!(remove_all(&mirror), (FILES - 3, Vec::new()));
}
